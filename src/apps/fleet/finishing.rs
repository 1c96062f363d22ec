//! `haul finish`: the end of a job.
use super::options::FinishOptions;
use crate::apps::console::agreed;
use crate::apps::exit::{Exit, printed};
use crate::core::{Digest, Error, HashKind, Kind, Result};
use crate::job::fleet::finishing::{FinishEnd, Waiting, abort as give_up, finish as complete};
use crate::job::fleet::job_of::Job;
use crate::report::{Out, fleet, json, text};

/// Completes the destination, or prints what is missing.
pub(super) fn finish(asked: &FinishOptions, out: Out) -> Result<Exit> {
    let job = Job::open(&asked.plan)?;
    let on_wait = |count, lease_s| out.eprint(&text::info(&fleet::waits_for_workers(count, lease_s)));
    let committed = match complete(&job, asked.manifest.as_deref(), &Waiting::new(&on_wait))? {
        FinishEnd::Missing(missing, status) => {
            if asked.json {
                let _ = printed(out, &json::text(&json::fleet(&status)));
            }
            out.eprint(&text::info(&fleet::missing(&missing, status.shards, &asked.plan)));
            return Ok(Exit::FAILED);
        }
        FinishEnd::Committed(committed) => committed,
    };
    let unread: Vec<(u64, u64)> = committed.unread.iter().map(|extent| (extent.offset, extent.len)).collect();
    let mut exit = Exit::Status(0);
    if asked.json {
        exit = printed(out, &json::text(&json::fleet(&committed.status)));
    } else if let Some(digest) = committed.status.digest {
        let digest = Digest { kind: HashKind::Blake3, hex: digest.to_string() };
        exit = printed(out, &text::digest_lines(&[digest], &job.plan.source.address));
    }
    out.eprint(&text::info(&fleet::finished(&committed.dest, committed.status.len_bytes, committed.status.shards)));
    if let Some(path) = &committed.manifest {
        out.eprint(&text::info(&fleet::has_manifest(path)));
    }
    for (shard, host, pid) in &committed.silent {
        out.eprint(&text::warning(&fleet::never_ended(*shard, host, *pid)));
    }
    if !unread.is_empty() {
        out.eprint(&text::warning(&fleet::unread(&unread)));
        return Ok(exit.at_least(Exit::UNREAD));
    }
    Ok(exit)
}

/// Gives the job up, after asking for confirmation.
pub(super) fn abort(asked: &FinishOptions, out: Out) -> Result<Exit> {
    let job = Job::open(&asked.plan)?;
    if !asked.yes && !agreed(|| fleet::give_up(&job.plan.dest.address, &job.plan.state), out)? {
        return Err(Error::new(Kind::Refused, "not confirmed: nothing was discarded"));
    }
    give_up(&job)?;
    out.eprint(&text::info(&fleet::given_up(&job.plan.state)));
    Ok(Exit::Status(0))
}

//! `haul copy --plan`: one shard of a copy by many workers.
use super::running::{finished_run, report_with_failed_files, run};
use crate::apps::command::Call;
use crate::apps::console::Console;
use crate::apps::exit::Exit;
use crate::apps::not_started::{report_done, report_interrupted};
use crate::apps::page::{self, PendingPage};
use crate::core::{Durability, Result};
use crate::job::fleet::worker::{ShardWork, Taken, Worker};
use crate::job::operator::Operator;
use crate::job::{Opened, Prepared};
use crate::plan::{Options, ShardWish};
use crate::report::json::NotStarted;
use crate::report::{fleet, text};
use std::mem;
use std::sync::Arc;

/// Copies a shard, unless it is done.
pub(super) fn copy(wish: &ShardWish, options: &Options, call: &Call<'_>) -> Result<Exit> {
    let console = Console::new(options, "copy", call.words, call.out)?;
    let notify = |message: &str| console.notify(&text::info(message), message);
    let worker = Worker::look(wish)?;
    let (shard, shards) = worker.numbers();
    let taken = worker.take(|other, lease| {
        let worker = &other.worker;
        notify(&fleet::waits(shard, &worker.host, worker.pid, other.attempt, lease.as_secs()));
    })?;
    match taken {
        Taken::Done(done) => {
            let mut notes = vec![fleet::is_done(shard, shards, &done.worker.host, &done.ended)];
            let unread = done.unread().total_bytes();
            notes.extend((unread > 0).then(|| fleet::has_unread(unread)));
            notes.iter().for_each(|note| notify(note));
            let durability = if done.in_memory { Durability::Memory } else { Durability::Medium };
            let done = NotStarted::Done { durability, len_bytes: done.len_bytes, notes: &notes };
            report_done(done, options, call.words, call.out);
            Ok(console.end(Exit::Status(0)))
        }
        Taken::Mine(work) => copy_shard(work, options, call, &console),
    }
}

fn copy_shard(work: ShardWork, options: &Options, call: &Call<'_>, console: &Arc<Console>) -> Result<Exit> {
    let words = call.words;
    let options = &work.options(options);
    let operator: Arc<dyn Operator> = console.clone();
    let (page, opened) = match open(&work, options, &operator) {
        Ok(begun) => begun,
        Err(error) => return Err(work.error(error)),
    };
    let ends = opened.ends().clone();
    let mut finished = match run(opened)? {
        Ok(finished) => finished,
        Err(signal) => return Ok(report_interrupted(signal, options, words, call.out)),
    };
    let recorded = work.finish(&finished, &ends);
    let mut failed = mem::take(&mut finished.failed_files);
    failed.extend(recorded.err());
    if let Some(page) = page {
        failed.extend(page.put(&finished_run(options, words, &finished), &finished.series).err());
    }
    let exit = report_with_failed_files(&mut finished, &failed, options, words, console)?;
    Ok(console.end(exit))
}

/// The page of the report, and the copy with open sides, which are those of the plan.
fn open(work: &ShardWork, options: &Options, operator: &Arc<dyn Operator>) -> Result<(Option<PendingPage>, Opened)> {
    work.check_sides()?;
    let prepared = Prepared::look(options, operator)?;
    let page = page::place(options.report.as_deref(), &prepared.sides())?;
    let keeping = work.keeping(&prepared)?;
    let opened = prepared.agree()?.open_keeping(Some(keeping))?;
    work.guard(&opened);
    work.check_samples(opened.ends())?;
    Ok((page, opened))
}

//! The manifest of a copy by many workers, from the digests of blocks that they recorded.
use super::claim::removed;
use super::job_of::Job;
use super::names;
use crate::core::{AddressMap, BlockDigest, DigestedBlock, EndpointKind, Error, Extent, ExtentSet, Kind, Result};
use crate::ledger::fleet::{FleetPlan, ShardBlocks, ShardDone};
use crate::ledger::manifest::{Entry, Head, ManifestFile};
use crate::ledger::{Fault, SideIdentity};
use std::path::Path;

/// A manifest that has all lines but the last.
pub(super) struct FleetManifest {
    path: String,
    file: ManifestFile,
}

impl FleetManifest {
    /// Checks that there will be digests for it, and no file of its name.
    ///
    /// # Errors
    /// Usage without them; Open if the file exists.
    pub(super) fn check(job: &Job, path: &str) -> Result<()> {
        if !job.plan.digest.as_ref().is_some_and(|digest| digest.manifest) {
            let what = "--manifest: the workers of this plan record no digests of blocks";
            return Err(Error::new(Kind::Usage, what).advise("Plan with haul plan --manifest."));
        }
        begin(&job.plan, path).map(drop)
    }

    /// Writes the digests of all shards.
    ///
    /// # Errors
    /// The state does not answer, digests are missing, or the file cannot be written.
    pub(super) fn write(job: &Job, done: &[ShardDone], path: &str) -> Result<FleetManifest> {
        let mut file = begin(&job.plan, path)?;
        let named: Vec<(u64, u64, String)> = job.state.list("shard")?.into_iter().filter_map(numbered).collect();
        let mut add = |entry: Entry| file.add(entry).map_err(|fault| fault.into_error(path));
        // A run of zeros may be that of several shards.
        let mut zeros = Extent::new(0, 0);
        for shard in 1..=job.plan.shards {
            let from = job.plan.shard(shard).map_or(0, |extent| extent.offset);
            for DigestedBlock { extent, digest } in blocks(job, shard, &named)? {
                let extent = Extent::new(from + extent.offset, extent.len);
                if digest.is_none() && zeros.end() == extent.offset {
                    zeros.len += extent.len;
                    continue;
                }
                if !zeros.is_empty() {
                    add(Entry::Zeros(zeros))?;
                }
                zeros = if digest.is_none() { extent } else { Extent::new(extent.end(), 0) };
                digest.map_or(Ok(()), |digest| add(Entry::Block { extent, digest }))?;
            }
        }
        if !zeros.is_empty() {
            add(Entry::Zeros(zeros))?;
        }
        let on_source = AddressMap::from(job.plan.source.identity.offset_bytes);
        let unread = done.iter().flat_map(|done| done.unread().iter().collect::<Vec<_>>());
        let unread: ExtentSet = unread.flat_map(|run| on_source.copied_from(run)).collect();
        let added: std::result::Result<(), Fault> = unread.iter().try_for_each(|run| file.add(Entry::Unread(run)));
        added.map_err(|fault| fault.into_error(path))?;
        Ok(FleetManifest { path: path.to_owned(), file })
    }

    /// Completes it, and returns its path.
    ///
    /// # Errors
    /// Bytes have no digest, or the file cannot be written.
    pub(super) fn close(self, whole: Option<BlockDigest>) -> Result<String> {
        let FleetManifest { path, file } = self;
        file.close(whole).map_err(|fault| fault.into_error(&path))?;
        Ok(path)
    }
}

/// The shard and the attempt of a text with digests of blocks.
fn numbered(name: String) -> Option<(u64, u64, String)> {
    Some((names::shard_of(&name)?, names::attempt_of_blocks(&name)?, name))
}

/// The blocks of a shard, ascending. Of a block that several attempts copied, the digest of the last.
fn blocks(job: &Job, shard: u64, named: &[(u64, u64, String)]) -> Result<Vec<DigestedBlock>> {
    let mut of_shard: Vec<_> = named.iter().filter(|(number, ..)| *number == shard).collect();
    of_shard.sort_unstable_by_key(|(_, attempt, _)| std::cmp::Reverse(*attempt));
    let names: Vec<String> = of_shard.into_iter().map(|(.., name)| name.clone()).collect();
    let (mut known, mut blocks) = (ExtentSet::new(), Vec::new());
    for (text, name) in job.state.get_all(&names)?.into_iter().zip(&names) {
        let place = format!("{}/{name}", job.state.address());
        let record =
            ShardBlocks::parse(&text.ok_or_else(|| removed(&place))?).map_err(|fault| fault.into_error(&place))?;
        if record.job != job.id || record.shard != shard {
            return Err(Error::new(Kind::Refused, format!("{place} is of another job or shard")));
        }
        for DigestedBlock { extent, digest } in record.blocks {
            let new: Vec<Extent> = known.gaps(extent).collect();
            known.insert(extent);
            blocks.extend(new.into_iter().map(|extent| DigestedBlock { extent, digest }));
        }
    }
    blocks.sort_unstable_by_key(|block| block.extent.offset);
    Ok(blocks)
}

fn begin(plan: &FleetPlan, path: &str) -> Result<ManifestFile> {
    let digest = plan.digest.as_ref().ok_or_else(|| Error::new(Kind::Usage, "the plan has no digests"))?;
    let is_file = plan.dest.identity.kind == EndpointKind::File.name();
    let dest = SideIdentity {
        path: plan.final_path.clone().unwrap_or_else(|| plan.dest.identity.path.clone()),
        size_bytes: plan.dest.identity.size_bytes.filter(|_| !is_file),
        ..plan.dest.identity.clone()
    };
    let head = Head {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created: plan.created.clone(),
        algorithm: digest.algorithm,
        block_bytes: digest.block_bytes,
        len_bytes: Some(plan.len_bytes),
        source: plan.source.identity.clone(),
        dest,
        also: Vec::new(),
        range: false,
    };
    ManifestFile::create(Path::new(path), &head).map_err(|fault| fault.into_error(path))
}

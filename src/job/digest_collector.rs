//! Collects the digests of blocks: for reading back, and for the manifest.
use crate::core::{
    AddressMap, BlockDigest, BlockDigests, BlockHash, Digest, DigestedBlock, Ended, EndpointKind, Error, Event, Extent,
    ExtentSet, Facts, HashKind, Kind, Observer, Outcome, Plan, Result, Side,
};
use crate::job::block_grid::Grid;
use crate::job::digested::DigestedBlockList;
use crate::job::journal_digests::JournalDigests;
use crate::job::shard_digests::ShardDigests;
use crate::job::whole_digest::WholeDigest;
use crate::ledger::manifest::{Entry, Head, ManifestFile};
use crate::ledger::{Fault, SideIdentity};
use crate::plan::{Delta, Options};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

/// Receives digested blocks.
#[derive(Default)]
pub(crate) struct DigestCollector {
    /// `None`: they are not needed.
    kept: Option<DigestedBlockList>,
    blocks: Option<BlockThread>,
    /// For a copy that is resumed or limited to differences, whose borders may lie within blocks: only whole
    /// blocks count.
    whole: Option<Grid>,
    /// Records the blocks in the journal.
    journal: Option<Arc<JournalDigests>>,
}

impl DigestCollector {
    /// Collects what `plan` needs later, and begins the requested manifest: an error is reported before the
    /// copy begins. `shard` receives the blocks of a shard.
    ///
    /// # Errors
    /// The manifest cannot be created.
    pub(crate) fn begin(
        options: &Options,
        plan: &Plan,
        source: &Facts,
        dests: &[&Facts],
        shard: Option<Arc<ShardDigests>>,
    ) -> Result<Self> {
        let wanted = match (&options.manifest, &options.delta) {
            (Some(path), _) => Some((path, false)),
            // This manifest is updated, because it describes the dest.
            (None, Some(Delta::Manifest(path))) => Some((path, true)),
            (None, _) => None,
        };
        let manifest =
            wanted.map(|(path, renews)| NewManifest::begin(path, renews, plan, source, dests)).transpose()?;
        let is_requested = options.hashes.contains(&HashKind::Blake3);
        // Of a manifest that is updated too: the source was read for it.
        let is_merged = |blocks: &BlockDigests| {
            plan.merges_digests() || wanted.is_some_and(|(_, renews)| renews) && blocks.hash == BlockHash::Blake3Tree
        };
        let whole_digest = plan.digest_blocks.filter(is_merged);
        let whole_digest = whole_digest.map(|blocks| WholeDigest::new(blocks.block_bytes, is_requested));
        let blocks = BlockThread::begin(manifest, whole_digest, shard, plan)?;
        let grid = |BlockDigests { block_bytes, .. }| Grid { block_bytes, len: plan.len.unwrap_or(u64::MAX) };
        let in_parts = options.resume || matches!(options.delta, Some(Delta::Manifest(_)));
        // Earlier attempts may have copied parts of a shard.
        let whole = plan.digest_blocks.filter(|_| in_parts || options.is_shard).map(grid);
        let kept = (plan.read_back.is_some() || whole.is_some() && in_parts).then(DigestedBlockList::default);
        Ok(DigestCollector { kept, blocks, whole, journal: None })
    }

    /// Begins with the blocks that earlier runs `recorded` in the journal, and sends the others to `journal`.
    pub(crate) fn with_journal(self, recorded: &[DigestedBlock], journal: Option<Arc<JournalDigests>>) -> Self {
        recorded.iter().for_each(|block| self.on_event(&Event::Digested(*block)));
        DigestCollector { journal, ..self }
    }

    /// Whole blocks of a resumed copy without a digest; empty for any other copy.
    pub(crate) fn missing(&self) -> ExtentSet {
        let (Some(grid), Some(kept)) = (self.whole, &self.kept) else { return ExtentSet::new() };
        kept.extents().gaps(Extent::new(0, grid.len)).collect()
    }

    /// Whether each block needs a digest, for a manifest or the digest of all data.
    pub(crate) fn needs_all(&self) -> bool {
        self.blocks.is_some()
    }

    /// The blocks so far, in any order.
    pub(crate) fn take(&mut self) -> Vec<DigestedBlock> {
        self.kept.take().map(DigestedBlockList::into_blocks).unwrap_or_default()
    }

    /// Ends the digest of all data and the manifest, which gets its name if the copy is complete.
    ///
    /// # Errors
    /// It could not be written, or digests are missing.
    pub(crate) fn finish(self, outcome: &mut Outcome) -> Result<()> {
        self.blocks.map_or(Ok(()), |blocks| blocks.finish(outcome))
    }
}

impl Observer for DigestCollector {
    fn on_event(&self, event: &Event<'_>) {
        let Event::Digested(block) = event else { return };
        self.journal.iter().for_each(|journal| journal.add(*block));
        let Some(block) = self.whole.map_or(Some(*block), |grid| grid.whole(*block)) else { return };
        if let Some(kept) = &self.kept {
            kept.add(block);
        }
        if let Some(blocks) = &self.blocks {
            // Fails only if that thread has failed, which `finish` reports.
            let _ = blocks.to_thread.send(block);
        }
    }
}

/// A thread that receives the digests of blocks: neither a slow file system nor the digests of zeros may delay the
/// copy.
struct BlockThread {
    to_thread: Sender<DigestedBlock>,
    thread: JoinHandle<(Option<NewManifest>, Option<WholeDigest>)>,
    /// The place of the digest of all data among those to report.
    digest_at: Option<usize>,
}

impl BlockThread {
    /// `None`: nothing needs the blocks.
    fn begin(
        manifest: Option<NewManifest>,
        whole: Option<WholeDigest>,
        shard: Option<Arc<ShardDigests>>,
        plan: &Plan,
    ) -> Result<Option<Self>> {
        if manifest.is_none() && whole.is_none() && shard.is_none() {
            return Ok(None);
        }
        let digest_at = plan.hashes.iter().position(|kind| *kind == HashKind::Blake3);
        let (to_thread, inbox) = channel::<DigestedBlock>();
        let work = move || {
            let (mut manifest, mut whole) = (manifest, whole);
            for block in inbox {
                manifest.iter_mut().for_each(|manifest| manifest.add(block));
                whole.iter_mut().for_each(|whole| whole.add(block));
                shard.iter().for_each(|shard| shard.add(block));
            }
            (manifest, whole)
        };
        let thread = thread::Builder::new()
            .name("haul-manifest".to_owned())
            .spawn(work)
            .map_err(|error| Error::new(Kind::Io, "cannot start a thread for digests").because(error))?;
        Ok(Some(BlockThread { to_thread, thread, digest_at }))
    }

    fn finish(self, outcome: &mut Outcome) -> Result<()> {
        drop(self.to_thread);
        let (manifest, whole) = self.thread.join().expect("the thread for blocks only digests and writes");
        let is_complete = matches!(outcome.ended, Ended::Complete);
        let mut merged = Ok(None);
        if let Some(whole) = whole {
            // A pass of one block has a digest, which is that of the whole only if the copy has no other block.
            let lone = outcome.digests.iter().position(|digest| digest.kind == HashKind::Blake3);
            let lone = lone.map(|at| outcome.digests.remove(at)).and_then(|digest| digest.hex.parse().ok());
            if is_complete {
                merged = whole.finish(outcome.claimed.end(), lone);
                outcome.notes.extend(whole.note());
            }
            if let (Ok(Some(digest)), Some(at)) = (&merged, self.digest_at) {
                let digest = Digest { kind: HashKind::Blake3, hex: digest.to_string() };
                outcome.digests.insert(at.min(outcome.digests.len()), digest);
            }
        }
        let whole = merged?;
        manifest.map_or(Ok(()), |manifest| manifest.finish(outcome, whole))
    }
}

/// A manifest in progress.
struct NewManifest {
    path: String,
    /// It replaces an older manifest.
    renews: bool,
    /// The address map of the source.
    on_source: AddressMap,
    file: std::result::Result<ManifestFile, Fault>,
}

impl NewManifest {
    fn begin(path: &str, renews: bool, plan: &Plan, source: &Facts, dests: &[&Facts]) -> Result<Self> {
        let blocks = plan.digest_blocks.expect("a plan with a manifest digests blocks");
        // As probed before the copy, like the source: a file that did not exist has no size.
        let dest = |dest: &Facts| SideIdentity {
            size_bytes: dest.size.filter(|_| dest.exists),
            ..SideIdentity::of(dest, plan.dest.map.start())
        };
        let head = Head {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created: format!("{:.0}", jiff::Timestamp::now()),
            algorithm: blocks.hash,
            block_bytes: blocks.block_bytes,
            len_bytes: plan.len,
            source: SideIdentity::of(source, plan.source.map.start()),
            dest: dest(dests[0]),
            also: dests[1..].iter().map(|facts| dest(facts)).collect(),
            range: plan.dest.kind == EndpointKind::File && !plan.set_end,
        };
        let make = if renews { ManifestFile::renew } else { ManifestFile::create };
        let mut file = make(Path::new(path), &head).map_err(|fault| fault.into_error(path))?;
        for side in Side::BOTH {
            let mut ranges = plan.side(side).map.ranges().into_iter().flatten();
            ranges.try_for_each(|range| file.add(Entry::Range(side, range))).map_err(|fault| fault.into_error(path))?;
        }
        Ok(NewManifest { path: path.to_owned(), renews, on_source: plan.source.map.clone(), file: Ok(file) })
    }

    /// Writes one line; after a failure nothing more.
    fn add(&mut self, DigestedBlock { extent, digest }: DigestedBlock) {
        let Ok(file) = &mut self.file else { return };
        let entry = digest.map_or(Entry::Zeros(extent), |digest| Entry::Block { extent, digest });
        if let Err(fault) = file.add(entry) {
            self.file = Err(fault);
        }
    }

    fn finish(self, outcome: &mut Outcome, whole: Option<BlockDigest>) -> Result<()> {
        if !matches!(outcome.ended, Ended::Complete) {
            outcome.notes.push(match self.renews {
                true => format!("manifest {} was not updated: the copy is incomplete", self.path),
                false => format!("manifest {} was not written: the copy is incomplete", self.path),
            });
            return Ok(());
        }
        let unread = outcome.unread[Side::Source.index()].runs.iter();
        // Bytes in several ranges occur several times in the copy.
        let unread: ExtentSet = unread.flat_map(|run| self.on_source.copied_from(run)).collect();
        let unread: Vec<_> = unread.iter().map(Entry::Unread).collect();
        let finished = self.file.and_then(|mut file| {
            unread.into_iter().try_for_each(|entry| file.add(entry))?;
            file.close(whole)
        });
        finished.map_err(|fault| fault.into_error(&self.path))?;
        outcome.manifest = Some(self.path);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::BlockDigest;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_interrupted_copy_keeps_digests_of_exactly_its_complete_blocks(
            len in 1u64..2_000, cuts in prop::collection::vec((0u64..2_000, 1u64..300, any::<bool>()), 0..9),
        ) {
            let grid = Grid { block_bytes: 64, len };
            let kept = Some(DigestedBlockList::default());
            let collector = DigestCollector { kept, blocks: None, whole: Some(grid), journal: None };
            let mut there = ExtentSet::new();
            let (mut whole, mut at) = (ExtentSet::new(), 0);
            for (gap, run, zero) in cuts {
                // As a digester reports them: ascending, split at block borders, each run of zeros in one
                // piece.
                let extent = Extent::new(at + gap % 300, run);
                let Some(extent) = extent.intersection(&Extent::new(0, len)) else { break };
                at = extent.end();
                let mut piece = extent.offset;
                while piece < extent.end() {
                    let border = if zero { u64::MAX } else { (piece / 64 + 1) * 64 };
                    let extent = Extent::new(piece, border.min(extent.end()) - piece);
                    piece = extent.end();
                    let digest = (!zero).then(|| BlockDigest::blake3(b"any"));
                    collector.on_event(&Event::Digested(DigestedBlock { extent, digest }));
                    there.insert(extent);
                    let block = |number: u64| Extent::new(number * 64, 64.min(len.saturating_sub(number * 64)));
                    let blocks = (extent.offset.div_ceil(64)..).map(block);
                    whole.extend(blocks.take_while(|block| block.len > 0 && block.end() <= extent.end()));
                }
            }
            let missing = collector.missing();
            prop_assert!(missing.iter().all(|gap| gap.offset % 64 == 0 && (gap.end() % 64 == 0 || gap.end() == len)));
            let mut all = missing.clone();
            prop_assert!(!whole.iter().any(|block| missing.overlaps(block)), "a whole block is read again");
            all.insert_all(&there);
            prop_assert!(all.contains(Extent::new(0, len)), "a byte has no digest");
        }
    }
}

//! Collects the digests of blocks: for reading back, and for the manifest.
use crate::core::{
    AddressMap, BlockDigests, DigestedBlock, Ended, EndpointKind, Error, Event, Extent, ExtentSet, Facts, HashKind,
    Kind, Observer, Outcome, Plan, Result, Side,
};
use crate::job::digested::DigestedBlockList;
use crate::ledger::manifest::{Entry, Head, ManifestFile};
use crate::ledger::{Fault, SideIdentity};
use crate::plan::{Delta, Options};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

/// Receives digested blocks.
#[derive(Default)]
pub(crate) struct DigestCollector {
    /// `None`: they are not needed.
    kept: Option<DigestedBlockList>,
    manifest: Option<ManifestWriter>,
    /// For a copy that is resumed or limited to differences, whose borders may lie within blocks: only whole
    /// blocks count.
    whole: Option<Grid>,
}

impl DigestCollector {
    /// Collects what `plan` needs later, and begins the requested manifest: an error is reported before the
    /// copy begins.
    ///
    /// # Errors
    /// The manifest cannot be created.
    pub(crate) fn begin(options: &Options, plan: &Plan, source: &Facts, dests: &[&Facts]) -> Result<Self> {
        let wanted = match (&options.manifest, &options.delta) {
            (Some(path), _) => Some((path, false)),
            // This manifest is updated, because it describes the dest.
            (None, Some(Delta::Manifest(path))) => Some((path, true)),
            (None, _) => None,
        };
        let manifest =
            wanted.map(|(path, renews)| ManifestWriter::begin(path, renews, plan, source, dests)).transpose()?;
        let grid = |BlockDigests { block_bytes, .. }| Grid { block_bytes, len: plan.len.unwrap_or(u64::MAX) };
        let in_parts = options.resume || matches!(options.delta, Some(Delta::Manifest(_)));
        let whole = plan.digest_blocks.filter(|_| in_parts).map(grid);
        let kept = (plan.read_back.is_some() || whole.is_some()).then(DigestedBlockList::default);
        Ok(DigestCollector { kept, manifest, whole })
    }

    /// Whole blocks of a resumed copy without a digest; empty for any other copy.
    pub(crate) fn missing(&self) -> ExtentSet {
        let (Some(grid), Some(kept)) = (self.whole, &self.kept) else { return ExtentSet::new() };
        kept.extents().gaps(Extent::new(0, grid.len)).collect()
    }

    /// Whether a manifest is to be written.
    pub(crate) fn has_manifest(&self) -> bool {
        self.manifest.is_some()
    }

    /// The blocks so far, in any order.
    pub(crate) fn take(&mut self) -> Vec<DigestedBlock> {
        self.kept.take().map(DigestedBlockList::into_blocks).unwrap_or_default()
    }

    /// Ends the manifest: it gets its name if the copy is complete.
    ///
    /// # Errors
    /// It could not be written.
    pub(crate) fn finish(self, outcome: &mut Outcome) -> Result<()> {
        self.manifest.map_or(Ok(()), |manifest| manifest.finish(outcome))
    }
}

impl Observer for DigestCollector {
    fn on_event(&self, event: &Event<'_>) {
        let Event::Digested(block) = event else { return };
        let Some(block) = self.whole.map_or(Some(*block), |grid| grid.whole(*block)) else { return };
        if let Some(kept) = &self.kept {
            kept.add(block);
        }
        if let Some(manifest) = &self.manifest {
            // Fails only if the writing thread has failed, which `finish` reports.
            let _ = manifest.to_writer.send(block);
        }
    }
}

/// The borders of blocks.
#[derive(Clone, Copy, Debug)]
struct Grid {
    block_bytes: u64,
    /// Bytes of the copy.
    len: u64,
}

impl Grid {
    /// The part of a reported block that consists of whole blocks: a digest is kept or dropped, zeros are
    /// trimmed.
    fn whole(self, block: DigestedBlock) -> Option<DigestedBlock> {
        let Grid { block_bytes, len } = self;
        let start = block.extent.offset.next_multiple_of(block_bytes);
        let end = block.extent.end();
        let end = if end == len { end } else { end - end % block_bytes };
        let extent = Extent::new(start, end.checked_sub(start).filter(|&len| len > 0)?);
        (block.digest.is_none() || extent == block.extent).then_some(DigestedBlock { extent, ..block })
    }
}

/// A manifest in progress, written by a separate thread: a slow file system must not delay the copy.
struct ManifestWriter {
    path: String,
    /// It replaces an older manifest.
    renews: bool,
    /// The address map of the source.
    on_source: AddressMap,
    to_writer: Sender<DigestedBlock>,
    writer: JoinHandle<std::result::Result<ManifestFile, Fault>>,
}

impl ManifestWriter {
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
            algorithm: blocks.kind,
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
        let (to_writer, inbox) = channel::<DigestedBlock>();
        let write = move || {
            for DigestedBlock { extent, digest } in inbox {
                file.add(digest.map_or(Entry::Zeros(extent), |digest| Entry::Block { extent, digest }))?;
            }
            Ok(file)
        };
        let writer = thread::Builder::new()
            .name("haul-manifest".to_owned())
            .spawn(write)
            .map_err(|error| Error::new(Kind::Io, "cannot start a thread to write the manifest").because(error))?;
        Ok(ManifestWriter { path: path.to_owned(), renews, on_source: plan.source.map.clone(), to_writer, writer })
    }

    fn finish(self, outcome: &mut Outcome) -> Result<()> {
        drop(self.to_writer);
        let file = self.writer.join().expect("the writer of the manifest only writes");
        if !matches!(outcome.ended, Ended::Complete) {
            outcome.notes.push(match self.renews {
                true => format!("manifest {} was not updated: the copy is incomplete", self.path),
                false => format!("manifest {} was not written: the copy is incomplete", self.path),
            });
            return Ok(());
        }
        let whole = outcome.digests.iter().find(|digest| digest.kind == HashKind::Blake3);
        let whole = whole.and_then(|digest| digest.hex.parse().ok());
        let unread = outcome.unread[Side::Source.index()].runs.iter();
        // Bytes in several ranges occur several times in the copy.
        let unread: ExtentSet = unread.flat_map(|run| self.on_source.copied_from(run)).collect();
        let unread: Vec<_> = unread.iter().map(Entry::Unread).collect();
        let finished = file.and_then(|mut file| {
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
            let collector = DigestCollector { kept, manifest: None, whole: Some(grid) };
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
                    let digest = (!zero).then(|| BlockDigest::of(HashKind::Blake3, b"any"));
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

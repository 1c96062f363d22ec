//! Decides what is digested during the copy, and what is read back after it.
use super::check::Overlap;
use super::plan_input::{PlanInput, named};
use super::{Delta, JournalChoice, Options, words};
use crate::core::PlanNotes;
use crate::core::{
    BlockDigests, BlockHash, EndpointKind, Error, HashKind, Kind, Order, Portion, ReadBack, Result, Route, Side,
};

/// Default block size of digests, in bytes: that of the manifest.
const BLOCK_BYTES: u64 = 4 << 20;

/// Differences are written in pieces of this size: small enough to save writes on flash devices with larger
/// pages, large enough for efficient requests.
const DELTA_PIECE_BYTES: u32 = 64 << 10;

/// What a resumed copy with a digest of all data does with the part that was already copied.
const REREAD: &str = "read from the source again what earlier runs copied";
const FROM_JOURNAL: &str = "from the journal where earlier runs recorded them; the rest is read again from the source";

/// What is digested during the copy, and what is read back after it.
pub(super) struct Certainty {
    pub(super) hashes: Vec<HashKind>,
    pub(super) digest_blocks: Option<BlockDigests>,
    pub(super) read_back: Option<ReadBack>,
}

/// The route: whether all blocks are written, or only those that differ.
///
/// # Errors
/// A dest that cannot be compared.
pub(super) fn route(
    asked: &PlanInput,
    overlap: Option<Overlap>,
    align_bytes: u32,
    notes: &mut PlanNotes,
) -> Result<Route> {
    let dest = asked.dest;
    let Some(delta) = &asked.options.delta else { return Ok(Route::Copy) };
    if !dest.kind.is_storage() && dest.kind != EndpointKind::Memory {
        let what = format!("--delta: {} is a {} and cannot be compared", named(Side::Dest, dest), dest.kind.name());
        return Err(Error::new(Kind::Usage, what).on(Side::Dest).advise("Omit --delta."));
    }
    if overlap.is_some() {
        let what = "--delta: source and destination overlap: the copy would change data before comparing it";
        return Err(Error::new(Kind::Usage, what).on(Side::Dest).advise("Omit --delta."));
    }
    if let Delta::Manifest(manifest) = delta {
        let choice = format!("write only blocks that differ from manifest {manifest}");
        notes.chose("delta", choice, "the source is read first, the destination is not read");
        return Ok(Route::Copy);
    }
    if !dest.exists {
        notes.chose("delta", "write everything", "the destination does not exist yet");
        return Ok(Route::Copy);
    }
    let piece_bytes = DELTA_PIECE_BYTES.max(align_bytes);
    let choice = format!("write only what differs, in pieces of {}", words::block(piece_bytes.into()));
    notes.chose(
        "delta",
        choice,
        "--delta; the destination is read along with the source. Where much differs, and if that is faster, blocks are \
         written without reading it",
    );
    Ok(Route::Delta { piece_bytes })
}

/// Refuses a copy for which a manifest is not sufficient: the source is read twice, and the dest must still
/// match the manifest.
fn check_manifest_delta(asked: &PlanInput) -> Result<()> {
    let PlanInput { options, source, dest, .. } = *asked;
    let refused = |what: String, advice: &str| Err(Error::new(Kind::Usage, what).advise(advice));
    if options.resume {
        let what = "--delta=MANIFEST with --resume: the manifest describes the destination before the interrupted copy";
        return refused(what.to_owned(), "Omit one of them: --resume uses only the journal.");
    }
    if !options.hashes.is_empty() {
        let what = "--delta=MANIFEST with --hash: the copy does not process identical blocks";
        return refused(what.to_owned(), "Omit --hash; the manifest has the digest of each block.");
    }
    if options.manifest.is_some() {
        let what = "--delta=MANIFEST with --manifest: the copy updates the given manifest";
        return refused(what.to_owned(), "Omit --manifest; copy the old manifest first to keep it.");
    }
    if options.journal == JournalChoice::Never {
        let what = "--delta=MANIFEST with --no-journal: after an interruption nothing would show that the manifest is \
            outdated";
        return refused(
            what.to_owned(),
            "Omit --no-journal, or use --delta without a manifest, which reads the destination.",
        );
    }
    if !source.kind.is_storage() && source.kind != EndpointKind::Memory {
        let what = format!(
            "--delta=MANIFEST: {} is a {} and cannot be read twice",
            named(Side::Source, source),
            source.kind.name()
        );
        return refused(what, "Use --delta without a manifest, which reads the destination instead.");
    }
    if !dest.exists {
        let what = format!(
            "--delta=MANIFEST: {} does not exist, but the manifest describes its content",
            named(Side::Dest, dest)
        );
        return refused(what, "Omit --delta to copy everything.");
    }
    Ok(())
}

/// Decides both, and refuses what is not available.
pub(super) fn certainty(asked: &PlanInput, overlap: Option<Overlap>, notes: &mut PlanNotes) -> Result<Certainty> {
    let options = asked.options;
    if let (Some(option), Some(Overlap { backward: true, .. })) = (options.needs_bytes(), overlap) {
        return Err(backward(option));
    }
    if options.verify.is_some() {
        readable(asked)?;
    }
    let judged = matches!(options.delta, Some(Delta::Manifest(_)));
    if judged {
        check_manifest_delta(asked)?;
    }
    let mut hashes = options.hashes.clone();
    let checksum = options.checksum.as_ref().and_then(|checksum| checksum.digest.as_ref());
    // A digest of the stored file is computed where that is read, of any other source with the other digests.
    if let Some(digest) = checksum.filter(|digest| asked.source.compressed.is_none() && !hashes.contains(&digest.kind))
    {
        hashes.push(digest.kind);
    }
    let hash = options.manifest_hash.unwrap_or(BlockHash::Blake3Tree);
    if options.manifest.is_some() && !hashes.contains(&HashKind::Blake3) {
        hashes.push(HashKind::Blake3);
    }
    let block_bytes = options.manifest_block_bytes.unwrap_or(BLOCK_BYTES);
    if let Some(manifest) = &options.manifest {
        let because = format!("--manifest {manifest}, written during the copy");
        notes.chose("manifest", format!("BLAKE3 of blocks of {}", words::block(block_bytes)), because);
    }
    // A stream cannot be read back.
    let portion = options.verify.filter(|_| !asked.dest.kind.is_stream());
    let read_back = portion.map(|portion| read_back(asked, portion, overlap, notes));
    if options.verify.is_some() && read_back.is_none() {
        let choice = "compare the fingerprint of each block after reading and after writing";
        let because = "--verify; a stream cannot be read back";
        notes.chose("verify", choice, because);
    }
    let wanted =
        judged || read_back.is_some() || hashes.contains(&HashKind::Blake3) || options.digests_from_bytes.is_some();
    if options.resume && (wanted || !hashes.is_empty()) {
        let by_blocks = hash == BlockHash::Blake3Tree && hashes.iter().all(|kind| *kind == HashKind::Blake3);
        let (choice, because) = match (hashes.is_empty(), by_blocks && read_back.is_none()) {
            (true, _) => ("read those blocks of the source again", "earlier runs kept no digests"),
            (false, true) => (FROM_JOURNAL, "digests of blocks give the BLAKE3 of all data"),
            (false, false) => (REREAD, "earlier runs kept no digests"),
        };
        notes.chose("digests", choice, because);
    }
    let digest_blocks =
        wanted.then_some(BlockDigests { hash, block_bytes, from_bytes: options.digests_from_bytes.unwrap_or(0) });
    Ok(Certainty { hashes, digest_blocks, read_back })
}

fn read_back(asked: &PlanInput, portion: Portion, overlap: Option<Overlap>, notes: &mut PlanNotes) -> ReadBack {
    let source = asked.source;
    let not_rewritten = match source.kind {
        EndpointKind::Compressed => Some("the source is decompressed from its start"),
        kind if kind == EndpointKind::Endless || kind.is_stream() || source.order == Order::Ascending => {
            Some("the source is a stream and cannot be read again")
        }
        _ if overlap.is_some() => Some("the ranges overlap: the copy changed its source"),
        _ if asked.dest.encoding().is_some() => Some("a part of a compressed file cannot be replaced"),
        _ => None,
    };
    let choice = match portion {
        Portion::All | Portion::Afterwards if asked.options.is_listed() => "read back the ranges".to_owned(),
        Portion::All | Portion::Afterwards => "read back the whole destination".to_owned(),
        Portion::Sample { per_million } => format!("read back {} % of the destination", f64::from(per_million) / 1e4),
    };
    let because = match not_rewritten {
        None => "--verify; rewrite what differs".to_owned(),
        Some(why) => format!("--verify; report what differs without rewriting it: {why}"),
    };
    notes.chose("verify", choice, because);
    ReadBack { portion, not_rewritten: not_rewritten.map(str::to_owned), window_bytes: None }
}

/// Refuses a dest that can neither be read back nor checked while it is written.
fn readable(asked: &PlanInput) -> Result<()> {
    let PlanInput { options, dest, .. } = *asked;
    if dest.kind.is_stream() {
        if options.verify == Some(Portion::All) || asked.one_of_several {
            return Ok(());
        }
        let what = format!(
            "--verify: {} is a {}, which is always checked completely, during the copy",
            named(Side::Dest, dest),
            dest.kind.name()
        );
        let advice = "Give --verify without a value: a stream cannot be read again.";
        return Err(Error::new(Kind::Usage, what).on(Side::Dest).advise(advice));
    }
    if !dest.kind.is_storage() && dest.kind != EndpointKind::Memory {
        let what = format!("--verify: {} is a {} and cannot be read back", named(Side::Dest, dest), dest.kind.name());
        let advice = "Omit --verify; --hash computes a digest that the receiver can compare.";
        return Err(Error::new(Kind::Usage, what).on(Side::Dest).advise(advice));
    }
    if asked.options.no_flush {
        let what = "--verify reads the medium, but --no-flush does not wait until the data is on it";
        return Err(Error::new(Kind::Usage, what).advise("Omit one of them."));
    }
    Ok(())
}

fn backward(option: &str) -> Error {
    let what = format!(
        "{option}: the destination range overlaps the source at a higher offset, so the copy runs backward, but a \
         digest needs the data forward"
    );
    let advice = format!("Compute the digest of the range first with DST /dev/null, then copy without {option}.");
    Error::new(Kind::Usage, what).advise(advice)
}

impl Options {
    /// The first option that requires haul to read every byte, for digests.
    pub(super) fn needs_bytes(&self) -> Option<&'static str> {
        let options = [
            ("--hash", !self.hashes.is_empty()),
            ("--manifest", self.manifest.is_some()),
            ("--verify", self.verify.is_some()),
            ("--delta", self.delta.is_some()),
            ("--checksum", self.checksum.is_some()),
        ];
        options.into_iter().find(|(_, requested)| *requested).map(|(option, _)| option)
    }
}

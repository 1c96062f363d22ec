//! Plans comparing two sides.
use super::check::{self, Range};
use super::choose::{self, Engines};
use super::plan_input::{PlanInput, named};
use super::words::{self, offset_option};
use super::{Options, When, side};
use crate::core::{
    Access, AddressMap, BlockDigests, Bursts, Decision, Direction, EndpointKind, Error, Facts, Host, Kind, Plan,
    PlanNotes, Result, Route, Side, WriteOrder, Zeros,
};

/// Decides how `dest` is compared with `source`: both are read and nothing is written. Only the options for
/// reading apply.
///
/// # Errors
/// `Usage` for invalid options, `Open` for a side that does not exist, `Unsupported` for something that was
/// requested explicitly and is not available.
pub fn compare(options: &Options, source: &Facts, dest: &Facts, host: &Host) -> Result<Decision> {
    let mut options = Options { reflink: When::Never, sparse: When::Auto, no_flush: true, ..options.clone() };
    // A block needs two slots: one for the bytes of each side.
    options.depth = options.depth.map(|depth| depth.max(2));
    let room = dest_room(&options, dest)?;
    if source.kind == EndpointKind::Endless && options.count_bytes.is_none() {
        options.count_bytes = Some(room);
    }
    let asked = PlanInput { options: &options, source, dest, host, one_of_several: false };
    let mut notes = PlanNotes::compared(&asked);
    check::words(&asked)?;
    super::block_map::check(&asked)?;
    check::through(&asked)?;
    check::unread(&asked)?;
    check::ranges(&asked, false)?;
    let range = check::range(&asked)?;
    let (range, route) = settle_ends(&asked, range, room);
    if source.id.is_some() && source.id == dest.id && range.maps[0] == range.maps[1] {
        notes.warn("both sides are the same data: they cannot differ");
    }
    let Engines { engine, .. } = choose::engine(&asked, &range, None, &mut notes)?;
    let engines = Engines { engine, instead: None };
    let reach = choose::access(&asked, &range, None, &mut notes)?;
    let tuning = choose::pace(&asked, &range, &engines, &reach, &mut notes)?;
    notes.on_error(&asked);
    notes.range(&asked, &range);

    let ask_holes = source.sparse;
    if ask_holes {
        notes.chose("zeros", "skip holes of the source", "they read as zeros");
    }
    let [source_access, dest_access] = reach.access;
    let plan = Plan {
        source: side(&asked, Side::Source, &range, source_access),
        // Reading does not disturb other users of the device.
        dest: side(&asked, Side::Dest, &range, Access { exclusive: false, ..dest_access }),
        len: range.len,
        route,
        pattern: None,
        dests: Vec::new(),
        engine,
        engine_instead: None,
        device_copy: None,
        tuning: tuning.with_buffers(route.buffers_per_block()),
        head_bytes: reach.head_bytes,
        tail_align_bytes: reach.tail_align_bytes,
        direction: Direction::Forward,
        // A rotational disk reads in ascending order; see `choose::order` for writes.
        write_order: if asked.rotational(Side::Dest) { WriteOrder::Submitted } else { WriteOrder::Any },
        overlaps: false,
        zeros: Zeros::Write,
        ask_holes,
        detect_zeros_bytes: None,
        hashes: options.hashes.clone(),
        digest_blocks: None,
        read_back: None,
        block_map: None,
        checks_memory: false,
        set_end: false,
        preallocate: false,
        durable: false,
        on_error: options.on_error,
        journal: false,
        limit_bytes_per_s: options.limit_bytes_per_s,
        time_limit: options.time_limit,
    };
    Ok(Decision { plan, notes })
}

/// A copy that is known by the digests of its blocks.
#[derive(Clone, Debug)]
pub struct DigestedCopy {
    /// The name of the digests in messages: the path of a manifest.
    pub address: String,
    /// Length in bytes.
    pub len: u64,
    /// The algorithm and block size of the digests.
    pub digests: BlockDigests,
    /// The address map on the dest.
    pub map: AddressMap,
    /// The copy was of a part of its source or to a part of its dest, so the dest may continue after it.
    pub is_range: bool,
}

/// How a dest is compared with digests.
#[derive(Debug)]
pub struct DigestComparison {
    /// The decision.
    pub decision: Decision,
    /// Facts that name the digests in messages.
    pub source: Facts,
    /// The shorter side, and the number of bytes missing from it.
    pub shorter: Option<(Side, u64)>,
}

/// Decides how `dest` is compared with the digests of a copy: only the dest is read.
///
/// # Errors
/// As for [`compare`].
pub fn compare_digests(options: &Options, copy: &DigestedCopy, dest: &Facts, host: &Host) -> Result<DigestComparison> {
    let mut source = Facts::new(&copy.address, EndpointKind::Manifest);
    source.size = Some(copy.len);
    let seek_bytes = Some(copy.map.start()).filter(|&start| start > 0);
    let ranges = [None, copy.map.file().map(|_| copy.map.clone())];
    let (skip_bytes, count_bytes) = (None, None);
    let options = Options { ranges, seek_bytes, skip_bytes, count_bytes, hashes: Vec::new(), ..options.clone() };
    let mut decision = compare(&options, &source, dest, host)?;
    let Decision { plan, notes } = &mut decision;
    let Route::Compare { shorter, .. } = plan.route else { unreachable!("two sides are compared by that route") };
    let shorter = shorter.filter(|(side, _)| !(copy.is_range && *side == Side::Source));
    plan.route = Route::ReadBack;
    plan.digest_blocks = Some(copy.digests);
    (plan.tuning.limits.bursts, plan.tuning.bursts) = (false, Bursts::Never);
    notes.why.retain(|reason| reason.side != Some(Side::Source));
    notes.range.iter_mut().for_each(|range| "the range covered by the manifest".clone_into(&mut range.because));
    Ok(DigestComparison { decision, source, shorter })
}

/// Bytes of the dest after `--seek`.
fn dest_room(options: &Options, dest: &Facts) -> Result<u64> {
    let name = named(Side::Dest, dest);
    if !dest.exists {
        let error = Error::new(Kind::Open, format!("{name} does not exist, so haul cannot compare with it"));
        return Err(error.on(Side::Dest).advise("Check the path."));
    }
    if dest.kind == EndpointKind::Compressed && dest.size.is_none() {
        return Ok(u64::MAX);
    }
    let is_stored =
        dest.kind == EndpointKind::Compressed || dest.kind.is_storage() || dest.kind == EndpointKind::Memory;
    let Some(size) = dest.size.filter(|_| is_stored) else {
        let what = format!("{name} is a {}: haul compares with a file or a device", dest.kind.name());
        let error = Error::new(Kind::Usage, what).on(Side::Dest);
        return Err(error.advise("Name the stream as SRC and the file or device as DST."));
    };
    if let Some(listed) = options.ranges[Side::Dest.index()].as_ref().and_then(AddressMap::listed_bytes) {
        return Ok(listed);
    }
    let seek = options.seek_bytes.unwrap_or(0);
    size.checked_sub(seek).ok_or_else(|| {
        let what = format!("{} {seek} is beyond the end: {name} has {}", offset_option(Side::Dest), words::exact(size));
        Error::new(Kind::Usage, what).on(Side::Dest).advise("Give a smaller --seek.")
    })
}

/// What can be compared, and which side is shorter. A device may be larger than the copy on it, so only files
/// must have equal ends, unless a range was requested.
fn settle_ends(asked: &PlanInput, range: Range, room: u64) -> (Range, Route) {
    let is_file = asked.dest_is_file() || asked.dest.kind == EndpointKind::Compressed;
    let ends_together = is_file && !asked.range_given() && asked.source.kind != EndpointKind::Endless;
    // Of a compressed file it may be unknown; then the end shows it.
    let is_known = asked.dest.size.is_some();
    let shorter = match range.len {
        Some(len) if len > room => Some((Side::Dest, len - room)),
        Some(len) if len < room && ends_together && is_known => Some((Side::Source, room - len)),
        _ => None,
    };
    let len = range.len.map(|len| len.min(room));
    (Range { len, ..range }, Route::Compare { ends_together, shorter })
}

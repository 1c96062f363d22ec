//! Where and how `haul tune --write` and `haul profile --write` may write: pure.
use super::requests::WriteOptions;
use crate::apps::measuring::plan::measuring::{Measuring, measure_by};
use crate::core::{EndpointKind, EngineKind, Error, Existing, Extent, Facts, Host, Kind, Op, Result, Side};
use crate::plan::plan_input::{PlanInput, in_memory};
use crate::plan::{Options, check, words};

/// Limit of bytes that are overwritten and restored, and of a file created for measuring: more than the cache
/// of any disk, and restored within a minute on a slow stick.
pub const KEPT_BYTES_MAX: u64 = 512 << 20;

/// Minimum number of bytes for a useful measurement; a smaller device is overwritten completely.
const KEPT_BYTES_MIN: u64 = 16 << 20;

/// Alignment of the extents that are written, and of their length, in bytes.
const GRID_BYTES: u64 = 1 << 20;

/// For devices of at least this size the first and the last MiB are not written: the partition tables survive a
/// power loss.
const EDGES_FROM_BYTES: u64 = 64 << 20;

/// Smallest piece of test data that can be recognized; the sector size must be a multiple of it. In bytes.
const PIECE_BYTES: u32 = 512;

/// How much is written, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteScope {
    /// Number of extents on a device, spread from its first byte to its last.
    pub places: u32,
    /// Limit of the bytes of a device that are saved and restored; at most [`KEPT_BYTES_MAX`].
    pub kept_bytes: u64,
    /// Size of a file that is created.
    pub file_bytes: u64,
    /// The file is filled before the measurement, so that allocating its blocks is not measured.
    pub filled: bool,
}

/// What is overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteDest {
    /// A temporary file of at most this many bytes.
    NewFile(u64),
    /// At most these extents of a device, whose data is saved and restored.
    Kept(Vec<Extent>),
    /// The whole device, whose data is lost.
    All,
}

/// How a disk or file is opened and written for measuring.
#[derive(Clone, Debug)]
pub struct Writing {
    /// How it is opened.
    pub measuring: Measuring,
    /// What is overwritten.
    pub over: WriteDest,
}

/// Checks whether the device or the new file with these `facts` may be written to at all; called before
/// anything is created.
///
/// # Errors
/// Refused for an existing file, a device in use, one that is not the expected one; Open for a device that is
/// not writable.
pub fn may_measure_writing(write: &WriteOptions, facts: &Facts, host: &Host) -> Result<()> {
    let options = Options { expect: write.expect.clone(), ..Options::default() };
    let nothing = Facts::new("", EndpointKind::Null);
    if facts.kind == EndpointKind::File && facts.exists {
        let what = format!("{} is an existing file: haul overwrites no file to measure", facts.address);
        let advice = "Name a new file, or a directory: haul creates a temporary file in it.";
        return Err(Error::new(Kind::Refused, what).advise(advice));
    }
    if matches!(facts.kind, EndpointKind::File | EndpointKind::Block) {
        check::dest(&PlanInput { options: &options, source: &nothing, dest: facts, host, one_of_several: false })?;
    }
    if facts.kind == EndpointKind::File && write.destroy {
        let what = "--destroy: a temporary file has no data to lose";
        return Err(Error::new(Kind::Usage, what).advise("Omit it."));
    }
    if facts.kind == EndpointKind::File && write.save {
        let what = "--save: results of a temporary file do not apply to copies";
        return Err(Error::new(Kind::Usage, what).advise("Name a device, or omit it."));
    }
    Ok(())
}

/// How the device or the new file with these `facts` may be written to. `store` are the facts of the undo
/// journal in which the data of a device would be saved.
///
/// # Errors
/// As for [`may_measure_writing`]; Refused if the undo journal would be on the device itself or the file system
/// is too full; as for [`super::measure`].
pub fn measure_writing(
    write: &WriteOptions,
    facts: &Facts,
    store: Option<&Facts>,
    reach: WriteScope,
    engine: Option<EngineKind>,
    host: &Host,
) -> Result<Writing> {
    may_measure_writing(write, facts, host)?;
    let over = match facts.kind {
        EndpointKind::File => WriteDest::NewFile(room_for_file(facts, reach.file_bytes)?),
        _ if write.destroy => WriteDest::All,
        _ => WriteDest::Kept(places(facts, reach.places, room_in(store, facts, reach.kept_bytes)?)),
    };
    let sized = match over {
        WriteDest::NewFile(bytes) => Facts { size: Some(bytes), ..facts.clone() },
        _ => facts.clone(),
    };
    let mut measuring = measure_by(&sized, Op::Write, engine, host)?;
    if facts.kind == EndpointKind::Block && !facts.logical_block_bytes.is_multiple_of(PIECE_BYTES) && !write.destroy {
        let what = format!("{} has sectors of {} bytes", facts.address, facts.logical_block_bytes);
        let what = format!("{what}: haul could not identify its test data to restore the original data");
        return Err(Error::new(Kind::Unsupported, what).advise("--destroy measures without saving the original data."));
    }
    measuring.ways.iter_mut().for_each(|(_, side)| side.lock = Some(Extent::new(0, u64::MAX)));
    if let Some((_, side)) = measuring.ways.first_mut() {
        // The claim of the first open covers the others; a node has a separate claim.
        side.access.exclusive = facts.kind == EndpointKind::Block && side.through.is_none();
        side.access.existing = if matches!(over, WriteDest::NewFile(_)) { Existing::Create } else { Existing::Keep };
    }
    if let (WriteDest::Kept(_), Some(store)) = (&over, store)
        && in_memory(store)
    {
        measuring.warnings.push(format!(
            "the original data of {} is saved in {}, which is in memory: a power loss would lose it; XDG_STATE_HOME \
             sets another directory",
            facts.address, store.address
        ));
    }
    Ok(Writing { measuring, over })
}

/// The size of the file: at most half of the free space, so that other processes do not run out of it.
fn room_for_file(facts: &Facts, wanted: u64) -> Result<u64> {
    let free = facts.free_bytes.unwrap_or(u64::MAX);
    let bytes = wanted.min(free / 2) / GRID_BYTES * GRID_BYTES;
    if bytes > 0 && bytes >= wanted.min(KEPT_BYTES_MIN) {
        return Ok(bytes);
    }
    let what = format!(
        "not enough space to measure: the file system of {} has {} free, of which haul uses at most half",
        facts.address,
        words::size(free)
    );
    let advice = format!(
        "At least {} are needed: free space, or name a file on another file system.",
        words::size(KEPT_BYTES_MIN * 2)
    );
    Err(Error::new(Kind::NoSpace, what).advise(advice))
}

/// How many bytes of a device can be saved.
fn room_in(store: Option<&Facts>, facts: &Facts, most: u64) -> Result<u64> {
    let Some(store) = store else { return Ok(0) };
    if store.ground.iter().any(|ground| Some(ground.id) == facts.id) {
        let what = format!("{} is on {} itself: its original data cannot be saved there", store.address, facts.address);
        let advice = "Set XDG_STATE_HOME to a directory on another disk; --destroy measures without saving the \
            original data.";
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
    }
    let wanted = facts.size.unwrap_or(0).min(KEPT_BYTES_MAX.min(most));
    let (free, least) = (store.free_bytes.unwrap_or(u64::MAX), wanted.min(KEPT_BYTES_MIN));
    // The lines before them need less than one step of the grid.
    let room = (free / 2).saturating_sub(GRID_BYTES).min(wanted);
    if room >= least {
        return Ok(room);
    }
    let what = format!(
        "not enough space to save the original data of {}: {} needs at least {}, but half of its free space is {}",
        facts.address,
        store.address,
        words::size(least),
        words::size(free / 2)
    );
    let advice = "Free space, or set XDG_STATE_HOME to another directory; --destroy measures without saving the \
        original data.";
    Err(Error::new(Kind::NoSpace, what).advise(advice))
}

/// `count` extents of equal length, spread evenly over the range that may be written.
fn places(facts: &Facts, count: u32, room: u64) -> Vec<Extent> {
    let size = facts.size.unwrap_or(0);
    let edge = if size >= EDGES_FROM_BYTES { GRID_BYTES } else { 0 };
    let inner = size - 2 * edge;
    // Limited by the space for the undo journal, too: none may be empty.
    let count = u64::from(count.max(1)).min((room.min(inner) / GRID_BYTES).max(1));
    if count == 1 && inner <= room {
        return vec![Extent::new(edge, inner)];
    }
    let len = room.min(inner) / count / GRID_BYTES * GRID_BYTES;
    let step = |at: u64| (u128::from(inner - len) * u128::from(at) / u128::from((count - 1).max(1))) as u64;
    (0..count).map(|at| Extent::new(edge + step(at) / GRID_BYTES * GRID_BYTES, len)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{DirectAlignment, FileId, Ground, InUse};
    use crate::plan::Expectation;
    use proptest::prelude::*;

    const HOST: Host = Host { ring_refused: None };
    const REACH: WriteScope =
        WriteScope { places: 4, kept_bytes: KEPT_BYTES_MAX, file_bytes: KEPT_BYTES_MAX, filled: true };

    fn disk(size: u64) -> Facts {
        let mut facts = Facts::new("/dev/sdz", EndpointKind::Block);
        (facts.size, facts.logical_block_bytes) = (Some(size), 512);
        facts.id = Some(FileId::Device(99));
        facts.direct = Some(DirectAlignment { memory_bytes: 512, offset_bytes: 512 });
        facts
    }

    fn file(exists: bool, free_bytes: u64) -> Facts {
        let mut facts = Facts::new("/srv/new", EndpointKind::File);
        (facts.exists, facts.size, facts.free_bytes) = (exists, Some(0), Some(free_bytes));
        facts
    }

    fn made(write: &WriteOptions, facts: &Facts, store: &Facts) -> Result<Writing> {
        measure_writing(write, facts, Some(store), REACH, None, &HOST)
    }

    #[test]
    fn a_device_is_claimed_and_its_edges_are_not_written() {
        let writing = made(&WriteOptions::default(), &disk(1 << 40), &file(false, 100 << 30)).unwrap();
        let WriteDest::Kept(places) = &writing.over else { panic!("{writing:?}") };
        assert_eq!(places.iter().map(|place| place.len).sum::<u64>(), KEPT_BYTES_MAX);
        assert_eq!((places[0].offset, places[3].end()), (1 << 20, (1 << 40) - (1 << 20)));
        let ways = &writing.measuring.ways;
        assert!(ways[0].1.access.exclusive && !ways[1].1.access.exclusive);
        let destroyed = WriteOptions { destroy: true, ..WriteOptions::default() };
        assert_eq!(made(&destroyed, &disk(1 << 40), &file(false, 0)).unwrap().over, WriteDest::All);
    }

    #[test]
    fn no_more_bytes_are_saved_than_configured() {
        let reach = WriteScope { kept_bytes: 64 << 20, ..REACH };
        let store = file(false, 100 << 30);
        let writing =
            measure_writing(&WriteOptions::default(), &disk(1 << 40), Some(&store), reach, None, &HOST).unwrap();
        let WriteDest::Kept(places) = &writing.over else { panic!("{writing:?}") };
        assert_eq!(places.iter().map(|place| place.len).collect::<Vec<_>>(), [16 << 20; 4]);
    }

    #[test]
    fn a_new_file_takes_at_most_half_of_the_free_space() {
        let new = |free| measure_writing(&WriteOptions::default(), &file(false, free), None, REACH, None, &HOST);
        assert_eq!(new(100 << 30).unwrap().over, WriteDest::NewFile(KEPT_BYTES_MAX));
        let small = new(100 << 20).unwrap();
        assert_eq!(small.over, WriteDest::NewFile(50 << 20));
        assert_eq!(small.measuring.ways[0].1.access.existing, Existing::Create);
        assert_eq!(new(20 << 20).unwrap_err().kind, Kind::NoSpace);
    }

    #[test]
    fn destinations_that_must_not_be_written_are_refused_with_advice() {
        let plain = WriteOptions::default();
        let store = file(false, 100 << 30);
        let mut used = disk(1 << 30);
        used.in_use.push(InUse::Swap { device: "sdz".to_owned() });
        let locked = Facts { writable: false, ..disk(1 << 30) };
        let ground = Ground { id: FileId::Device(99), name: "/dev/sdz".to_owned(), offset: None, rotational: None };
        let on_it = Facts { ground: vec![ground], ..file(false, 100 << 30) };
        let odd = Facts { logical_block_bytes: 520, ..disk(1 << 30) };
        let other = WriteOptions { expect: vec![Expectation::Size(7)], ..WriteOptions::default() };
        let destroyed = WriteOptions { destroy: true, ..WriteOptions::default() };
        let saved = WriteOptions { save: true, ..WriteOptions::default() };
        let table = [
            (made(&plain, &file(true, 1 << 40), &store), Kind::Refused, "an existing file"),
            (made(&plain, &used, &store), Kind::Refused, "swap space"),
            (made(&plain, &locked, &store), Kind::Open, "no permission to write"),
            (made(&plain, &disk(1000), &store), Kind::Refused, "too small"),
            (made(&plain, &disk(1 << 30), &on_it), Kind::Refused, "is on /dev/sdz itself"),
            (made(&plain, &disk(1 << 30), &file(false, 20 << 20)), Kind::NoSpace, "not enough space to save"),
            (made(&plain, &odd, &store), Kind::Unsupported, "could not identify its test data"),
            (made(&other, &disk(1 << 30), &store), Kind::Refused, "not the expected device"),
            (made(&destroyed, &file(false, 1 << 40), &store), Kind::Usage, "has no data to lose"),
            (made(&saved, &file(false, 1 << 40), &store), Kind::Usage, "do not apply to copies"),
            (made(&plain, &Facts::new("/dev/null", EndpointKind::Null), &store), Kind::Usage, "neither a disk nor"),
        ];
        for (result, kind, words) in table {
            let error = result.unwrap_err();
            assert!(error.kind == kind && error.what.contains(words) && !error.advice.is_empty(), "{words}: {error:?}");
        }
    }

    #[test]
    fn originals_in_memory_are_warned_of() {
        let store = Facts { filesystem: Some("tmpfs".to_owned()), ..file(false, 100 << 30) };
        let writing = made(&WriteOptions::default(), &disk(1 << 30), &store).unwrap();
        assert!(writing.measuring.warnings[0].contains("a power loss would lose it"), "{writing:?}");
    }

    proptest! {
        #[test]
        fn positions_are_on_the_device_ascending_and_apart(
            size in 1u64 << 20..1 << 42, count in 1u32..200, room in 0u64..700,
        ) {
            let room = (room << 20).min(size);
            prop_assume!(room >= 1 << 20);
            let found = places(&disk(size / 512 * 512), count, room);
            prop_assert!(!found.is_empty() && found.iter().map(|place| place.len).sum::<u64>() <= room.max(size));
            prop_assert!(found.windows(2).all(|pair| pair[0].end() <= pair[1].offset), "{:?}", found);
            prop_assert!(found.iter().all(|place| !place.is_empty() && place.end() <= size && place.offset % 512 == 0));
        }
    }
}

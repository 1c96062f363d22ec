//! The result of a copy after each failure, at each offset, on each kind of side, with each engine. The tables of
//! docs/user/reliability.md are generated here; an outdated one fails the test. UPDATE=1 writes them.
mod bed;
mod faulty;
mod page;

use bed::{BLOCK_BYTES, BYTES, Bed, SECTOR_BYTES, Sort};
use faulty::Fault;
use haul::core::{Ended, EngineKind, Extent, Kind, OnError, Outcome, Side};

/// A failure, in the words of the table, and the value of --on-error.
const FAILURES: [(&str, Fault, Side, OnError); 10] = [
    ("EIO, read", Fault::Eio, Side::Source, STOP),
    ("EIO, read, `--on-error retry:2`", Fault::Eio, Side::Source, OnError { skip: false, retries: 2 }),
    ("EIO, read, `--on-error skip`", Fault::Eio, Side::Source, OnError { skip: true, retries: 0 }),
    ("EIO, write", Fault::Eio, Side::Dest, STOP),
    ("ENOSPC", Fault::Full, Side::Dest, STOP),
    ("short read", Fault::Short, Side::Source, STOP),
    ("short write", Fault::Short, Side::Dest, STOP),
    ("stall", Fault::Stall, Side::Source, STOP),
    ("source removed", Fault::Gone, Side::Source, STOP),
    ("destination removed", Fault::Gone, Side::Dest, STOP),
];
const STOP: OnError = OnError { skip: false, retries: 0 };
const ENGINES: [EngineKind; 2] = [EngineKind::Ring, EngineKind::Threads];

/// Bytes that fail: in the first block, one in the middle, in the last.
const PLACES: [u64; 3] = [700, BYTES / 2 + 700, BYTES - 300];

/// How it ended, in a few words. Asserts that claimed bytes are on the dest, and that nothing else of it changed.
#[track_caller]
fn reported(bed: &Bed, outcome: &Outcome, fault: Fault, place: u64) -> String {
    let (source, dest) = (bed.source(), bed.dest());
    let unread = &outcome.unread[Side::Source.index()].runs;
    let mut expected = source.clone();
    unread.iter().for_each(|bad| expected[bad.offset as usize..bad.end() as usize].fill(0));
    let claimed = outcome.claimed.end() as usize;
    assert!(dest[..claimed] == expected[..claimed], "bytes are claimed that were not copied");
    assert!(dest[BYTES as usize..] == bed.behind()[..], "bytes behind the copy were changed");
    let block = place / BLOCK_BYTES * BLOCK_BYTES;
    let sector = place / SECTOR_BYTES * SECTOR_BYTES;
    match &outcome.ended {
        Ended::Complete if unread.is_empty() => {
            assert_eq!(claimed as u64, BYTES);
            "copied".to_owned()
        }
        Ended::Complete => {
            assert_eq!(claimed as u64, BYTES);
            assert!(unread.iter().eq([Extent::new(sector, SECTOR_BYTES)]), "{unread:?} is not the bad sector");
            "copied, zeros for that sector alone; status 1".to_owned()
        }
        Ended::Failed(error) => {
            let kind = match error.kind {
                Kind::Io => "I/O error",
                Kind::NoSpace => "full",
                Kind::Disconnected => "gone",
                other => panic!("{other:?}: {error}"),
            };
            let offset = error.offset.expect("every failure has an offset");
            let ended = offset / BLOCK_BYTES * BLOCK_BYTES;
            let (named, block) = match offset {
                // Data in flight when it disappeared is lost as well.
                _ if fault == Fault::Gone && offset <= place => ("first failed byte", ended),
                _ if offset == sector => ("sector", block),
                _ if (block..block + BLOCK_BYTES).contains(&offset) => ("block", block),
                _ => panic!("byte {offset} is not where it failed, at {place}"),
            };
            let claims = match outcome.claimed.len {
                len if len == block && block > 0 => "all before its block claimed",
                0 => "nothing claimed",
                len => panic!("{len} bytes are claimed, and {block} come before the bad block"),
            };
            format!("{kind}, {named} named; {claims}")
        }
        Ended::Interrupted(_) | Ended::OutOfTime => panic!("it was not interrupted"),
    }
}

/// The table of one kind of side.
fn table(sort: Sort, bed: &Bed) -> String {
    let mut rows = String::from("| failure | first block | in the middle | last block |\n|---|---|---|---|\n");
    for (name, fault, side, on_error) in FAILURES {
        let cell = |place| {
            let by = ENGINES.map(|engine| reported(bed, &bed.copy(engine, fault, side, place, on_error), fault, place));
            assert_eq!(by[0], by[1], "{sort:?}, {name} at byte {place}: the engines do not agree");
            // A server that runs a shell for each request would take minutes to repeat it.
            let resumed = ENGINES.into_iter().filter(|_| sort != Sort::Nbd);
            resumed.for_each(|engine| bed.copy_and_resume(engine, fault, side, place, on_error));
            by[0].clone()
        };
        rows += &format!("| {name} | {} |\n", PLACES.map(cell).join(" | "));
    }
    rows
}

#[test]
fn the_fault_matrix_of_file_copies_matches_its_page() {
    if let Some(bed) = Bed::new(Sort::File) {
        page::holds("file", &table(Sort::File, &bed));
    }
}

#[test]
fn the_fault_matrix_of_block_devices_matches_its_page() {
    if let Some(bed) = Bed::new(Sort::Block) {
        page::holds("block", &table(Sort::Block, &bed));
    }
}

#[test]
fn the_fault_matrix_of_nbd_copies_matches_its_page() {
    if let Some(bed) = Bed::new(Sort::Nbd) {
        page::holds("nbd", &table(Sort::Nbd, &bed));
    }
}

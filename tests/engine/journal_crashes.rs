//! A journal whose process is killed, or whose disk is full, contains the claims that the process printed.
//!
//! That process runs this binary again, with `the_process_to_be_killed`.
use crate::support;
use haul::core::{Extent, ExtentSet};
use haul::ledger::SideIdentity;
use haul::ledger::journal::{Head, Journal, read};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Extents per append: enough for the journal to be compacted after a few.
const EXTENTS: u64 = 200;

fn head() -> Head {
    let side = SideIdentity {
        path: "/x".into(),
        kind: "file".into(),
        offset_bytes: 0,
        size_bytes: None,
        logical_block_bytes: 1,
        model: None,
        serial: None,
        wwn: None,
        version: None,
    };
    let (version, created) = (String::new(), String::new());
    let (samples, source_ranges) = (Vec::new(), Vec::new());
    Head { version, created, len_bytes: None, ranges: None, source: side.clone(), dest: side, samples, source_ranges }
}

/// The extents of append number `round`: each is adjacent to one of the previous round.
fn extents(round: u64) -> Vec<Extent> {
    (0..EXTENTS).map(|number| Extent::new((number * 1000 + round) * 4096, 4096)).collect()
}

/// All extents of this number of rounds.
fn of_rounds(rounds: u64) -> ExtentSet {
    (0..EXTENTS).map(|number| Extent::new(number * 1000 * 4096, rounds * 4096)).collect()
}

fn child(path: &Path, what: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "journal_crashes::the_process_to_be_killed", "--nocapture", "--quiet"]);
    command.env("HAUL_TEST_JOURNAL", path).env("HAUL_TEST_SUFFERS", what);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
}

/// The numbers that a child prints when they are claimed.
fn messages(child: &mut Child) -> impl Iterator<Item = u64> + '_ {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("claimed ")?.parse().ok())
}

#[test]
fn the_process_to_be_killed() {
    let Some(path) = std::env::var_os("HAUL_TEST_JOURNAL") else { return };
    let path = Path::new(&path);
    match std::env::var("HAUL_TEST_SUFFERS").unwrap().as_str() {
        "kills" => appends_until_it_is_killed(path),
        "a full disk" => continues_after_a_full_disk(path),
        other => panic!("{other}"),
    }
}

fn appends_until_it_is_killed(path: &Path) {
    let mut journal =
        if path.exists() { Journal::open(path).unwrap().unwrap().0 } else { Journal::create(path, head()).unwrap() };
    let begin = journal.state().durable.total_bytes() / 4096 / EXTENTS;
    for round in begin..1000 {
        journal.append(&extents(round), &[]).unwrap();
        println!("claimed {round}");
        std::io::stdout().flush().unwrap();
    }
}

#[test]
fn a_copy_killed_at_any_moment_has_exactly_its_claimed_bytes() {
    let scratch = support::memory_dir();
    let path = scratch.path().join("journal");
    let mut claimed: Option<u64> = None;
    let mut largest = 0;
    for kill in 0..12 {
        let mut process = child(&path, "kills");
        // The kill happens during later appends.
        if let Some(last) = messages(&mut process).take(1 + kill * 5 % 23).last() {
            claimed = Some(last);
        }
        process.kill().unwrap();
        process.wait().unwrap();
        largest = largest.max(fs::metadata(&path).unwrap().len());
        let reading = read(BufReader::new(fs::File::open(&path).unwrap())).unwrap();
        let durable = reading.state.durable;
        let rounds = durable.total_bytes() / 4096 / EXTENTS;
        assert!(rounds > claimed.unwrap(), "what was claimed is missing");
        // More was being claimed; an append is one line here, so it exists completely or not at all.
        assert_eq!(durable, of_rounds(rounds));
    }
    assert!(largest > 256 << 10, "it was rewritten in between: {largest} bytes");
}

/// A limit of the file size simulates a full disk: a part of a line is written, the rest is refused.
fn continues_after_a_full_disk(path: &Path) {
    // SAFETY: no handler is installed; the signal would end the process instead of failing the write.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let limit = |bytes| setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
    let mut journal = Journal::create(path, head()).unwrap();
    journal.append(&extents(0), &[]).unwrap();
    let before = fs::read(path).unwrap();
    limit(Some(before.len() as u64 + 100));
    let fault = journal.append(&extents(1), &[]).unwrap_err();
    assert!(fs::read(path).unwrap() == before, "the part of a line is still there: {fault}");
    assert!(!journal.state().durable.contains(extents(1)[0]));
    limit(None);
    journal.append(&extents(1), &[]).unwrap();
    println!("claimed 1");
}

#[test]
fn a_journal_line_that_does_not_fit_is_rolled_back() {
    let scratch = support::memory_dir();
    let path = scratch.path().join("journal");
    let mut process = child(&path, "a full disk");
    assert_eq!(messages(&mut process).last(), Some(1));
    assert!(process.wait().unwrap().success());
    let reading = read(BufReader::new(fs::File::open(&path).unwrap())).unwrap();
    assert_eq!((reading.state.durable, reading.torn), (of_rounds(2), None));
}

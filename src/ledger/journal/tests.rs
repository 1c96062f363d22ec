//! No fault makes a journal claim more than was appended.
use super::file::Journal;
use super::reading::Torn;
use super::*;
use crate::core::{BlockDigest, Extent, ExtentSet, Upload};
use crate::ledger::first_line::FirstLine;
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, SideIdentity};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

pub const LEN: u64 = 1000;

fn side(path: &str, kind: &str, serial: Option<&str>) -> SideIdentity {
    SideIdentity {
        path: path.into(),
        kind: kind.into(),
        offset_bytes: 100,
        size_bytes: Some(5000),
        logical_block_bytes: 512,
        model: Some("model".into()),
        serial: serial.map(str::to_owned),
        wwn: None,
        version: None,
    }
}

pub fn head() -> Head {
    let samples = [0, 700].map(|offset_bytes| Sample { offset_bytes, len_bytes: 64, digest: digest(offset_bytes) });
    Head {
        version: "0.1.0".into(),
        created: "2026-11-21T20:15:00Z".into(),
        len_bytes: Some(LEN),
        ranges: None,
        source: side("/dev/sda", "block device", Some("S1")),
        dest: side("/srv/image", "file", None),
        samples: samples.into(),
        source_ranges: Vec::new(),
    }
}

pub fn digest(seed: u64) -> BlockDigest {
    BlockDigest::blake3(&seed.to_le_bytes())
}

pub fn extents(pairs: &[(u64, u64)]) -> Vec<Extent> {
    pairs.iter().map(|&(offset, len)| Extent::new(offset, len)).collect()
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let shm = std::path::Path::new("/dev/shm");
        let dir = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() };
        Place { dir: dir.unwrap() }
    }

    fn journal(&self) -> PathBuf {
        self.dir.path().join("a.journal")
    }

    fn names(&self) -> Vec<String> {
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        fs::read_dir(self.dir.path()).unwrap().map(|entry| name(entry.unwrap())).collect()
    }
}

/// A small journal, and the correct state after each of its appends, beginning with none.
fn small() -> (Vec<u8>, Vec<State>) {
    let place = Place::new();
    let mut journal = Journal::create(&place.journal(), head()).unwrap();
    let mut truths = vec![journal.state().clone()];
    type Pairs = &'static [(u64, u64)];
    let appends: [(Pairs, Pairs); 4] =
        [(&[(0, 64)], &[]), (&[(128, 64), (64, 10)], &[(192, 8)]), (&[(192, 4)], &[(900, 100)]), (&[(500, 1)], &[])];
    for (durable, unread) in appends {
        journal.append(&extents(durable), &extents(unread)).unwrap();
        truths.push(journal.state().clone());
    }
    (fs::read(place.journal()).unwrap(), truths)
}

#[test]
fn a_journal_truncated_at_any_byte_parses_to_an_earlier_state() {
    let (bytes, truths) = small();
    let head_len = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for len in 0..=bytes.len() {
        match read(&bytes[..len]) {
            Ok(reading) => {
                // Exactly the complete lines count.
                let lines = bytes[..len].iter().filter(|byte| **byte == b'\n').count();
                assert_eq!(reading.state, truths[lines - 1], "{len}");
                let whole = bytes[..len].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
                let torn = (whole < len).then_some(Torn { offset: whole as u64, len: (len - whole) as u64 });
                assert_eq!(reading.torn, torn, "{len}");
            }
            Err(fault) => assert!(len < head_len, "{len} bytes: {fault}"),
        }
    }
    assert_eq!(read(&bytes[..]).unwrap().state, *truths.last().unwrap());
}

#[test]
fn a_journal_with_any_bit_flipped_claims_an_earlier_state_or_nothing() {
    let (bytes, truths) = small();
    let last_line = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut turned = bytes.clone();
        turned[bit / 8] ^= 1 << (bit % 8);
        match read(&turned[..]) {
            // Equivalent to a torn line: the last line is invalid, or the last two because the newline between
            // them is missing.
            Ok(reading) => {
                assert!(bit / 8 >= last_line && reading.torn.is_some(), "bit {bit}");
                assert!(truths[..truths.len() - 1].contains(&reading.state), "bit {bit}");
            }
            Err(fault) => assert!(bit / 8 <= last_line || fault.line > 0, "bit {bit}: {fault}"),
        }
    }
}

#[test]
fn lost_duplicate_and_reordered_lines_are_rejected() {
    let (bytes, truths) = small();
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let state_of = |order: &[usize]| {
        let text: String = order.iter().map(|&at| lines[at]).collect();
        read(text.as_bytes()).map(|reading| reading.state)
    };
    assert_eq!(state_of(&[0, 1, 2]).unwrap(), truths[2]);
    for order in [&[0, 2, 3, 4][..], &[0, 1, 1, 2], &[0, 2, 1, 3], &[0, 1, 2, 4, 3]] {
        assert!(state_of(order).is_err(), "{order:?}");
    }
    // At the end it cannot be distinguished from a torn one.
    assert_eq!(state_of(&[0, 1, 2, 2]).unwrap(), truths[2]);
    assert_eq!(state_of(&[0, 1, 3]).unwrap(), truths[1]);
}

#[derive(Clone, Debug)]
enum Step {
    Append {
        durable: Vec<(u64, u64)>,
        unread: Vec<(u64, u64)>,
    },
    Compact,
    Reopen,
    /// The machine stops before this number of bytes at the end are written.
    Tear(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    let pairs = || prop::collection::vec((0..LEN, 0u64..50), 0..6);
    let pairs = move || pairs().prop_map(|all| all.into_iter().map(|(at, len)| (at, len.min(LEN - at))).collect());
    prop_oneof![
        6 => (pairs(), pairs()).prop_map(|(durable, unread)| Step::Append { durable, unread }),
        1 => Just(Step::Compact),
        2 => Just(Step::Reopen),
        2 => (1usize..200).prop_map(Step::Tear),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn a_journal_claims_exactly_what_was_appended(steps in prop::collection::vec(any_step(), 0..24)) {
        let place = Place::new();
        let path = place.journal();
        let mut journal = Some(Journal::create(&path, head()).unwrap());
        let (mut durable, mut unread) = (vec![false; LEN as usize], vec![false; LEN as usize]);
        for step in steps {
            let open = journal.as_mut().unwrap();
            match step {
                Step::Append { durable: new, unread: failed } => {
                    open.append(&extents(&new), &extents(&failed)).unwrap();
                    new.iter().for_each(|&(at, len)| durable[at as usize..(at + len) as usize].fill(true));
                    failed.iter().for_each(|&(at, len)| unread[at as usize..(at + len) as usize].fill(true));
                    (0..LEN as usize).for_each(|at| unread[at] &= !durable[at]);
                }
                Step::Compact => open.compact().unwrap(),
                Step::Reopen => {
                    drop(journal.take());
                    let (opened, torn) = Journal::open(&path).unwrap().unwrap();
                    prop_assert_eq!(torn, None);
                    journal = Some(opened);
                }
                Step::Tear(bytes) => {
                    // An incomplete append: some bytes of a line without its end.
                    drop(journal.take());
                    let mut text = fs::read(&path).unwrap();
                    let line = Seal::default().close("{\"durable\":[[0,1000]]}").unwrap();
                    let part = &line.as_bytes()[..bytes.min(line.len() - 1)];
                    text.extend_from_slice(part);
                    fs::write(&path, text).unwrap();
                    let (opened, torn) = Journal::open(&path).unwrap().unwrap();
                    prop_assert_eq!(torn.map(|torn| torn.len), Some(part.len() as u64));
                    journal = Some(opened);
                }
            }
            let state = journal.as_ref().unwrap().state();
            let bits = |set: &ExtentSet| (0..LEN).map(|at| set.contains(Extent::new(at, 1))).collect::<Vec<_>>();
            prop_assert_eq!(bits(&state.durable), durable.clone());
            prop_assert_eq!(bits(&state.unread), unread.clone());
        }
        prop_assert_eq!(place.names(), ["a.journal"]);
    }
}

#[test]
fn a_torn_last_line_is_truncated_before_the_next_append() {
    let (bytes, truths) = small();
    let place = Place::new();
    fs::write(place.journal(), &bytes[..bytes.len() - 3]).unwrap();
    let (mut journal, torn) = Journal::open(&place.journal()).unwrap().unwrap();
    assert!(torn.is_some());
    assert_eq!(*journal.state(), truths[3]);
    journal.append(&extents(&[(500, 1)]), &[]).unwrap();
    drop(journal);
    assert_eq!(fs::read(place.journal()).unwrap(), bytes);
}

#[test]
fn the_size_of_a_journal_is_bounded_by_its_content() {
    let place = Place::new();
    let mut journal = Journal::create(&place.journal(), head()).unwrap();
    let alone = fs::metadata(place.journal()).unwrap().len();
    journal.compact_bytes = alone + 500;
    for at in 0..LEN {
        journal.compact_bytes = journal.compact_bytes.min(alone + 500);
        journal.append(&extents(&[(at, 1)]), &[]).unwrap();
        assert!(fs::metadata(place.journal()).unwrap().len() < alone + 600);
    }
    drop(journal);
    let (journal, _) = Journal::open(&place.journal()).unwrap().unwrap();
    assert!(journal.state().durable.iter().eq([Extent::new(0, LEN)]));
    assert_eq!(place.names(), ["a.journal"]);
}

#[test]
fn many_extents_are_split_into_lines_of_a_bounded_length() {
    let place = Place::new();
    let mut journal = Journal::create(&place.journal(), Head { len_bytes: None, samples: vec![], ..head() }).unwrap();
    let far = 9_000_000_000_000_000_000;
    let scattered: Vec<Extent> = (0..2500).map(|number| Extent::new(far + 2 * number, 1)).collect();
    journal.append(&scattered, &extents(&[(0, 7)])).unwrap();
    let text = fs::read_to_string(place.journal()).unwrap();
    assert_eq!(text.lines().count(), 1 + 3);
    assert!(text.lines().all(|line| line.len() < 64 << 10));
    assert!(read(text.as_bytes()).unwrap().state.durable.iter().eq(scattered));
}

#[test]
fn a_journal_lists_the_ranges_of_its_source_in_order_also_after_it_was_rewritten() {
    let place = Place::new();
    let source_ranges: Vec<Extent> = (0..2500).rev().map(|number| Extent::new(5000 + 3 * number, 1)).collect();
    let head = Head { source_ranges: source_ranges.clone(), ..head() };
    let mut journal = Journal::create(&place.journal(), head.clone()).unwrap();
    journal.append(&extents(&[(0, 2), (9, 1)]), &extents(&[(2, 1)])).unwrap();
    journal.compact().unwrap();
    journal.append(&extents(&[(5, 1)]), &[]).unwrap();
    drop(journal);
    let text = fs::read_to_string(place.journal()).unwrap();
    assert!(text.lines().all(|line| line.len() < 64 << 10));
    let reading = read(text.as_bytes()).unwrap();
    assert_eq!(reading.head, head);
    let mapfile = reading.state.to_mapfile(&reading.head);
    let at = |number: u64| Extent::new(5000 + 3 * number, 1);
    let wanted: ExtentSet = [at(2499), at(2498), at(2494), at(2490)].into_iter().collect();
    assert!(mapfile.sets().finished == wanted);
    assert!(mapfile.sets().bad.iter().eq([at(2497)]));
}

fn kind_of<T>(result: Result<T, Fault>) -> FaultKind {
    result.err().expect("it should fail").kind
}

#[test]
fn a_journal_is_used_by_one_process_and_never_overwritten() {
    let place = Place::new();
    let path = place.journal();
    let journal = Journal::create(&path, head()).unwrap();
    // flock belongs to the open file description, so a second open in this process behaves like another
    // process.
    assert!(matches!(kind_of(Journal::open(&path)), FaultKind::Busy));
    assert!(matches!(kind_of(Journal::create(&path, head())), FaultKind::Exists));
    drop(journal);
    let (mut journal, _) = Journal::open(&path).unwrap().unwrap();
    journal.compact().unwrap();
    assert!(matches!(kind_of(Journal::open(&path)), FaultKind::Busy), "the lock goes with the file");
    assert_eq!(place.names(), ["a.journal"]);
    journal.remove().unwrap();
    assert!(place.names().is_empty());
    assert!(Journal::open(&path).unwrap().is_none());
}

#[test]
fn files_with_similar_names_are_not_touched() {
    let place = Place::new();
    let others = ["a.journal.compact", "a.journal.new"];
    others.iter().for_each(|name| fs::write(place.dir.path().join(name), "somebody's").unwrap());
    let mut journal = Journal::create(&place.journal(), head()).unwrap();
    journal.append(&extents(&[(1, 2)]), &[]).unwrap();
    journal.compact().unwrap();
    drop(journal);
    let (journal, torn) = Journal::open(&place.journal()).unwrap().unwrap();
    assert!(torn.is_none() && journal.state().durable.iter().eq([Extent::new(1, 2)]));
    assert_eq!(place.names().len(), 3);
    for name in others {
        assert_eq!(fs::read_to_string(place.dir.path().join(name)).unwrap(), "somebody's");
    }
}

#[test]
fn a_replaced_journal_is_neither_compacted_nor_removed() {
    let place = Place::new();
    let path = place.journal();
    let mut journal = Journal::create(&path, head()).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "somebody's").unwrap();
    assert!(matches!(kind_of(journal.compact()), FaultKind::Refused(_)));
    assert!(matches!(kind_of(journal.remove()), FaultKind::Refused(_)));
    assert_eq!(
        (place.names(), fs::read_to_string(&path).unwrap()),
        (vec!["a.journal".to_owned()], "somebody's".into())
    );
}

#[test]
fn foreign_files_newer_versions_and_invalid_lines_have_their_own_errors() {
    let kind_of = |bytes: &[u8]| kind_of(read(bytes));
    assert!(matches!(kind_of(b""), FaultKind::Other));
    assert!(matches!(kind_of(b"{\"haul_manifest\":1,"), FaultKind::Other));
    assert!(matches!(kind_of(b"{\"haul_journal\":99,\n"), FaultKind::Newer { version: 99 }));
    let sealed = |line: &str| {
        let mut seal = Seal::default();
        let lines = [head().to_json().unwrap(), line.to_owned(), line.to_owned()];
        lines.iter().map(|line| seal.close(line).unwrap()).collect::<String>()
    };
    assert!(read(sealed("{\"durable\":[],\"later\":1}").as_bytes()).is_ok());
    for wrong in
        ["{\"durable\":[[0,1001]]}", "{\"durable\":[[1,18446744073709551615]]}", "{\"durable\":[[-1,1]]}", "{}"]
    {
        assert!(matches!(kind_of(sealed(wrong).as_bytes()), FaultKind::Invalid(_)), "{wrong}");
    }
}

#[test]
fn no_byte_beyond_the_end_of_the_copy_is_claimed() {
    let place = Place::new();
    let mut journal = Journal::create(&place.journal(), head()).unwrap();
    let before = fs::read(place.journal()).unwrap();
    assert!(matches!(kind_of(journal.append(&extents(&[(0, 1), (999, 2)]), &[])), FaultKind::Misplaced(_)));
    assert_eq!(fs::read(place.journal()).unwrap(), before);
    assert!(journal.state().durable.is_empty());
}

#[test]
fn the_example_in_the_documents_is_a_valid_journal() {
    let page = include_str!("../../../docs/user/journal.md");
    let example = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let reading = read(example.as_bytes()).unwrap();
    assert!(!reading.state.durable.is_empty() && !reading.state.unread.is_empty() && reading.torn.is_none());
}

#[test]
fn the_parts_of_an_upload_are_read_again_and_survive_compaction() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let upload = |numbers: std::ops::Range<u32>, tag: &str| Upload {
        id: "id \"1\"".to_owned(),
        part_bytes: 8 << 20,
        parts: numbers.map(|number| (number, format!("{tag}{number}"))).collect(),
        shard: None,
    };
    let mut journal = Journal::create(&path, head()).unwrap();
    journal.add_upload(&upload(0..900, "a")).unwrap();
    journal.add_upload(&upload(0..1000, "a")).unwrap();
    let before = std::fs::metadata(&path).unwrap().len();
    journal.add_upload(&upload(0..1000, "a")).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), before, "known parts are not repeated");
    journal.add_upload(&upload(7..8, "b")).unwrap();
    let mut expected = upload(0..1000, "a");
    expected.parts[7].1 = "b7".to_owned();
    assert_eq!(Journal::look(&path).unwrap().state.upload, Some(expected.clone()));
    journal.compact().unwrap();
    assert_eq!(Journal::look(&path).unwrap().state.upload, Some(expected));
}

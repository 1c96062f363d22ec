//! What is written is read back; changed, truncated and forged lines are rejected.
use super::*;
use crate::core::{BlockDigest, BlockHash, Extent};
use crate::ledger::first_line::FirstLine;
use crate::ledger::manifest::head::BLOCK_BYTES_MIN;
use crate::ledger::{Fault, FaultKind, SideIdentity};
use proptest::prelude::*;

const BLOCK: u64 = BLOCK_BYTES_MIN;

fn side(path: &str, serial: Option<&str>) -> SideIdentity {
    SideIdentity {
        path: path.into(),
        kind: "block device".into(),
        offset_bytes: 0,
        size_bytes: Some(1 << 20),
        logical_block_bytes: 512,
        model: Some("A \"model\"\n".into()),
        serial: serial.map(str::to_owned),
        wwn: None,
        version: None,
    }
}

fn head(len_bytes: Option<u64>) -> Head {
    Head {
        version: "0.1.0".into(),
        created: "2026-11-21T20:15:00Z".into(),
        algorithm: BlockHash::Blake3,
        block_bytes: BLOCK,
        len_bytes,
        source: side("/dev/sda", Some("S1")),
        dest: side("/tmp/ü", None),
        also: Vec::new(),
        range: false,
    }
}

fn digest(seed: u64) -> BlockDigest {
    BlockDigest::blake3(&seed.to_le_bytes())
}

fn block(number: u64, len: u64, seed: u64) -> Entry {
    Entry::Block { extent: Extent::new(number * BLOCK, len), digest: digest(seed) }
}

fn zeros(number: u64, len: u64) -> Entry {
    Entry::Zeros(Extent::new(number * BLOCK, len))
}

fn written(head: &Head, entries: &[Entry], whole: Option<BlockDigest>) -> Result<Vec<u8>, Fault> {
    let mut writer = Writer::create(Vec::new(), head)?;
    entries.iter().try_for_each(|entry| writer.add(*entry))?;
    writer.close(whole)
}

/// The entries before the first fault, and that fault.
fn entries_of(bytes: &[u8]) -> (Vec<Entry>, Option<Fault>) {
    let mut reader = match Reader::open(bytes) {
        Ok(reader) => reader,
        Err(fault) => return (Vec::new(), Some(fault)),
    };
    let mut entries = Vec::new();
    for entry in reader.by_ref() {
        match entry {
            Ok(entry) => entries.push(entry),
            Err(fault) => {
                assert!(reader.closing().is_none(), "a manifest with a fault has no end");
                return (entries, Some(fault));
            }
        }
    }
    assert!(reader.closing().is_some(), "a manifest without a fault has an end");
    (entries, None)
}

/// Two blocks and a partial one, one of them zeros, out of order, with an unreadable sector.
fn small() -> (Vec<Entry>, Vec<u8>) {
    let unread = Entry::Unread(Extent::new(2 * BLOCK, 512));
    let entries = vec![block(2, 1000, 3), zeros(1, BLOCK), unread, block(0, BLOCK, 1)];
    let bytes = written(&head(Some(2 * BLOCK + 1000)), &entries, Some(digest(9))).unwrap();
    (entries, bytes)
}

prop_compose! {
    /// A valid copy: its head, its entries in any order, and its length.
    fn any_copy()(
        blocks in prop::collection::vec(0u64..4, 0..12), tail in 0..BLOCK, known in any::<bool>(),
        unread in prop::collection::vec((0u64..12 * BLOCK, 1u64..1000), 0..3), order in any::<u64>(),
    ) -> (Head, Vec<Entry>) {
        let mut entries: Vec<Entry> = Vec::new();
        let mut at = 0;
        for seed in blocks.iter().copied().map(Some).chain((tail > 0).then_some(None)) {
            let len = if seed.is_some() { BLOCK } else { tail };
            match (seed.unwrap_or(tail % 4), entries.last_mut()) {
                (0, Some(Entry::Zeros(run))) => run.len += len,
                (0, _) => entries.push(Entry::Zeros(Extent::new(at, len))),
                (seed, _) => entries.push(Entry::Block { extent: Extent::new(at, len), digest: digest(seed) }),
            }
            at += len;
        }
        let mut end = 0;
        for (skip, len) in unread {
            if end + skip + len <= at {
                entries.push(Entry::Unread(Extent::new(end + skip, len)));
                end += skip + len;
            }
        }
        entries.sort_by_key(|entry| blake3::hash(&(entry.extent().offset ^ order).to_le_bytes()).as_bytes()[0]);
        (head(known.then_some(at)), entries)
    }
}

proptest! {
    #[test]
    fn entries_are_read_in_order((head, entries) in any_copy(), whole in prop::option::of(any::<u64>())) {
        let bytes = written(&head, &entries, whole.map(digest)).unwrap();
        let mut reader = Reader::open(&bytes[..]).unwrap();
        prop_assert_eq!(reader.head(), &head);
        let read: Vec<Entry> = reader.by_ref().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(&read, &entries);
        let closing = *reader.closing().unwrap();
        let end = entries.iter().map(|entry| entry.extent().end()).max().unwrap_or(0);
        prop_assert_eq!(closing, LastLine { lines: entries.len() as u64, len_bytes: end, whole: whole.map(digest) });
    }

    #[test]
    fn a_manifest_that_lacks_an_entry_is_not_closed(
        (head, mut entries) in any_copy(), at in any::<prop::sample::Index>(),
    ) {
        entries.retain(|entry| !matches!(entry, Entry::Unread(_)));
        prop_assume!(entries.len() > 1 && head.len_bytes.is_some());
        let missing = entries.remove(at.index(entries.len())).extent();
        let fault = written(&head, &entries, None).unwrap_err();
        prop_assert!(matches!(fault.kind, FaultKind::Missing(gap) if gap.overlaps(&missing)), "{}", fault);
    }

    #[test]
    fn a_loaded_manifest_has_every_byte_once_and_in_order((head, entries) in any_copy()) {
        let manifest = Manifest::load(&written(&head, &entries, None).unwrap()[..]).unwrap();
        let mut at = 0;
        for (extent, digest) in manifest.pieces() {
            prop_assert_eq!(extent.offset, at);
            at = extent.end();
            prop_assert_eq!(manifest.piece_at(extent.offset), Some(&(*extent, *digest)));
            prop_assert_eq!(manifest.piece_at(extent.end() - 1), Some(&(*extent, *digest)));
        }
        prop_assert_eq!(at, manifest.closing.len_bytes);
        prop_assert_eq!(manifest.piece_at(at), None);
    }
}

#[test]
fn a_manifest_truncated_at_any_byte_parses_as_truncated() {
    let (entries, bytes) = small();
    for len in 0..bytes.len() {
        let (read, fault) = entries_of(&bytes[..len]);
        assert!(entries.starts_with(&read), "{len}");
        let fault = fault.unwrap_or_else(|| panic!("{len} bytes of {} passed", bytes.len()));
        let head_is_whole = len > bytes.iter().position(|byte| *byte == b',').unwrap();
        assert!(matches!(fault.kind, FaultKind::Truncated) || !head_is_whole, "{len}: {fault}");
        assert!(matches!(fault.kind, FaultKind::Other) || head_is_whole, "{len}: {fault}");
    }
    assert_eq!(entries_of(&bytes).0, entries);
}

#[test]
fn every_bit_flip_of_a_manifest_is_detected() {
    let (entries, bytes) = small();
    for bit in 0..bytes.len() * 8 {
        let mut turned = bytes.clone();
        turned[bit / 8] ^= 1 << (bit % 8);
        let (read, fault) = entries_of(&turned);
        assert!(fault.is_some() && entries.starts_with(&read), "bit {bit}");
    }
}

#[test]
fn lost_duplicate_and_reordered_lines_are_reported_with_their_number() {
    let (_, bytes) = small();
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let line_of_fault = |order: &[usize]| {
        let text: String = order.iter().map(|&at| lines[at]).collect();
        entries_of(text.as_bytes()).1.map(|fault| fault.line)
    };
    assert_eq!(line_of_fault(&[0, 1, 2, 3, 4, 5]), None);
    assert_eq!(line_of_fault(&[0, 1, 3, 4, 5]), Some(3));
    assert_eq!(line_of_fault(&[0, 1, 2, 2, 3, 4, 5]), Some(4));
    assert_eq!(line_of_fault(&[0, 1, 3, 2, 4, 5]), Some(3));
    assert_eq!(line_of_fault(&[0, 5]), Some(2));
    assert_eq!(line_of_fault(&[0, 1, 2, 3, 4, 5, 5]), Some(7));
}

/// Lines with arbitrary content and valid checksums, as a defective haul might write them.
fn sealed(lines: &[&str]) -> Vec<u8> {
    let mut seal = crate::ledger::seal::Seal::default();
    lines.iter().flat_map(|line| seal.close(line).unwrap().into_bytes()).collect()
}

#[test]
fn invalid_lines_with_valid_seals_are_refused_by_number() {
    let head = head(Some(2 * BLOCK)).to_json().unwrap();
    let (zeros, rest) =
        ("{\"offset_bytes\":0,\"len_bytes\":131072,\"zero\":true}", "\"len_bytes\":131072,\"whole\":null}");
    let end = format!("{{\"lines\":1,{rest}");
    assert!(entries_of(&sealed(&[&head, zeros, &end])).1.is_none());
    let wrong_end = format!("{{\"lines\":2,{rest}");
    let bad = [
        (vec![zeros, &wrong_end], 3),
        (vec![&end], 2),
        (vec![zeros, zeros], 3),
        (vec![zeros, &end, zeros], 4),
        (vec!["{\"offset_bytes\":1,\"len_bytes\":65536,\"zero\":true}"], 2),
        (vec!["{\"offset_bytes\":65536,\"len_bytes\":131072,\"zero\":true}"], 2),
        (vec!["{\"offset_bytes\":0,\"len_bytes\":100,\"zero\":true}"], 2),
        (vec!["{\"offset_bytes\":0,\"len_bytes\":65536}"], 2),
        (vec!["{\"offset_bytes\":0,\"len_bytes\":65536,\"zero\":true,\"unread\":true}"], 2),
        (vec!["{\"offset_bytes\":0,\"len_bytes\":65536,\"digest\":\"00\"}"], 2),
        (vec!["{\"offset_bytes\":18446744073709551615,\"len_bytes\":2,\"unread\":true}"], 2),
        (vec!["{\"len_bytes\":131072}"], 2),
        (vec!["[1,2]}"], 2),
    ];
    for (lines, number) in bad {
        let all: Vec<&str> = std::iter::once(&head[..]).chain(lines.iter().copied()).collect();
        let fault = entries_of(&sealed(&all)).1.unwrap_or_else(|| panic!("{lines:?} passed"));
        assert!(fault.line == number && !matches!(fault.kind, FaultKind::Damaged), "{lines:?}: {fault}");
    }
}

#[test]
fn foreign_files_newer_versions_and_invalid_headers_have_their_own_errors() {
    let kind_of = |bytes: &[u8]| entries_of(bytes).1.unwrap().kind;
    assert!(matches!(kind_of(b""), FaultKind::Other));
    assert!(matches!(kind_of(b"# Mapfile. Created by GNU ddrescue\n"), FaultKind::Other));
    assert!(matches!(kind_of(b"{\"haul_journal\":1,\"version\":\"\"}\n"), FaultKind::Other));
    assert!(matches!(kind_of(b"{\"haul_manifest\":2,\"sealed in another way\n"), FaultKind::Newer { version: 2 }));
    let json = head(None).to_json().unwrap();
    let with = |from: &str, to: &str| sealed(&[&json.replace(from, to)]);
    assert!(matches!(kind_of(&with("", "")), FaultKind::Truncated));
    for (from, to) in [
        ("blake3", "md5"),
        (":65536", ":32768"),
        (":65536", ":2147483648"),
        (":65536", ":65537"),
        ("\"source\"", "\"sauce\""),
    ] {
        assert!(matches!(kind_of(&with(from, to)), FaultKind::Invalid(_)), "{from} {to}");
    }
    // A field that a later haul added is not a fault.
    assert!(matches!(kind_of(&with("\"created\"", "\"added\":[1],\"created\"")), FaultKind::Truncated));
}

#[test]
fn the_writer_refuses_invalid_entries_and_continues() {
    let mut writer = Writer::create(Vec::new(), &head(Some(2 * BLOCK + 10))).unwrap();
    writer.add(block(0, BLOCK, 1)).unwrap();
    let beyond = Entry::Unread(Extent::new(2 * BLOCK, 11));
    for wrong in
        [block(0, BLOCK, 2), block(1, BLOCK - 1, 1), block(1, 2 * BLOCK, 1), block(2, 9, 1), zeros(1, 0), beyond]
    {
        let fault = writer.add(wrong).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Misplaced(extent) if extent == wrong.extent()), "{wrong:?}: {fault}");
    }
    writer.add(zeros(1, BLOCK + 10)).unwrap();
    let bytes = writer.close(None).unwrap();
    assert_eq!(entries_of(&bytes).0, [block(0, BLOCK, 1), zeros(1, BLOCK + 10)]);
}

#[test]
fn a_stream_may_have_only_one_short_block_and_only_at_its_end() {
    let stream = head(None);
    assert!(written(&stream, &[block(0, BLOCK, 1), block(1, 5, 1)], None).is_ok());
    assert!(written(&stream, &[block(1, 5, 1), block(0, BLOCK, 1)], None).is_ok());
    assert!(written(&stream, &[block(0, 5, 1), block(1, BLOCK, 1)], None).is_err());
    assert!(written(&stream, &[block(0, 5, 1), block(1, 6, 1)], None).is_err());
    assert!(written(&stream, &[block(0, 2 * BLOCK, 1)], None).is_err());
}

#[test]
fn the_example_in_the_documents_is_a_valid_manifest() {
    let page = include_str!("../../../docs/user/manifest.md");
    let example = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let manifest = Manifest::load(example.as_bytes()).unwrap();
    assert!(manifest.closing.whole.is_some() && manifest.pieces().len() > 2 && !manifest.unread.is_empty());
}

//! The manual's example, faults by line, and round trips.
use super::*;
use crate::ledger::FaultKind;
use proptest::prelude::*;

/// Chapter 7 of the manual of ddrescue 1.27.
const EXAMPLE: &str = "# Mapfile. Created by GNU ddrescue version 1.27
# Command line: ddrescue -d -c18 /dev/fd0 fdimage mapfile
# Start time:   2015-07-21 09:37:44
# Current time: 2015-07-21 09:38:19
# Copying non-tried blocks... Pass 1 (forwards)
# current_pos  current_status  current_pass
0x00120000     ?               1
#      pos        size  status
0x00000000  0x00117000  +
0x00117000  0x00000200  -
0x00117200  0x00001000  /
0x00118200  0x00007E00  *
0x00120000  0x00048000  ?
";

#[test]
fn the_example_of_the_manual_round_trips() {
    let map = Mapfile::parse(EXAMPLE.as_bytes()).unwrap();
    assert_eq!((map.current_pos, map.doing, map.current_pass), (0x120000, RescueStatus::Copying, 1));
    let sets = map.sets();
    assert!(sets.finished.iter().eq([Extent::new(0, 0x117000)]));
    assert!(sets.bad.iter().eq([Extent::new(0x117000, 0x200)]));
    assert!(sets.untried.iter().eq([Extent::new(0x117200, 0x168000 - 0x117200)]));
    let mut out = Vec::new();
    map.write(&mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), EXAMPLE);
}

fn parsed(text: &str) -> Result<Mapfile, (u64, String)> {
    Mapfile::parse(text.as_bytes()).map_err(|fault| (fault.line, fault.to_string()))
}

#[test]
fn numbers_may_be_decimal_hexadecimal_or_octal_and_comments_are_ignored() {
    let text = "  # first\n\n16 ? 2 # where\n  020\t0x10 + # a block\n#more\n0x20 32 -\n64 0X0a ?";
    let map = parsed(text).unwrap();
    assert_eq!((map.current_pos, map.current_pass), (16, 2));
    let blocks: Vec<_> = map.blocks.iter().map(|block| (block.extent.offset, block.extent.len)).collect();
    assert_eq!(blocks, [(16, 16), (32, 32), (64, 10)]);
    // Empty blocks, which ddrescue accepts, have no effect; old mapfiles have no pass.
    assert_eq!(parsed("0 ? 1\n0 5 +\n5 0 -\n5 5 +\n").unwrap().blocks.len(), 2);
    assert_eq!(parsed("0 +\n").unwrap().current_pass, 1);
}

#[test]
fn gaps_and_any_order_are_accepted_where_a_map_is_completed() {
    let text = |middle: &str| format!("0 ? 1\n16 16 +\n{middle}64 16 -\n");
    let parsed = |text: &str| Mapfile::parse_loose(text.as_bytes());
    assert_eq!(parsed(&text("")).unwrap(), parsed(&text("32 32 ?\n")).unwrap());
    let blocks: Vec<_> = parsed(&text("40 0 +\n")).unwrap().blocks.iter().map(|block| block.extent).collect();
    assert_eq!(blocks.iter().map(|extent| extent.len).sum::<u64>(), 64, "{blocks:?}");
    // Any order, and overlaps of the same status.
    assert_eq!(parsed(&text("8 8 +\n")).unwrap(), parsed("0 ? 1\n64 16 -\n8 8 +\n16 16 +\n").unwrap());
    assert_eq!(parsed(&text("24 16 +\n")).unwrap(), parsed(&text("32 8 +\n")).unwrap());
    for refused in [text("24 16 *\n"), text("32 40 +\n")] {
        assert!(parsed(&refused).is_err(), "{refused}");
        assert!(Mapfile::parse(refused.as_bytes()).is_err(), "{refused}");
    }
    assert!(Mapfile::parse(text("8 8 +\n").as_bytes()).is_err());
}

#[test]
fn errors_are_reported_with_their_line() {
    let cases = [
        ("0 ? 1\n0 10 +\n11 5 +\n", 3, "ends at byte 10"),
        ("0 ? 1\n0 10 +\n9 5 +\n", 3, "ends at byte 10"),
        ("0 ? 1\n0 10 x\n", 2, "not a block status"),
        ("0 ? 1\n0 10 ++\n", 2, "not a block status"),
        ("0 ? 1\n0 10\n", 2, "a position, a size and a status"),
        ("0 ? 1\n0 10 + 1\n", 2, "a position, a size and a status"),
        ("0 ? 1\n0 08 +\n", 2, "\"08\" is not a number"),
        ("0 ? 1\n0 0x +\n", 2, "\"0x\" is not a number"),
        ("0 ? 1\n0 -1 +\n", 2, "\"-1\" is not a number"),
        ("0 ? 1\n0 +1 +\n", 2, "\"+1\" is not a number"),
        ("0 ? 1\n0 0x8000000000000000 +\n", 2, "is not a number"),
        ("0 ? 1\n0x4000000000000000 0x4000000000000000 +\n", 2, "invalid block of"),
        ("# a\n0 x 1\n", 2, "not a rescue status"),
        ("0 ? 0\n", 1, "not a pass number"),
        ("0 ? +1\n", 1, "not a pass number"),
        ("0 ? 1 1\n", 1, "at most three fields"),
        ("hello world\n", 1, "not a mapfile"),
        ("# only\n# comments\n", 3, "is truncated"),
        ("", 1, "is truncated"),
    ];
    for (text, line, words) in cases {
        let (at, messages) = parsed(text).expect_err(text);
        assert!(at == line && messages.contains(words), "{text:?}: {messages}");
    }
    let fault = Mapfile::parse(&b"0 ? 1\n\xff\xfe\n"[..]).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Other) && fault.line == 2);
    assert!(Mapfile::parse(&b"# \xff\n0 ? 1\n# \xff\n"[..]).is_ok());
}

prop_compose! {
    fn any_mapfile()(
        start in 0u64..1 << 40, doing in 0..RescueStatus::ALL.len(), pass in 1u32..100, pos in 0u64..1 << 62,
        blocks in prop::collection::vec((1u64..1 << 50, 0..Status::ALL.len()), 0..20),
        comments in prop::collection::vec("# [a-zA-Z0-9 ]{0,20}x", 0..3),
    ) -> Mapfile {
        let mut at = start;
        let block = |(len, status): (u64, usize)| {
            at += len;
            Block { extent: Extent::new(at - len, len), status: Status::ALL[status].0 }
        };
        let blocks = blocks.into_iter().map(block).collect();
        Mapfile { comments, current_pos: pos, doing: RescueStatus::ALL[doing].0, current_pass: pass, blocks }
    }
}

proptest! {
    #[test]
    fn a_written_mapfile_parses_to_itself(map in any_mapfile()) {
        let mut out = Vec::new();
        map.write(&mut out).unwrap();
        prop_assert_eq!(Mapfile::parse(&out[..]).unwrap(), map);
    }

    #[test]
    fn extent_sets_convert_to_a_mapfile_and_back(
        marks in prop::collection::vec(0u8..3, 1..40), start in 0u64..1000,
    ) {
        let of = |mark: u8| -> ExtentSet {
            let at = |(number, _): (usize, &u8)| Extent::new(start + number as u64, 1);
            marks.iter().enumerate().filter(|(_, found)| **found == mark).map(at).collect()
        };
        let sets = Sets { finished: of(0), bad: of(1), untried: of(2) };
        let within = Extent::new(start, marks.len() as u64);
        let map = Mapfile::of_sets(within, &sets.finished, &sets.bad);
        prop_assert_eq!(map.sets(), sets.clone());
        prop_assert!(map.blocks.windows(2).all(|pair| pair[0].extent.end() == pair[1].extent.offset));
        prop_assert!(map.blocks.windows(2).all(|pair| pair[0].status != pair[1].status));
        prop_assert_eq!(map.doing == RescueStatus::Finished, sets.bad.is_empty() && sets.untried.is_empty());
    }
}

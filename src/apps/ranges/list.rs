//! Parses a list of ranges: offsets and lengths, or a mapfile of GNU ddrescue.
use crate::cli::size;
use crate::core::{AddressMap, Error, Extent, Kind, Result};
use crate::ledger::mapfile::Mapfile;

/// The character that begins a comment.
const COMMENT: char = '#';

/// The statuses that follow a position in the first line of a mapfile of GNU ddrescue.
const MAPFILE_STATUSES: [&str; 7] = ["?", "*", "/", "-", "F", "G", "+"];

/// The order of the ranges of a list, and whether they may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// By offset: the mapping of a range does not depend on the others.
    Ascending,
    /// As listed.
    Listed,
    /// As listed; a byte may be in several.
    Overlapping,
}

/// The ranges in `text`, read from `file`, the value of `option`.
///
/// # Errors
/// `Usage`: it is not a list, or its ranges overlap.
pub(super) fn parse(file: &str, option: &str, text: &str, unit_bytes: u64, order: Order) -> Result<AddressMap> {
    let refused = |what: String| {
        let error = Error::new(Kind::Usage, format!("{option} {file}{what}"));
        error.advise("Nothing was written. Each line has an offset and a length: 1M 64K, or in sectors 2048s 8s.")
    };
    let mut ranges = if is_mapfile(text) { finished(file, text)? } else { listed(file, option, text, unit_bytes)? };
    if ranges.is_empty() {
        return Err(refused(": it lists no range".to_owned()));
    }
    if order == Order::Ascending {
        ranges.sort_unstable_by_key(|range| range.offset);
    }
    AddressMap::listed(file, ranges, order == Order::Overlapping).map_err(|overlap| match overlap {
        None => refused(format!(": its ranges have more bytes than offsets can count, {}", i64::MAX)),
        Some([one, other]) => {
            let name = |extent: Extent| format!("the range of {} bytes at byte {}", extent.len, extent.offset);
            refused(format!(": {} and {} overlap", name(one), name(other)))
        }
    })
}

/// Whether the first line that is not a comment is the status line of a mapfile.
fn is_mapfile(text: &str) -> bool {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(COMMENT));
    line.and_then(|line| line.split_whitespace().nth(1)).is_some_and(|status| MAPFILE_STATUSES.contains(&status))
}

/// The finished extents of a mapfile, which ddrescue also uses for its domain.
fn finished(file: &str, text: &str) -> Result<Vec<Extent>> {
    let mapfile = Mapfile::parse(text.as_bytes()).map_err(|fault| fault.into_error(file))?;
    Ok(mapfile.sets().finished.iter().collect())
}

/// Pairs of offset and length, one or more per line, as in the scatter-gather lists of ddpt.
fn listed(file: &str, option: &str, text: &str, unit_bytes: u64) -> Result<Vec<Extent>> {
    let mut extents = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let refused = |what: String| {
            let error = Error::new(Kind::Usage, format!("{option} {file}, line {}: {what}", number + 1));
            error.advise("Nothing was written. A line has an offset and a length: 1M 64K, or in sectors 2048s 8s.")
        };
        let line = line.split(COMMENT).next().unwrap_or_default();
        let words: Vec<&str> = line.split([' ', '\t', ',', '\r']).filter(|word| !word.is_empty()).collect();
        if !words.len().is_multiple_of(2) {
            return Err(refused(format!("expected an offset and a length, found {} numbers", words.len())));
        }
        for pair in words.chunks_exact(2) {
            let [offset, len] = [pair[0], pair[1]].map(|word| bytes(word, unit_bytes));
            let (offset, len) = (offset.map_err(&refused)?, len.map_err(&refused)?);
            if len == 0 {
                return Err(refused(format!("the range at {} has length 0", pair[0])));
            }
            let fits = offset.checked_add(len).is_some_and(|end| i64::try_from(end).is_ok());
            if !fits {
                return Err(refused(format!("{} {} ends beyond the largest possible offset", pair[0], pair[1])));
            }
            extents.push(Extent::new(offset, len));
        }
    }
    Ok(extents)
}

/// A number with a suffix is in bytes; one without is in units.
fn bytes(word: &str, unit_bytes: u64) -> std::result::Result<u64, String> {
    let number = size::parse(word).map_err(|error| format!("'{word}': {error}"))?;
    let is_bare = word.bytes().all(|byte| byte.is_ascii_digit()) || word.to_ascii_lowercase().starts_with("0x");
    let units = if is_bare { unit_bytes } else { 1 };
    number.checked_mul(units).ok_or_else(|| format!("'{word}' is beyond the largest possible offset"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(text: &str, unit_bytes: u64, order: Order) -> Vec<(u64, u64)> {
        let map = parse("list", "--ranges", text, unit_bytes, order).unwrap();
        map.ranges().unwrap().map(|extent| (extent.offset, extent.len)).collect()
    }

    #[test]
    fn lists_have_offsets_and_lengths_in_bytes_or_units() {
        let lines = "# two\n1M 64K\n\n0x1000, 512 # first\n9s,7s\r\n";
        assert_eq!(extents(lines, 1, Order::Ascending), [(4096, 4096), (1 << 20, 64 << 10)]);
        assert_eq!(extents(lines, 1, Order::Listed), [(1 << 20, 64 << 10), (4096, 4096)], "those that touch are one");
        // The form that ddpt writes: several pairs per line, in blocks.
        assert_eq!(extents("0,1 8,2\n0x20,1", 512, Order::Listed), [(0, 512), (4096, 1024), (16384, 512)]);
        assert_eq!(extents("8s 1K\n4 1", 512, Order::Ascending), [(2048, 512), (4096, 1024)]);
        assert_eq!(extents("8 4\n4 6\n", 1, Order::Overlapping), [(8, 4), (4, 6)]);
    }

    #[test]
    fn a_mapfile_selects_its_finished_extents() {
        let map = "# Mapfile. Created by GNU ddrescue\n0x0 + 1\n0x0 0x200 +\n0x200 0x200 -\n0x400 0x200 +\n";
        assert_eq!(extents(map, 4096, Order::Ascending), [(0, 512), (1024, 512)]);
    }

    #[test]
    fn an_invalid_list_is_refused_with_its_line() {
        let cases = [
            ("", "it lists no range"),
            ("1 2 3\n", "line 1: expected an offset and a length, found 3 numbers"),
            ("0 512\nx 512\n", "line 2: 'x'"),
            ("0 0\n", "line 1: the range at 0 has length 0"),
            ("9223372036854775807 1\n", "ends beyond the largest possible offset"),
            ("0 10\n5 1\n", "the range of 10 bytes at byte 0 and the range of 1 bytes at byte 5 overlap"),
            ("0x0 + 1\n0x0 0x200 -\n", "it lists no range"),
            ("0 0x4000000000000000\n0x4000000000000000 0x3fffffffffffffff\n1 9223372036854775806\n", "more bytes"),
        ];
        for (text, wanted) in cases {
            let error = parse("list", "--ranges", text, 1, Order::Ascending).unwrap_err();
            assert!(error.to_string().contains(wanted), "{text:?}: {error}");
            assert_eq!(error.kind, Kind::Usage);
        }
    }
}

//! `--ranges`: reads the list of what is to be copied.
use crate::cli::size;
use crate::core::{Error, Extent, Kind, Ranges, Result};
use crate::ledger::mapfile::Mapfile;
use crate::plan::{Options, RangeList};
use std::fs;
use std::sync::Arc;

/// What begins a comment.
const COMMENT: char = '#';

/// The statuses that stand behind a position in the first line of a mapfile of GNU ddrescue.
const MAPFILE_STATUSES: [&str; 7] = ["?", "*", "/", "-", "F", "G", "+"];

/// The options of a copy of these ranges; without a list, as they are.
///
/// # Errors
/// `Open` for a file that cannot be read, `Usage` for one that is no list of ranges.
pub(super) fn read(options: &Options) -> Result<Options> {
    let Some(RangeList { file, unit_bytes }) = &options.range_list else { return Ok(options.clone()) };
    let text = fs::read_to_string(file).map_err(|cause| {
        let error = Error::new(Kind::Open, format!("cannot read --ranges {file}")).because(cause);
        error.advise("Name a file of lines 'OFFSET LENGTH', or a mapfile of GNU ddrescue.")
    })?;
    let ranges = Arc::new(parse(file, &text, *unit_bytes)?);
    let hull = ranges.hull();
    Ok(Options {
        skip_bytes: Some(hull.offset),
        seek_bytes: Some(hull.offset),
        count_bytes: Some(hull.len),
        ranges: Some(ranges),
        ..options.clone()
    })
}

fn parse(file: &str, text: &str, unit_bytes: u64) -> Result<Ranges> {
    let refused = |what: String| {
        let error = Error::new(Kind::Usage, format!("--ranges {file}{what}"));
        Err(error.advise("Nothing was written. Each line has an offset and a length: 1M 64K, or in sectors 2048s 8s."))
    };
    let extents = if is_mapfile(text) { finished(file, text)? } else { listed(file, text, unit_bytes)? };
    match Ranges::new(file, extents) {
        Ok(ranges) if ranges.hull().is_empty() => refused(": it contains no range".to_owned()),
        Ok(ranges) => Ok(ranges),
        Err([one, other]) => {
            let name = |extent: Extent| format!("the range of {} bytes at byte {}", extent.len, extent.offset);
            refused(format!(": {} and {} overlap", name(one), name(other)))
        }
    }
}

/// The first line that is no comment is the status line of a mapfile.
fn is_mapfile(text: &str) -> bool {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(COMMENT));
    line.and_then(|line| line.split_whitespace().nth(1)).is_some_and(|status| MAPFILE_STATUSES.contains(&status))
}

/// What a mapfile calls finished: ddrescue takes that of a mapfile for its domain, too.
fn finished(file: &str, text: &str) -> Result<Vec<Extent>> {
    let mapfile = Mapfile::parse(text.as_bytes()).map_err(|fault| fault.into_error(file))?;
    Ok(mapfile.sets().finished.iter().collect())
}

/// Pairs of offset and length, one or more in a line, as in the scatter-gather lists of ddpt.
fn listed(file: &str, text: &str, unit_bytes: u64) -> Result<Vec<Extent>> {
    let mut extents = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let refused = |what: String| {
            let error = Error::new(Kind::Usage, format!("--ranges {file}, line {}: {what}", number + 1));
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

/// A number with a suffix is bytes; one without counts units.
fn bytes(word: &str, unit_bytes: u64) -> std::result::Result<u64, String> {
    let number = size::parse(word).map_err(|error| format!("'{word}': {error}"))?;
    let is_bare = word.bytes().all(|byte| byte.is_ascii_digit()) || word.to_ascii_lowercase().starts_with("0x");
    let units = if is_bare { unit_bytes } else { 1 };
    number.checked_mul(units).ok_or_else(|| format!("'{word}' is beyond the largest possible offset"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(text: &str, unit_bytes: u64) -> Vec<(u64, u64)> {
        let ranges = parse("list", text, unit_bytes).unwrap();
        ranges.extents().iter().map(|extent| (extent.offset, extent.len)).collect()
    }

    #[test]
    fn lists_have_offsets_and_lengths_in_bytes_or_units() {
        let lines = "# two\n1M 64K\n\n0x1000, 512 # first\n9s,7s\r\n";
        assert_eq!(extents(lines, 1), [(4096, 4096), (1 << 20, 64 << 10)]);
        // As ddpt writes them: several pairs in a line, in blocks.
        assert_eq!(extents("0,1 8,2\n0x20,1", 512), [(0, 512), (4096, 1024), (16384, 512)]);
        assert_eq!(extents("8s 1K\n4 1", 512), [(2048, 512), (4096, 1024)]);
    }

    #[test]
    fn of_a_mapfile_what_is_finished_is_taken() {
        let map = "# Mapfile. Created by GNU ddrescue\n0x0 + 1\n0x0 0x200 +\n0x200 0x200 -\n0x400 0x200 +\n";
        assert_eq!(extents(map, 4096), [(0, 512), (1024, 512)]);
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_line() {
        let cases = [
            ("", "it contains no range"),
            ("1 2 3\n", "line 1: expected an offset and a length, found 3 numbers"),
            ("0 512\nx 512\n", "line 2: 'x'"),
            ("0 0\n", "line 1: the range at 0 has length 0"),
            ("9223372036854775807 1\n", "ends beyond the largest possible offset"),
            ("0 10\n5 1\n", "the range of 10 bytes at byte 0 and the range of 1 bytes at byte 5 overlap"),
            ("0x0 + 1\n0x0 0x200 -\n", "it contains no range"),
        ];
        for (text, wanted) in cases {
            let error = parse("list", text, 1).unwrap_err();
            assert!(error.to_string().contains(wanted), "{text:?}: {error}");
            assert_eq!(error.kind, Kind::Usage);
        }
    }
}

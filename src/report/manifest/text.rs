//! The contents of manifests as text.
use super::{Compared, ManifestReport, ManifestSide};
use crate::report::columns::{Columns, whole};
use crate::report::json::RunReport;
use crate::report::printable::printable;
use crate::report::style::{CARE, STRONG, paint};
use crate::report::units;

/// Maximum number of runs listed in text; JSON has all of them.
const RUNS_SHOWN: usize = 16;

/// The contents of a manifest, without its blocks.
pub fn shown(shown: &ManifestReport) -> String {
    let mut rows = Columns::default();
    rows.row("manifest", format!("{}, made {} by haul {}", printable(&shown.path), shown.created, shown.version));
    let blocks = whole(&units::block(shown.block_bytes));
    rows.row("copy", format!("{}, {} digests of blocks of {blocks}", units::bytes(shown.len_bytes), shown.algorithm));
    rows.row("source", side(&shown.source));
    rows.row("destination", side(&shown.dest));
    shown.also.iter().for_each(|dest| rows.row("destination", side(dest)));
    let mut content = units::count(shown.digested_blocks, "block of data", "blocks of data");
    if shown.zero_bytes > 0 {
        content += &format!(", {} of zeros", whole(&units::bytes(shown.zero_bytes)));
    }
    rows.row("content", content);
    rows.row("unreadable", runs(&shown.unread));
    rows.row("whole", shown.whole.clone().unwrap_or_else(|| "no digest of all data".to_owned()));
    rows.lines()
}

fn side(side: &ManifestSide) -> String {
    let mut words = vec![printable(&side.path), side.kind.clone()];
    words.extend(side.model.iter().map(|model| printable(model)));
    words.extend(side.serial.iter().map(|serial| format!("serial {}", whole(&printable(serial)))));
    words.extend(side.size_bytes.map(|size| whole(&units::bytes(size))));
    if !side.ranges.is_empty() {
        words.push(units::count(side.ranges.len() as u64, "range", "ranges"));
    } else if side.offset_bytes > 0 {
        words.push(format!("from byte {}", side.offset_bytes));
    }
    words.join(", ")
}

/// The verdict on one line, then the runs.
pub fn compared(compared: &Compared) -> String {
    let (first, second) = (printable(&compared.first), printable(&compared.second));
    if compared.equal {
        return format!("{}: {first} and {second} describe the same data\n", paint(STRONG, "equal"));
    }
    let mut text = format!("{}: {first} and {second}\n", paint(CARE, "different"));
    let mut rows = Columns::default();
    rows.row("differing", runs(&compared.differing));
    rows.row("only in the first", runs(&compared.only_in_first));
    rows.row("only in the second", runs(&compared.only_in_second));
    text += &rows.lines();
    text
}

/// `4194304 bytes in 1 run: 8388608+4194304`; empty without runs.
fn runs(runs: &[RunReport]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let total = runs.iter().map(|run| run.len_bytes).sum();
    let mut listed: Vec<String> =
        runs.iter().take(RUNS_SHOWN).map(|run| whole(&format!("{}+{}", run.offset_bytes, run.len_bytes))).collect();
    match runs.len().saturating_sub(RUNS_SHOWN) {
        0 => {}
        more => listed.push(format!("and {more} more; all with --json")),
    }
    let count = units::count(runs.len() as u64, "run", "runs");
    format!("{} in {}: {}", whole(&units::bytes(total)), whole(&count), listed.join(", "))
}

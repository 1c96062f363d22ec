//! The result of reading the dest back.
use super::differences::runs;
use crate::core::{ExtentSet, Plan, Verified};
use crate::report::columns::{Columns, whole};
use crate::report::printable::printable;
use crate::report::style::{CARE, paint};
use crate::report::units;

/// The end of the headline.
pub(super) fn verdict(verified: &Verified) -> String {
    let wrong = verified.wrong.total_bytes();
    if wrong > 0 {
        return paint(CARE, &format!("but {} on the destination are wrong", units::size(wrong)));
    }
    match (verified.complete, verified.sampled) {
        (false, _) => "verification incomplete".to_owned(),
        (true, true) => "a sample verified".to_owned(),
        (true, false) => "verified".to_owned(),
    }
}

/// Whether everything was read past the page cache and was correct at once.
pub(super) fn is_beyond_doubt(verified: &Verified) -> bool {
    let at_once = verified.misread.is_empty() && verified.rewritten.is_empty() && verified.changed.is_empty();
    verified.is_right() && at_once && verified.cached_bytes == Some(0)
}

/// The end of the headline of a copy to several dests that were read back.
pub(super) fn verdict_of_all<'a>(all: impl Iterator<Item = &'a Verified>) -> Option<String> {
    let all: Vec<&Verified> = all.collect();
    let wrong = all.iter().filter(|found| !found.wrong.is_empty()).count();
    let worst = all.iter().find(|found| !found.is_right()).or(all.first())?;
    Some(match wrong {
        0 => verdict(worst),
        _ => paint(CARE, &format!("but {wrong} of the {} destinations read back have errors", all.len())),
    })
}

/// Adds rows: how it was read back, and each kind of block that was not correct at once.
pub(super) fn rows(plan: &Plan, verified: &Verified, rows: &mut Columns) {
    let blocks = units::count(verified.blocks, "block", "blocks");
    let what = if verified.sampled { format!(" in a sample of {}", whole(&blocks)) } else { String::new() };
    let mut text = format!("{}{what} read back in {}", whole(&units::size(verified.bytes)), whole(&time(verified)));
    if verified.behind_bytes > 0 {
        text += &format!(", including {} during the copy", whole(&units::size(verified.behind_bytes)));
    }
    text += match verified.cached_bytes {
        Some(0) => ", bypassing the page cache",
        Some(_) => "",
        None => "; page cache residency unknown",
    };
    if let Some(cached) = verified.cached_bytes.filter(|&cached| cached > 0) {
        text += &format!("; {} were in the page cache and could not be evicted", whole(&units::size(cached)));
    }
    if verified.is_right() && verified.misread.is_empty() && verified.rewritten.is_empty() {
        text += ": identical to the source data";
    }
    rows.row("verified", text);
    let listed = |set: &ExtentSet, more: &str| match set.is_empty() {
        true => String::new(),
        false => format!("{}{more}: {}", whole(&units::bytes(set.total_bytes())), runs(plan, set)),
    };
    rows.row("misread", listed(&verified.misread, " differed on the first read and matched on the second"));
    rows.row("rewritten", listed(&verified.rewritten, " were wrong on the destination; rewritten and now correct"));
    let why = verified.not_rewritten.as_ref().map(|why| format!(", not rewritten ({})", printable(why)));
    rows.row("wrong", listed(&verified.wrong, &format!(" differ on the destination{}", why.unwrap_or_default())));
    let changed: ExtentSet = verified.changed.iter().copied().collect();
    rows.row("changed", listed(&changed, " of the source had changed when read again"));
}

fn time(verified: &Verified) -> String {
    units::duration(verified.elapsed)
}

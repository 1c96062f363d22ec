//! What came of reading the dest back.
use super::differences::runs;
use crate::core::{ExtentSet, Plan, Verified};
use crate::report::columns::{Columns, whole};
use crate::report::printable::printable;
use crate::report::style::{CARE, paint};
use crate::report::units;

/// The last words of the headline.
pub(super) fn verdict(verified: &Verified) -> String {
    let wrong = verified.wrong.total_bytes();
    if wrong > 0 {
        return paint(CARE, &format!("but {} on the dest are wrong", units::size(wrong)));
    }
    match (verified.complete, verified.sampled) {
        (false, _) => "not verified to its end".to_owned(),
        (true, true) => "a sample verified".to_owned(),
        (true, false) => "verified".to_owned(),
    }
}

/// All of it came past the page cache and was right at once.
pub(super) fn is_beyond_doubt(verified: &Verified) -> bool {
    let at_once = verified.misread.is_empty() && verified.rewritten.is_empty() && verified.changed.is_empty();
    verified.is_right() && at_once && verified.cached_bytes == Some(0)
}

/// The last words of the headline of a copy to several dests that were read back.
pub(super) fn verdict_of_all<'a>(all: impl Iterator<Item = &'a Verified>) -> Option<String> {
    let all: Vec<&Verified> = all.collect();
    let worst = all.iter().find(|found| !found.is_right()).or(all.first())?;
    let wrong = all.iter().filter(|found| !found.is_right()).count();
    Some(match wrong {
        0 => verdict(worst),
        _ => paint(CARE, &format!("but {wrong} of the {} that were read back are not right", all.len())),
    })
}

/// How it was read back, and each kind of block that was not right at once.
pub(super) fn rows(plan: &Plan, verified: &Verified, rows: &mut Columns) {
    let blocks = units::count(verified.blocks, "block", "blocks");
    let what = if verified.sampled { format!(" in a sample of {}", whole(&blocks)) } else { String::new() };
    let mut text = format!("{}{what} read back in {}", whole(&units::size(verified.bytes)), whole(&time(verified)));
    if verified.behind_bytes > 0 {
        text += &format!(" and, of it {}, while the copy ran", whole(&units::size(verified.behind_bytes)));
    }
    text += match verified.cached_bytes {
        Some(0) => ", past the page cache",
        Some(_) => "",
        None => "; whether past the page cache is not known",
    };
    if let Some(cached) = verified.cached_bytes.filter(|&cached| cached > 0) {
        text += &format!("; {} were in the page cache and could not be evicted", whole(&units::size(cached)));
    }
    if verified.is_right() && verified.misread.is_empty() && verified.rewritten.is_empty() {
        text += ": all as it was read from the source";
    }
    rows.row("verified", text);
    let listed = |set: &ExtentSet, more: &str| match set.is_empty() {
        true => String::new(),
        false => format!("{}{more}: {}", whole(&units::bytes(set.total_bytes())), runs(plan, set)),
    };
    rows.row("misread", listed(&verified.misread, " differed once and were right when read again"));
    rows.row("rewritten", listed(&verified.rewritten, " were wrong on the dest, were written again and are right"));
    let why = verified.not_rewritten.as_ref().map(|why| format!(", and were not written again ({})", printable(why)));
    rows.row("wrong", listed(&verified.wrong, &format!(" differ on the dest{}", why.unwrap_or_default())));
    let changed: ExtentSet = verified.changed.iter().copied().collect();
    rows.row("changed", listed(&changed, " of the source were others when they were read again"));
}

fn time(verified: &Verified) -> String {
    units::duration(verified.elapsed)
}

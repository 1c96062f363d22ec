//! Two lines at the bottom of a terminal: progress, and rate. They fit any width.
use super::dests::DestView;
use super::phrases::{amount, compressed, holdup, left, percent, rate_of_writes, rates, rates_now, setting, unread};
use super::view::View;
use crate::core::{DestState, Phase, Units};
use crate::report::columns::{columns, pad};
use crate::report::style::{CARE, STRONG, paint};
use crate::report::units;
use anstyle::{AnsiColor, Style};

const DONE: Style = AnsiColor::Cyan.on_default();
const REST: Style = Style::new().dimmed();

/// Minimum width of the bar; a narrower one is less precise than the percentage beside it.
const BAR_MIN: usize = 8;

/// Columns for the bytes copied, at most `999.9 MB` or `1023.9 MiB`.
fn size_width() -> usize {
    match Units::leading() {
        Units::Si => 8,
        Units::Iec => 10,
    }
}

/// Columns for the remaining time and the gap before it, at most `59 min 59 s left`.
const LEFT_WIDTH: usize = 18;

/// Rotates once per second if the length is unknown.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Columns for the state of one of several dests, at most `reading back`.
const STATE_WIDTH: usize = 12;

/// Both lines, and one for each of several dests, at most `width - 1` columns each, because a terminal may wrap
/// in its last column. With colour.
pub(super) fn lines(view: &View, dest: &str, dests: &[DestView], width: usize) -> String {
    let width = width.saturating_sub(1);
    let (first, second) = match view.phase {
        Phase::Copying => (how_far(view, width), how_fast(view, width)),
        Phase::Flushing | Phase::Ended => flushing(view, dest, width),
    };
    let names = dests.iter().map(|dest| columns(&dest.name)).max().unwrap_or(0);
    let rows = dests.iter().map(|dest| format!("\n{}", row(dest, names, width)));
    format!("{}\n{}{}", fitting(&[first], width), fitting(&[second], width), rows.collect::<String>())
}

/// The line of one of several dests; `names` is the width of the longest name.
fn row(dest: &DestView, names: usize, width: usize) -> String {
    let amount = dest.percent().unwrap_or_else(|| format!("{:>1$}", units::size(dest.copied_bytes), size_width()));
    let state = match dest.state {
        DestState::Behind | DestState::Failed => paint(CARE, dest.word()),
        _ => dest.word().to_owned(),
    };
    let right = format!("{amount}  {state}").trim_end().to_owned();
    let right_width = columns(&amount) + 2 + STATE_WIDTH;
    // A long name gets half of the line; its end identifies it better than its beginning.
    let room = width.saturating_sub(right_width + 4);
    let name_width = names.min(room.max(BAR_MIN) / 2 + room % 2);
    let name = pad(&shortened(&dest.name, name_width), name_width);
    let bar_width = (room + 1).saturating_sub(name_width + 1);
    let choices = [
        dest.total_bytes
            .filter(|_| bar_width >= BAR_MIN)
            .map(|total| format!("  {name} {} {right}", bar(dest.copied_bytes, total, bar_width))),
        Some(format!("  {name} {right}")),
        Some(format!("{name} {amount}")),
    ];
    fitting(&choices.into_iter().flatten().collect::<Vec<_>>(), width)
}

/// The end of a name that is wider than `width` columns.
fn shortened(name: &str, width: usize) -> String {
    if columns(name) <= width {
        return name.to_owned();
    }
    let mut rest = name;
    while columns(rest) + 1 > width && !rest.is_empty() {
        let mut characters = rest.chars();
        characters.next();
        rest = characters.as_str();
    }
    format!("…{rest}")
}

fn how_far(view: &View, width: usize) -> String {
    let Some(((done, whole), percent)) = view.share().zip(percent(view)) else {
        let elapsed = units::time_passed(view.elapsed);
        return format!("{} {} in {elapsed}", spinner(view), paint(STRONG, &amount(view)));
    };
    let left = left(view).map(|left| format!("  {left}")).unwrap_or_default();
    // In fixed columns, so that the bar's length does not change with every digit.
    let total = view.total_bytes.map(|total| format!(" of {}", units::size(total))).unwrap_or_default();
    let steady = format!("{percent}  {:>1$}{left:<LEFT_WIDTH$}", amount(view), size_width() + total.len());
    let right = format!("{percent}  {}{left}", amount(view));
    for right in [&steady, &right] {
        let bar_width = width.saturating_sub(columns(right) + 1);
        if bar_width >= BAR_MIN {
            let bar = bar(done, whole, bar_width);
            return format!("{bar} {right}").trim_end().to_owned();
        }
    }
    fitting(&[right, format!("{percent}{left}"), percent], width)
}

fn how_fast(view: &View, width: usize) -> String {
    let warns = view.stalled.is_some() || view.idle.is_some();
    let holdup = holdup(view).map(|holdup| if warns { paint(CARE, &holdup) } else { holdup });
    let unread = unread(view).map(|unread| paint(CARE, &unread));
    let join = |parts: &[Option<String>]| parts.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    if view.stalled.is_some() && view.idle.is_none() {
        let holdup = holdup.unwrap_or_default();
        return fitting(&[join(&[Some(holdup.clone()), unread]), holdup], width);
    }
    // Errors precede the bottleneck.
    let remarks = [unread.clone(), holdup].into_iter().flatten().reduce(|one, other| format!("{one}, {other}"));
    let choices = [
        join(&[Some(rates(view)), compressed(view), remarks.clone(), setting(view)]),
        join(&[Some(rates(view)), compressed(view), remarks.clone()]),
        join(&[Some(rates_now(view)), compressed(view), remarks.clone()]),
        join(&[Some(rates_now(view)), remarks.clone()]),
        join(&[Some(rate_of_writes(view)), remarks]),
        join(&[Some(rate_of_writes(view)), unread]),
        rate_of_writes(view),
    ];
    fitting(&choices, width)
}

/// The flush is a separate phase, so that a copy does not stay at 100 % for minutes.
fn flushing(view: &View, dest: &str, width: usize) -> (String, String) {
    let elapsed = units::time_passed(view.flushing.unwrap_or_default());
    let first = [
        format!("{} {} {dest}: {elapsed}", spinner(view), paint(STRONG, "flushing")),
        format!("{} {}: {elapsed}", spinner(view), paint(STRONG, "flushing")),
    ];
    let mean = units::rate_at_a_glance(view.write.mean_per_s);
    let amount = units::size(view.copied_bytes);
    let second = [format!("{amount} copied (mean {mean})"), format!("{amount} copied")];
    (fitting(&first, width), fitting(&second, width))
}

fn spinner(view: &View) -> char {
    SPINNER[(view.elapsed.as_millis() / 100) as usize % SPINNER.len()]
}

fn bar(bytes: u64, total: u64, width: usize) -> String {
    let share = u128::from(bytes) * width as u128;
    let done = usize::try_from(share.checked_div(u128::from(total)).unwrap_or(width as u128)).unwrap_or(width);
    format!("{}{}", paint(DONE, &"━".repeat(done)), paint(REST, &"─".repeat(width - done)))
}

/// The first choice that fits; if none does, the last one truncated and without colour, whose end might be
/// lost.
pub(super) fn fitting(choices: &[String], width: usize) -> String {
    let fits = |choice: &&String| columns(choice) <= width;
    if let Some(choice) = choices.iter().find(fits) {
        return choice.clone();
    }
    let last = choices.last().map(String::as_str).unwrap_or_default();
    let mut cut = anstream::adapter::strip_str(last).to_string();
    while columns(&cut) > width {
        cut.pop();
    }
    cut
}

#[cfg(test)]
#[path = "bar_tests.rs"]
mod tests;

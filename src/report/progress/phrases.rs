//! Phrases of which bar, plain lines and status line consist.
use super::view::View;
use crate::core::side_and_part;
use crate::report::units;
use std::time::Duration;

/// `840.0 MiB of 2.00 GiB`, or only the first number for a stream.
pub(super) fn amount(view: &View) -> String {
    let copied = units::size(view.copied_bytes);
    view.total_bytes.map_or_else(|| copied.clone(), |total| format!("{copied} of {}", units::size(total)))
}

/// ` 42 %`, in a column of fixed width; `None` for a stream.
pub(super) fn percent(view: &View) -> Option<String> {
    view.share().map(|(done, total)| percent_of(done, total))
}

/// `compressed 45.0 MB of 120.0 MB, 12.0 MB/s`; `None` if no side is compressed.
pub(super) fn compressed(view: &View) -> Option<String> {
    let stored = view.stored?;
    let total = stored.total_bytes.map(|total| format!(" of {}", units::size(total))).unwrap_or_default();
    let (bytes, rate) = (units::size(stored.bytes), units::rate_at_a_glance(stored.now_per_s));
    Some(format!("compressed {bytes}{total}, {rate}"))
}

/// ` 42 %` of any amount.
pub(super) fn percent_of(bytes: u64, total: u64) -> String {
    format!("{:>3} %", units::percent(bytes, total))
}

/// `412.3 (mean 398.0) MiB/s`, of both sides if they differ.
pub(super) fn rates(view: &View) -> String {
    let [read, write] = [view.read, view.write].map(|speed| units::rate_and_mean(speed.now_per_s, speed.mean_per_s));
    if view.sides_are_alike() { write } else { both(view, &read, &write) }
}

fn both(view: &View, source: &str, dest: &str) -> String {
    if view.comparing { format!("source {source}, destination {dest}") } else { format!("read {source}, write {dest}") }
}

/// The same without means, for narrow terminals.
pub(super) fn rates_now(view: &View) -> String {
    let [read, write] = [view.read, view.write].map(|speed| units::rate_at_a_glance(speed.now_per_s));
    if view.sides_are_alike() { write } else { both(view, &read, &write) }
}

/// Only the rate of writes, for the narrowest terminals.
pub(super) fn rate_of_writes(view: &View) -> String {
    units::rate_at_a_glance(view.write.now_per_s)
}

/// `12 s left`; `None` if unknown.
pub(super) fn left(view: &View) -> Option<String> {
    match view.stalled {
        Some(_) if view.idle.is_none() => None,
        _ => view.left.map(|left| format!("{} left", units::time_left(left))),
    }
}

/// A read of a disk that works takes less: no time since the last new byte is shown before.
const NOTHING_NEW_MIN: Duration = Duration::from_secs(2);

/// `dest is slower`, or that the limit is the bottleneck, or that there is no progress.
pub(super) fn holdup(view: &View) -> Option<String> {
    if let Some(idle) = view.idle {
        return (idle >= NOTHING_NEW_MIN).then(|| format!("nothing new for {}", units::time_passed(idle)));
    }
    let side = view.slower.map(|side| side_and_part(side.name(), view.slower_part));
    match (view.stalled, side) {
        (Some(still), side) => {
            let waiting = side.map(|side| format!(", waiting for the {side}")).unwrap_or_default();
            Some(format!("no progress for {}{waiting}", units::time_passed(still)))
        }
        (None, _) if view.is_reading_back() && view.written_bytes > 0 => Some("reading back".to_owned()),
        (None, None) if view.limited => Some("limited by --limit".to_owned()),
        (None, side) => side.map(|side| format!("{side} is slower")),
    }
}

/// `3 bad sectors`; `None` without read errors.
pub(super) fn unread(view: &View) -> Option<String> {
    (view.unread_sectors > 0).then(|| units::count(view.unread_sectors, "bad sector", "bad sectors"))
}

/// `queue depth 2+2, 1 MiB blocks`; `None` if it is not known yet, and for a rescue, which decides it by each result.
pub(super) fn setting(view: &View) -> Option<String> {
    let [source, dest] = view.queue_depth;
    let block = units::block(view.block_bytes.into());
    (view.block_bytes > 0 && view.idle.is_none()).then(|| format!("queue depth {source}+{dest}, {block} blocks"))
}

//! The sentences and the table of `haul profile --random`.
use super::{Run, heading, latency, whole};
use crate::measure::{RandomFound, RandomReads, SlowRead};
use crate::report::columns::{Columns, whole as unbroken};
use crate::report::text::described;
use crate::report::units;
use std::time::Duration;

/// Columns of the longest bar.
const BAR: f64 = 36.0;

/// Slow reads that a sentence lists; JSON has all that are known.
const SLOW_NAMED: usize = 4;

/// The distribution as a table with bars, and a summary.
pub fn random_text(run: &Run<'_>, reads: &RandomReads, found: &RandomFound) -> String {
    let mut head = Columns::default();
    head.row("disk", described(run.facts));
    let mut text = head.lines() + &heading(&format!("{:>12} {:>12} {:>8}", "within", "reads", "share"));
    let classes = found.classes();
    let most = classes.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    for (up_to_us, count) in classes {
        let share = count as f64 / found.requests.max(1) as f64 * 100.0;
        let bar = "#".repeat((count as f64 / most as f64 * BAR).ceil() as usize);
        text += format!("{:>12} {count:>12} {share:>6.1} %  {bar}", units::latency(up_to_us)).trim_end();
        text.push('\n');
    }
    let mut rows = Columns::default();
    random_rows(reads, found).into_iter().for_each(|(name, words)| rows.row(name, words));
    run.rows(found.failure.as_ref(), &mut rows);
    text += &format!("\n{}", rows.lines());
    text
}

/// The summary, in rows of name and value; an empty value is unknown or was not requested.
pub(crate) fn random_rows(reads: &RandomReads, found: &RandomFound) -> Vec<(&'static str, String)> {
    let mut rows = vec![("random", asked(reads))];
    if let Some(rate) = found.requests_per_s() {
        let bytes = units::rate_at_a_glance(whole(found.bytes as f64 / found.seconds));
        let (count, time) =
            (units::count(found.requests, "read", "reads"), units::duration(Duration::from_secs_f64(found.seconds)));
        rows.push(("IOPS", format!("{rate:.0} reads/s, {}; {count} in {time}", unbroken(&bytes))));
        let times = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
        let times = times.map(|(name, share)| unbroken(&format!("{name} {}", latency(found.quantile_us(share)))));
        let [mean, min, max] = [found.mean_us(), found.min_us(), found.max_us()].map(latency);
        rows.push(("latency", format!("{}; {min} to {max}, mean {mean}", times.join(", "))));
    }
    rows.push(("slow", slow(reads, found)));
    rows
}

fn asked(reads: &RandomReads) -> String {
    let (point, range) = (reads.point, reads.range);
    let block = units::block(point.block_bytes.into());
    let flight = unbroken(&format!("{block} × {}", point.depth));
    let (first, len) = (range.offset, units::size(range.len));
    format!("{flight}, {}, in {} from byte {first}, seed {}", point.way.name(), unbroken(&len), reads.seed)
}

fn slow(reads: &RandomReads, found: &RandomFound) -> String {
    let Some(bound) = reads.slower_than else { return String::new() };
    let bound = latency(bound.as_secs_f64() * 1e6);
    if found.slow_count == 0 {
        return format!("no read took longer than {bound}");
    }
    let one = |slow: &SlowRead| {
        let (took, at) = (latency(slow.took.as_secs_f64() * 1e6), units::duration(slow.at));
        unbroken(&format!("byte {} ({took}, after {at})", slow.offset))
    };
    let named: Vec<String> = found.slow.iter().take(SLOW_NAMED).map(one).collect();
    let more = found.slow_count.saturating_sub(named.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} took longer than {bound}: at {}{more}", found.slow_count, named.join(", "))
}

/// The distribution as comma-separated values.
pub fn random_csv(found: &RandomFound) -> String {
    let line = |(up_to_us, count): (u64, u64)| format!("{up_to_us},{count}\n");
    "up_to_us,reads\n".to_owned() + &found.classes().into_iter().map(line).collect::<String>()
}

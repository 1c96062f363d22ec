//! Formats numbers: the only module that does, so that a number looks the same everywhere.
use crate::core::{Units, byte_count};
// The tables of reports count by it too.
pub use crate::core::count;
use std::time::Duration;

/// A time in milliseconds since 1970, rounded to the second in UTC: `2026-11-21 23:42:23 UTC`; `None` if it is
/// not in this century.
pub fn time_of_ms(since_1970_ms: u64) -> Option<String> {
    const CENTURY_MS: std::ops::Range<u64> = 946_684_800_000..4_102_444_800_000;
    let time = jiff::Timestamp::from_millisecond(i64::try_from(since_1970_ms).ok()?).ok()?;
    CENTURY_MS.contains(&since_1970_ms).then(|| format!("{:.0}", time).replace('T', " ").replace('Z', " UTC"))
}

/// A size, rounded, in the preferred units: `1.50 GB`, `931.5 GB`, `512 bytes`.
pub fn size(bytes: u64) -> String {
    scaled(bytes, Units::leading())
}

/// A size, rounded and exact: `1.61 GB (1610612736 bytes)`. Without separators, so that it can be pasted.
pub fn bytes(bytes: u64) -> String {
    bytes_in(bytes, Units::leading())
}

/// A size, exact: `1610612736 bytes`.
pub fn exact(bytes: u64) -> String {
    byte_count(bytes)
}

/// The capacity of a disk, in the units of its label and those of other programs: `1.00 TB (931.5 GiB,
/// 1000204886016 bytes)`.
pub fn capacity(bytes: u64) -> String {
    capacity_in(bytes, Units::leading())
}

/// A configured size, in the largest unit that divides it: `1 MiB`, `384 KiB`, `40 MB`, `4095 bytes`. Blocks
/// and buffers are powers of two in either system of units.
pub fn block(bytes: u64) -> String {
    let binary = in_whole_units(bytes, Units::Iec);
    let whole = binary.or_else(|| in_whole_units(bytes, Units::Si));
    whole.map_or_else(|| exact(bytes), |(number, unit)| format!("{number} {unit}"))
}

/// A rate in the preferred units, and in the others: `7.95 GB/s (7.41 GiB/s)`.
pub fn rate(bytes_per_s: u64) -> String {
    rate_in(bytes_per_s, Units::leading())
}

/// A rate in the preferred units: `412.3 MB/s`.
pub fn rate_at_a_glance(bytes_per_s: u64) -> String {
    format!("{}/s", size(bytes_per_s))
}

/// The current rate and the mean in the unit of the larger one: `412.3 (mean 398.0) MB/s`.
pub fn rate_and_mean(now_per_s: u64, mean_per_s: u64) -> String {
    rate_and_mean_in(now_per_s, mean_per_s, Units::leading())
}

/// A size, rounded, in the units that are not preferred.
pub fn size_in_other_units(bytes: u64) -> String {
    scaled(bytes, Units::leading().other())
}

/// The unit for amounts per gigabyte, and its size in GiB. Measurements are per GiB.
pub fn giga() -> (&'static str, f64) {
    match Units::leading() {
        Units::Si => ("GB", 1e9 / (1u64 << 30) as f64),
        Units::Iec => ("GiB", 1.0),
    }
}

fn bytes_in(bytes: u64, units: Units) -> String {
    if bytes < units.base() { exact(bytes) } else { format!("{} ({})", scaled(bytes, units), exact(bytes)) }
}

fn capacity_in(bytes: u64, units: Units) -> String {
    if bytes < 1024 {
        return exact(bytes);
    }
    format!("{} ({}, {})", scaled(bytes, units), scaled(bytes, units.other()), exact(bytes))
}

fn rate_in(bytes_per_s: u64, units: Units) -> String {
    let [first, second] = [units, units.other()].map(|units| scaled(bytes_per_s, units));
    if first == second { format!("{first}/s") } else { format!("{first}/s ({second}/s)") }
}

fn rate_and_mean_in(now_per_s: u64, mean_per_s: u64, units: Units) -> String {
    let (unit, divisor) = scale(now_per_s.max(mean_per_s), units.base());
    let [now, mean] = [now_per_s, mean_per_s].map(|rate| match unit {
        0 => rate.to_string(),
        _ => decimals(rate, divisor),
    });
    format!("{now} (mean {mean}) {}/s", units.names()[unit])
}

/// A number with the largest unit of which it is a multiple; `None` if that is the byte.
fn in_whole_units(bytes: u64, units: Units) -> Option<(u64, &'static str)> {
    let (mut unit, mut number) = (0, bytes);
    while number != 0 && number.is_multiple_of(units.base()) && unit + 1 < units.names().len() {
        number /= units.base();
        unit += 1;
    }
    (unit > 0).then(|| (number, units.names()[unit]))
}

/// Bytes per second; `None` if the time is zero.
pub fn per_second(bytes: u64, time: Duration) -> Option<u64> {
    let nanos = time.as_nanos();
    let rate = (u128::from(bytes) * 1_000_000_000).checked_div(nanos)?;
    Some(u64::try_from(rate).unwrap_or(u64::MAX))
}

/// A duration: `85 µs`, `3.40 ms`, `0.27 s`, `3.2 s`, `4 min 12 s`, `2 h 03 min`, `1 d 04 h`.
pub fn duration(time: Duration) -> String {
    let micros = time.as_micros();
    if micros < 10_000 {
        return short(micros);
    }
    // Hundredths and tenths are rounded before the unit is chosen, so that 59.96 s is a minute instead of "60.0
    // s".
    let hundredths = (micros + 5_000) / 10_000;
    if hundredths < 100 {
        return format!("0.{hundredths:02} s");
    }
    let tenths = (micros + 50_000) / 100_000;
    if tenths < 600 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = (micros + 500_000) / 1_000_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours) {
        (0, 0) => format!("{minutes} min {:02} s", seconds % 60),
        (0, _) => format!("{hours} h {:02} min", minutes % 60),
        _ => format!("{days} d {:02} h", hours % 24),
    }
}

/// The latency of a request: `85 µs`, `1.24 ms`, `2.3 s`.
pub fn latency(micros: u64) -> String {
    if micros < 999_500 { short(u128::from(micros)) } else { duration(Duration::from_micros(micros)) }
}

/// Processor time, which is printed more precisely than elapsed time: `0.085 s`, `12.3 s`.
pub fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 9.9995 { format!("{seconds:.3} s") } else { format!("{seconds:.1} s") }
}

/// Remaining time, in whole seconds, so that it does not flicker: `0 s`, `12 s`, `4 min 12 s`.
pub fn time_left(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    if seconds < 60 { format!("{seconds} s") } else { duration(Duration::from_secs(seconds)) }
}

/// Elapsed time, in whole seconds, so that it does not flicker: `0 s`, `12 s`, `4 min 12 s`.
pub fn time_passed(time: Duration) -> String {
    time_left(Duration::from_secs(time.as_secs()))
}

/// Whole percents of `whole`, rounded down: 100 only when `part` is all of it. 0 of 0 is 100 %.
pub fn percent(part: u64, whole: u64) -> u64 {
    let percent = (u128::from(part) * 100).checked_div(u128::from(whole)).unwrap_or(100);
    u64::try_from(percent).unwrap_or(u64::MAX).min(100)
}

/// A share of time, rounded: `61 %`, `< 1 %`, `0 %`.
pub fn share(part: Duration, whole: Duration) -> String {
    let (part, whole) = (part.as_nanos(), whole.as_nanos());
    let percent = (part * 100 + whole / 2).checked_div(whole).unwrap_or(0);
    match percent {
        0 if part > 0 && whole > 0 => "< 1 %".to_owned(),
        _ => format!("{} %", percent.min(100)),
    }
}

/// Below 1 s, with three digits: `85 µs`, `3.40 ms`, `34.0 ms`, `340 ms`.
fn short(micros: u128) -> String {
    let millis = micros as f64 / 1000.0;
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..9_995 => format!("{millis:.2} ms"),
        9_995..99_950 => format!("{millis:.1} ms"),
        _ => format!("{millis:.0} ms"),
    }
}

/// Enough digits to distinguish disks of similar sizes, in at most 11 columns.
fn scaled(bytes: u64, units: Units) -> String {
    match scale(bytes, units.base()) {
        (0, _) => exact(bytes),
        (unit, divisor) => format!("{} {}", decimals(bytes, divisor), units.names()[unit]),
    }
}

/// The unit for a number, and its divisor. In tenths and integers: floats are not exact for all u64, and
/// 1023.96 MiB must become 1.00 GiB.
fn scale(bytes: u64, base: u64) -> (usize, u128) {
    if bytes < base {
        return (0, 1);
    }
    let (mut unit, mut divisor) = (1, u128::from(base));
    while unit + 1 < Units::Si.names().len() && rounded(bytes, divisor, 10) >= u128::from(base) * 10 {
        unit += 1;
        divisor *= u128::from(base);
    }
    (unit, divisor)
}

/// Two decimals below 10, one above.
fn decimals(bytes: u64, divisor: u128) -> String {
    let hundredths = rounded(bytes, divisor, 100);
    if hundredths < 1000 {
        return format!("{}.{:02}", hundredths / 100, hundredths % 100);
    }
    let tenths = rounded(bytes, divisor, 10);
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn rounded(bytes: u64, divisor: u128, parts: u128) -> u128 {
    (u128::from(bytes) * parts + divisor / 2) / divisor
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;

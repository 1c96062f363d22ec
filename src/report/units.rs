//! Numbers as text: the only place where that happens, so that one number looks the same everywhere.
use crate::core::Units;
use std::time::Duration;

/// A moment in milliseconds since 1970, to the second in UTC: `2026-11-21 23:42:23 UTC`; `None` of a number that is no
/// moment of this century.
pub fn time_of_ms(since_1970_ms: u64) -> Option<String> {
    const CENTURY_MS: std::ops::Range<u64> = 946_684_800_000..4_102_444_800_000;
    let time = jiff::Timestamp::from_millisecond(i64::try_from(since_1970_ms).ok()?).ok()?;
    CENTURY_MS.contains(&since_1970_ms).then(|| format!("{:.0}", time).replace('T', " ").replace('Z', " UTC"))
}

/// A size to be read at a glance, rounded, in the units that lead: `1.50 GB`, `931.5 GB`, `512 bytes`.
pub fn size(bytes: u64) -> String {
    scaled(bytes, Units::leading())
}

/// A size at a glance and to the byte: `1.61 GB (1610612736 bytes)`. No separators, so that it can be pasted.
pub fn bytes(bytes: u64) -> String {
    bytes_in(bytes, Units::leading())
}

/// A size to the byte: `1610612736 bytes`.
pub fn exact(bytes: u64) -> String {
    count(bytes, "byte", "bytes")
}

/// The capacity of a disk, which people know from its label or from other programs:
/// `1.00 TB (931.5 GiB, 1000204886016 bytes)`.
pub fn capacity(bytes: u64) -> String {
    capacity_in(bytes, Units::leading())
}

/// A size that somebody chose, in the largest unit that divides it: `1 MiB`, `384 KiB`, `40 MB`, `4095 bytes`. Blocks
/// and buffers are powers of two whichever units lead.
pub fn block(bytes: u64) -> String {
    let binary = in_whole_units(bytes, Units::Iec);
    let whole = binary.or_else(|| in_whole_units(bytes, Units::Si));
    whole.map_or_else(|| exact(bytes), |(number, unit)| format!("{number} {unit}"))
}

/// A rate in the units that lead, and in the others: `7.95 GB/s (7.41 GiB/s)`.
pub fn rate(bytes_per_s: u64) -> String {
    rate_in(bytes_per_s, Units::leading())
}

/// A rate in the units that lead: `412.3 MB/s`.
pub fn rate_at_a_glance(bytes_per_s: u64) -> String {
    format!("{}/s", size(bytes_per_s))
}

/// The current rate and the mean in the unit of the greater: `412.3 (mean 398.0) MB/s`.
pub fn rate_and_mean(now_per_s: u64, mean_per_s: u64) -> String {
    rate_and_mean_in(now_per_s, mean_per_s, Units::leading())
}

/// A size at a glance in the units that do not lead.
pub fn size_in_other_units(bytes: u64) -> String {
    scaled(bytes, Units::leading().other())
}

/// What goes by the gigabyte: the name of that unit, and how many GiB it is. Measured is by the GiB.
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

/// A number with the largest unit of which it is a whole number; `None` of bytes alone.
fn in_whole_units(bytes: u64, units: Units) -> Option<(u64, &'static str)> {
    let (mut unit, mut number) = (0, bytes);
    while number != 0 && number.is_multiple_of(units.base()) && unit + 1 < units.names().len() {
        number /= units.base();
        unit += 1;
    }
    (unit > 0).then(|| (number, units.names()[unit]))
}

/// Bytes a second, or `None` where no time went by.
pub fn per_second(bytes: u64, time: Duration) -> Option<u64> {
    let nanos = time.as_nanos();
    let rate = (u128::from(bytes) * 1_000_000_000).checked_div(nanos)?;
    Some(u64::try_from(rate).unwrap_or(u64::MAX))
}

/// A length of time: `85 µs`, `3.40 ms`, `0.27 s`, `3.2 s`, `4 min 12 s`, `2 h 03 min`, `1 d 04 h`.
pub fn duration(time: Duration) -> String {
    let micros = time.as_micros();
    if micros < 10_000 {
        return short(micros);
    }
    // Hundredths and tenths are rounded before the unit is chosen, so that 59.96 s is a minute and not "60.0 s".
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

/// Processor time, which is requested finer than the time on a clock: `0.085 s`, `12.3 s`.
pub fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 9.9995 { format!("{seconds:.3} s") } else { format!("{seconds:.1} s") }
}

/// Time left, in whole seconds, so that it does not flicker: `0 s`, `12 s`, `4 min 12 s`.
pub fn time_left(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    if seconds < 60 { format!("{seconds} s") } else { duration(Duration::from_secs(seconds)) }
}

/// Time gone by, in whole seconds, so that it does not flicker: `0 s`, `12 s`, `4 min 12 s`.
pub fn time_passed(time: Duration) -> String {
    time_left(Duration::from_secs(time.as_secs()))
}

/// Whole percents of `whole`, rounded down: 100 only when all is there. Nothing of nothing is all.
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

/// A number of things: `1 run`, `3 runs`.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
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

/// Enough digits to tell disks of neighbouring sizes apart, and never wider than 11 columns.
fn scaled(bytes: u64, units: Units) -> String {
    match scale(bytes, units.base()) {
        (0, _) => exact(bytes),
        (unit, divisor) => format!("{} {}", decimals(bytes, divisor), units.names()[unit]),
    }
}

/// The unit for a number, and what it is to be divided by. In tenths and integers: no float is exact for all u64, and
/// 1023.96 MiB has to become 1.00 GiB.
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

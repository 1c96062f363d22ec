//! Counts, bytes and speed in dd's form.
use crate::apps::fronts::record_counts::RecordCounts;
use std::time::Duration;

const LETTERS: [&str; 10] = ["k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q"];

/// `N+M records in`, `N+M records out`, and the number of truncated lines.
pub(super) fn records(counts: &RecordCounts) -> String {
    let RecordCounts { read_full, read_partial, written_full, written_partial, truncated, .. } = counts;
    let cut = match truncated {
        0 => String::new(),
        1 => "1 truncated record\n".to_owned(),
        _ => format!("{truncated} truncated records\n"),
    };
    format!("{read_full}+{read_partial} records in\n{written_full}+{written_partial} records out\n{cut}")
}

/// `1024 bytes (1.0 kB, 1.0 KiB) copied, 0.000106128 s, 9.6 MB/s`, without a newline. Progress shows
/// `whole_seconds`.
pub fn transferred(bytes: u64, time: Duration, whole_seconds: bool) -> String {
    let (si, iec) = (human(bytes.into(), 1, 1000, true), human(bytes.into(), 1, 1024, true));
    let size = match bytes {
        1 => "1 byte".to_owned(),
        0..=999 => format!("{bytes} bytes"),
        1000..=1023 => format!("{bytes} bytes ({si})"),
        _ => format!("{bytes} bytes ({si}, {iec})"),
    };
    let seconds = time.as_secs_f64();
    let time_text = if whole_seconds { format!("{seconds:.0}") } else { general(seconds) };
    let speed = match time.as_nanos() {
        0 => "Infinity B".to_owned(),
        nanos => human(u128::from(bytes) * 1_000_000_000, nanos, 1000, false),
    };
    format!("{size} copied, {time_text} s, {speed}/s")
}

/// `number / by` in a readable form, rounded to the nearest, and half to even. A value below one of the first
/// unit is printed in bytes if `bytes`, else as a fraction of that unit.
pub(super) fn human(number: u128, by: u128, base: u128, bytes: bool) -> String {
    let infix = if base == 1024 { "iB" } else { "B" };
    if bytes && number < base * by {
        return format!("{} B", round(number, by));
    }
    let mut unit = by * base;
    for letter in LETTERS {
        let letter = if base == 1024 && letter == "k" { "K" } else { letter };
        let tenths = round(number * 10, unit);
        // A rate has three significant digits, a size two or three.
        if tenths < if bytes { 100 } else { 1000 } {
            return format!("{}.{} {letter}{infix}", tenths / 10, tenths % 10);
        }
        let whole = round(number, unit);
        if whole < base {
            return format!("{whole} {letter}{infix}");
        }
        unit *= base;
    }
    unreachable!("64 bits are less than the last unit")
}

fn round(number: u128, by: u128) -> u128 {
    let (whole, rest) = (number / by, number % by);
    match (rest * 2).cmp(&by) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Equal => whole + whole % 2,
        std::cmp::Ordering::Greater => whole + 1,
    }
}

/// As C's `%g`: six significant digits, without trailing zeros.
fn general(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{number:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(digits), exponent.abs());
    }
    let places = usize::try_from(5 - exponent).unwrap_or(0);
    trim(&format!("{number:.places$}"))
}

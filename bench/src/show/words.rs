//! Formats numbers and external text for readers. MB are powers of 1000, MiB of 1024.
use crate::claims::{Bound, Claim};

/// `value` with three significant digits, never with an exponent: `0.62`, `14.7`, `2.76`, `1893`.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 99.95 { 0 } else { usize::from(size < 9.995) + 1 };
    // At most two decimals: smaller values are below the resolution of a run.
    if value.is_finite() { format!("{value:.decimals$}") } else { "–".into() }
}

/// `1 round`, `7 rounds`.
pub(super) fn rounds(count: u32) -> String {
    if count == 1 { "1 round".into() } else { format!("{count} rounds") }
}

/// A share as a whole number of percent; one decimal from 99 to 100, because 99.6 is not all.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if (99.0..100.0).contains(&percent) {
        format!("{:.1}", (percent * 10.0).floor() / 10.0)
    } else {
        format!("{percent:.0}")
    }
}

/// The value of a claim and its bound: `1.52 x, wanted ≥ 1.40`; with as many decimals as needed to distinguish them.
pub fn figure(claim: &Claim) -> String {
    let sign = if claim.bound == Bound::AtLeast { '≥' } else { '≤' };
    let unit = claim.unit;
    match (claim.figure, claim.wanted) {
        (Some(figure), Some(wanted)) => {
            let both = |decimals: usize| (format!("{figure:.decimals$}"), format!("{wanted:.decimals$}"));
            let least = if claim.unit == "%" || claim.unit == "MiB" { 1 } else { 2 };
            let told_apart = (least..5).map(both).find(|(figure, wanted)| figure != wanted);
            let (figure, wanted) = told_apart.unwrap_or_else(|| both(least));
            format!("{figure} {unit}, wanted {sign} {wanted}")
        }
        (Some(figure), None) => format!("{} {unit}", number(figure)),
        (None, Some(wanted)) => format!("wanted {sign} {} {unit}", number(wanted)),
        (None, None) => "–".into(),
    }
}

/// Bytes in MiB; `≤` before values up to `floor_bytes`, the smallest that can be measured.
pub(super) fn mib(bytes: u64, floor_bytes: u64) -> String {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    if bytes <= floor_bytes { format!("≤{:.0}", mib(floor_bytes).ceil()) } else { format!("{:.0}", mib(bytes)) }
}

/// Bytes in a suitable unit: `256 MiB`, `8 GiB`, `7.8 GiB`.
pub(super) fn size(bytes: u64) -> String {
    let (value, unit) = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        .into_iter()
        .find(|(unit, _)| bytes >= *unit)
        .map_or((bytes as f64, "bytes"), |(unit, name)| (bytes as f64 / unit as f64, name));
    if value.fract() == 0.0 { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

/// MB/s of `bytes` in `seconds`.
pub(super) fn rate(bytes: u64, seconds: f64) -> String {
    format!("{:.0}", bytes as f64 / 1e6 / seconds)
}

/// Seconds as `14 s` or `13 min 32 s`.
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    if whole < 60 { format!("{whole} s") } else { format!("{} min {} s", whole / 60, whole % 60) }
}

/// `text` with its control characters escaped: the output of a peer must not control the terminal.
pub(super) fn plain(text: &str) -> String {
    let one = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let shown = [0.004, 0.617, 9.994, 9.995, 14.72, 99.94, 99.96, 1893.2].map(number);
        assert_eq!(shown, ["0.00", "0.62", "9.99", "10.0", "14.7", "99.9", "100", "1893"]);
        assert_eq!(number(f64::NAN), "–");
    }

    #[test]
    fn shares_below_one_are_not_rounded_to_all() {
        assert_eq!([1.0, 0.9999, 0.99, 0.62, 0.0].map(percent), ["100", "99.9", "99.0", "62", "0"]);
    }

    #[test]
    fn memory_at_the_measuring_floor_is_an_upper_bound() {
        assert_eq!(mib(2 << 20, 3 << 20), "≤3");
        assert_eq!(mib(22 << 20, 3 << 20), "22");
    }

    #[test]
    fn a_figure_has_enough_decimals_to_differ_from_its_bound() {
        let claim = |figure, wanted, unit| Claim {
            what: String::new(),
            figure,
            bound: Bound::AtLeast,
            wanted,
            unit,
            note: String::new(),
            verdict: crate::claims::Verdict::FallsShort,
        };
        assert_eq!(figure(&claim(Some(1.516), Some(1.4), "x")), "1.52 x, wanted ≥ 1.40");
        assert_eq!(figure(&claim(Some(0.9986), Some(1.0), "x")), "0.999 x, wanted ≥ 1.000");
        assert_eq!(figure(&claim(Some(98.98), Some(99.0), "%")), "98.98 %, wanted ≥ 99.00");
        assert_eq!(figure(&claim(Some(1.0), Some(1.0), "x")), "1.00 x, wanted ≥ 1.00");
        assert_eq!(figure(&claim(Some(0.51), None, "s/GiB")), "0.51 s/GiB");
        assert_eq!(figure(&claim(None, Some(64.0), "MiB")), "wanted ≥ 64.0 MiB");
    }

    #[test]
    fn sizes_and_durations_have_the_unit_that_suits_them() {
        assert_eq!([256 << 20, (15 << 30) / 2, 512].map(size), ["256 MiB", "7.5 GiB", "512 bytes"]);
        assert_eq!([59.4, 812.4].map(duration), ["59 s", "13 min 32 s"]);
    }

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(plain("a\x1b[31mb\nc–"), "a\\u{1b}[31mb\\nc–");
    }
}

//! An axis of a chart: a quantity, its range, and the labels at round numbers.
use crate::core::Units;
use crate::report::units;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;
use std::time::Duration;

/// The quantity of an axis, which determines its marks and their labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Seconds, linear.
    Time,
    /// Bytes per second, linear.
    Rate,
    /// Bytes, linear.
    Bytes,
    /// Bytes, logarithmic: each doubling has the same width.
    BlockSize,
    /// Microseconds, logarithmic: each factor of ten has the same width.
    Latency,
    /// 0 to 100.
    Percent,
    /// Whole numbers, linear: rounds.
    #[cfg_attr(not(feature = "internals"), allow(dead_code, reason = "the bench draws with it"))]
    Count,
    /// A factor, linear.
    #[cfg_attr(not(feature = "internals"), allow(dead_code, reason = "the bench draws with it"))]
    Times,
}

/// Round durations, in seconds; longer ones are in days.
const ROUND_S: [f64; 16] =
    [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0, 43200.0];
const DAY_S: f64 = 86_400.0;

/// Lower end of a latency axis, in microseconds.
const LATENCY_LEAST: f64 = 0.5;

/// Width of a character of a label, and minimum gap between two labels, in pixels.
const LETTER_PX: f64 = 7.0;
const GAP_PX: f64 = 12.0;
/// Maximum number of marks.
const MARKS_MAX: u32 = 13;

/// One axis of a chart.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    pub(super) quantity: Quantity,
    from: f64,
    to: f64,
}

impl Axis {
    /// From the minimum to the maximum of `values`; starting at 0, or extended, if the range would be too
    /// small.
    pub fn over(quantity: Quantity, values: impl Iterator<Item = f64>) -> Axis {
        let placed = values.map(|value| place(quantity, value)).filter(|value| value.is_finite());
        let (low, high) = placed.fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let (from, to) = match quantity {
            Quantity::Time => (0.0, high.max(0.1)),
            // Some space above the highest value.
            Quantity::Rate | Quantity::Times => (0.0, high.max(1.0) * 1.08),
            Quantity::Percent => (0.0, high.max(1.0)),
            Quantity::Bytes | Quantity::BlockSize | Quantity::Count => (low, high.max(low + 1.0)),
            // Half a microsecond leaves space for latencies below the resolution of a clock.
            Quantity::Latency => (low.floor().max(LATENCY_LEAST.log10()), high.ceil().max(low.floor() + 1.0)),
        };
        Axis { quantity, from, to }
    }

    /// The range 0 to 100 %.
    pub(super) fn percent() -> Axis {
        Axis { quantity: Quantity::Percent, from: 0.0, to: 100.0 }
    }

    /// The positions of its ends.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// The positions of round numbers, about `most` of them.
    pub(super) fn marks(&self, most: u32) -> Vec<f64> {
        let rough = (self.to - self.from) / f64::from(most.max(1));
        let step = match self.quantity {
            Quantity::Time if rough > 1.0 => {
                let days = (rough / DAY_S).ceil() * DAY_S;
                ROUND_S.into_iter().find(|&round| round >= rough).unwrap_or(days)
            }
            Quantity::Time | Quantity::Rate | Quantity::Percent | Quantity::Times => round_up(rough),
            Quantity::Bytes if Units::leading() == Units::Si => round_up(rough.max(1.0)),
            Quantity::Bytes => rough.max(1.0).log2().ceil().exp2(),
            Quantity::BlockSize | Quantity::Latency | Quantity::Count => rough.ceil().max(1.0),
        };
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last).map(|number| number as f64 * step).collect()
    }

    /// As many round numbers as fit side by side on this many pixels; if only one would fit, the outer ones of
    /// several, because one mark does not define a scale.
    pub(super) fn marks_in(&self, px: u32) -> Vec<f64> {
        let fits = |marks: &Vec<f64>| {
            let widest = marks.iter().map(|&at| self.label(at).chars().count()).max().unwrap_or(0);
            let step = marks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::MAX, f64::min);
            marks.len() < 2 || step / (self.to - self.from) * f64::from(px) >= widest as f64 * LETTER_PX + GAP_PX
        };
        let sets = || (1..=MARKS_MAX).map(|most| self.marks(most));
        let outer = |marks: Vec<f64>| Some(vec![*marks.first()?, *marks.last()?]);
        let all = sets().rev().filter(|marks| marks.len() > 1).find(fits);
        let two = || sets().filter(|marks| marks.len() > 1).filter_map(outer).find(fits);
        all.or_else(two).or_else(|| sets().rev().find(fits)).unwrap_or_default()
    }

    /// The label at a position.
    pub(super) fn label(&self, at: f64) -> String {
        match self.quantity {
            Quantity::Time if self.to <= 10.0 => format!("{} s", (at * 1000.0).round() / 1000.0),
            Quantity::Time => units::time_left(Duration::from_secs_f64(at.max(0.0).round())),
            Quantity::Rate => format!("{}/s", short(units::size(at.max(0.0).round() as u64))),
            Quantity::Bytes => short(units::size(at.max(0.0).round() as u64)),
            Quantity::BlockSize => units::block(at.exp2().round() as u64).replace(" bytes", " B"),
            Quantity::Latency => short(units::latency(10f64.powf(at).round() as u64)),
            Quantity::Percent => format!("{} %", at.round()),
            Quantity::Count => at.round().to_string(),
            Quantity::Times => format!("{} x", (at * 1000.0).round() / 1000.0),
        }
    }
}

/// An axis with its marks, in the form that plotters requires.
#[derive(Clone, Debug)]
pub(super) struct Marked {
    axis: Axis,
    marks: Vec<f64>,
}

impl Marked {
    /// An axis with these marks.
    pub(super) fn new(axis: Axis, marks: Vec<f64>) -> Marked {
        Marked { axis, marks }
    }
}

impl Ranged for Marked {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.axis.from) / (self.axis.to - self.axis.from);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.axis.from..self.axis.to
    }
}

impl ValueFormatter<f64> for Marked {
    fn format_ext(&self, value: &f64) -> String {
        self.axis.label(*value)
    }
}

/// The position of a value: itself, or its logarithm.
pub(super) fn place(quantity: Quantity, value: f64) -> f64 {
    match quantity {
        Quantity::BlockSize => value.max(1.0).log2(),
        Quantity::Latency => value.max(LATENCY_LEAST).log10(),
        _ => value,
    }
}

/// The next number of the form 1, 2 or 5 times a power of ten, at least this.
fn round_up(rough: f64) -> f64 {
    let power = 10f64.powf(rough.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|&step| step >= rough).unwrap_or(power * 10.0)
}

/// The number without insignificant zeros: `1.00 GiB` is `1 GiB`.
fn short(text: String) -> String {
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        Some(("0", _)) => "0".to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(quantity: Quantity, values: &[f64]) -> Vec<String> {
        let axis = Axis::over(quantity, values.iter().copied());
        axis.marks(5).into_iter().map(|at| axis.label(at)).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(Quantity::Time, &[0.0, 3.1]), ["0 s", "1 s", "2 s", "3 s"]);
        assert_eq!(labels(Quantity::Time, &[0.0, 0.4]), ["0 s", "0.1 s", "0.2 s", "0.3 s", "0.4 s"]);
        assert_eq!(labels(Quantity::Time, &[700.0])[1..3], ["5 min 00 s", "10 min 00 s"]);
        assert_eq!(labels(Quantity::Rate, &[380e6])[..3], ["0/s", "100 MB/s", "200 MB/s"]);
        assert_eq!(labels(Quantity::Bytes, &[0.0, 4e9])[..3], ["0", "1 GB", "2 GB"]);
        assert_eq!(labels(Quantity::BlockSize, &[512.0, 16384.0])[..2], ["512 B", "1 KiB"]);
        assert_eq!(labels(Quantity::Latency, &[50.0, 5000.0]), ["10 µs", "100 µs", "1 ms", "10 ms"]);
        assert_eq!(labels(Quantity::Count, &[1.0, 3.0]), ["1", "2", "3"]);
        assert_eq!(labels(Quantity::Times, &[1.0, 2.5]), ["0 x", "1 x", "2 x"]);
    }

    #[test]
    fn ticks_are_as_many_as_their_labels_fit() {
        let marks = |quantity, to: f64, px| Axis::over(quantity, [0.0, to].into_iter()).marks_in(px).len();
        // `25 min 00 s` is wider than `25 s` and `500 GB`.
        assert_eq!([marks(Quantity::Time, 25.0, 232), marks(Quantity::Time, 1500.0, 232)], [6, 3]);
        assert_eq!(marks(Quantity::Bytes, 1e12, 232), 3);
        // Two marks at the minimum distance leave room for one between them; two closer ones are at the ends.
        let far_from_0 = Axis::over(Quantity::Bytes, [1.14e9, 3.2e9].into_iter());
        assert_eq!(
            far_from_0.marks_in(208).iter().map(|&at| far_from_0.label(at)).collect::<Vec<_>>(),
            ["2 GB", "3 GB"]
        );
        assert_eq!(marks(Quantity::Bytes, 1e12, 772), 11);
        for quantity in [Quantity::Time, Quantity::Bytes, Quantity::BlockSize, Quantity::Latency, Quantity::Count] {
            for power in 0..14 {
                let axis = Axis::over(quantity, [1.0, 1.7 * 10f64.powi(power)].into_iter());
                for px in [232, 772] {
                    let marks = axis.marks_in(px);
                    let at = |place: f64| (place - axis.from) / (axis.to - axis.from) * f64::from(px);
                    let half = |place: f64| axis.label(place).chars().count() as f64 * LETTER_PX / 2.0;
                    let apart = |pair: &[f64]| at(pair[1]) - at(pair[0]) - half(pair[0]) - half(pair[1]);
                    assert!(
                        marks.windows(2).all(|pair| apart(pair) >= GAP_PX),
                        "{quantity:?} {axis:?} {px}: {marks:?}"
                    );
                    assert!(!marks.is_empty(), "{quantity:?} {axis:?} {px}");
                }
            }
        }
    }

    #[test]
    fn zero_and_one_values_have_an_axis() {
        for quantity in [Quantity::Time, Quantity::Rate, Quantity::Bytes, Quantity::BlockSize, Quantity::Latency] {
            for values in [&[][..], &[0.0], &[4096.0], &[f64::NAN], &[f64::INFINITY]] {
                let axis = Axis::over(quantity, values.iter().copied());
                let (from, to) = axis.ends();
                assert!(from < to && to.is_finite(), "{quantity:?} {values:?}: {axis:?}");
                assert!(axis.marks(5).len() < 20, "{quantity:?} {values:?}: {axis:?}");
            }
        }
    }
}

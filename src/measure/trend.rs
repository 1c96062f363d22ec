//! What rates one after the other have to do with each other: a cache that ran out, a drive that throttles.
use super::{Stage, Temperatures};

/// Who falls to more than this share, and stays there, had no write cache that ran out.
const CACHE_SHARE: f64 = 2.0 / 3.0;

/// What held for at least this part of all that was written until now is still seen as what it was: steps are much
/// smaller.
const SEEN_PART: u64 = 64;

/// What the stages say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// One rate from the beginning to the end.
    Steady,
    /// It fell for good and by a lot, as when a write cache is full.
    RanOut,
    /// It fell by less than that.
    Fell,
    /// It fell where the drive was at its limit of warmth, or fell and rose while writing went on, as drives do that
    /// throttle by heat.
    Throttled,
    /// Both of it: a fall for good that no heat explains, and others.
    RanOutAndThrottled,
    /// It fell and rose, and the drive was never at its limit of warmth.
    CameBack,
    /// It only rose.
    Rose,
}

impl Trend {
    /// The word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Trend::Steady => "steady",
            Trend::RanOut => "ran out",
            Trend::Fell => "fell",
            Trend::Throttled => "throttled",
            Trend::RanOutAndThrottled => "ran out and throttled",
            Trend::CameBack => "came back",
            Trend::Rose => "rose",
        }
    }
}

/// A stage that is slower than the one before.
struct Fall<'a> {
    from: &'a Stage,
    to: &'a Stage,
    /// What came after it, `to` the first of it, while steps were so small that `from` could have been seen once more.
    later: &'a [Stage],
    /// The drive was at its limit of warmth; `None` if unknown.
    hot: Option<bool>,
}

impl Fall<'_> {
    fn share(&self) -> f64 {
        self.to.bytes_per_s / self.from.bytes_per_s
    }

    fn highest_later(&self) -> f64 {
        self.later.iter().map(|stage| stage.bytes_per_s).fold(0.0, f64::max)
    }

    fn came_back(&self) -> bool {
        self.highest_later() >= CACHE_SHARE * self.from.bytes_per_s
    }

    /// It rose after it, but by far not to what it had been: what was lost does not come back.
    fn is_for_good(&self) -> bool {
        rose(self.later) && !self.came_back()
    }
}

fn rose(stages: &[Stage]) -> bool {
    stages.windows(2).any(|pair| pair[1].bytes_per_s > pair[0].bytes_per_s)
}

fn falls<'a>(stages: &'a [Stage], warmth: &Temperatures) -> Vec<Fall<'a>> {
    let pairs = stages.windows(2).enumerate().filter(|(_, pair)| pair[1].bytes_per_s < pair[0].bytes_per_s);
    let fall = |(at, pair): (usize, &'a [Stage])| {
        let hot = warmth.at_limit(pair[0].to.seconds);
        let until_bytes = SEEN_PART * (pair[0].to.bytes - pair[0].from.bytes);
        let until = stages.partition_point(|stage| stage.to.bytes <= until_bytes);
        Fall { from: &pair[0], to: &pair[1], later: &stages[at + 1..until.max(at + 1)], hot }
    };
    pairs.map(fall).collect()
}

/// The drive was at its limit of warmth at one of the falls; `Some(false)`: at none of them; `None`: unknown.
pub fn fell_hot(stages: &[Stage], warmth: &Temperatures) -> Option<bool> {
    let falls = falls(stages, warmth);
    let known = falls.iter().all(|fall| fall.hot.is_some()) && !falls.is_empty();
    let hot = falls.iter().any(|fall| fall.hot == Some(true));
    (known || hot).then_some(hot)
}

/// What the stages say together, where the drive was so warm.
pub fn trend(stages: &[Stage], warmth: &Temperatures) -> Trend {
    let falls = falls(stages, warmth);
    let rose = rose(stages);
    if falls.is_empty() {
        return if rose { Trend::Rose } else { Trend::Steady };
    }
    // Heat explains no fall below the limit, nor that a rate stays away that had come back before.
    let cold = |fall: &Fall<'_>| fall.hot != Some(true);
    let returns = falls.iter().any(Fall::came_back);
    let ran_out = match rose {
        true => falls.iter().any(|fall| fall.is_for_good() && (cold(fall) || returns)),
        false => falls.iter().filter(|fall| cold(fall)).map(Fall::share).product::<f64>() < CACHE_SHARE,
    };
    match (fell_hot(stages, warmth), rose, ran_out) {
        (Some(true), _, false) => Trend::Throttled,
        (Some(true), _, true) | (None, true, true) => Trend::RanOutAndThrottled,
        (None, true, false) => Trend::Throttled,
        (Some(false), true, false) => Trend::CameBack,
        (_, false, false) => Trend::Fell,
        (_, false, true) | (Some(false), true, true) => Trend::RanOut,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TemperatureReading, WriteMoment};
    use super::*;

    /// Rates that hold a minute each.
    fn stages(rates: &[f64]) -> Vec<Stage> {
        let mut to = WriteMoment::default();
        let stage = |&bytes_per_s: &f64| {
            let from = to;
            to = WriteMoment { bytes: from.bytes + (60.0 * bytes_per_s) as u64, seconds: from.seconds + 60.0 };
            Stage { from, to, bytes_per_s }
        };
        rates.iter().map(stage).collect()
    }

    fn trend_of(rates: &[f64]) -> Trend {
        trend(&stages(rates), &Temperatures::default())
    }

    /// The same of a drive that was at its limit at the ends of these minutes, and cool otherwise.
    fn trend_hot(rates: &[f64], hot: &[usize]) -> (Trend, Option<bool>) {
        let celsius = |minute| if hot.contains(&minute) { 83.0 } else { 50.0 };
        let times = (0..=rates.len()).flat_map(|minute| [(minute, 0.0), (minute, 30.0)]);
        let reading = |(minute, more): (usize, f64)| {
            let celsius = if more == 0.0 { celsius(minute) } else { 50.0 };
            TemperatureReading { seconds: 60.0 * minute as f64 + more, celsius }
        };
        let warmth = Temperatures::new(Some(84.0), times.map(reading).collect());
        (trend(&stages(rates), &warmth), fell_hot(&stages(rates), &warmth))
    }

    #[test]
    fn rates_one_after_the_other_have_a_name() {
        assert_eq!(trend_of(&[]), Trend::Steady);
        assert_eq!(trend_of(&[480e6]), Trend::Steady);
        assert_eq!(trend_of(&[480e6, 95e6]), Trend::RanOut);
        assert_eq!(trend_of(&[200e6, 150e6, 110e6]), Trend::RanOut);
        assert_eq!(trend_of(&[200e6, 180e6, 150e6]), Trend::Fell);
        assert_eq!(trend_of(&[480e6, 95e6, 480e6]), Trend::Throttled);
        assert_eq!(trend_of(&[480e6, 95e6, 480e6, 95e6]), Trend::Throttled);
        assert_eq!(trend_of(&[95e6, 480e6]), Trend::Rose);
    }

    #[test]
    fn who_comes_back_but_never_to_the_first_rate_ran_out_and_throttles() {
        assert_eq!(trend_of(&[200e6, 100e6, 20e6, 100e6, 20e6]), Trend::RanOutAndThrottled);
        assert_eq!(trend_of(&[200e6, 20e6, 200e6, 100e6, 20e6, 100e6]), Trend::RanOutAndThrottled);
        assert_eq!(trend_of(&[200e6, 180e6, 20e6, 180e6, 20e6]), Trend::Throttled);
    }

    #[test]
    fn a_rate_that_steps_are_too_large_to_show_again_is_not_lost() {
        let turns = [[480e6, 95e6]; 60].concat();
        let blurred = [[250e6, 200e6]; 20].concat();
        assert_eq!(trend_of(&[turns, blurred].concat()), Trend::Throttled);
    }

    #[test]
    fn a_fall_at_the_limit_of_warmth_is_no_cache_that_ran_out_though_it_is_for_good() {
        assert_eq!(trend_hot(&[480e6, 95e6], &[1]), (Trend::Throttled, Some(true)));
        assert_eq!(trend_hot(&[480e6, 440e6], &[1]), (Trend::Throttled, Some(true)));
        assert_eq!(trend_hot(&[480e6, 95e6, 200e6, 95e6], &[1, 3]), (Trend::Throttled, Some(true)));
    }

    #[test]
    fn a_fall_below_the_limit_of_warmth_is_not_by_heat() {
        assert_eq!(trend_hot(&[480e6, 95e6], &[]), (Trend::RanOut, Some(false)));
        assert_eq!(trend_hot(&[480e6, 95e6], &[2]), (Trend::RanOut, Some(false)));
        assert_eq!(trend_hot(&[480e6, 440e6], &[]), (Trend::Fell, Some(false)));
        assert_eq!(trend_hot(&[480e6, 95e6, 480e6], &[]), (Trend::CameBack, Some(false)));
        assert_eq!(trend_hot(&[480e6, 95e6, 200e6], &[]), (Trend::RanOut, Some(false)));
        assert_eq!(trend_hot(&[480e6], &[1]), (Trend::Steady, None));
    }

    #[test]
    fn one_fall_may_be_a_cache_and_the_next_one_heat() {
        assert_eq!(trend_hot(&[480e6, 200e6, 60e6], &[2]), (Trend::RanOutAndThrottled, Some(true)));
        assert_eq!(trend_hot(&[480e6, 440e6, 60e6], &[2]), (Trend::Throttled, Some(true)));
        assert_eq!(trend_hot(&[480e6, 200e6, 60e6, 200e6], &[2]), (Trend::RanOutAndThrottled, Some(true)));
        assert_eq!(trend_hot(&[480e6, 60e6, 480e6, 200e6, 60e6, 200e6], &[1, 4]).0, Trend::RanOutAndThrottled);
        // It came back once; that it does not any more is none of the heat's doing.
        assert_eq!(trend_hot(&[480e6, 60e6, 480e6, 60e6, 200e6, 60e6], &[1, 3, 5]).0, Trend::RanOutAndThrottled);
    }
}

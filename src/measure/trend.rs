//! The trend of consecutive rates: an exhausted write cache, or throttling.
use super::{Stage, Temperatures};

/// A drop to more than this share is not due to an exhausted write cache.
const CACHE_SHARE: f64 = 2.0 / 3.0;

/// A stage counts if it covers at least one in this many of the bytes written so far; steps are much smaller.
const SEEN_PART: u64 = 64;

/// The trend over all stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// A single rate.
    Steady,
    /// A large permanent drop, as when a write cache is full.
    RanOut,
    /// A smaller permanent drop.
    Fell,
    /// A drop at the temperature limit, or drops and recoveries, as of drives that throttle.
    Throttled,
    /// Both: a permanent drop without a thermal cause, and others.
    RanOutAndThrottled,
    /// Drops and recoveries, never at the temperature limit.
    Recovered,
    /// Only increases.
    Rose,
}

impl Trend {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Trend::Steady => "steady",
            Trend::RanOut => "ran out",
            Trend::Fell => "fell",
            Trend::Throttled => "throttled",
            Trend::RanOutAndThrottled => "ran out and throttled",
            Trend::Recovered => "came back",
            Trend::Rose => "rose",
        }
    }
}

/// A stage that is slower than the previous one.
struct Fall<'a> {
    from: &'a Stage,
    to: &'a Stage,
    /// The following stages, starting with `to`, as long as the steps were small enough to detect a stage like `from`.
    later: &'a [Stage],
    /// Whether the drive was at its temperature limit; `None` if unknown.
    hot: Option<bool>,
}

impl Fall<'_> {
    fn share(&self) -> f64 {
        self.to.bytes_per_s / self.from.bytes_per_s
    }

    fn highest_later(&self) -> f64 {
        self.later.iter().map(|stage| stage.bytes_per_s).fold(0.0, f64::max)
    }

    fn has_recovered(&self) -> bool {
        self.highest_later() >= CACHE_SHARE * self.from.bytes_per_s
    }

    /// Whether the rate increased afterwards without reaching its former value: such a drop is permanent.
    fn is_permanent(&self) -> bool {
        rose(self.later) && !self.has_recovered()
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

/// Whether the drive was at its temperature limit at any drop; `None` if unknown.
pub fn fell_hot(stages: &[Stage], warmth: &Temperatures) -> Option<bool> {
    let falls = falls(stages, warmth);
    let known = falls.iter().all(|fall| fall.hot.is_some()) && !falls.is_empty();
    let hot = falls.iter().any(|fall| fall.hot == Some(true));
    (known || hot).then_some(hot)
}

/// The trend of the stages, with the temperatures of the drive.
pub fn trend(stages: &[Stage], warmth: &Temperatures) -> Trend {
    let falls = falls(stages, warmth);
    let rose = rose(stages);
    if falls.is_empty() {
        return if rose { Trend::Rose } else { Trend::Steady };
    }
    // The temperature does not explain drops below the limit, nor a rate that recovered once and no longer does.
    let cold = |fall: &Fall<'_>| fall.hot != Some(true);
    let returns = falls.iter().any(Fall::has_recovered);
    let ran_out = match rose {
        true => falls.iter().any(|fall| fall.is_permanent() && (cold(fall) || returns)),
        false => falls.iter().filter(|fall| cold(fall)).map(Fall::share).product::<f64>() < CACHE_SHARE,
    };
    match (fell_hot(stages, warmth), rose, ran_out) {
        (Some(true), _, false) => Trend::Throttled,
        (Some(true), _, true) | (None, true, true) => Trend::RanOutAndThrottled,
        (None, true, false) => Trend::Throttled,
        (Some(false), true, false) => Trend::Recovered,
        (_, false, false) => Trend::Fell,
        (_, false, true) | (Some(false), true, true) => Trend::RanOut,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TemperatureReading, WriteMoment};
    use super::*;

    /// Stages with these rates, of one minute each.
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

    /// The same for a drive that was at its limit at the ends of these minutes, and cool otherwise.
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
    fn successive_rates_are_classified() {
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
    fn recovery_below_the_first_rate_means_an_exhausted_cache_and_throttling() {
        assert_eq!(trend_of(&[200e6, 100e6, 20e6, 100e6, 20e6]), Trend::RanOutAndThrottled);
        assert_eq!(trend_of(&[200e6, 20e6, 200e6, 100e6, 20e6, 100e6]), Trend::RanOutAndThrottled);
        assert_eq!(trend_of(&[200e6, 180e6, 20e6, 180e6, 20e6]), Trend::Throttled);
    }

    #[test]
    fn a_recovered_rate_hidden_by_coarse_steps_is_kept() {
        let turns = [[480e6, 95e6]; 60].concat();
        let blurred = [[250e6, 200e6]; 20].concat();
        assert_eq!(trend_of(&[turns, blurred].concat()), Trend::Throttled);
    }

    #[test]
    fn a_permanent_drop_at_the_temperature_limit_is_throttling() {
        assert_eq!(trend_hot(&[480e6, 95e6], &[1]), (Trend::Throttled, Some(true)));
        assert_eq!(trend_hot(&[480e6, 440e6], &[1]), (Trend::Throttled, Some(true)));
        assert_eq!(trend_hot(&[480e6, 95e6, 200e6, 95e6], &[1, 3]), (Trend::Throttled, Some(true)));
    }

    #[test]
    fn a_drop_below_the_temperature_limit_is_not_throttling() {
        assert_eq!(trend_hot(&[480e6, 95e6], &[]), (Trend::RanOut, Some(false)));
        assert_eq!(trend_hot(&[480e6, 95e6], &[2]), (Trend::RanOut, Some(false)));
        assert_eq!(trend_hot(&[480e6, 440e6], &[]), (Trend::Fell, Some(false)));
        assert_eq!(trend_hot(&[480e6, 95e6, 480e6], &[]), (Trend::Recovered, Some(false)));
        assert_eq!(trend_hot(&[480e6, 95e6, 200e6], &[]), (Trend::RanOut, Some(false)));
        assert_eq!(trend_hot(&[480e6], &[1]), (Trend::Steady, None));
    }

    #[test]
    fn one_drop_may_be_a_cache_and_the_next_throttling() {
        assert_eq!(trend_hot(&[480e6, 200e6, 60e6], &[2]), (Trend::RanOutAndThrottled, Some(true)));
        assert_eq!(trend_hot(&[480e6, 440e6, 60e6], &[2]), (Trend::Throttled, Some(true)));
        assert_eq!(trend_hot(&[480e6, 200e6, 60e6, 200e6], &[2]), (Trend::RanOutAndThrottled, Some(true)));
        assert_eq!(trend_hot(&[480e6, 60e6, 480e6, 200e6, 60e6, 200e6], &[1, 4]).0, Trend::RanOutAndThrottled);
        // It recovered once; that it does not any more has no thermal cause.
        assert_eq!(trend_hot(&[480e6, 60e6, 480e6, 60e6, 200e6, 60e6], &[1, 3, 5]).0, Trend::RanOutAndThrottled);
    }
}

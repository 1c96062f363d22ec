//! System impact: the effect of reading the disk on the rest of the machine. Measures how much of a file in the page
//! cache is evicted, and how long a program takes to start meanwhile. "Disk copying experiments" (2001) called it
//! system lethargy.
use super::Way;
use super::stats::median;
use crate::core::Stop;
use std::io;
use std::time::{Duration, Instant};

/// Number of starts before and after; the median counts.
const STARTS: usize = 5;

/// Interval between starts, so that they do not keep the machine busy themselves.
const BETWEEN_STARTS: Duration = Duration::from_millis(50);

/// Minimum share of the test file in the page cache before a measurement.
const WARM_MIN: f64 = 0.5;

/// Ratio of the time for a read to that without reading.
const READ_SHARE: f64 = 2.0;

/// Maximum extension of a read that has had no effect yet, as a multiple of its time.
const SLOW_MAX: u32 = 3;

/// The system: a cached test file, a program that is started, and a process that reads the disk.
pub trait SystemUnderTest {
    /// Reads the test file into the page cache. Returns its cached share, from 0 to 1.
    ///
    /// # Errors
    /// It cannot be read.
    fn warm(&mut self) -> io::Result<f64>;

    /// Share of the test file in the page cache, from 0 to 1.
    ///
    /// # Errors
    /// The kernel does not report it (before 6.5).
    fn share(&mut self) -> io::Result<f64>;

    /// Duration of starting and ending a program.
    ///
    /// # Errors
    /// It cannot be started, or fails.
    fn start(&mut self) -> io::Result<Duration>;

    /// Starts reading the disk in this way.
    ///
    /// # Errors
    /// The reading process cannot be started.
    fn begin(&mut self, way: Way) -> io::Result<()>;

    /// Whether the disk is still being read.
    ///
    /// # Errors
    /// Unknown.
    fn is_reading(&mut self) -> io::Result<bool>;

    /// Whether enough data was read to evict other pages, if reading does that at all.
    ///
    /// # Errors
    /// Unknown.
    fn is_full(&mut self) -> io::Result<bool>;

    /// Ends the reading process, if any, and returns the number of bytes read.
    ///
    /// # Errors
    /// Nothing could be read.
    fn end(&mut self) -> io::Result<u64>;
}

/// Observations around one read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The way of reading; `None` for the baseline without reading.
    pub way: Option<Way>,
    /// Number of bytes read.
    pub read_bytes: u64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Share of the test file in the page cache before, from 0 to 1.
    pub cached_before: f64,
    /// Minimum share of that which remained cached meanwhile, from 0 to 1.
    pub kept_least: f64,
    /// Share of it that remained cached afterwards, from 0 to 1.
    pub kept: f64,
    /// Median duration of a start before, in seconds.
    pub start_before_s: f64,
    /// Median duration of a start meanwhile, in seconds.
    pub start_during_s: f64,
    /// Number of starts meanwhile.
    pub starts: usize,
    /// Median duration of a start afterwards, in seconds.
    pub start_after_s: f64,
}

/// The memory that the test file shares with the data read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A memory control group with a limit in bytes.
    Group(u64),
    /// The memory of the machine.
    Machine {
        /// Available memory in bytes.
        available_bytes: u64,
        /// Why there is no group, a clause.
        why: String,
    },
}

/// The effect on the rest of the system.
#[derive(Clone, Debug, PartialEq)]
pub struct Interference {
    /// The shared memory.
    pub memory: Memory,
    /// Size of the test file in bytes.
    pub test_file_bytes: u64,
    /// The baseline, then each way.
    pub effects: Vec<Effect>,
}

/// Why the impact is unknown.
#[derive(Debug)]
pub enum Unknown {
    /// A stop was requested by this signal.
    Stopped(i32),
    /// It could not be measured; the reason is a clause.
    Why(String),
}

impl From<io::Error> for Unknown {
    fn from(error: io::Error) -> Unknown {
        Unknown::Why(error.to_string())
    }
}

/// Measures the system without reading, and while the disk is read in each of the `ways`, in about `time`.
/// `on_progress` receives the progress, from 0 to 1.
///
/// # Errors
/// A stop was requested, or the impact cannot be measured.
pub fn effects(
    around: &mut dyn SystemUnderTest,
    ways: &[Way],
    time: Duration,
    stop: &Stop,
    on_progress: &mut dyn FnMut(f64),
) -> Result<Vec<Effect>, Unknown> {
    let unit = time.div_f64(1.0 + READ_SHARE * ways.len() as f64);
    let rows = [None].into_iter().chain(ways.iter().copied().map(Some));
    let mut found = Vec::new();
    for way in rows {
        let patience = if way.is_some() { unit.mul_f64(READ_SHARE) } else { unit };
        let seen = watch(around, way, patience, stop);
        if seen.is_err() {
            // The reading process must end too; the cause is already being reported.
            around.end().ok();
        }
        found.push(seen?);
        on_progress(found.len() as f64 / (ways.len() + 1) as f64);
    }
    Ok(found)
}

fn watch(
    around: &mut dyn SystemUnderTest,
    way: Option<Way>,
    patience: Duration,
    stop: &Stop,
) -> Result<Effect, Unknown> {
    let cached_before = around.warm()?;
    if cached_before < WARM_MIN {
        let percent = cached_before * 100.0;
        return Err(Unknown::Why(format!("only {percent:.0} % of a file stay in the page cache after reading it")));
    }
    let start_before_s = starts(around, stop)?;
    // Wait until the kernel has released pages that it reclaims early.
    let cached_before = cached_before.min(around.share()?).max(f64::MIN_POSITIVE);
    let kept = |share: f64| (share / cached_before).min(1.0);
    let (began, mut least, mut during) = (Instant::now(), cached_before, Vec::new());
    if let Some(way) = way {
        around.begin(way)?;
    }
    while during.is_empty() || continues(around, way, began.elapsed(), patience)? {
        let next = Instant::now() + BETWEEN_STARTS;
        during.push(start(around, stop)?);
        least = least.min(around.share()?);
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    let read_bytes = if way.is_some() { around.end()? } else { 0 };
    let seconds = began.elapsed().as_secs_f64();
    let after = around.share()?;
    Ok(Effect {
        way,
        read_bytes,
        seconds,
        cached_before,
        kept_least: kept(least.min(after)),
        kept: kept(after),
        start_before_s,
        start_during_s: median(&during).unwrap_or(0.0),
        starts: during.len(),
        start_after_s: starts(around, stop)?,
    })
}

/// Whether the measurement continues. A slow disk gets more time, until enough is read to have an effect.
fn continues(
    around: &mut dyn SystemUnderTest,
    way: Option<Way>,
    passed: Duration,
    patience: Duration,
) -> Result<bool, Unknown> {
    match way {
        None => Ok(passed < patience),
        Some(_) if !around.is_reading()? => Ok(false),
        Some(_) if passed < patience => Ok(true),
        Some(_) => Ok(passed < patience * SLOW_MAX && !around.is_full()?),
    }
}

fn starts(around: &mut dyn SystemUnderTest, stop: &Stop) -> Result<f64, Unknown> {
    let times = (0..STARTS).map(|_| start(around, stop)).collect::<Result<Vec<f64>, Unknown>>()?;
    Ok(median(&times).unwrap_or(0.0))
}

fn start(around: &mut dyn SystemUnderTest, stop: &Stop) -> Result<f64, Unknown> {
    match stop.signal() {
        Some(signal) => Err(Unknown::Stopped(signal)),
        None => Ok(around.start()?.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// A simulated system. Buffered reads evict the whole test file at the first start; starts take twice as long while
    /// anything is read. The share `taken_back` is evicted immediately in any case.
    struct SimulatedSystem {
        reading: Option<Way>,
        cached: f64,
        warms_to: f64,
        taken_back: f64,
        ended: u32,
        stop_while_reading: Option<Arc<Stop>>,
    }

    impl SimulatedSystem {
        fn new(warms_to: f64, taken_back: f64) -> SimulatedSystem {
            SimulatedSystem { reading: None, cached: 0.0, warms_to, taken_back, ended: 0, stop_while_reading: None }
        }
    }

    impl SystemUnderTest for SimulatedSystem {
        fn warm(&mut self) -> io::Result<f64> {
            self.cached = self.warms_to;
            Ok(self.cached)
        }

        fn share(&mut self) -> io::Result<f64> {
            Ok(self.cached - self.taken_back)
        }

        fn start(&mut self) -> io::Result<Duration> {
            if self.reading == Some(Way::Buffered) {
                self.cached = self.taken_back;
            }
            Ok(Duration::from_millis(if self.reading.is_some() { 6 } else { 3 }))
        }

        fn begin(&mut self, way: Way) -> io::Result<()> {
            self.reading = Some(way);
            self.stop_while_reading.iter().for_each(|stop| stop.request(2));
            Ok(())
        }

        fn is_reading(&mut self) -> io::Result<bool> {
            Ok(self.cached > self.taken_back)
        }

        fn is_full(&mut self) -> io::Result<bool> {
            Ok(self.cached <= self.taken_back)
        }

        fn end(&mut self) -> io::Result<u64> {
            self.ended += 1;
            Ok(if self.reading.take().is_some() { 1000 } else { 0 })
        }
    }

    const WAYS: [Way; 2] = [Way::Buffered, Way::Direct];

    fn seen(around: &mut SimulatedSystem) -> Result<Vec<Effect>, Unknown> {
        effects(around, &WAYS, Duration::from_millis(600), &Stop::default(), &mut |_| {})
    }

    #[test]
    fn the_impact_of_each_way_is_reported_beside_an_idle_baseline() {
        let found = seen(&mut SimulatedSystem::new(1.0, 0.0)).unwrap();
        assert_eq!(found.iter().map(|one| one.way).collect::<Vec<_>>(), [None, Some(WAYS[0]), Some(WAYS[1])]);
        assert_eq!(found.iter().map(|one| one.kept).collect::<Vec<_>>(), [1.0, 0.0, 1.0]);
        assert_eq!(found.iter().map(|one| one.read_bytes).collect::<Vec<_>>(), [0, 1000, 1000]);
        let during: Vec<f64> = found.iter().map(|one| (one.start_during_s / one.start_before_s).round()).collect();
        assert_eq!(during, [1.0, 2.0, 2.0]);
        assert!(found.iter().all(|one| one.start_after_s == one.start_before_s && one.starts > 0));
        // The buffered read ended by itself.
        assert_eq!((found[1].starts, found[1].kept_least), (1, 0.0));
    }

    #[test]
    fn pages_the_kernel_reclaims_anyway_are_charged_to_no_way() {
        let found = seen(&mut SimulatedSystem::new(1.0, 0.3)).unwrap();
        assert!(found.iter().all(|one| (one.cached_before - 0.7).abs() < 1e-9), "{found:?}");
        assert_eq!((found[0].kept, found[2].kept), (1.0, 1.0));
    }

    #[test]
    fn an_unstable_test_file_gives_no_result() {
        let Err(Unknown::Why(why)) = seen(&mut SimulatedSystem::new(0.4, 0.0)) else { panic!("it was measured") };
        assert_eq!(why, "only 40 % of a file stay in the page cache after reading it");
    }

    #[test]
    fn a_slow_disk_gets_more_time_up_to_a_limit() {
        let mut around = SimulatedSystem { cached: 1.0, ..SimulatedSystem::new(1.0, 0.0) };
        let second = Duration::from_secs(1);
        let mut after = |tenths: u32, cached: f64| {
            around.cached = cached;
            around.reading = Some(Way::Direct);
            continues(&mut around, Some(Way::Direct), second * tenths / 10, second).unwrap()
        };
        assert_eq!([after(9, 1.0), after(11, 1.0), after(29, 1.0), after(31, 1.0)], [true, true, true, false]);
        assert!(!continues(&mut around, None, second * 2, second).unwrap());
    }

    /// Shares of the test file before, during and after a read that ends immediately.
    struct Shares {
        of: [f64; 3],
        at: usize,
    }

    impl SystemUnderTest for Shares {
        fn warm(&mut self) -> io::Result<f64> {
            self.at = 0;
            Ok(1.0)
        }

        fn share(&mut self) -> io::Result<f64> {
            Ok(self.of[self.at])
        }

        fn start(&mut self) -> io::Result<Duration> {
            Ok(Duration::from_millis(1))
        }

        fn begin(&mut self, _: Way) -> io::Result<()> {
            self.at = 1;
            Ok(())
        }

        fn is_reading(&mut self) -> io::Result<bool> {
            Ok(false)
        }

        fn is_full(&mut self) -> io::Result<bool> {
            Ok(true)
        }

        fn end(&mut self) -> io::Result<u64> {
            self.at = 2;
            Ok(1)
        }
    }

    #[test]
    fn the_minimum_and_final_shares_are_separate_and_at_most_one() {
        let cases = [([0.8, 0.2, 0.6], 0.25, 0.75), ([0.8, 0.8, 0.4], 0.5, 0.5), ([0.5, 0.9, 0.9], 1.0, 1.0)];
        for (of, kept_least, kept) in cases {
            let mut reported = Vec::new();
            let mut on_progress = |share| reported.push(share);
            let (mut around, time) = (Shares { of, at: 0 }, Duration::from_millis(3));
            let found = effects(&mut around, &WAYS[..1], time, &Stop::default(), &mut on_progress).unwrap();
            let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
            assert!(near(found[1].kept_least, kept_least) && near(found[1].kept, kept), "{of:?}: {found:?}");
            // Even during a very short read, a program was started.
            assert_eq!(found[1].starts, 1);
            assert_eq!(reported, [0.5, 1.0]);
        }
    }

    #[test]
    fn a_stop_ends_the_reader() {
        let stop = Arc::new(Stop::default());
        let mut around = SimulatedSystem { stop_while_reading: Some(stop.clone()), ..SimulatedSystem::new(1.0, 0.0) };
        let found = effects(&mut around, &WAYS, Duration::from_millis(60), &stop, &mut |_| {});
        assert!(matches!(found, Err(Unknown::Stopped(2))), "{found:?}");
        assert_eq!((around.ended, around.reading), (1, None));
    }
}

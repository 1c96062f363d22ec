//! A source that gets hot during a rescue: no read begins until it is cooler.
use super::operator::Operator;
use crate::core::rescue::{SharedRescue, Temperature};
use crate::core::{Error, Facts, Kind, Result, Side, locked};
use crate::disks::probe;
use crate::disks::scsi::temperature::Thermometer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Reads continue when the disk is cooler by this than the limit, so that they do not stop again at once.
const COOLER_C: f64 = 5.0;

/// Time between two readings: from the kernel, and by a command to the disk, which delays reads.
const EVERY: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(30)];

/// After as many readings in a row that failed, a pause ends: the temperature is not known any more.
const FAILED_MAX: u32 = 3;

/// Reads the temperature of a disk in °C.
type Read = Box<dyn FnMut() -> Option<f64> + Send>;

/// Watches the temperature until it is dropped.
pub(super) struct Watch {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How the temperature of this source can be read, and how often.
fn source(facts: &Facts) -> Option<(Read, Duration)> {
    if let Some(sensor) = probe::sensor(facts).filter(|sensor| sensor.celsius().is_some()) {
        return Some((Box::new(move || sensor.celsius()), EVERY[0]));
    }
    let access = probe::disk_access(facts)?;
    let mut thermometer = Thermometer::open(&access.node.map_or(access.block, |(_, node)| node))?;
    Some((Box::new(move || thermometer.celsius()), EVERY[1]))
}

impl Watch {
    /// Pauses the rescue of `state` while its source is warmer than `most_c`.
    ///
    /// # Errors
    /// Unsupported if the temperature cannot be read, or no thread can be started.
    pub(super) fn start(facts: &Facts, most_c: u32, state: SharedRescue, operator: Arc<dyn Operator>) -> Result<Watch> {
        let (read, every) = source(facts).ok_or_else(|| unknown(facts))?;
        let mut pauses = Pauses { read, most_c: most_c.into(), state, operator, failed: 0 };
        pauses.look();
        let ends = Arc::new(AtomicBool::new(false));
        let ended = ends.clone();
        let watch = move || {
            while !ended.load(Relaxed) {
                thread::park_timeout(every);
                pauses.look();
            }
        };
        let thread = thread::Builder::new().name("haul-warmth".to_owned()).spawn(watch).map_err(|cause| {
            Error::new(Kind::Unsupported, "cannot start a thread that reads the temperature").because(cause)
        })?;
        Ok(Watch { ends, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.ends.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It only reads the temperature; a panic there is no failure of the rescue.
            let _ = thread.join();
        }
    }
}

fn unknown(facts: &Facts) -> Error {
    let what = format!("--max-temperature: source {} does not report its temperature", facts.address);
    let advice = "Nothing was written. Load the kernel module drivetemp (modprobe drivetemp) for a SATA disk, or omit \
        the option.";
    Error::new(Kind::Unsupported, what).on(Side::Source).advise(advice)
}

/// Decides from each reading.
struct Pauses {
    read: Read,
    most_c: f64,
    state: SharedRescue,
    operator: Arc<dyn Operator>,
    failed: u32,
}

impl Pauses {
    fn look(&mut self) {
        let reading = (self.read)();
        self.failed = if reading.is_some() { 0 } else { self.failed.saturating_add(1) };
        let (was, now) = {
            let state = &mut *locked(&self.state);
            let was = state.temperature.unwrap_or_default();
            let is_paused = match reading {
                Some(celsius) if was.is_paused => celsius > self.most_c - COOLER_C,
                Some(celsius) => celsius > self.most_c,
                None => was.is_paused && self.failed < FAILED_MAX,
            };
            if is_paused {
                state.pause(Instant::now());
            } else {
                state.resume(Instant::now());
            }
            let celsius = reading.unwrap_or(was.celsius);
            let highest = celsius.max(was.highest);
            state.temperature = Some(Temperature { celsius, highest, is_paused });
            (was.is_paused, is_paused)
        };
        match (was, now, reading) {
            (false, true, Some(celsius)) => self.operator.warn(&format!(
                "the source has {celsius:.0} °C: no read begins until it has {:.0} °C (--max-temperature)",
                self.most_c - COOLER_C
            )),
            (true, false, Some(celsius)) => {
                self.operator.warn(&format!("the source has {celsius:.0} °C: the rescue continues"));
            }
            (true, false, None) => {
                self.operator.warn("the source does not report its temperature any more: the rescue continues");
            }
            _ => {}
        }
    }
}

/// Refuses to watch a source whose temperature cannot be read.
///
/// # Errors
/// Unsupported.
pub(super) fn check(facts: &Facts) -> Result<()> {
    source(facts).map(|_| ()).ok_or_else(|| unknown(facts))
}

/// The watch of a source, if it is to be watched.
///
/// # Errors
/// As for [`Watch::start`].
pub(super) fn watch(
    facts: &Facts,
    most_c: Option<u32>,
    state: &SharedRescue,
    operator: &Arc<dyn Operator>,
) -> Result<Option<Watch>> {
    most_c.map(|most_c| Watch::start(facts, most_c, state.clone(), operator.clone())).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::EndpointKind;
    use crate::core::rescue::{RescueMap, RescueState, RescueStatus};
    use crate::job::operator::tests::AcceptAll;
    use std::sync::Mutex;

    #[test]
    fn a_hot_disk_pauses_until_it_is_clearly_cooler() {
        let state = RescueState::new(RescueMap::untried(1), RescueStatus::Copying, 1, 0);
        let state = Arc::new(Mutex::new(state));
        let readings = [Some(54.0), Some(55.0), Some(56.0), Some(54.0), Some(51.0), Some(50.0), Some(54.0), None];
        let mut next = readings.into_iter().chain([Some(60.0), None, None, None, Some(60.0)]);
        let read: Read = Box::new(move || next.next().unwrap());
        let mut pauses = Pauses { read, most_c: 55.0, state: state.clone(), operator: Arc::new(AcceptAll), failed: 0 };
        let mut paused = || {
            pauses.look();
            locked(&state).temperature.unwrap().is_paused
        };
        let seen: Vec<bool> = (0..13).map(|_| paused()).collect();
        let expected = [
            false, false, true, true, true, false, false, false, // within 5 °C nothing changes
            true, true, true, false, true, // a sensor that fails ends the pause at the third time
        ];
        assert_eq!(seen, expected);
        assert!(locked(&state).paused_since.is_some());
        assert_eq!(locked(&state).temperature.map(|now| (now.celsius, now.highest)), Some((60.0, 60.0)));
    }

    #[test]
    fn a_source_without_a_thermometer_is_refused() {
        let facts = Facts::new("/tmp/file", EndpointKind::File);
        let state = Arc::new(Mutex::new(RescueState::new(RescueMap::untried(1), RescueStatus::Copying, 1, 0)));
        let operator: Arc<dyn Operator> = Arc::new(AcceptAll);
        let error = watch(&facts, Some(50), &state, &operator).err().unwrap();
        assert!(error.kind == Kind::Unsupported && error.advice.contains("drivetemp"), "{error}");
        assert!(watch(&facts, None, &state, &operator).unwrap().is_none());
    }
}

//! Profiles a disk: its rate by offset, the cost of commands by size, and the cost of each way of reading.
use super::commands::{Commands, commands};
use super::cost::Cost;
use super::fit::{Fit, fit};
use super::stats::{median, range};
use super::{Interference, MeasureFailure, Point, Position, Subject, Trial, Walk, Way, Zone, spread, whole_time};
use crate::core::{Extent, Op, Stop};
use std::time::Duration;

/// Block size and depth for positions and ways: like a copy, with enough requests in flight to hide latency.
const STREAM: (u32, u32) = (1 << 20, 4);

/// Repetitions of each measurement; the median counts.
const ROUNDS: u32 = 3;

/// Maximum command size to measure, in bytes.
const COMMAND_BYTES_MAX: u32 = 16 << 20;

/// Shares of the time for positions and for command costs; the rest is for the ways.
const SHARES: (f64, f64) = (0.5, 0.35);

/// Additional time for commands that do not access the medium, as a share of the time.
const COMMANDS_SHARE: f64 = 0.05;

/// Minimum and maximum duration of a run.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(2000));

/// The cost of one way of reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WayCost {
    /// The way.
    pub way: Way,
    /// Median rate, in bytes per second.
    pub bytes_per_s: f64,
    /// Rates of the slowest and the fastest run.
    pub range: (f64, f64),
    /// Processor time of this process per GiB, in seconds.
    pub cpu_s_per_gib: f64,
    /// Share of one processor in use.
    pub cpu_share: f64,
    /// Ratio of bytes left in the page cache to bytes transferred by a run. They were dropped afterwards.
    pub left_in_cache: f64,
    /// Whether some of the data was cached before.
    pub cached: bool,
    /// Share of direct transfers that the node's driver copied anyway; `None` for other ways.
    pub driver_copied: Option<f64>,
}

/// The results of a profile.
#[derive(Debug, Default)]
pub struct Profiled {
    /// The rate at each position.
    pub positions: Vec<Position>,
    /// Estimated time for reading or writing the whole disk, in seconds.
    pub whole_s: Option<f64>,
    /// Costs of commands by size.
    pub costs: Vec<Cost>,
    /// The line fitted to these costs.
    pub fit: Option<Fit>,
    /// Costs of commands that do not access the medium, for a disk that is reached by SCSI commands.
    pub commands: Option<Commands>,
    /// The ways, for comparison.
    pub ways: Vec<WayCost>,
    /// The effect on the rest of the system, or why it is unknown; `None` if it was not measured.
    pub system_impact: Option<std::result::Result<Interference, String>>,
    /// Why the profile ended early.
    pub failure: Option<MeasureFailure>,
}

/// Profiles the subject at this number of positions, in about `time`. `on_progress` receives the progress, from 0 to 1,
/// and the current activity. Results are kept even after a failure.
pub fn profile(
    subject: &mut Subject,
    positions: u32,
    time: Duration,
    stop: &Stop,
    on_progress: &mut dyn FnMut(f64, &'static str),
) -> Profiled {
    let mut found = Profiled::default();
    let began = subject.clock.now();
    let mut work = ProfileRun { subject, stop, began, time, on_progress };
    found.failure = work.all(positions, &mut found).err();
    found
}

pub(super) fn size_of(subject: &Subject) -> u64 {
    subject.extents.iter().map(Extent::end).max().unwrap_or(0)
}

pub(super) fn main_way(subject: &Subject) -> Way {
    subject.ways.first().map_or(Way::Buffered, |(way, _)| *way)
}

/// The point for sequential reads, with smaller blocks if little can be read.
pub(super) fn stream(subject: &Subject, way: Way, room: u64) -> Point {
    let (block, depth) = STREAM;
    let most = room / u64::from(depth) / 4 / subject.align_bytes * subject.align_bytes;
    let block_bytes = u64::from(block).min(most.max(subject.align_bytes)) as u32;
    Point { way, block_bytes, depth: if way == Way::Mapped { 1 } else { depth } }
}

struct ProfileRun<'a> {
    subject: &'a mut Subject,
    stop: &'a Stop,
    began: Duration,
    time: Duration,
    on_progress: &'a mut dyn FnMut(f64, &'static str),
}

impl ProfileRun<'_> {
    fn all(&mut self, positions: u32, found: &mut Profiled) -> Result<(), MeasureFailure> {
        let size = size_of(self.subject);
        let zones = self.zones(positions, found);
        let measured: Vec<Zone> = found.positions.iter().map(|position| position.zone).collect();
        found.whole_s = whole_time(&measured, size);
        zones?;
        let costs = self.costs(size, &mut found.costs);
        let times: Vec<(f64, f64)> = found.costs.iter().map(|cost| (f64::from(cost.bytes), cost.seconds)).collect();
        found.fit = fit(&times);
        costs?;
        if self.subject.op == Op::Read {
            self.commands(&mut found.commands)?;
        }
        let rates: Vec<f64> = measured.iter().map(|zone| zone.bytes_per_s).collect();
        self.ways(median(&rates), &mut found.ways)
    }

    fn run(
        &mut self,
        point: Point,
        extent: Extent,
        patience: Duration,
        doing: &'static str,
    ) -> Result<Trial, MeasureFailure> {
        let trial = self.subject.run(point, extent, patience.clamp(PATIENCE.0, PATIENCE.1), self.stop)?;
        let passed = self.subject.clock.now() - self.began;
        (self.on_progress)((passed.as_secs_f64() / self.time.as_secs_f64()).min(1.0), doing);
        Ok(trial)
    }

    /// The extents in which the rate curve is measured: spread over the disk, or over the permitted extents.
    fn places(&self, count: u32, align: u64) -> Vec<Extent> {
        if let [only] = self.subject.extents.as_slice() {
            let span = only.len / u64::from(count.max(1));
            let place = |offset| Extent::new(only.offset + offset, span);
            return spread(only.len, count, span, align).into_iter().map(place).collect();
        }
        self.subject.extents.clone()
    }

    /// End of the permitted extent from the start of this place on.
    fn end_of(&self, place: Extent) -> u64 {
        let around = self.subject.extents.iter().find(|whole| (whole.offset..whole.end()).contains(&place.offset));
        around.map_or(place.end(), Extent::end)
    }

    fn zones(&mut self, count: u32, found: &mut Profiled) -> Result<(), MeasureFailure> {
        let align = self.subject.align_bytes.max(4096);
        let places = self.places(count, align);
        let least = places.iter().map(|place| place.len).min().unwrap_or(0);
        let point = stream(self.subject, main_way(self.subject), least);
        let patience = self.time.mul_f64(SHARES.0).div_f64(f64::from(places.len().max(1) as u32 * ROUNDS));
        let mut rates: Vec<Vec<(f64, u64)>> = vec![Vec::new(); places.len()];
        let mut outcome = Ok(());
        'rounds: for round in 0..ROUNDS {
            for (index, &place) in places.iter().enumerate() {
                // Each round reads other bytes of the place, so that the disk has none of them in its cache.
                let begin = place.offset + place.len / u64::from(ROUNDS) * u64::from(round) / align * align;
                let extent = Extent::new(begin, (self.end_of(place) - begin).min(place.len));
                match self.run(point, extent, patience, "positions") {
                    Ok(trial) if trial.is_sound() => {
                        rates[index].push((trial.bytes_per_s(), begin + trial.moved_bytes / 2))
                    }
                    Ok(_) => {}
                    Err(failure) => {
                        outcome = Err(failure);
                        break 'rounds;
                    }
                }
            }
        }
        for (number, runs) in (1..).zip(&rates).filter(|(_, runs)| !runs.is_empty()) {
            let of = |number: fn(&(f64, u64)) -> f64| runs.iter().map(number).collect::<Vec<_>>();
            let (rates, places) = (of(|run| run.0), of(|run| run.1 as f64));
            if let (Some(bytes_per_s), Some(offset), Some(range)) = (median(&rates), median(&places), range(&rates)) {
                found.positions.push(Position { number, zone: Zone { offset: offset as u64, bytes_per_s }, range });
            }
        }
        outcome
    }

    fn costs(&mut self, size: u64, found: &mut Vec<Cost>) -> Result<(), MeasureFailure> {
        let way = main_way(self.subject);
        let least = u32::try_from(self.subject.align_bytes.max(512)).unwrap_or(4096);
        let sizes = std::iter::successors(Some(least), |bytes| bytes.checked_mul(2));
        let sizes: Vec<u32> =
            sizes.take_while(|&bytes| bytes <= COMMAND_BYTES_MAX && u64::from(bytes) * 8 <= size).collect();
        let patience = self.time.mul_f64(SHARES.1).div_f64((sizes.len() as u32 * ROUNDS).max(1).into());
        let mut walk =
            Walk::new(self.subject.extents.clone(), self.subject.align_bytes.max(4096), sizes.len() as u64 * 3);
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); sizes.len()];
        let mut outcome = Ok(());
        'rounds: for round in 0..ROUNDS {
            walk.begin(round);
            for (index, &block_bytes) in sizes.iter().enumerate() {
                let point = Point { way, block_bytes, depth: 1 };
                let Some(extent) = walk.place(u64::from(block_bytes) * 4) else { continue };
                match self.run(point, extent, patience, "command cost") {
                    Ok(trial) => {
                        walk.advance(trial.moved_bytes);
                        if trial.is_sound() {
                            times[index].push(trial.seconds / trial.requests as f64);
                        }
                    }
                    Err(failure) => {
                        outcome = Err(failure);
                        break 'rounds;
                    }
                }
            }
        }
        for (bytes, times) in sizes.into_iter().zip(times) {
            found.extend(Cost::of_runs(bytes, &times));
        }
        outcome
    }

    /// In addition to the time of the other measurements: the commands are few and short.
    fn commands(&mut self, found: &mut Option<Commands>) -> Result<(), MeasureFailure> {
        let ProfileRun { subject, stop, began, time, on_progress } = self;
        let mut on_progress = || {
            let passed = subject.clock.now() - *began;
            on_progress((passed.as_secs_f64() / time.as_secs_f64()).min(1.0), "commands alone");
        };
        commands(subject, time.mul_f64(COMMANDS_SHARE), stop, found, &mut on_progress)
    }

    /// `known` is a rate of the disk. It limits buffered writes to the amount that the disk can write during a run,
    /// because the flush at the end would otherwise take many times as long.
    fn ways(&mut self, known: Option<f64>, found: &mut Vec<WayCost>) -> Result<(), MeasureFailure> {
        let ways: Vec<Way> = self.subject.ways.iter().map(|(way, _)| *way).collect();
        let share = 1.0 - SHARES.0 - SHARES.1;
        let patience = self.time.mul_f64(share).div_f64(f64::from(ways.len() as u32 * ROUNDS));
        let runs = u64::from(ROUNDS) * ways.len() as u64;
        let mut walk = Walk::new(self.subject.extents.clone(), self.subject.align_bytes.max(4096), runs);
        let room = self.subject.extents.iter().map(|extent| extent.len).max().unwrap_or(0);
        let mut trials: Vec<Vec<Trial>> = vec![Vec::new(); ways.len()];
        let mut outcome = Ok(());
        'rounds: for round in 0..ROUNDS {
            walk.begin(round);
            for (index, &way) in ways.iter().enumerate() {
                let mut point = stream(self.subject, way, room);
                if self.subject.has(Way::Indirect) {
                    // A node has a single shared buffer, so it is measured at depth 1, and for comparison the other
                    // ways are too.
                    point.depth = 1;
                }
                let least = point.in_flight_bytes() * 2;
                let Some(mut extent) = walk.place(least) else { continue };
                if let (Op::Write, Way::Buffered, Some(rate)) = (self.subject.op, way, known) {
                    let bytes = (rate * patience.clamp(PATIENCE.0, PATIENCE.1).as_secs_f64()) as u64;
                    extent = Extent::new(extent.offset, extent.len.min(bytes.max(least)));
                }
                match self.run(point, extent, patience, "ways") {
                    Ok(trial) => {
                        walk.advance(trial.moved_bytes);
                        trials[index].push(trial);
                    }
                    Err(failure) => {
                        outcome = Err(failure);
                        break 'rounds;
                    }
                }
            }
        }
        for (way, trials) in ways.into_iter().zip(trials) {
            let each = |number: &dyn Fn(&Trial) -> f64| -> Vec<f64> {
                trials.iter().filter(|trial| trial.is_sound()).map(number).collect()
            };
            let of = |number: &dyn Fn(&Trial) -> f64| median(&each(number));
            let Some(bytes_per_s) = of(&Trial::bytes_per_s) else { continue };
            let range = range(&each(&Trial::bytes_per_s)).unwrap_or((bytes_per_s, bytes_per_s));
            let cpu_s_per_gib = of(&Trial::cpu_s_per_gib).unwrap_or(0.0);
            found.push(WayCost {
                way,
                bytes_per_s,
                range,
                cpu_s_per_gib,
                cpu_share: cpu_s_per_gib * bytes_per_s / (1u64 << 30) as f64,
                left_in_cache: of(&|trial| trial.left_bytes as f64 / trial.moved_bytes as f64).unwrap_or(0.0),
                cached: trials.iter().any(|trial| trial.cached_bytes > 0),
                driver_copied: self.driver_copied(way),
            });
        }
        outcome
    }
}

impl ProfileRun<'_> {
    /// The share as in [`WayCost::driver_copied`], of all reads by this way.
    fn driver_copied(&self, way: Way) -> Option<f64> {
        let end = self.subject.ways.iter().find(|(other, _)| *other == way && way == Way::Direct)?;
        let counts = end.1.records()?.counts();
        // Without a queue nothing is counted: SG_IO copies the data.
        Some(if counts.direct_requested > 0 { counts.indirect as f64 / counts.direct_requested as f64 } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Endpoint, EngineKind, Op};
    use crate::disks::memory::{Fault, Memory};
    use std::sync::Arc;

    fn subject(faults: &[Fault], len: usize) -> (Arc<Memory>, Subject) {
        let disk = Arc::new(Memory::disk(vec![7; len], faults));
        let end: Arc<dyn Endpoint> = disk.clone();
        let extents = vec![Extent::new(0, len as u64)];
        let subject = Subject::new("disk", vec![(Way::Direct, end)], EngineKind::Sync, extents, 64 << 20).unwrap();
        (disk, subject)
    }

    #[test]
    fn every_part_only_reads() {
        let (disk, mut subject) = subject(&[], 16 << 20);
        let mut messages = Vec::new();
        let mut on_progress = |_: f64, doing| messages.push(doing);
        let found = profile(&mut subject, 8, Duration::from_millis(100), &Stop::default(), &mut on_progress);
        assert!(found.failure.is_none());
        assert_eq!(found.positions.len(), 8);
        assert!(found.positions.is_sorted_by_key(|position| position.zone.offset) && found.whole_s.unwrap() > 0.0);
        for position in &found.positions {
            let (low, high) = position.range;
            assert!((low..=high).contains(&position.zone.bytes_per_s) && low < high, "{position:?}");
        }
        assert!(found.costs.len() >= 10 && found.fit.is_some(), "{:?}", found.costs);
        assert_eq!(found.ways.len(), 1);
        assert!(["positions", "command cost", "ways"].iter().all(|part| messages.contains(part)));
        assert!(disk.asked().iter().all(|requested| requested.op == Op::Read));
    }

    #[test]
    fn results_before_a_stop_are_kept() {
        let (_, mut subject) = subject(&[], 16 << 20);
        let stop = Stop::default();
        let mut calls = 0;
        let mut on_progress = |_: f64, _| {
            calls += 1;
            if calls == 5 {
                stop.request(15);
            }
        };
        let found = profile(&mut subject, 8, Duration::from_millis(100), &stop, &mut on_progress);
        assert!(matches!(found.failure, Some(MeasureFailure::Stopped(15))));
        assert_eq!(found.positions.len(), 5);
        let (stop, mut calls) = (Stop::default(), 0);
        let mut on_progress = |_: f64, doing| {
            calls += u32::from(doing == "ways");
            if calls == 2 {
                stop.request(15);
            }
        };
        let found = profile(&mut subject, 8, Duration::from_millis(100), &stop, &mut on_progress);
        assert!(matches!(found.failure, Some(MeasureFailure::Stopped(15))));
        assert_eq!(found.ways.len(), 1, "two of its three runs were made");
    }
}

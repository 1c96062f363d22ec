//! What a disk is: its rate from the first byte to the last, what a command costs, and what each way of reading takes.
use super::commands::{Commands, commands};
use super::cost::Cost;
use super::fit::{Fit, fit};
use super::stats::{median, range};
use super::{Interference, MeasureFailure, Point, Position, Subject, Trial, Walk, Way, Zone, spread, whole_time};
use crate::core::{Extent, Op, Stop};
use std::time::Duration;

/// How positions and ways are read: as a copy does, some requests in flight, so that latency hides behind rate.
const STREAM: (u32, u32) = (1 << 20, 4);

/// Times that everything is measured; the median counts.
const ROUNDS: u32 = 3;

/// The largest command whose cost is measured, in bytes.
const COMMAND_BYTES_MAX: u32 = 16 << 20;

/// Parts of the time for positions and for commands; the rest is for the ways.
const SHARES: (f64, f64) = (0.5, 0.35);

/// What commands without the medium take, as a share of the time, beside it.
const COMMANDS_SHARE: f64 = 0.05;

/// Bounds of a run.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(2000));

/// What one way of reading took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WayCost {
    /// Which.
    pub way: Way,
    /// Median rate, in bytes a second.
    pub bytes_per_s: f64,
    /// Rate of its slowest and of its fastest run.
    pub range: (f64, f64),
    /// Processor seconds of this process for each GiB.
    pub cpu_s_per_gib: f64,
    /// Share of one processor that was busy with it, from 0.
    pub cpu_share: f64,
    /// Bytes that a run left in the page cache, by the bytes it moved; they were dropped then.
    pub left_in_cache: f64,
    /// The page cache had some of it before.
    pub cached: bool,
    /// Share of the transfers that the node's driver copied, of the way that is to do without; `None` of others.
    pub driver_copied: Option<f64>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Profiled {
    /// The rate at each place.
    pub positions: Vec<Position>,
    /// Seconds that reading, or writing, all of it takes by that.
    pub whole_s: Option<f64>,
    /// What commands cost.
    pub costs: Vec<Cost>,
    /// The line through them.
    pub fit: Option<Fit>,
    /// What commands cost without the medium, of a disk that is reached by SCSI commands.
    pub commands: Option<Commands>,
    /// The ways, side by side.
    pub ways: Vec<WayCost>,
    /// Effect on the rest of the system, or why it is not known; `None`: it was not examined.
    pub system_impact: Option<std::result::Result<Interference, String>>,
    /// Why it ended before its time.
    pub failure: Option<MeasureFailure>,
}

/// Profiles the subject at so many positions, in about `time`. `heard` receives the progress, from 0 to 1, and what is
/// being done. What was found is kept whatever happens.
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

/// The point for reading on and on; smaller blocks where there is not much to read.
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

    /// Where the zone curve is measured: spread over the disk, or wherever runs may go.
    fn places(&self, count: u32, align: u64) -> Vec<Extent> {
        if let [only] = self.subject.extents.as_slice() {
            let span = only.len / u64::from(count.max(1));
            let place = |offset| Extent::new(only.offset + offset, span);
            return spread(only.len, count, span, align).into_iter().map(place).collect();
        }
        self.subject.extents.clone()
    }

    /// The end of where runs may go from the start of this place on.
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
                // Each round reads other bytes of the place, so that no memory of the disk has them.
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
                        walk.went(trial.moved_bytes);
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

    /// Beyond the time of the others: there are few, and they are short.
    fn commands(&mut self, found: &mut Option<Commands>) -> Result<(), MeasureFailure> {
        let ProfileRun { subject, stop, began, time, on_progress } = self;
        let mut on_progress = || {
            let passed = subject.clock.now() - *began;
            on_progress((passed.as_secs_f64() / time.as_secs_f64()).min(1.0), "commands alone");
        };
        commands(subject, time.mul_f64(COMMANDS_SHARE), stop, found, &mut on_progress)
    }

    /// `known` is a rate of the disk: no more is written through the page cache than it takes in the time of a run, for
    /// the flush at the end would take many times as long.
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
                    // A node shares one piece of memory: one command at a time, and so of the ways beside it.
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
                        walk.went(trial.moved_bytes);
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
    /// As [`WayCost::driver_copied`], of all that was read so.
    fn driver_copied(&self, way: Way) -> Option<f64> {
        let end = self.subject.ways.iter().find(|(other, _)| *other == way && way == Way::Direct)?;
        let counts = end.1.records()?.counts();
        // Nobody can ask where there is no queue: SG_IO copies.
        Some(if counts.direct_asked > 0 { counts.indirect as f64 / counts.direct_asked as f64 } else { 1.0 })
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
    fn every_part_is_measured_by_reading_only() {
        let (disk, mut subject) = subject(&[], 16 << 20);
        let mut said = Vec::new();
        let mut on_progress = |_: f64, doing| said.push(doing);
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
        assert!(["positions", "command cost", "ways"].iter().all(|part| said.contains(part)));
        assert!(disk.asked().iter().all(|asked| asked.op == Op::Read));
    }

    #[test]
    fn what_was_found_before_it_was_stopped_is_kept() {
        let (_, mut subject) = subject(&[], 16 << 20);
        let stop = Stop::default();
        let mut calls = 0;
        let mut on_progress = |_: f64, _| {
            calls += 1;
            if calls == 5 {
                stop.ask(15);
            }
        };
        let found = profile(&mut subject, 8, Duration::from_millis(100), &stop, &mut on_progress);
        assert!(matches!(found.failure, Some(MeasureFailure::Stopped(15))));
        assert_eq!(found.positions.len(), 5);
        let (stop, mut calls) = (Stop::default(), 0);
        let mut on_progress = |_: f64, doing| {
            calls += u32::from(doing == "ways");
            if calls == 2 {
                stop.ask(15);
            }
        };
        let found = profile(&mut subject, 8, Duration::from_millis(100), &stop, &mut on_progress);
        assert!(matches!(found.failure, Some(MeasureFailure::Stopped(15))));
        assert_eq!(found.ways.len(), 1, "two of its three runs were made");
    }
}

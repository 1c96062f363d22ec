//! A rescue in virtual time: the reads of haul's schedule, or those that GNU ddrescue logged, on a modelled disk.
use super::draw::Drawn;
use haul::core::rescue::{RescueMap, RescuePlan, RescueState, RescueStatus, Status};
use haul::core::{Next, schedules};
use modelled_disk::model::{Answer, Disk, Kind};
use modelled_disk::parameters::Extent;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECTOR_BYTES: u64 = 512;
const CLUSTER_BYTES: u64 = 64 << 10;
/// Reads in flight of `haul rescue`.
const DEPTH: usize = 16;
/// Time of a program between the completion of a request and the next one.
const GAP_NS: u64 = 30_000;

/// The bytes read by each moment, and how often a read failed.
#[derive(Default)]
pub struct Course {
    /// Nanoseconds and bytes, both ascending.
    pub moments: Vec<(u64, u64)>,
    pub failed_reads: u64,
    pub end_ns: u64,
}

impl Course {
    fn add(&mut self, extent: Extent, at_ns: u64, failed: bool) {
        self.end_ns = at_ns;
        self.failed_reads += u64::from(failed);
        if !failed {
            let before = self.moments.last().map_or(0, |(_, bytes)| *bytes);
            self.moments.push((at_ns, before + extent.len));
        }
    }

    pub fn bytes_at(&self, at_ns: u64) -> u64 {
        let before = self.moments.partition_point(|(ns, _)| *ns <= at_ns);
        before.checked_sub(1).map_or(0, |last| self.moments[last].1)
    }

    pub fn reaches_s(&self, bytes: u64) -> Option<f64> {
        let first = self.moments.partition_point(|(_, read)| *read < bytes);
        self.moments.get(first).map(|(ns, _)| *ns as f64 / 1e9)
    }

    pub fn bytes(&self) -> u64 {
        self.moments.last().map_or(0, |(_, bytes)| *bytes)
    }
}

/// A disk, its time, and the requests in flight.
struct Bed {
    disk: Disk,
    now_ns: u64,
    answers: BTreeMap<(u64, u64), Answer>,
}

impl Bed {
    fn new(drawn: &Drawn) -> Self {
        Bed { disk: Disk::new(&drawn.parameters), now_ns: 0, answers: BTreeMap::new() }
    }

    fn submit(&mut self, extent: Extent) -> u64 {
        self.disk.submit(self.now_ns, Kind::Read, extent)
    }

    fn collect(&mut self) {
        for answer in self.disk.advance(self.now_ns) {
            self.answers.insert((answer.at_ns, answer.ticket), answer);
        }
    }

    /// The next completion; the time advances to it.
    fn wait(&mut self) -> Answer {
        loop {
            self.collect();
            let answer_ns = self.answers.keys().next().map(|(at_ns, _)| *at_ns);
            let alarm_ns = self.disk.alarm();
            match (answer_ns, alarm_ns) {
                (Some(answer_ns), alarm_ns)
                    if alarm_ns.is_none_or(|alarm_ns| answer_ns <= alarm_ns.max(self.now_ns)) =>
                {
                    self.now_ns = self.now_ns.max(answer_ns);
                    let (_, answer) = self.answers.pop_first().expect("there is one");
                    self.disk.leave();
                    return answer;
                }
                (_, Some(alarm_ns)) => self.now_ns = self.now_ns.max(alarm_ns),
                _ => panic!("a request is in flight"),
            }
        }
    }
}

/// The plan of `haul rescue` without options, or for copying alone.
fn plan(drawn: &Drawn) -> RescuePlan {
    let len = drawn.parameters.size_bytes;
    let first = (len / 100_000).max(64 << 10).next_multiple_of(SECTOR_BYTES);
    RescuePlan {
        sector_bytes: SECTOR_BYTES,
        cluster_bytes: CLUSTER_BYTES,
        domain: None,
        reverse: false,
        trim: !drawn.copying,
        scrape: !drawn.copying,
        retries: Some(0),
        skip_bytes: [first, (len / 100).max(first).next_multiple_of(SECTOR_BYTES)],
        slow_bytes_per_s: None,
        stop_after: None,
        error_bytes_per_s_max: None,
    }
}

/// haul's rescue of this disk, and what it finished.
pub fn of_haul(drawn: &Drawn) -> (Course, RescueMap) {
    let len = drawn.parameters.size_bytes;
    let state = RescueState::new(RescueMap::untried(len), RescueStatus::Copying, 1, 0);
    let state = Arc::new(Mutex::new(state));
    let mut schedule = schedules::rescue(plan(drawn), state.clone(), Vec::new());
    let (mut bed, mut course, mut flying) = (Bed::new(drawn), Course::default(), BTreeMap::new());
    loop {
        while flying.len() < DEPTH {
            match schedule.next(CLUSTER_BYTES as u32).expect("it never fails") {
                Next::Do(run) => {
                    let ticket = bed.submit(Extent { offset: run.extent.offset, len: run.extent.len });
                    flying.insert(ticket, (run.extent, bed.now_ns));
                }
                Next::Wait => break,
                Next::Finished => {
                    drop(schedule);
                    let map = state.lock().expect("no panic").map.clone();
                    return (course, map);
                }
            }
        }
        let answer = bed.wait();
        let (extent, from_ns) = flying.remove(&answer.ticket).expect("it was submitted");
        let read = Extent { offset: extent.offset, len: extent.len };
        if answer.failed && drawn.is_dead(&read) {
            drop(schedule);
            return (course, state.lock().expect("no panic").map.clone());
        }
        course.add(read, bed.now_ns, answer.failed);
        let took = Duration::from_nanos(bed.now_ns - from_ns);
        if answer.failed {
            schedule.on_failed(extent, took, None);
        } else {
            schedule.on_read(extent, took);
            schedule.complete(extent);
        }
        bed.now_ns += GAP_NS;
    }
}

/// The reads of GNU ddrescue of a disk with these bad sectors, in its own test mode, in `dir`.
pub fn reads_of_ddrescue(drawn: &Drawn, dir: &Path) -> Vec<Extent> {
    let len = drawn.parameters.size_bytes;
    // In this mode ddrescue ends the source after its last good byte: there is one more sector, whose read is left out.
    let end = len + SECTOR_BYTES;
    let mut tested = RescueMap::untried(end);
    tested.set(haul::core::Extent::new(0, end), Status::Finished);
    for bad in drawn.parameters.failing.bad(len) {
        tested.set(haul::core::Extent::new(bad.offset, bad.len), Status::Bad);
    }
    let line = |block: haul::core::rescue::StatusBlock| {
        format!("{} {} {}\n", block.extent.offset, block.extent.len, block.status.letter())
    };
    let lines: String = tested.blocks().map(line).collect();
    let path = |name: &str| dir.join(name);
    std::fs::write(path("test"), format!("0 ? 1\n{lines}")).expect("the file can be written");
    std::fs::File::create(path("source")).and_then(|file| file.set_len(end)).expect("the file can be made");
    for old in ["map", "log"] {
        let _ = std::fs::remove_file(path(old));
    }
    let mut command = Command::new("ddrescue");
    command.args(["-q", "-f", "-H"]).arg(path("test")).arg(format!("--log-reads={}", path("log").display()));
    command.args(if drawn.copying { &["-N", "-n"][..] } else { &[] });
    let status = command.arg(path("source")).arg("/dev/null").arg(path("map")).status().expect("it runs");
    assert!(status.success(), "ddrescue failed");
    let log = std::fs::read_to_string(path("log")).expect("it was written");
    let read = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let offset = u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?;
        Some(Extent { offset, len: fields.next()?.parse().ok()? })
    };
    log.lines().filter(|line| !line.starts_with('#')).filter_map(read).filter(|read| read.offset < len).collect()
}

/// The rescue by these reads, one after the other, until the disk is dead.
pub fn of_reads(drawn: &Drawn, reads: &[Extent]) -> Course {
    let (mut bed, mut course) = (Bed::new(drawn), Course::default());
    for read in reads {
        bed.submit(*read);
        let answer = bed.wait();
        if answer.failed && drawn.is_dead(read) {
            break;
        }
        course.add(*read, bed.now_ns, answer.failed);
        bed.now_ns += GAP_NS;
    }
    course
}

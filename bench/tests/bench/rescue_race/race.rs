//! A rescue in virtual time: the reads of haul's schedule, or those that GNU ddrescue logged, on a modelled disk.
use super::bed::Bed;
use super::draw::Drawn;
use haul::core::rescue::{RescueMap, RescuePlan, RescueState, RescueStatus, Status};
use haul::core::{Next, schedules};
use modelled_disk::failing::Failing;
use modelled_disk::model::Kind;
use modelled_disk::parameters::{Extent, Parameters};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The disks of a bed.
const SOURCE: usize = 0;
const DEST: usize = 1;
const SECTOR_BYTES: u64 = 512;
const CLUSTER_BYTES: u64 = 64 << 10;
/// Reads in flight of `haul rescue`, and writes.
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

/// haul's rescue of this disk, and what it finished; to `dest` as far as there is one.
pub fn of_haul(drawn: &Drawn, dest: Option<&Parameters>) -> (Course, RescueMap) {
    let len = drawn.parameters.size_bytes;
    let state = RescueState::new(RescueMap::untried(len), RescueStatus::Copying, 1, 0);
    let state = Arc::new(Mutex::new(state));
    let mut schedule = schedules::rescue(plan(drawn), state.clone(), Vec::new());
    let disks: Vec<&Parameters> = std::iter::once(&drawn.parameters).chain(dest).collect();
    let (mut bed, mut course) = (Bed::new(&disks), Course::default());
    let (mut reading, mut writing, mut read) = (BTreeMap::new(), BTreeMap::new(), VecDeque::new());
    loop {
        while reading.len() < DEPTH && reading.len() + writing.len() + read.len() < 2 * DEPTH {
            match schedule.next(CLUSTER_BYTES as u32).expect("it never fails") {
                Next::Do(run) => {
                    let ticket = bed.submit(SOURCE, Kind::Read, of_model(run.extent));
                    reading.insert(ticket, (run.extent, bed.now_ns));
                }
                Next::Wait => break,
                Next::Finished => {
                    drop(schedule);
                    let map = state.lock().expect("no panic").map.clone();
                    return (course, map);
                }
            }
        }
        while writing.len() < DEPTH
            && let Some(extent) = read.pop_front()
        {
            writing.insert(bed.submit(DEST, Kind::Write, of_model(extent)), extent);
        }
        let (disk, answer) = bed.wait();
        if disk == DEST {
            let extent = writing.remove(&answer.ticket).expect("it was submitted");
            course.add(of_model(extent), bed.now_ns, false);
            schedule.complete(extent);
            continue;
        }
        let (extent, from_ns) = reading.remove(&answer.ticket).expect("it was submitted");
        if answer.failed && drawn.is_dead(&of_model(extent)) {
            drop(schedule);
            return (course, state.lock().expect("no panic").map.clone());
        }
        let took = Duration::from_nanos(bed.now_ns - from_ns);
        if answer.failed {
            course.add(of_model(extent), bed.now_ns, true);
            schedule.on_failed(extent, took, None);
        } else {
            schedule.on_read(extent, took);
            if dest.is_some() {
                read.push_back(extent);
            } else {
                course.add(of_model(extent), bed.now_ns, false);
                schedule.complete(extent);
            }
        }
        bed.now_ns += GAP_NS;
    }
}

fn of_model(extent: haul::core::Extent) -> Extent {
    Extent { offset: extent.offset, len: extent.len }
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

/// The rescue by these reads, one after the other, until the disk is dead; each is written to `dest` before the next
/// one, if there is one.
pub fn of_reads(drawn: &Drawn, reads: &[Extent], dest: Option<&Parameters>) -> Course {
    let disks: Vec<&Parameters> = std::iter::once(&drawn.parameters).chain(dest).collect();
    let (mut bed, mut course) = (Bed::new(&disks), Course::default());
    for read in reads {
        let answer = bed.run(SOURCE, Kind::Read, *read);
        if answer.failed && drawn.is_dead(read) {
            break;
        }
        if dest.is_some() && !answer.failed {
            bed.run(DEST, Kind::Write, *read);
        }
        course.add(*read, bed.now_ns, answer.failed);
        bed.now_ns += GAP_NS;
    }
    course
}

/// What nobody could do better: a copy in order at full depth that knows where scratches and failing heads are, and
/// reads the good part before and after what they cover. Single bad sectors lie anywhere: each of them fails once.
pub fn ideal(drawn: &Drawn) -> Course {
    let len = drawn.parameters.size_bytes;
    let single = Failing { scratch: Vec::new(), heads: 0, ..drawn.parameters.failing.clone() }.bad(len);
    let known = Failing { scattered: 0, ..drawn.parameters.failing.clone() }.bad(len);
    let mut reads = VecDeque::new();
    for offset in (0..len).step_by(CLUSTER_BYTES as usize) {
        let cluster = Extent { offset, len: CLUSTER_BYTES };
        if single.iter().any(|bad| bad.overlaps(&cluster)) {
            reads.push_back(cluster);
            continue;
        }
        let mut good = offset;
        let first = known.partition_point(|bad| bad.end() <= offset);
        for bad in known[first..].iter().take_while(|bad| bad.overlaps(&cluster)) {
            reads.extend((bad.offset > good).then(|| Extent { offset: good, len: bad.offset - good }));
            good = bad.end();
        }
        reads.extend((good < cluster.end()).then(|| Extent { offset: good, len: cluster.end() - good }));
    }
    let (mut bed, mut course, mut reading) = (Bed::new(&[&drawn.parameters]), Course::default(), BTreeMap::new());
    loop {
        while reading.len() < DEPTH
            && let Some(read) = reads.pop_front()
        {
            reading.insert(bed.submit(SOURCE, Kind::Read, read), read);
        }
        if reading.is_empty() {
            return course;
        }
        let (_, answer) = bed.wait();
        let read = reading.remove(&answer.ticket).expect("it was submitted");
        if answer.failed && drawn.is_dead(&read) {
            return course;
        }
        course.add(read, bed.now_ns, answer.failed);
    }
}

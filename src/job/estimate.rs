//! Estimates the duration of a copy from a few short reads on both sides; nothing is written.
use crate::core::{
    Bound, Cache, Direction, Doubt, EndpointKind, EngineKind, Estimate, Existing, Extent, Facts, OnError, Plan,
    PlanSide, Route, Side, Stop, WriteRate, run_beside,
};
use crate::disks;
use crate::measure::{Budget, Course, Curve, FirstSample, Forecast, Point, Subject, Way, Zone, look, sample};
use crate::plan::{Options, ProgressStyle};
use std::time::{Duration, Instant};

/// Maximum time of the estimate for showing a plan.
const PLAN_TIME_MAX: Duration = Duration::from_secs(2);

/// Maximum time of the estimate before a copy.
const COPY_TIME_MAX: Duration = Duration::from_secs(5);

/// Maximum share of a copy, of its time and its bytes, that its estimate may take.
const SHARE: f64 = 0.01;

/// Minimum number of positions for estimating the rate of a whole disk: both ends and the middle.
const PLACES_MIN: u32 = 3;

/// Maximum number of requests in flight with a side during the estimate.
const DEPTH_MAX: u32 = 8;

/// The largest write cache of a hard disk.
const CACHE_BYTES: u64 = 256 << 20;

/// The expected duration of a copy, in total and at each position.
#[derive(Debug)]
pub(crate) struct Estimated {
    pub(crate) estimate: Estimate,
    pub(crate) forecast: Forecast,
}

impl Estimated {
    /// Whether it covers this plan, without rewritten blocks.
    pub(crate) fn is_of(&self, plan: &Plan) -> bool {
        plan.len == Some(self.forecast.len())
    }

    /// The estimate of the rest after earlier runs have copied this many bytes; `rereads`: the whole source is
    /// read again.
    pub(crate) fn behind(&self, already_bytes: u64, rereads: bool) -> Estimate {
        if already_bytes == 0 {
            return self.estimate;
        }
        let rest = self.forecast.share_of_time(already_bytes);
        let Estimate { at_least, at_most, source_bytes_per_s, .. } = self.estimate;
        let read_s =
            source_bytes_per_s.filter(|_| rereads).map_or(0.0, |rate| self.forecast.len() as f64 / rate as f64);
        let read = Duration::try_from_secs_f64(read_s).unwrap_or_default();
        let left = |all: Duration| all.mul_f64(rest).max(read.min(all));
        Estimate { at_least: left(at_least), at_most: at_most.map(left), ..self.estimate }
    }
}

/// For a plan that is only shown: the expected duration, estimated within two seconds. `None` if neither side
/// can be read in advance, or the length is unknown.
pub(crate) fn of_plan(plan: &Plan, source: &Facts, dest: &Facts) -> Option<Estimated> {
    estimate(plan, source, dest, Budget { time_max: PLAN_TIME_MAX, share: f64::INFINITY, places_min: 1 })
}

/// For a copy that is about to begin, if the user sees the estimate and it costs at most a hundredth of the
/// copy. `None` if sample reads might do harm: if unreadable sectors are expected.
pub(crate) fn of_copy(options: &Options, plan: &Plan, source: &Facts, dest: &Facts) -> Option<Estimated> {
    let budget = Budget { time_max: COPY_TIME_MAX, share: SHARE, places_min: PLACES_MIN };
    is_wanted(options, plan.len, source, plan.ask_holes).then(|| estimate(plan, source, dest, budget))?
}

fn is_wanted(options: &Options, len: Option<u64>, source: &Facts, ask_holes: bool) -> bool {
    let shown = !matches!(options.progress, ProgressStyle::None | ProgressStyle::Silent)
        || options.json
        || options.report.is_some();
    let sound = options.on_error == OnError::default();
    shown && sound && len.is_some() && !(source.sparse && ask_holes) && !options.no_estimate
}

fn estimate(plan: &Plan, source: &Facts, dest: &Facts, budget: Budget) -> Option<Estimated> {
    if plan.is_listed() {
        // Samples of bytes between the ranges would be irrelevant.
        return None;
    }
    let began = Instant::now();
    let len = plan.len.filter(|&len| len > 0)?;
    let engine = match plan.engine {
        engine @ (EngineKind::Ring | EngineKind::Threads | EngineKind::Sync) => engine,
        // haul does not transfer the data, so sample reads say nothing about the rate.
        EngineKind::Reflink | EngineKind::Offload => return None,
    };
    let probe = |which: Side, facts: &Facts| Probe::of(plan, which, facts, len, engine);
    let mut probes = [
        is_read(plan, Side::Source).then(|| probe(Side::Source, source)).flatten(),
        is_sampled(plan, dest).then(|| probe(Side::Dest, dest)).flatten(),
    ];
    // Two sides on one rotational disk cannot be measured at the same time.
    let in_turn = plan.tuning.limits.bursts;
    let looks = each(&mut probes, in_turn, |probe| probe.look(budget));
    let slower_s = looks.iter().flatten().map(|look| look.whole_s).fold(0.0, f64::max);
    let [read, other] = each(&mut probes, in_turn, |probe| {
        // The faster side may be sampled for longer, because the copy will wait for the slower one.
        let whole_s = if in_turn { None } else { Some(slower_s) };
        Some(probe.zones(whole_s, budget))
    })
    .map(Option::unwrap_or_default);
    // The slower side determines the rate of a copy, and may be the one without samples.
    let missing = (is_read(plan, Side::Source) && is_disk(&plan.source) && read.is_empty())
        || (is_read(plan, Side::Dest) && is_disk(&plan.dest) && other.is_empty());
    if missing && budget.places_min > 1 {
        return None;
    }
    let sides = sides(plan, [source, dest], [&read, &other], len);
    let course = sides.course(plan, len, engine);
    // A limit alone yields only the obvious minimum duration.
    let known = course.sides.iter().any(Option::is_some);
    let forecast = Forecast::of(&course).filter(|_| known)?;
    let (at_least_s, at_most_s) = course.bounds_s();
    if at_least_s <= 0.0 {
        return None;
    }
    let mean = |curve: &Curve| (len as f64 / curve.seconds(0.0, len as f64)) as u64;
    let is_range = at_most_s.is_none_or(|most_s| most_s > at_least_s * CERTAIN);
    let dest_rate = course.sides[1].filter(|_| !sides.is_shape_only);
    let estimate = Estimate {
        at_least: Duration::try_from_secs_f64(if is_range { at_least_s } else { at_most_s? }).ok()?,
        at_most: at_most_s.and_then(|most_s| Duration::try_from_secs_f64(most_s).ok()),
        doubt: sides.doubt.filter(|_| is_range),
        source_bytes_per_s: course.sides[0].map(mean),
        dest_bytes_per_s: dest_rate.map(mean),
        write_rate: sides.write_rate,
        bound: course.bound().filter(|_| !is_range).or_else(|| only_side(plan, &course)),
        places: u32::try_from(read.len() + other.len()).unwrap_or(u32::MAX),
        took: began.elapsed(),
    };
    Some(Estimated { estimate, forecast })
}

/// A range whose bounds differ by no more than this factor is reported as one duration.
const CERTAIN: f64 = 1.05;

/// Upper bound of the speedup of a device that processes many requests in parallel, relative to the few with
/// which it was sampled.
const FASTER_MAX: f64 = 4.0;

/// What is known about both sides, and what is uncertain.
#[derive(Debug)]
struct Sides {
    curves: [Option<Curve>; 2],
    faster_max: [f64; 2],
    is_open: bool,
    /// The dest was only read, which shows how its rate varies by position, but not how fast it writes.
    is_shape_only: bool,
    write_rate: Option<WriteRate>,
    doubt: Option<Doubt>,
    cache_bytes: u64,
}

impl Sides {
    fn course<'a>(&'a self, plan: &Plan, len: u64, engine: EngineKind) -> Course<'a> {
        Course {
            len,
            sides: self.curves.each_ref().map(Option::as_ref),
            limit_bytes_per_s: plan.limit_bytes_per_s,
            in_turn: plan.tuning.limits.bursts || plan.tuning.blocks() == 1 || engine == EngineKind::Sync,
            backward: plan.direction == Direction::Backward,
            faster_max: self.faster_max,
            is_open: self.is_open,
            cache_bytes: self.cache_bytes,
        }
    }
}

/// The rates of both sides of the plan, derived from samples in these zones.
fn sides(plan: &Plan, facts: [&Facts; 2], zones: [&[Zone]; 2], len: u64) -> Sides {
    let mut sides = Sides {
        curves: zones.map(Curve::through),
        faster_max: [1.0; 2],
        is_open: false,
        is_shape_only: false,
        write_rate: None,
        doubt: None,
        cache_bytes: 0,
    };
    for side in Side::BOTH.into_iter().filter(|&side| is_read(plan, side) && !is_free(plan.side(side))) {
        let index = side.index();
        let reading = if is_disk(plan.side(side)) { reading(facts[index]) } else { ReadRatePrediction::Unknown };
        match reading {
            ReadRatePrediction::Known => {}
            ReadRatePrediction::MayBeFaster => {
                sides.faster_max[index] = FASTER_MAX;
                sides.doubt = sides.doubt.or(Some(Doubt::QueueDepth));
            }
            ReadRatePrediction::Unknown => (sides.is_open, sides.doubt) = (true, Some(Doubt::Reading)),
        }
    }
    let dest = facts[Side::Dest.index()];
    if is_read(plan, Side::Dest) || is_free(&plan.dest) {
        return sides;
    }
    let saved = dest.saved_write.as_ref().map(|saved| saved.bytes_per_s as f64).filter(|&rate| rate > 0.0);
    let read = sides.curves[1].take();
    (sides.curves[1], sides.write_rate) = write_curve(dest, read.as_ref(), saved, len);
    if sides.write_rate == Some(WriteRate::AsRead) {
        sides.cache_bytes = CACHE_BYTES;
    }
    if sides.write_rate.is_none() {
        (sides.is_open, sides.doubt, sides.is_shape_only) = (true, Some(Doubt::Writing), true);
        sides.faster_max[1] = f64::INFINITY;
    }
    sides
}

/// How well a few reads predict reading everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadRatePrediction {
    /// The rate will stay the same.
    Known,
    /// The device processes many requests in parallel, and was sampled with few.
    MayBeFaster,
    /// A server or another process determines the rate, and may limit it later.
    Unknown,
}

fn reading(facts: &Facts) -> ReadRatePrediction {
    match facts.identity.transport.as_deref() {
        _ if is_rotational(facts) => ReadRatePrediction::Known,
        Some("sata" | "usb" | "mmc") => ReadRatePrediction::Known,
        Some("nvme" | "scsi" | "sas" | "loop" | "ram" | "zram" | "dm" | "md") | None => ReadRatePrediction::MayBeFaster,
        Some(_) => ReadRatePrediction::Unknown,
    }
}

/// The side that determines the rate, if the other side takes no time.
fn only_side(plan: &Plan, course: &Course<'_>) -> Option<Bound> {
    let [source, dest] = course.sides;
    match (source, dest) {
        (Some(_), None) if is_free(&plan.dest) => Some(Bound::Side(Side::Source)),
        (None, Some(_)) if is_free(&plan.source) => Some(Bound::Side(Side::Dest)),
        _ => None,
    }
}

/// Whether it can be read at any offset for an estimate. Of a web server that would be traffic.
fn is_disk(side: &PlanSide) -> bool {
    side.kind.is_storage()
        && !matches!(side.kind, EndpointKind::Http | EndpointKind::Object | EndpointKind::CompressedDest)
}

/// Whether it takes no time.
fn is_free(side: &PlanSide) -> bool {
    use EndpointKind::{Endless, Manifest, Null, Pattern};
    matches!(side.kind, Null | Endless | Pattern | Manifest)
}

/// Whether the plan reads this side.
fn is_read(plan: &Plan, side: Side) -> bool {
    match plan.route {
        Route::Copy => side == Side::Source,
        Route::Compare { .. } | Route::Delta { .. } => true,
        Route::ReadBack => side == Side::Dest,
    }
}

/// Whether reading the dest contributes to the estimate: the copy reads it anyway, or it is a disk, whose
/// blocks stay in place. A file that will be truncated gets other blocks of its disk.
fn is_sampled(plan: &Plan, dest: &Facts) -> bool {
    let written_as_saved = dest.saved_write.is_some() && !is_rotational(dest);
    dest.exists && (is_read(plan, Side::Dest) || (dest.kind.is_fixed_size() && !written_as_saved))
}

/// Whether the disk is rotational, so that writing takes as long as reading. The kernel reports USB sticks and
/// virtual disks as rotational too; for an array of disks it is unknown which one is accessed.
fn is_rotational(facts: &Facts) -> bool {
    let made_up = ["usb", "virtio", "xen", "md", "nbd", "iscsi", "fc"];
    let transport = facts.identity.transport.as_deref();
    facts.queue.rotational == Some(true) && !transport.is_some_and(|name| made_up.contains(&name))
}

/// The rate of writing the dest, from the rates at which it was `read` and the rate `saved` for writing; if
/// neither applies, only the read rate is known.
fn write_curve(dest: &Facts, read: Option<&Curve>, saved: Option<f64>, len: u64) -> (Option<Curve>, Option<WriteRate>) {
    match (read, saved) {
        (Some(read), Some(rate)) => {
            let mean = len as f64 / read.seconds(0.0, len as f64);
            (Some(read.faster(rate / mean)), Some(WriteRate::Saved))
        }
        (None, Some(rate)) => (Curve::flat(rate), Some(WriteRate::Saved)),
        (Some(read), None) => (Some(read.clone()), is_rotational(dest).then_some(WriteRate::AsRead)),
        (None, None) => (None, None),
    }
}

/// Calls `of` for both sides, in parallel unless `in_turn`.
fn each<T: Send>(
    probes: &mut [Option<Probe>; 2],
    in_turn: bool,
    of: impl Fn(&mut Probe) -> Option<T> + Sync,
) -> [Option<T>; 2] {
    let [source, dest] = probes;
    let of = |probe: &mut Option<Probe>| probe.as_mut().and_then(&of);
    if in_turn {
        return [of(source), of(dest)];
    }
    std::thread::scope(|scope| {
        let source = run_beside(scope, "haul-sample", || of(source));
        let dest = of(dest);
        [source.join().ok().flatten(), dest]
    })
}

/// A side that is about to be sampled.
struct Probe {
    subject: Subject,
    range: Extent,
    point: Point,
    look: Option<FirstSample>,
}

impl Probe {
    /// Opens the side's part of the copy, with direct I/O if the plan uses it; `None` if it cannot be read. The
    /// copy will report the reason.
    fn of(plan: &Plan, which: Side, facts: &Facts, len: u64, engine: EngineKind) -> Option<Probe> {
        let (side, tuning) = (plan.side(which), plan.tuning);
        let size = match facts.kind {
            EndpointKind::Http | EndpointKind::Object => 0,
            kind if kind.is_storage() => facts.size.unwrap_or(0),
            _ => 0,
        };
        let start = side.map.start();
        let range = Extent::new(start, size.saturating_sub(start).min(len));
        if range.len == 0 {
            return None;
        }
        let mut side = side.clone();
        (side.access.existing, side.access.exclusive) = (Existing::Keep, false);
        let way = if side.access.cache == Cache::Direct { Way::Direct } else { Way::Buffered };
        if way == Way::Buffered {
            // Reads for the estimate must not fill the cache.
            side.access.cache = Cache::Drop;
        }
        let depth = tuning.limits.in_flight[which.index()].min(tuning.blocks().div_ceil(2)).clamp(1, DEPTH_MAX);
        let point = Point { way, block_bytes: tuning.limits.block_bytes, depth };
        let end = disks::open_source(&side, facts).ok()?;
        let subject = Subject::new(&facts.address, vec![(way, end)], engine, vec![range], point.in_flight_bytes());
        Some(Probe { subject: subject.ok()?, range, point, look: None })
    }

    fn look(&mut self, budget: Budget) -> Option<FirstSample> {
        // A signal ends the process here: nothing has been written.
        self.look = look(&mut self.subject, self.range, self.point, budget, &Stop::default()).ok().flatten();
        self.look
    }

    /// Rates at several positions, if the estimated copy takes `whole_s`, or as long as this side alone.
    fn zones(&mut self, whole_s: Option<f64>, budget: Budget) -> Vec<Zone> {
        let Some(look) = self.look else { return Vec::new() };
        let whole_s = whole_s.unwrap_or(look.whole_s);
        sample(&mut self.subject, self.range, &look, whole_s, budget, &Stop::default()).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;

//! How long a copy may take, from a few short reads on both sides; nothing is written.
use crate::core::{
    Bound, Cache, Direction, Doubt, EndpointKind, EngineKind, Estimate, Existing, Extent, Facts, OnError, Plan,
    PlanSide, Route, Side, Stop, WriteRate,
};
use crate::disks;
use crate::measure::{Budget, Course, Curve, FirstSample, Forecast, Point, Subject, Way, Zone, look, sample};
use crate::plan::{Options, ProgressStyle};
use std::time::{Duration, Instant};

/// The plan of a copy waits no longer than this.
const PLAN_TIME_MAX: Duration = Duration::from_secs(2);

/// Nor for the estimate of a long copy.
const COPY_TIME_MAX: Duration = Duration::from_secs(5);

/// Part of a copy, of its time and of its bytes, that its estimate may take.
const SHARE: f64 = 0.01;

/// The rate of a whole disk is not estimated from fewer places: both ends and the middle.
const PLACES_MIN: u32 = 3;

/// Requests to a side while it is read, at most.
const DEPTH_MAX: u32 = 8;

/// The largest write cache of a hard disk.
const CACHE_BYTES: u64 = 256 << 20;

/// What a copy is expected to take, in all and at each place of it.
#[derive(Debug)]
pub(crate) struct Estimated {
    pub(crate) estimate: Estimate,
    pub(crate) forecast: Forecast,
}

impl Estimated {
    /// It is about this plan, and not about what is written once more.
    pub(crate) fn is_of(&self, plan: &Plan) -> bool {
        plan.len == Some(self.forecast.len())
    }

    /// The estimate of what is left where earlier runs have copied so many bytes.
    pub(crate) fn behind(&self, already_bytes: u64) -> Estimate {
        if already_bytes == 0 {
            return self.estimate;
        }
        let rest = self.forecast.share_behind(already_bytes);
        let Estimate { at_least, at_most, .. } = self.estimate;
        Estimate { at_least: at_least.mul_f64(rest), at_most: at_most.map(|most| most.mul_f64(rest)), ..self.estimate }
    }
}

/// For a plan that is only shown: how long it may take, in two seconds at most. `None` where neither side can be read
/// beforehand, or the length is not known.
pub(crate) fn of_plan(plan: &Plan, source: &Facts, dest: &Facts) -> Option<Estimated> {
    estimate(plan, source, dest, Budget { time_max: PLAN_TIME_MAX, share: f64::INFINITY, places_min: 1 })
}

/// For a copy that is about to begin, if the user sees it and looking costs a hundredth of it at most. None where
/// reading here and there might do harm: where bad places are expected.
pub(crate) fn of_copy(options: &Options, plan: &Plan, source: &Facts, dest: &Facts) -> Option<Estimated> {
    let budget = Budget { time_max: COPY_TIME_MAX, share: SHARE, places_min: PLACES_MIN };
    is_wanted(options, plan.len, source, plan.ask_holes).then(|| estimate(plan, source, dest, budget))?
}

fn is_wanted(options: &Options, len: Option<u64>, source: &Facts, ask_holes: bool) -> bool {
    let told = !matches!(options.progress, ProgressStyle::None | ProgressStyle::Silent)
        || options.json
        || options.report.is_some();
    let sound = options.on_error == OnError::default();
    told && sound && len.is_some() && !(source.sparse && ask_holes) && !options.no_estimate
}

fn estimate(plan: &Plan, source: &Facts, dest: &Facts, budget: Budget) -> Option<Estimated> {
    let began = Instant::now();
    let len = plan.len.filter(|&len| len > 0)?;
    let engine = match plan.engine {
        engine @ (EngineKind::Ring | EngineKind::Threads | EngineKind::Sync) => engine,
        // No data is transferred to haul, so that reading shows nothing of it.
        EngineKind::Reflink | EngineKind::Offload => return None,
    };
    let probe = |which: Side, facts: &Facts| Probe::of(plan, which, facts, len, engine);
    let mut probes = [
        is_read(plan, Side::Source).then(|| probe(Side::Source, source)).flatten(),
        is_looked_at(plan, dest).then(|| probe(Side::Dest, dest)).flatten(),
    ];
    // Of two at once on one head neither would tell its rate.
    let in_turn = plan.tuning.limits.bursts;
    let looks = each(&mut probes, in_turn, |probe| probe.look(budget));
    let slower_s = looks.iter().flatten().map(|look| look.whole_s).fold(0.0, f64::max);
    let [read, other] = each(&mut probes, in_turn, |probe| {
        // The faster side may be examined for longer, for the copy will wait for the slower one.
        let whole_s = if in_turn { None } else { Some(slower_s) };
        Some(probe.zones(whole_s, budget))
    })
    .map(Option::unwrap_or_default);
    // A copy goes by its slower side, which may be the one of which nothing was found out.
    let missing = (is_read(plan, Side::Source) && is_disk(&plan.source) && read.is_empty())
        || (is_read(plan, Side::Dest) && is_disk(&plan.dest) && other.is_empty());
    if missing && budget.places_min > 1 {
        return None;
    }
    let sides = sides(plan, [source, dest], [&read, &other], len);
    let course = sides.course(plan, len, engine);
    // A limit alone says how long it takes at least, which is obvious.
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

/// A range that ends so little above its beginning is one time.
const CERTAIN: f64 = 1.05;

/// What works on many requests at once may be so many times as fast as with the few that it was read with.
const FASTER_MAX: f64 = 4.0;

/// What is known of both sides, and what is not.
#[derive(Debug)]
struct Sides {
    curves: [Option<Curve>; 2],
    faster_max: [f64; 2],
    is_open: bool,
    /// The dest was only read, which says where it is slower than elsewhere, not how fast it writes.
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

/// What reading at these places says of the sides of the plan.
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

/// What a few reads say of reading all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadRatePrediction {
    /// It continues like that.
    Known,
    /// It works on many requests at once, and was asked for few.
    MayBeFaster,
    /// Another process decides, who may let pass at first what he holds back later.
    Unknown,
}

fn reading(facts: &Facts) -> ReadRatePrediction {
    match facts.identity.transport.as_deref() {
        _ if turns(facts) => ReadRatePrediction::Known,
        Some("sata" | "usb" | "mmc") => ReadRatePrediction::Known,
        Some("nvme" | "scsi" | "sas" | "loop" | "ram" | "zram" | "dm" | "md") | None => ReadRatePrediction::MayBeFaster,
        Some(_) => ReadRatePrediction::Unknown,
    }
}

/// A side whose other side costs nothing.
fn only_side(plan: &Plan, course: &Course<'_>) -> Option<Bound> {
    let [source, dest] = course.sides;
    match (source, dest) {
        (Some(_), None) if is_free(&plan.dest) => Some(Bound::Side(Side::Source)),
        (None, Some(_)) if is_free(&plan.source) => Some(Bound::Side(Side::Dest)),
        _ => None,
    }
}

/// It has places to be read at.
fn is_disk(side: &PlanSide) -> bool {
    matches!(side.kind, EndpointKind::File | EndpointKind::Block)
}

/// It takes no time.
fn is_free(side: &PlanSide) -> bool {
    use EndpointKind::{Endless, Manifest, Null, Pattern};
    matches!(side.kind, Null | Endless | Pattern | Manifest)
}

/// The plan reads this side.
fn is_read(plan: &Plan, side: Side) -> bool {
    match plan.route {
        Route::Copy => side == Side::Source,
        Route::Compare { .. } | Route::Delta { .. } => true,
        Route::ReadBack => side == Side::Dest,
    }
}

/// Reading the dest tells something: it is read anyway, or it is a disk, written where it can be read now. A file
/// that is about to be emptied gets other places on its disk.
fn is_looked_at(plan: &Plan, dest: &Facts) -> bool {
    let written_as_saved = dest.saved_write.is_some() && !turns(dest);
    dest.exists && (is_read(plan, Side::Dest) || (dest.kind == EndpointKind::Block && !written_as_saved))
}

/// A head moves, so that writing takes as long as reading. The kernel takes every USB stick for such a disk, too, and
/// disks that others make up; of several disks together it is unknown which is asked.
fn turns(facts: &Facts) -> bool {
    let made_up = ["usb", "virtio", "xen", "md", "nbd", "iscsi", "fc"];
    let transport = facts.identity.transport.as_deref();
    facts.queue.rotational == Some(true) && !transport.is_some_and(|name| made_up.contains(&name))
}

/// How writing the dest goes by the rates at which it was `read` and by what was `saved` for writing it; where neither
/// says it, what was read is all there is.
fn write_curve(dest: &Facts, read: Option<&Curve>, saved: Option<f64>, len: u64) -> (Option<Curve>, Option<WriteRate>) {
    match (read, saved) {
        (Some(read), Some(rate)) => {
            let mean = len as f64 / read.seconds(0.0, len as f64);
            (Some(read.faster(rate / mean)), Some(WriteRate::Saved))
        }
        (None, Some(rate)) => (Curve::flat(rate), Some(WriteRate::Saved)),
        (Some(read), None) => (Some(read.clone()), turns(dest).then_some(WriteRate::AsRead)),
        (None, None) => (None, None),
    }
}

/// Has it done for both sides, at once if not in turn.
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
        let source = scope.spawn(|| of(source));
        let dest = of(dest);
        [source.join().ok().flatten(), dest]
    })
}

/// A side that is about to be examined.
struct Probe {
    subject: Subject,
    range: Extent,
    point: Point,
    look: Option<FirstSample>,
}

impl Probe {
    /// Opens the side's part of the copy, past the page cache where the plan goes past it; none if it cannot be read.
    /// The copy will say why better than a guess could.
    fn of(plan: &Plan, which: Side, facts: &Facts, len: u64, engine: EngineKind) -> Option<Probe> {
        let (side, tuning) = (plan.side(which), plan.tuning);
        let size = match facts.kind {
            EndpointKind::File | EndpointKind::Block => facts.size.unwrap_or(0),
            _ => 0,
        };
        let range = Extent::new(side.offset, size.saturating_sub(side.offset).min(len));
        if range.len == 0 {
            return None;
        }
        let mut side = side.clone();
        (side.access.existing, side.access.exclusive) = (Existing::Keep, false);
        let way = if side.access.cache == Cache::Direct { Way::Direct } else { Way::Buffered };
        if way == Way::Buffered {
            // Reading ahead for a guess must not fill the cache.
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

    /// Rates at places, where what is estimated takes `whole_s`, or as long as this side alone.
    fn zones(&mut self, whole_s: Option<f64>, budget: Budget) -> Vec<Zone> {
        let Some(look) = self.look else { return Vec::new() };
        let whole_s = whole_s.unwrap_or(look.whole_s);
        sample(&mut self.subject, self.range, &look, whole_s, budget, &Stop::default()).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;

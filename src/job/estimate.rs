//! How long a copy may take, from a few short reads on both sides; nothing is written.
use crate::core::{
    Bound, Cache, Direction, EndpointKind, EngineKind, Estimate, Existing, Extent, Facts, OnError, Plan, PlanSide,
    Route, Side, Stop, WriteRate,
};
use crate::disks;
use crate::measure::{Budget, Course, Curve, Forecast, Look, Point, Reached, Subject, Way, Zone, look, sample};
use crate::plan::{Options, ProgressStyle};
use std::time::{Duration, Instant};

/// More than this nobody waits for a guess.
const TIME_MAX: Duration = Duration::from_secs(2);

/// Part of the time of a copy that its forecast may take.
const SHARE: f64 = 0.01;

/// The rate of a whole disk is not told from one place.
const PLACES_MIN: u32 = 3;

/// A shorter copy is over soon, and a first look alone would take more than [`SHARE`] of it.
const COPY_BYTES_MIN: u64 = 1 << 30;

/// Less than this cannot be told from noise.
const BYTES_MIN: u64 = 1 << 20;

/// Blocks of more are no faster, and a place would be long.
const BLOCK_BYTES_MAX: u32 = 1 << 20;

/// Requests to a side while it is sampled, at most: a place must not take a megabyte for each of 64.
const DEPTH_MAX: u32 = 8;

/// What a copy is expected to take, in all and at each place of it.
#[derive(Debug)]
pub(crate) struct Foretold {
    pub(crate) estimate: Estimate,
    pub(crate) forecast: Forecast,
}

impl Foretold {
    /// It is about this plan, and not about what is written once more.
    pub(crate) fn is_of(&self, plan: &Plan) -> bool {
        plan.len == Some(self.forecast.len())
    }

    /// The estimate of what is left where earlier runs have copied so many bytes.
    pub(crate) fn behind(&self, already_bytes: u64) -> Estimate {
        let start = Reached { done_bytes: already_bytes, ..Reached::default() };
        let left = self.forecast.left_s(&start, &start).and_then(|left| Duration::try_from_secs_f64(left).ok());
        Estimate { time: left.unwrap_or(self.estimate.time), ..self.estimate }
    }
}

/// For a plan that is only shown: how long it may take, in two seconds at most. `None` where neither side can be read
/// beforehand, or the length is not known.
pub(crate) fn of_plan(plan: &Plan, source: &Facts, dest: &Facts) -> Option<Foretold> {
    foretell(plan, source, dest, Budget { time_max: TIME_MAX, share: f64::INFINITY, places_min: 1 })
}

/// For a copy that is about to begin, as far as somebody is told and it is so long that looking costs a hundredth of it
/// at most. None where reading here and there might do harm: where bad places are expected.
pub(crate) fn of_copy(options: &Options, plan: &Plan, source: &Facts, dest: &Facts) -> Option<Foretold> {
    let budget = Budget { time_max: TIME_MAX, share: SHARE, places_min: PLACES_MIN };
    is_wanted(options, plan.len, source, plan.ask_holes).then(|| foretell(plan, source, dest, budget))?
}

fn is_wanted(options: &Options, len: Option<u64>, source: &Facts, ask_holes: bool) -> bool {
    let told = options.progress != ProgressStyle::None || options.json || options.report.is_some();
    let sound = options.on_error == OnError::default();
    let long = len.is_some_and(|len| len >= COPY_BYTES_MIN);
    told && sound && long && !(source.sparse && ask_holes) && !options.no_estimate
}

fn foretell(plan: &Plan, source: &Facts, dest: &Facts, budget: Budget) -> Option<Foretold> {
    let began = Instant::now();
    let len = plan.len.filter(|&len| len > 0)?;
    let engine = match plan.engine {
        engine @ (EngineKind::Ring | EngineKind::Threads | EngineKind::Sync) => engine,
        // No byte goes through us, so that reading tells nothing of it.
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
        // The faster side may be looked at for longer, for the copy will wait for the slower one.
        let whole_s = if in_turn { None } else { Some(slower_s) };
        Some(probe.zones(whole_s, budget))
    })
    .map(Option::unwrap_or_default);
    // A copy goes by its slower side, which may be the one of which nothing was found out.
    let missing = (is_read(plan, Side::Source) && is_disk(&plan.source) && read.is_empty())
        || (is_looked_at(plan, dest) && is_disk(&plan.dest) && other.is_empty());
    if missing && budget.places_min > 1 {
        return None;
    }
    let source_curve = Curve::through(&read);
    let (dest_curve, write_rate) = match is_read(plan, Side::Dest) {
        true => (Curve::through(&other), None),
        false => write_curve(dest, &other, len),
    };
    let course = Course {
        len,
        sides: [source_curve.as_ref(), dest_curve.as_ref()],
        limit_bytes_per_s: plan.limit_bytes_per_s,
        in_turn: plan.tuning.limits.bursts || plan.tuning.blocks() == 1 || engine == EngineKind::Sync,
        backward: plan.direction == Direction::Backward,
    };
    // A limit alone says how long it takes at least, which nobody has to be told.
    let known = course.sides.iter().any(Option::is_some);
    let forecast = Forecast::of(&course).filter(|_| known)?;
    let mean = |curve: &Curve| (len as f64 / curve.seconds(0.0, len as f64)) as u64;
    let estimate = Estimate {
        time: Duration::try_from_secs_f64(forecast.whole_s()).ok()?,
        source_bytes_per_s: source_curve.as_ref().map(mean),
        dest_bytes_per_s: dest_curve.as_ref().map(mean),
        write_rate,
        bound: course.bound().or_else(|| only_side(plan, &course)),
        places: u32::try_from(read.len() + other.len()).unwrap_or(u32::MAX),
        took: began.elapsed(),
    };
    Some(Foretold { estimate, forecast })
}

/// A side whose other side costs nothing.
fn only_side(plan: &Plan, course: &Course<'_>) -> Option<Bound> {
    let free = |side: Side| matches!(plan.side(side).kind, EndpointKind::Null | EndpointKind::Endless);
    let [source, dest] = course.sides;
    match (source, dest) {
        (Some(_), None) if free(Side::Dest) => Some(Bound::Side(Side::Source)),
        (None, Some(_)) if free(Side::Source) => Some(Bound::Side(Side::Dest)),
        _ => None,
    }
}

/// It has places to be read at.
fn is_disk(side: &PlanSide) -> bool {
    matches!(side.kind, EndpointKind::File | EndpointKind::Block)
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

/// A head moves, so that writing takes as long as reading. The kernel takes every USB stick for such a disk, too.
fn turns(facts: &Facts) -> bool {
    facts.queue.rotational == Some(true) && facts.identity.transport.as_deref() != Some("usb")
}

/// How writing the dest goes by the rates at which it was read and by what was saved for writing it.
fn write_curve(dest: &Facts, zones: &[Zone], len: u64) -> (Option<Curve>, Option<WriteRate>) {
    let read = Curve::through(zones);
    let saved = dest.saved_write.as_ref().map(|saved| saved.bytes_per_s as f64).filter(|&rate| rate > 0.0);
    match (read, saved) {
        (Some(read), Some(rate)) => {
            let mean = len as f64 / read.seconds(0.0, len as f64);
            (Some(read.faster(rate / mean)), Some(WriteRate::Saved))
        }
        (None, Some(rate)) => (Curve::flat(rate), Some(WriteRate::Saved)),
        (Some(read), None) => (Some(read), Some(if turns(dest) { WriteRate::AsRead } else { WriteRate::Assumed })),
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

/// A side that is about to be looked at.
struct Probe {
    subject: Subject,
    range: Extent,
    point: Point,
    look: Option<Look>,
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
        if range.len < BYTES_MIN {
            return None;
        }
        let mut side = side.clone();
        (side.access.existing, side.access.exclusive) = (Existing::Keep, false);
        let way = if side.access.cache == Cache::Direct { Way::Direct } else { Way::Buffered };
        if way == Way::Buffered {
            // Reading ahead for a guess must not fill the cache.
            side.access.cache = Cache::Drop;
        }
        let block_bytes = tuning.limits.block_bytes.min(BLOCK_BYTES_MAX);
        let depth = tuning.limits.in_flight[which.index()].min(tuning.blocks().div_ceil(2)).clamp(1, DEPTH_MAX);
        let point = Point { way, block_bytes, depth };
        let end = disks::open_source(&side, facts).ok()?;
        let subject = Subject::new(&facts.address, vec![(way, end)], engine, vec![range], point.in_flight_bytes());
        Some(Probe { subject: subject.ok()?, range, point, look: None })
    }

    fn look(&mut self, budget: Budget) -> Option<Look> {
        // A signal ends the process here: nothing has been written.
        self.look = look(&mut self.subject, self.range, self.point, budget, &Stop::default()).ok().flatten();
        self.look
    }

    /// Rates at places, where what is foretold takes `whole_s`, or as long as this side alone.
    fn zones(&mut self, whole_s: Option<f64>, budget: Budget) -> Vec<Zone> {
        let Some(look) = self.look else { return Vec::new() };
        let whole_s = whole_s.unwrap_or(look.whole_s);
        sample(&mut self.subject, self.range, &look, whole_s, budget, &Stop::default()).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;

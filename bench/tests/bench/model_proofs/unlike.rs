//! Auto-tuning on disks drawn at random, in virtual time: haul's own governor in a small pump, compared with fixed
//! pairs of block size and depth in the same pump.
//!
//! `UNLIKE_SEEDS=1..9 cargo test --test bench model_proofs::unlike -- --nocapture` prints a line for each
//! pair of these seeds, and with `UNLIKE_TRIALS=1` each trial.
use haul::core::{Bursts, Limits, Tuning};
use haul::engine::valves::{Governor, Round, Start, Trial};
use haul_bench::bed::unlike::draw::{self, Drawn, Side};
use modelled_disk::model::{Disk, Kind, Ticket};
use modelled_disk::parameters::{Extent, Parameters};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;
/// The fixed pairs of the beds.
const PAIRS: [(u32, u32); 8] =
    [(64 * KIB, 16), (256 * KIB, 8), (256 * KIB, 32), (512 * KIB, 8), (MIB, 2), (MIB, 4), (MIB, 16), (4 * MIB, 4)];

/// Maximum size of a FUSE request, and how many of these nbdfuse has in flight.
const PART_BYTES: u64 = 1 << 20;
/// See [`PART_BYTES`].
const PARTS_MAX: usize = 10;
/// The delay through loop device, FUSE and socket, in one direction; and its random part, because of which some
/// requests overtake others.
const WAY_NS: u64 = 80_000;
/// See [`WAY_NS`].
const JITTER_NS: u64 = 60_000;

/// Disks, the positions of source and dest on them, and what they report.
struct Pair {
    disks: Vec<Parameters>,
    at: [(usize, u64); 2],
    len: u64,
}

fn parameters(side: &Side, size_bytes: u64) -> Parameters {
    let mut disk = Parameters { size_bytes, ..Parameters::default() };
    for word in &side.words {
        let (key, value) = word.split_once('=').unwrap();
        disk.set(key, value).unwrap();
    }
    disk
}

fn pair(seed: u64, index: usize, len: u64) -> (Pair, String) {
    match draw::pair(seed, index) {
        Drawn::Two(source, dest) => {
            let disks = vec![parameters(&source, len), parameters(&dest, len)];
            (Pair { disks, at: [(0, 0), (1, 0)], len }, format!("{} → {}", source.about, dest.about))
        }
        Drawn::Halves(disk) => {
            let disks = vec![parameters(&disk, 2 * len)];
            (Pair { disks, at: [(0, 0), (0, len)], len }, format!("halves of {}", disk.about))
        }
    }
}

impl Pair {
    fn rotational(&self) -> [bool; 2] {
        self.at.map(|(disk, _)| self.disks[disk].rotational())
    }

    /// As in `plan::choose::pace` for a block device of unknown transport.
    fn searched(&self) -> Start {
        let one_disk = self.at[0].0 == self.at[1].0;
        let tuning = Tuning {
            limits: Limits { block_bytes: MIB, in_flight: [2; 2], bursts: one_disk && self.rotational()[0] },
            pool_bytes: 32 << 20,
            block_bytes_min: 128 * KIB,
            block_bytes_max: 4 * MIB,
            in_flight_max: 128,
            adaptive: true,
            tuned: false,
            bursts: if one_disk { Bursts::Try } else { Bursts::Never },
        };
        Start { tuning, len: Some(self.len), rotational: self.rotational() }
    }

    fn fixed(&self, block_bytes: u32, depth: u32) -> Start {
        let one_disk = self.at[0].0 == self.at[1].0;
        let turns = one_disk && self.rotational()[0];
        let most = |rotational| if rotational { (depth / 2).max(1) } else { depth };
        let mut in_flight = self.rotational().map(most);
        if turns {
            in_flight = in_flight.map(|most| most.min(2));
        }
        let tuning = Tuning {
            limits: Limits { block_bytes, in_flight, bursts: turns },
            bursts: if turns { Bursts::Always } else { Bursts::Never },
            ..Tuning::fixed(block_bytes, depth)
        };
        Start { tuning, ..self.searched() }
    }
}

/// A part of a request in transit.
#[derive(Clone, Copy)]
struct Part {
    request: u64,
    disk: usize,
    kind: Kind,
    extent: Extent,
}

enum Event {
    Arrives(Part),
    Back(Part),
}

/// A request: its side, its offset in the copy, parts that have not completed.
struct Flying {
    side: usize,
    extent: Extent,
    parts: u64,
}

/// Disks in virtual time behind a path with room for a few parts.
struct Chain {
    now_ns: u64,
    disks: Vec<Disk>,
    events: BTreeMap<(u64, u64), Event>,
    waiting: Vec<VecDeque<Part>>,
    under_way: Vec<usize>,
    tickets: Vec<HashMap<Ticket, Part>>,
    flying: HashMap<u64, Flying>,
    count: u64,
    noise: u64,
}

impl Chain {
    fn new(pair: &Pair) -> Self {
        Chain {
            now_ns: 0,
            disks: pair.disks.iter().map(Disk::new).collect(),
            events: BTreeMap::new(),
            waiting: vec![VecDeque::new(); pair.disks.len()],
            under_way: vec![0; pair.disks.len()],
            tickets: vec![HashMap::new(); pair.disks.len()],
            flying: HashMap::new(),
            count: 0,
            noise: 1,
        }
    }

    fn way_ns(&mut self) -> u64 {
        self.noise = self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WAY_NS + (((self.noise >> 33) * JITTER_NS) >> 31)
    }

    fn at(&mut self, at_ns: u64, event: Event) {
        self.count += 1;
        self.events.insert((at_ns, self.count), event);
    }

    fn submit(&mut self, pair: &Pair, side: usize, kind: Kind, extent: Extent) {
        let (disk, base) = pair.at[side];
        self.count += 1;
        let request = self.count;
        let mut parts = 0;
        let mut offset = extent.offset;
        while offset < extent.end() || parts == 0 {
            let len = (extent.end() - offset).min(PART_BYTES);
            let extent = Extent { offset: base + offset, len };
            self.waiting[disk].push_back(Part { request, disk, kind, extent });
            (offset, parts) = (offset + len, parts + 1);
        }
        self.flying.insert(request, Flying { side, extent, parts });
        self.dispatch(disk);
    }

    fn dispatch(&mut self, disk: usize) {
        while self.under_way[disk] < PARTS_MAX {
            let Some(part) = self.waiting[disk].pop_front() else { return };
            self.under_way[disk] += 1;
            let at_ns = self.now_ns + self.way_ns();
            self.at(at_ns, Event::Arrives(part));
        }
    }

    /// Advances the time until requests have completed; returns these.
    fn wait(&mut self) -> Vec<Flying> {
        let mut back = Vec::new();
        while back.is_empty() {
            let event_ns = self.events.keys().next().map(|(at_ns, _)| *at_ns);
            let alarms = self.disks.iter().filter_map(Disk::alarm);
            self.now_ns = event_ns.into_iter().chain(alarms).min().expect("a request is in flight").max(self.now_ns);
            while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= self.now_ns) {
                match entry.remove() {
                    Event::Arrives(part) => {
                        let ticket = self.disks[part.disk].submit(self.now_ns, part.kind, part.extent);
                        self.tickets[part.disk].insert(ticket, part);
                    }
                    Event::Back(part) => back.extend(self.take_back(part)),
                }
            }
            for disk in 0..self.disks.len() {
                for answer in self.disks[disk].advance(self.now_ns) {
                    let part = self.tickets[disk].remove(&answer.ticket).unwrap();
                    let at_ns = answer.at_ns + self.way_ns();
                    self.at(at_ns, Event::Back(part));
                }
            }
        }
        back
    }

    fn take_back(&mut self, part: Part) -> Option<Flying> {
        self.disks[part.disk].leave();
        self.under_way[part.disk] -= 1;
        self.dispatch(part.disk);
        let flying = self.flying.get_mut(&part.request).unwrap();
        flying.parts -= 1;
        if flying.parts > 0 { None } else { self.flying.remove(&part.request) }
    }
}

/// Seconds of a copy with a flush at its end, and the trials.
fn copy(pair: &Pair, start: Start) -> (f64, Vec<Trial>) {
    let mut governor = Governor::new(start);
    let mut limits = governor.limits();
    let mut chain = Chain::new(pair);
    let mut round = Round::default();
    let (mut next, mut free, mut writing) = (0, u64::from(start.tuning.pool_bytes), false);
    let mut in_flight = [0_u32; 2];
    let mut ready: BTreeMap<u64, u64> = BTreeMap::new();
    while round.dest_bytes < pair.len {
        let held = u64::from(start.tuning.pool_bytes) - free;
        // As in `take_turns` and `feed` of the pump.
        let in_turn = limits.bursts;
        writing = in_turn && held > 0 && (writing || in_flight[0] == 0);
        loop {
            let len = u64::from(limits.block_bytes).min(pair.len - next);
            if writing || len == 0 || len > free || in_flight[0] >= limits.in_flight[0] {
                break;
            }
            chain.submit(pair, 0, Kind::Read, Extent { offset: next, len });
            (next, free, in_flight[0]) = (next + len, free - len, in_flight[0] + 1);
        }
        writing |= in_turn && in_flight[0] == 0;
        while in_flight[1] < limits.in_flight[1] && (!in_turn || writing) {
            let Some((offset, len)) = ready.pop_first() else { break };
            chain.submit(pair, 1, Kind::Write, Extent { offset, len });
            in_flight[1] += 1;
        }
        round = Round { in_flight, dest_bytes: round.dest_bytes, ..Round::default() };
        for Flying { side, extent, .. } in chain.wait() {
            in_flight[side] -= 1;
            round.completed[side] += 1;
            round.completed_bytes[side] += extent.len;
            if side == 0 {
                ready.insert(extent.offset, extent.len);
                continue;
            }
            free += extent.len;
            round.dest_bytes += extent.len;
            let least = round.wrote_block_bytes;
            round.wrote_block_bytes = if least == 0 { extent.len as u32 } else { least.min(extent.len as u32) };
        }
        round.now = Duration::from_nanos(chain.now_ns);
        round.finished = next == pair.len;
        if let Some(changed) = governor.observe(&round) {
            limits = changed;
        }
    }
    chain.submit(pair, 1, Kind::Flush, Extent { offset: 0, len: 0 });
    chain.wait();
    (chain.now_ns as f64 / 1e9, governor.trials().to_vec())
}

/// Ratio of haul's time to that of the best fixed pair.
fn ratio(seed: u64, index: usize, len: u64, reported: bool) -> f64 {
    let (pair, about) = pair(seed, index, len);
    let (took_s, trials) = copy(&pair, pair.searched());
    let fixed = PAIRS.map(|(block, depth)| (copy(&pair, pair.fixed(block, depth)).0, block, depth));
    let (best_s, block, depth) = fixed.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    if reported {
        let ratio = took_s / best_s;
        let letter = char::from(b'a' + index as u8);
        println!(
            "{} MiB, seed {seed}, {letter}: {ratio:.3}  haul {took_s:.2} s, {} KiB x {depth} {best_s:.2} s  {about}",
            len >> 20,
            block >> 10
        );
        if std::env::var_os("UNLIKE_TRIALS").is_some() {
            trials.iter().for_each(|trial| println!("    {trial:?}"));
        }
    }
    took_s / best_s
}

#[test]
fn unlike_disks_are_copied_about_as_fast_as_by_the_best_fixed_pair() {
    let asked = std::env::var("UNLIKE_SEEDS").ok();
    let (first, last) = match asked.as_deref().and_then(|asked| asked.split_once("..")) {
        Some((first, last)) => (first.parse().unwrap(), last.parse().unwrap()),
        None => (1, 11),
    };
    for mib in [256, 1024] {
        let pairs = (first..last).flat_map(|seed| (0..draw::PAIRS).map(move |index| (seed, index)));
        let ratios: Vec<f64> = pairs.map(|(seed, index)| ratio(seed, index, mib << 20, asked.is_some())).collect();
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        println!("{mib} MiB, seeds {first} to {}: geometric mean {mean:.3}, worst {worst:.3}", last - 1);
        if asked.is_none() {
            let (mean_max, worst_max) = if mib == 256 { (1.01, 1.10) } else { (1.005, 1.05) };
            assert!(mean < mean_max && worst < worst_max, "{mib} MiB: {mean} and {worst}");
        }
    }
}

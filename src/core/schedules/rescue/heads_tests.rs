//! Heads of simulated disks.
use super::*;

const CLUSTER: u64 = 64 << 10;

/// A repeatable source of numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

/// A disk with heads that take turns, whose stretches become shorter from zone to zone.
struct Disk {
    len: u64,
    /// Start and length of each stretch of the failing head.
    failing: Vec<(u64, u64)>,
    /// Clusters that fail besides.
    scattered: Vec<u64>,
}

impl Disk {
    fn new(len: u64, heads: u64, bad: u64, stretch: u64, zones: u64, seed: u64) -> Disk {
        let (mut failing, mut at, mut head) = (Vec::new(), 0, 0);
        while at < len {
            let zone = at * zones / len;
            let long = stretch - stretch * zone / (2 * zones);
            if head == bad {
                failing.push((at, long.min(len - at)));
            }
            at += long;
            head = (head + 1) % heads;
        }
        let mut numbers = Numbers(seed);
        let mut scattered: Vec<u64> = (0..40).map(|_| numbers.next() % (len / CLUSTER)).collect();
        scattered.sort_unstable();
        Disk { len, failing, scattered }
    }

    fn is_of_head(&self, at: u64) -> bool {
        let next = self.failing.partition_point(|(start, _)| *start <= at);
        next > 0 && at < self.failing[next - 1].0 + self.failing[next - 1].1
    }

    fn fails(&self, at: u64) -> bool {
        self.is_of_head(at) || self.scattered.binary_search(&(at / CLUSTER)).is_ok()
    }
}

/// What a first pass does.
#[derive(Debug, Default)]
struct Pass {
    failed: u64,
    good: u64,
    found: Vec<FailingHead>,
}

fn first_pass(disk: &Disk, goes_around: bool) -> Pass {
    let (mut heads, mut pass, mut at, mut skip) = (Heads::new(CLUSTER), Pass::default(), 0, CLUSTER);
    while at < disk.len {
        if goes_around {
            let to = heads.around(at) / CLUSTER * CLUSTER;
            at = at.max(to);
            if at >= disk.len {
                break;
            }
        }
        if disk.fails(at) || disk.fails(at + CLUSTER - 1) {
            heads.on_bad(at);
            pass.failed += 1;
            at += CLUSTER + skip;
            skip = (skip * 2).min(disk.len / 100);
        } else {
            heads.on_good(at, at + CLUSTER);
            pass.good += CLUSTER;
            at += CLUSTER;
            skip = CLUSTER;
        }
        if pass.found.is_empty() {
            pass.found = heads.found().collect();
        }
    }
    pass
}

#[test]
fn one_failing_head_is_found_and_skipped_on_disks_of_every_kind() {
    let disks = [(2, 16, 1), (3, 6, 8), (4, 12, 12), (6, 8, 20), (10, 5, 30), (16, 4, 16)];
    for (seed, (heads, stretch_mib, zones)) in (0..long(1)).flat_map(|seed| disks.map(|disk| (seed, disk))) {
        let stretch = stretch_mib << 20;
        let disk = Disk::new(stretch * heads * 150, heads, (heads + seed) % heads, stretch, zones, seed);
        let (plain, around) = (first_pass(&disk, false), first_pass(&disk, true));
        let what = format!("{heads} heads, {zones} zones, seed {seed}: {plain:?}, {around:?}");
        let head = around.found.first().unwrap_or_else(|| panic!("nothing was found: {what}"));
        let about = head.period_bytes as f64 / (stretch * heads) as f64;
        assert!((0.6..1.05).contains(&about), "{what}");
        // Until it is found, nothing is skipped.
        assert!(around.failed * 5 < plain.failed * 4, "{what}");
        assert!(around.good * 5 > plain.good * 4, "{what}");
    }
}

#[test]
fn scattered_errors_and_scratches_are_no_head() {
    for seed in 0..long(15) {
        let mut numbers = Numbers(seed);
        let clusters = 8000;
        let (places, longest) = [(10, 1), (50, 1), (200, 1), (1000, 1), (60, 40)][seed as usize % 5];
        let mut scattered: Vec<u64> = Vec::new();
        for _ in 0..places {
            let first = numbers.next() % clusters;
            scattered.extend(first..=first + numbers.next() % longest);
        }
        scattered.sort_unstable();
        let disk = Disk { len: clusters * CLUSTER, failing: Vec::new(), scattered };
        assert!(first_pass(&disk, true).found.is_empty(), "seed {seed}");
    }
}

/// The number of cases: `few`, or that of the environment variable.
fn long(few: u64) -> u64 {
    std::env::var("HAUL_HEADS").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

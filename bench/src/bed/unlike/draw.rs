//! Pairs of disks, drawn at random within realistic ranges. The same seed and number give the same pair.
use super::random::Random;
use std::fmt::Write;

/// Number of pairs per seed.
pub const PAIRS: usize = 8;

/// One disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// A short description.
    pub about: String,
    /// Its parameters as on a command line, `key=value`.
    pub words: Vec<String>,
}

/// The source and the dest.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    /// One disk onto another.
    Two(Side, Side),
    /// The first half of a disk onto its second.
    Halves(Side),
}

/// A kind of disk, with ranges for its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A rotational disk without read-ahead and write cache, and an elevator that never waits.
    Spindle,
    /// A disk, rotational or not, behind a bridge that splits transfers.
    Bridge,
    /// A disk with a distance of 5 to 20 ms.
    Far,
    /// A solid-state disk whose rate depends on the number of busy channels.
    Channels,
    /// A plain solid-state disk.
    Plain,
}

/// The sides of all pairs but the last, with their frequencies; a seed shuffles them.
const DECK: [Kind; 2 * (PAIRS - 1)] = [
    Kind::Spindle,
    Kind::Spindle,
    Kind::Spindle,
    Kind::Spindle,
    Kind::Spindle,
    Kind::Bridge,
    Kind::Bridge,
    Kind::Bridge,
    Kind::Far,
    Kind::Far,
    Kind::Far,
    Kind::Channels,
    Kind::Channels,
    Kind::Plain,
];

/// Pair number `index` of `seed`. The last one of each seed is a spindle copied to its own second half.
pub fn pair(seed: u64, index: usize) -> Drawn {
    let mut random = Random::new(seed, 1 + index as u64);
    if index + 1 == PAIRS {
        return Drawn::Halves(side(Kind::Spindle, &mut random));
    }
    let mut deck = DECK;
    Random::new(seed, 0).shuffle(&mut deck);
    let mut next = |kind| side(kind, &mut random);
    Drawn::Two(next(deck[2 * index]), next(deck[2 * index + 1]))
}

fn side(kind: Kind, random: &mut Random) -> Side {
    match kind {
        Kind::Spindle => spindle(random),
        Kind::Bridge => bridge(random),
        Kind::Far => far(random),
        Kind::Channels => channels(random),
        Kind::Plain => plain(random),
    }
}

/// Parameters being collected.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn set(&mut self, key: &str, value: impl std::fmt::Display) {
        self.0.push(format!("{key}={value}"));
    }

    fn side(self, about: String) -> Side {
        Side { about, words: self.0 }
    }
}

/// The rates of the outermost and the innermost zone, in MB/s. Limited by what two disks and a copier can do on two
/// processors.
fn zones(random: &mut Random, words: &mut Words) -> (u64, u64) {
    let outer = random.log(70.0, 160.0).round();
    let inner = (outer * random.even(0.45, 0.8)).round();
    words.set("rates", format!("0:{outer}MB,1M:{inner}MB"));
    words.set("rates_over", "1M");
    words.set("zones", 24);
    (outer as u64, inner as u64)
}

/// A rotational disk.
fn turning(random: &mut Random, words: &mut Words) -> String {
    let (outer, inner) = zones(random, words);
    let rpm = random.pick(&[5400, 7200, 7200, 10_000]);
    let grace_us = random.log(150.0, 500.0).round();
    let seek_us = random.log(1000.0, 4000.0).round();
    words.set("rpm", rpm);
    words.set("angle_percent", random.even(0.0, 100.0).floor());
    words.set("grace_us", grace_us);
    words.set("seek_us", seek_us);
    words.set("seek_full_us", (seek_us * random.even(3.0, 8.0)).round());
    format!("{rpm} rpm, {outer} to {inner} MB/s, grace {grace_us} us")
}

/// A random report of whether it is rotational.
fn reported_rotation(random: &mut Random, words: &mut Words, turns: bool, false_share: f64) -> &'static str {
    if random.chance(false_share) {
        words.set("rotational", !turns);
        return if turns { ", reports itself as non-rotational" } else { ", reports itself as rotational" };
    }
    ""
}

fn spindle(random: &mut Random) -> Side {
    let mut words = Words::default();
    let mut about = format!("spindle: {}", turning(random, &mut words));
    words.set("overhead_us", random.log(50.0, 300.0).round());
    let depth = random.pick(&[8, 10, 31]);
    words.set("queue_depth", depth);
    let one_way = random.chance(0.8);
    words.set("one_way", one_way);
    let elevator = if one_way { "one-way elevator over" } else { "elevator over" };
    let _ = write!(about, ", {elevator} {depth} commands, no read-ahead, no write cache");
    about += reported_rotation(random, &mut words, true, 0.5);
    words.side(about)
}

fn bridge(random: &mut Random) -> Side {
    let mut words = Words::default();
    let cut_kib = random.pick(&[120, 120, 240]);
    let mut about = format!("bridge that cuts transfers at {cut_kib} KiB, ");
    let turns = random.chance(0.6);
    if turns {
        about += &turning(random, &mut words);
        let ahead_mib = random.pick(&[1, 4, 16]);
        words.set("read_ahead_bytes", format!("{ahead_mib}M"));
        let cache_mib = random.pick(&[0, 8, 32]);
        words.set("write_cache_bytes", format!("{cache_mib}M"));
        let _ = write!(about, ", reads {ahead_mib} MiB ahead, write cache {cache_mib} MiB");
    } else {
        let rate = random.log(60.0, 160.0).round();
        words.set("rate", format!("{rate}MB"));
        words.set("write_percent", random.even(60.0, 100.0).round());
        let _ = write!(about, "SSD of {rate} MB/s");
    }
    words.set("transfer_max", format!("{cut_kib}K"));
    let overhead_us = random.log(80.0, 300.0).round();
    words.set("overhead_us", overhead_us);
    let _ = write!(about, ", {overhead_us} us a command");
    about += reported_rotation(random, &mut words, turns, if turns { 0.5 } else { 0.3 });
    words.side(about)
}

fn far(random: &mut Random) -> Side {
    let mut words = Words::default();
    let distance_ms = random.log(5.0, 20.0);
    let rate = random.log(60.0, 160.0).round();
    words.set("distance_us", (distance_ms * 1000.0).round());
    words.set("rate", format!("{rate}MB"));
    words.set("overhead_us", random.log(5.0, 50.0).round());
    words.set("latency_us", 100);
    words.side(format!("{distance_ms:.1} ms away, {rate} MB/s"))
}

fn channels(random: &mut Random) -> Side {
    let mut words = Words::default();
    // nbdfuse has at most ten requests in flight, so more channels would have no effect.
    let count = random.pick(&[4, 6, 8]);
    let rate = random.log(90.0, 160.0).round();
    let channel = (rate * random.even(1.0, 3.0) / f64::from(count)).ceil();
    words.set("rate", format!("{rate}MB"));
    words.set("channels", count);
    words.set("channel_rate", format!("{channel}MB"));
    words.set("overhead_us", random.log(60.0, 110.0).round());
    let cut_kib = random.pick(&[0, 128, 256, 512]);
    words.set("transfer_max", format!("{cut_kib}K"));
    let mut about = format!("{count} channels of {channel} MB/s, {rate} MB/s in all");
    if cut_kib > 0 {
        let _ = write!(about, ", transfers cut at {cut_kib} KiB");
    }
    words.side(about)
}

fn plain(random: &mut Random) -> Side {
    let mut words = Words::default();
    let rate = random.log(90.0, 160.0).round();
    words.set("rate", format!("{rate}MB"));
    words.set("write_percent", random.even(60.0, 100.0).round());
    words.set("overhead_us", random.log(5.0, 20.0).round());
    words.set("latency_us", random.log(60.0, 120.0).round());
    let report = reported_rotation(random, &mut words, false, 0.3);
    words.side(format!("SSD of {rate} MB/s{report}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use modelled_disk::parameters::Parameters;

    fn sides(seed: u64) -> Vec<Side> {
        let sides = |index| match pair(seed, index) {
            Drawn::Two(source, dest) => vec![source, dest],
            Drawn::Halves(disk) => vec![disk],
        };
        (0..PAIRS).flat_map(sides).collect()
    }

    fn parameters(side: &Side) -> Parameters {
        let mut disk = Parameters { size_bytes: 64 << 20, ..Parameters::default() };
        for word in &side.words {
            let (key, value) = word.split_once('=').unwrap();
            disk.set(key, value).unwrap();
        }
        disk
    }

    #[test]
    fn every_drawn_disk_is_valid_and_fits_this_machine() {
        for seed in 0..200 {
            for side in sides(seed) {
                let disk = parameters(&side);
                assert_eq!(disk.check(), Ok(()), "seed {seed}: {side:?}");
                assert!(disk.rates.iter().all(|rate| rate.bytes_per_s <= 160_000_000), "seed {seed}: {side:?}");
                let distance_ok = disk.distance_ns == 0 || (5_000_000..=20_000_000).contains(&disk.distance_ns);
                assert!(distance_ok, "seed {seed}: {side:?}");
            }
        }
    }

    #[test]
    fn each_seed_has_every_kind_of_disk_and_some_with_false_properties() {
        for seed in 0..50 {
            let disks: Vec<Parameters> = sides(seed).iter().map(parameters).collect();
            let some = |is: fn(&Parameters) -> bool| disks.iter().any(is);
            assert!(some(|disk| disk.rpm > 0 && disk.read_ahead_bytes == 0), "seed {seed}");
            assert!(some(|disk| disk.transfer_max_bytes == 120 << 10 || disk.transfer_max_bytes == 240 << 10));
            assert!(some(|disk| disk.distance_ns > 0) && some(|disk| disk.channels > 0), "seed {seed}");
        }
        let lies = |side: &Side| parameters(side).rotational() != (parameters(side).rpm > 0);
        let lying = (0..50).filter(|seed| sides(*seed).iter().any(lies)).count();
        assert!(lying > 40, "{lying} of 50 seeds");
    }

    #[test]
    fn a_seed_repeats_its_pairs_and_another_seed_gives_others() {
        assert_eq!(sides(3), sides(3));
        assert_ne!(sides(3), sides(4));
        assert!((0..PAIRS - 1).all(|index| matches!(pair(3, index), Drawn::Two(..))));
        assert!(matches!(pair(3, PAIRS - 1), Drawn::Halves(_)));
    }
}

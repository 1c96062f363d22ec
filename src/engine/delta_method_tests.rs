//! The choice on simulated devices that are drawn at random.
use super::*;
use std::collections::VecDeque;

const MIB: u64 = 1 << 20;

/// A dest that serves one request at a time, and a source in front of it. Times in seconds.
#[derive(Debug)]
struct Device {
    source_s_per_mib: f64,
    read_s_per_mib: f64,
    write_s_per_mib: f64,
    /// Time per block for alternating between reading and writing.
    turn_s: f64,
    /// Additional time of a write that does not continue the one before it.
    small_write_s: f64,
    /// Share of blocks that differ.
    differing: f64,
    pieces: u32,
    /// Relative noise of each block.
    noise: f64,
    /// Size of an erase block in MiB, and how many may be partly written at once; 0: none.
    erase_mib: u64,
    erase_open: usize,
}

/// Erase blocks of a dest that are partly written, the oldest first: their numbers and written parts in MiB. The cost
/// of completing one is paid by a later request.
type PartlyWritten = VecDeque<(u64, f64)>;

impl Device {
    fn drawn(has_erase_blocks: bool, random: &mut fastrand::Rng) -> Self {
        let mut between = |low: f64, high: f64| low * (high / low).powf(random.f64());
        let read_s_per_mib = 1.0 / between(20.0, 3000.0);
        let write_s_per_mib = read_s_per_mib * between(0.8, 8.0);
        let small_write_s = write_s_per_mib * between(0.02, 1.0);
        let turn_s = read_s_per_mib * between(0.01, 1.0);
        let source_s_per_mib = read_s_per_mib * between(0.2, 4.0);
        let noise = between(0.01, 0.2);
        let (differing, pieces) = (between(0.002, 1.0), between(1.0, 8.0) as u32);
        let (erase_mib, erase_open) =
            if has_erase_blocks { (1 << random.u32(..4), random.usize(1..4)) } else { (0, 1) };
        let device = Device {
            source_s_per_mib,
            read_s_per_mib,
            write_s_per_mib,
            turn_s,
            small_write_s,
            differing,
            pieces,
            noise,
            erase_mib,
            erase_open,
        };
        // Rewriting an erase block is the cost of a small write.
        if erase_mib > 0 { Device { small_write_s: 0.0, ..device } } else { device }
    }

    /// The time for completing the erase blocks that are left when this MiB is written.
    fn erases(&self, mib: u64, written_mib: f64, partly: &mut PartlyWritten) -> f64 {
        if self.erase_mib == 0 || written_mib == 0.0 {
            return 0.0;
        }
        let number = mib / self.erase_mib;
        match partly.iter_mut().find(|(partly, _)| *partly == number) {
            Some((_, written)) => *written += written_mib,
            None => partly.push_back((number, written_mib)),
        }
        partly.retain(|(_, written)| *written < self.erase_mib as f64);
        let mut time_s = 0.0;
        while partly.len() > self.erase_open {
            let rest_mib = partly.pop_front().map_or(0.0, |(_, written)| self.erase_mib as f64 - written);
            time_s += rest_mib * (self.read_s_per_mib + self.write_s_per_mib);
        }
        time_s
    }

    /// The time of the block at this MiB.
    fn takes(
        &self,
        mib: u64,
        method: Method,
        differs: bool,
        partly: &mut PartlyWritten,
        random: &mut fastrand::Rng,
    ) -> f64 {
        let written_mib = match (method, differs) {
            (Method::WriteAll, _) => 1.0,
            (Method::WriteDifferences, false) => 0.0,
            (Method::WriteDifferences, true) => f64::from(self.pieces) / 16.0,
        };
        let erases_s = self.erases(mib, written_mib, partly);
        let on_dest = match (method, differs) {
            (Method::WriteAll, _) => self.write_s_per_mib,
            (Method::WriteDifferences, false) => self.read_s_per_mib,
            (Method::WriteDifferences, true) => {
                let pieces = f64::from(self.pieces);
                let write_s = pieces * (self.small_write_s + self.write_s_per_mib / 16.0);
                self.read_s_per_mib + self.turn_s + write_s
            }
        };
        (on_dest + erases_s).max(self.source_s_per_mib) * (1.0 + self.noise * (random.f64() - 0.5))
    }
}

/// The time of a copy of `mib`, and the method at its end. `fixed`: only this method is used.
fn copies(device: &Device, mib: u64, fixed: Option<Method>, seed: u64) -> (f64, Method) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut choice = DeltaMethod::new(fixed.is_none(), Some(mib * MIB));
    let (mut now_s, mut blocks, mut partly) = (0.0, VecDeque::new(), PartlyWritten::new());
    let mut last = Method::WriteDifferences;
    for block in 0..mib + 16 {
        let in_hand_max = 16.min(choice.blocks_max()) as usize;
        while blocks.len() >= in_hand_max || (block >= mib && !blocks.is_empty()) {
            let (method, batch, mib) = blocks.pop_front().expect("it is not empty");
            let differs = random.f64() < device.differing;
            now_s += device.takes(mib, method, differs, &mut partly, &mut random);
            choice.complete(batch, MIB, differs || method == Method::WriteAll, false, now_s);
        }
        if block < mib {
            let (method, batch) = choice.assign(MIB);
            last = fixed.unwrap_or(method);
            blocks.push_back((last, batch, block));
        }
    }
    (now_s, last)
}

/// Times as multiples of the faster fixed method: the geometric mean, and the maximum. If fewer blocks differ than
/// [`DIFFERING_MIN`], of the method that writes the differences: everything is then not written even if it is faster.
fn losses(mib: u64, has_erase_blocks: bool, seeds: std::ops::Range<u64>) -> (f64, f64) {
    let (mut sum, mut max, count) = (0.0, 0.0_f64, seeds.end - seeds.start);
    for seed in seeds {
        let device = Device::drawn(has_erase_blocks, &mut fastrand::Rng::with_seed(seed));
        let (time_s, _) = copies(&device, mib, None, seed);
        let fixed =
            [Method::WriteDifferences, Method::WriteAll].map(|method| copies(&device, mib, Some(method), seed).0);
        let fewest = device.differing < DIFFERING_MIN;
        let loss = time_s / if fewest { fixed[0] } else { fixed[0].min(fixed[1]) };
        if loss > max && std::env::var_os("HAUL_SHOW").is_some() {
            println!("{seed}: {loss:.3} {:.3} {device:?}", fixed[1] / fixed[0]);
        }
        (sum, max) = (sum + loss.ln(), max.max(loss));
    }
    ((sum / count as f64).exp(), max)
}

#[test]
fn a_delta_takes_little_longer_than_the_faster_method() {
    let first = std::env::var("HAUL_DELTA_SEED").map_or(1000, |seed| seed.parse().expect("it is a number"));
    let plain = [(256, 1.04, 1.70), (1024, 1.02, 1.13), (16384, 1.01, 1.08)].map(|bounds| (false, bounds));
    let erasing = [(256, 1.08, 1.80), (1024, 1.03, 1.40), (16384, 1.01, 1.08)].map(|bounds| (true, bounds));
    for (has_erase_blocks, (mib, mean_max, worst_max)) in plain.into_iter().chain(erasing) {
        let (mean, worst) = losses(mib, has_erase_blocks, first..first + 300);
        println!("{mib} MiB, erase blocks {has_erase_blocks}: {mean:.4} {worst:.3}");
        assert!(mean <= mean_max && worst <= worst_max, "{mib} MiB: {mean:.4}, worst {worst:.3}");
    }
}

#[test]
fn a_dest_that_differs_little_does_not_limit_the_blocks_in_progress() {
    for (differs, blocks_max) in [(false, u32::MAX), (true, FIRST_BLOCKS_MAX)] {
        let mut choice = DeltaMethod::new(true, Some(512 * MIB));
        assert_eq!(choice.blocks_max(), FIRST_BLOCKS_MAX);
        let batches: Vec<_> = (0..5).map(|_| choice.assign(MIB).1).collect();
        batches.into_iter().for_each(|batch| choice.complete(batch, MIB, differs, false, 1.0));
        assert_eq!(choice.blocks_max(), blocks_max);
    }
}

//! The result of `haul tune --save` in a copy, compared with every block size and depth.
use crate::bed::{Bed, Comparison, Recipe, Size, recipe as bed_recipe};
use crate::error::{Error, Result};
use crate::process::Line;
use crate::race::Observer;
use crate::result::{Cell, Table};
use crate::seeds::{Call, TableRecipe, number, text};

/// The disk pairs.
const PAIRS: [&str; 2] = ["disk-ssd", "disk-7200"];

/// Block sizes in KiB and depths of the sweep.
const BLOCKS_KIB: [u32; 5] = [64, 256, 1024, 4096, 16384];
/// See [`BLOCKS_KIB`].
const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Maximum KiB in flight: the limit of haul copy.
const IN_FLIGHT_KIB_MAX: u32 = 64 << 10;

/// Number of rounds of the copy with the saved result, alternating with the best of the sweep.
const ROUNDS: u32 = 5;

pub(super) fn recipe() -> TableRecipe {
    TableRecipe {
        name: "known-pace",
        title: "What haul tune has saved, used in a copy, against the best of all block sizes and depths",
        what: "haul tune --save on the source, then copies at every block size from 64 KiB to 16 MiB and depth from 1 \
               to 32, then the best of these and a copy with what was saved in turn. Share: the median over the rounds \
               of the best one's time by the saved one's. Wanted: 95 %. The bytes are compared after each copy.",
        make,
    }
}

fn make(recipe: &TableRecipe, call: &Call<'_>, observer: &mut dyn Observer) -> Result<Table> {
    let columns = ["pair", "saved", "its time", "best of the sweep", "its time", "share", "worst of the sweep"];
    let mut table = Call::table(recipe, &columns);
    for name in PAIRS {
        let made: Recipe = bed_recipe(name)?;
        let bed = (made.make)(&made, call.workplace, call.size)?;
        let settings = call.workplace.disk().join(format!("{}-{name}", recipe.name));
        std::fs::create_dir(&settings)?;
        let tuning = Tuning { call, bed: &bed, settings: settings.display().to_string() };
        observer.doing(&format!("{}: {name}, haul tune", recipe.name));
        let saved = tuning.tune()?;
        let mut swept = Vec::new();
        for (block_kib, depth) in points(call.size) {
            observer.doing(&format!("{}: {name}, {block_kib} KiB x {depth}", recipe.name));
            swept.push((tuning.copy(&format!("--block-size {block_kib}K --depth {depth}"))?, block_kib, depth));
        }
        swept.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (Some(best), Some(worst)) = (swept.first(), swept.last()) else { continue };
        observer.doing(&format!("{}: {name}, saved against best", recipe.name));
        let best_line = format!("--block-size {}K --depth {}", best.1, best.2);
        let rounds = if call.size == Size::Full { ROUNDS } else { 1 };
        let pairs: Vec<(f64, f64)> =
            (0..rounds).map(|_| Ok((tuning.copy(&best_line)?, tuning.copy("")?))).collect::<Result<_>>()?;
        table.rows.push(row(name, &saved, &pairs, *best, *worst));
    }
    Ok(table)
}

type Point = (f64, u32, u32);

fn row(name: &str, saved: &str, pairs: &[(f64, f64)], best: Point, worst: Point) -> Vec<Cell> {
    let median = |of: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let setting = |(_, block_kib, depth): Point| format!("{block_kib} KiB x {depth}");
    vec![
        text(name),
        text(saved),
        number(median(|pair| pair.1), "s"),
        text(setting(best)),
        number(median(|pair| pair.0), "s"),
        number(100.0 * median(|pair| pair.0 / pair.1), "%"),
        text(format!("{}: {:.1} s", setting(worst), worst.0)),
    ]
}

/// The points of the sweep; fewer for smaller sizes.
fn points(size: Size) -> Vec<(u32, u32)> {
    let all = BLOCKS_KIB.into_iter().flat_map(|block_kib| DEPTHS.map(|depth| (block_kib, depth)));
    let fits = all.filter(|(block_kib, depth)| block_kib * depth <= IN_FLIGHT_KIB_MAX);
    let step = if size == Size::Full { 1 } else { 7 };
    fits.step_by(step).collect()
}

/// Copies with a separate configuration directory.
struct Tuning<'a> {
    call: &'a Call<'a>,
    bed: &'a Bed,
    settings: String,
}

impl Tuning<'_> {
    fn haul(&self) -> String {
        format!("env XDG_CONFIG_HOME={} {}", self.settings, self.call.haul.display())
    }

    /// Tunes the source; returns the saved result.
    fn tune(&self) -> Result<String> {
        self.bed.forget_source()?;
        let quick = if self.call.size == Size::Full { "" } else { "--time 2" };
        let line = format!("{} tune --save --json {quick} {}", self.haul(), self.bed.source.path.display());
        let found = super::document(self.call, &line)?;
        let of = |field: &str| super::number_at(&found, &format!("/answer/{field}")).unwrap_or(0.0);
        Ok(format!("{} KiB x {}", of("block_bytes") / 1024.0, of("depth")))
    }

    /// Copies and compares; returns the time.
    fn copy(&self, options: &str) -> Result<f64> {
        self.bed.reset()?;
        let (source, dest) = (self.bed.source.path.display(), self.bed.dest.path.display());
        let line = format!("{} copy --yes --progress none {options} {source} {dest}", self.haul());
        let ended = self.call.run(&Line::words(&line))?;
        match self.bed.compare("")? {
            Comparison::Equal => Ok(ended.wall.as_secs_f64()),
            _ => Err(Error(format!("`{line}` copied wrong bytes"))),
        }
    }
}

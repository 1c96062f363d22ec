//! The zoo as a table of the bench.
use super::families::{Draw, FAMILIES};
use super::regret::{Regret, regrets, summary};
use crate::bed::Size;
use crate::error::Result;
use crate::race::Observer;
use crate::result::{Cell, Table};
use crate::seeds::{Call, TableRecipe, text};

/// The table.
pub fn recipe() -> TableRecipe {
    TableRecipe {
        name: "zoo",
        title: "haul's governor on disks drawn at random, in simulated time",
        what: "What a copy takes with the limits that the governor finds, by what it takes with the best fixed ones of \
               about a hundred on the same pair of disks. Nothing is measured on this machine: the same seeds give \
               the same figures. Wanted over the 33 families: geometric mean and worst at most 1.03 and 1.20 for 256 \
               MiB, 1.02 and 1.10 for 1 GiB, 1.01 and 1.06 for 16 GiB.",
        make,
    }
}

fn make(recipe: &TableRecipe, call: &Call<'_>, observer: &mut dyn Observer) -> Result<Table> {
    let columns = ["family", "geometric mean", "worst", "of seed", "found there", "why", "best fixed"];
    let mut table = Call::table(recipe, &columns);
    let (seeds, len) = &call.simulated;
    let to = if call.size == Size::Full { seeds.end } else { seeds.start + 1 };
    let mut all = Vec::new();
    for family in FAMILIES {
        observer.doing(&format!("{}: {family}", recipe.name));
        let of_family = regrets(&[family], seeds.start..to, *len, &Draw::default(), &|| call.interrupt.is_set());
        table.rows.extend(row(family, &of_family));
        all.extend(of_family);
    }
    table.rows.extend(row("all", &all));
    Ok(table)
}

fn row(name: &str, regrets: &[Regret]) -> Option<Vec<Cell>> {
    let summary = summary(regrets)?;
    let worst = regrets.iter().max_by(|one, other| one.ratio.total_cmp(&other.ratio))?;
    let limits = |limits: &haul::engine::valves::Limits| {
        let [reads, writes] = limits.in_flight;
        let turns = if limits.bursts { ", in turns" } else { "" };
        format!("{} KiB, {reads}+{writes}{turns}", limits.block_bytes >> 10)
    };
    Some(vec![
        text(name),
        text(format!("{:.3}", summary.mean)),
        text(format!("{:.3}", summary.worst)),
        text(worst.seed.to_string()),
        text(limits(&worst.found)),
        text(worst.because.clone()),
        text(limits(&worst.best)),
    ])
}

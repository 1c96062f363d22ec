//! Copies between disks: the original motivation of haul.
use super::{Call, TableRecipe, number, text};
use crate::bed::modelled::seed_pair;
use crate::contender::{Entry, in_path};
use crate::error::Result;
use crate::numbers::{Standing, median, standing};
use crate::process::Line;
use crate::race::{Observer, race};
use crate::result::Table;

/// Disk to disk with each tool.
pub(super) fn recipe() -> TableRecipe {
    TableRecipe {
        name: "seeds-copy",
        title: "Copying one disk onto another",
        what: "Gilbert 2001, third table: the modelled SCSI pair of 2001, eight times as fast, compared after each \
               copy. The ratio is that to reading the disk alone; CPU is that of the tool, as a share of one \
               processor. dd-parallel (Hosey) is there if it is on PATH.",
        make,
    }
}

fn make(recipe: &TableRecipe, call: &Call<'_>, observer: &mut dyn Observer) -> Result<Table> {
    let bed = seed_pair(call.workplace, call.size)?;
    let (source, dest) = (bed.source.path.display(), bed.dest.path.display());
    let alone = call.run(&Line::words(&format!("dd if={source} of=/dev/null bs=64k iflag=direct status=none")))?;
    let alone_s = alone.wall.as_secs_f64();
    let mut lines = vec![
        ("dd bs=512", format!("dd if={source} of={dest} bs=512 conv=fsync status=none")),
        ("dd bs=8192", format!("dd if={source} of={dest} bs=8192 conv=fsync status=none")),
        ("dd bs=64k direct", format!("dd if={source} of={dest} bs=64k iflag=direct oflag=direct status=none")),
        ("sg_dd", format!("sg_dd if={source} of={dest} bs=512")),
        ("sg_dd direct", format!("sg_dd if={source} of={dest} bs=512 iflag=direct oflag=direct")),
        ("sgp_dd", format!("sgp_dd if={source} of={dest} bs=512")),
        ("sgp_dd direct", format!("sgp_dd if={source} of={dest} bs=512 iflag=direct oflag=direct")),
        ("dd-parallel", format!("dd-parallel if={source} of={dest} bs=64k")),
    ];
    for (name, engine) in [("haul", "auto"), ("haul ring", "ring"), ("haul threads", "threads"), ("haul sync", "sync")]
    {
        let options = if engine == "auto" { String::new() } else { format!("--engine {engine} ") };
        lines.push((name, format!("{} {options}{source} {dest}", call.copy())));
    }
    let there = |(_, line): &(&str, String)| {
        let program = line.split(' ').next().unwrap_or("");
        program.starts_with('/') || in_path(program)
    };
    let entry = |(name, line): (&str, String)| Entry {
        name: name.into(),
        version: String::new(),
        aside: false,
        line: Line::words(&line),
    };
    let entries: Vec<Entry> = lines.into_iter().filter(there).map(entry).collect();
    let result = race(&bed, &entries, bed.rounds, call.interrupt, observer)?;
    let mut table = Call::table(recipe, &["tool", "time", "ratio", "CPU"]);
    let row = ("reading alone, dd bs=64k direct".into(), alone_s, 1.0, 100.0 * alone.cpu.as_secs_f64() / alone_s);
    table.rows.push(cells(row));
    for contender in &result.contenders {
        match standing(&result, contender) {
            Standing::Ranked(summary) => {
                let cpu = median(contender.runs.iter().map(|run| 100.0 * run.process_cpu_s / run.wall_s).collect());
                let row = (contender.name.clone(), summary.median_s, summary.median_s / alone_s, cpu);
                table.rows.push(cells(row));
            }
            Standing::Marked(why) => {
                table.rows.push(vec![text(&contender.name), text(why), text(""), text("")]);
            }
        }
    }
    Ok(table)
}

fn cells((name, seconds, ratio, cpu): (String, f64, f64, f64)) -> Vec<crate::result::Cell> {
    vec![text(name), number(seconds, "s"), number(ratio, "x"), number(cpu, "%")]
}

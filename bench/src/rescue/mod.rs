//! Rescues: `haul rescue` beside GNU ddrescue on the same failing disks, moment by moment.
//!
//! Independent of how the disk is served, and how tables are shown.
mod course;
mod disks;
mod figures;
mod run;

use crate::contender::in_path;
use crate::error::{Error, Result};
use crate::race::Observer;
use crate::result::{Curves, Table};
use crate::seeds::{Call, TableRecipe, number, text};
use disks::{FailingDisk, failing_disks};
use figures::{Figures, figures};
use run::{BUFFERED, Rescued, run};

/// The programs: name, command, and its options: for all phases, for copying alone.
const PROGRAMS: [(&str, &str, [&str; 2]); 3] = [
    ("haul rescue", "HAUL rescue --yes --progress none -q", ["", "--no-trim --no-scrape"]),
    (BUFFERED, "ddrescue -q --force", ["", "-N -n"]),
    ("ddrescue -d", "ddrescue -q --force -d", ["", "-N -n"]),
];

/// The table.
pub fn recipe() -> TableRecipe {
    TableRecipe {
        name: "rescue",
        title: "Rescuing failing disks, beside GNU ddrescue",
        what: "haul rescue, ddrescue and ddrescue -d on modelled disks that fail in the same way, from the same seed. \
               The times are those of the disk, from the first read of 64 KiB. ddrescue without -d, which reads each \
               bad page again and again, is ended after 20 s. Behind: how much more the better ddrescue had read \
               at some moment, as a share of the disk; at most 1 %. 99 %: the time until 99 % of what is readable was \
               read; at most 0.9 of the better ddrescue's. Of the disk that dies: at least 1.1 times its bytes. At the \
               end: what ddrescue -d has, byte for byte, with no more failed reads.",
        make,
    }
}

fn make(recipe: &TableRecipe, call: &Call<'_>, observer: &mut dyn Observer) -> Result<Table> {
    let columns = ["disk", "program", "99 %", "end", "rescued", "failed reads", "behind", "figures"];
    let mut table = Call::table(recipe, &columns);
    if !in_path("ddrescue") {
        observer.doing(&format!("{}: left out, ddrescue is not installed (package gddrescue)", recipe.name));
        return Ok(table);
    }
    for disk in failing_disks(call.size) {
        let mut rescues = Vec::new();
        for (name, line, [whole, copying]) in PROGRAMS {
            observer.doing(&format!("{}: {}, {name}", recipe.name, disk.name));
            let options = if disk.copying { copying } else { whole };
            let line = format!("{} {options}", line.replace("HAUL", &call.haul.display().to_string()));
            rescues.push(run(&disk, name, &line, call)?);
        }
        let [haul, others @ ..] = rescues.as_slice() else { return Err(Error("no program".into())) };
        let found = figures(&disk, haul, others);
        table
            .rows
            .extend(rescues.iter().map(|rescue| row(&disk, rescue, (rescue.name == haul.name).then_some(&found))));
        table.curves.push(curves(&disk, &rescues));
    }
    Ok(table)
}

fn row(disk: &FailingDisk, rescue: &Rescued, figures: Option<&Figures>) -> Vec<crate::result::Cell> {
    let seconds = |at_s: Option<f64>| at_s.map_or_else(|| text("never"), |at_s| number(at_s, "s"));
    vec![
        text(disk.name),
        text(rescue.name),
        seconds(rescue.course.reaches(disk.readable_bytes() / 100 * 99)),
        seconds(Some(rescue.course.end_s())),
        number(rescue.rescued_bytes as f64 / f64::from(1 << 20), "MiB"),
        text(rescue.course.failed_reads().to_string()),
        figures.map_or_else(|| text(""), |figures| number(figures.behind_percent, "%")),
        text(figures.map_or_else(String::new, Figures::words)),
    ]
}

fn curves(disk: &FailingDisk, rescues: &[Rescued]) -> Curves {
    let line = |rescue: &Rescued| (rescue.name.to_owned(), rescue.course.points());
    let what = format!("{}: {}. Rescued bytes over the time of the disk.", disk.name, disk.about);
    Curves { what, lines: rescues.iter().map(line).collect() }
}

//! Latency, rate and zones as measured by `haul profile`.
use super::{document, number_at, off_percent};
use crate::bed::loop_device::forget_pages;
use crate::bed::modelled::single;
use crate::error::Result;
use crate::race::Observer;
use crate::result::Table;
use crate::seeds::{Call, TableRecipe, number, text};
use modelled_disk::limit::{Job, least_seconds};
use modelled_disk::parameters::Extent;
use modelled_disk::preset::Preset;

/// Disks with their time scale in [`single`].
const DISKS: [(&str, f64); 3] = [("sata-ssd", 1.0), ("disk-7200", 1.0), ("scsi-2001", 8.0)];

pub(super) fn recipe() -> TableRecipe {
    TableRecipe {
        name: "known-disks",
        title: "What haul profile measures on modelled disks",
        what: "The command cost includes what lies between, a loop device, nbdfuse and a socket: on an idle machine \
               some 0.1 ms a command. Off: the predicted time of reading all of it, by the medium's own.",
        make,
    }
}

fn make(recipe: &TableRecipe, call: &Call<'_>, observer: &mut dyn Observer) -> Result<Table> {
    let columns = ["disk", "command cost", "disk's own", "rate", "whole read", "medium's own", "off", "residual"];
    let mut table = Call::table(recipe, &columns);
    for (name, time_scale) in DISKS {
        observer.doing(&format!("{}: {name}", recipe.name));
        let bed = single(name, call.workplace, call.size)?;
        forget_pages(&bed.source.path)?;
        let time = if call.size == crate::bed::Size::Full { 30 } else { 2 };
        let line = format!("{} profile --time {time} --json {}", call.haul.display(), bed.source.path.display());
        let found = document(call, &line)?;
        let mut disk = Preset::named(name).map_err(crate::error::Error)?.parameters();
        (disk.size_bytes, disk.time_scale) = (bed.bytes, time_scale);
        let own_us = (disk.overhead_ns + disk.latency_ns) as f64 / 1e3 / time_scale;
        let medium_s = least_seconds(&disk, Job::Read, Extent { offset: 0, len: bed.bytes }, 1 << 20);
        let cell = |path: &str, factor: f64, unit: &str| {
            number_at(&found, path).map_or_else(|| text("not found"), |value| number(value * factor, unit))
        };
        let off = number_at(&found, "/whole_read_s")
            .map_or_else(|| text("not found"), |whole_s| number(off_percent(whole_s, medium_s), "%"));
        table.rows.push(vec![
            text(name),
            cell("/fit/latency_s", 1e6, "us"),
            number(own_us, "us"),
            cell("/fit/bytes_per_s", 1e-6, "MB/s"),
            cell("/whole_read_s", 1.0, "s"),
            number(medium_s, "s"),
            off,
            cell("/fit/residual", 100.0, "%"),
        ]);
    }
    Ok(table)
}

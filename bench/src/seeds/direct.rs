//! Direct and buffered I/O, with their processor times.
use super::{Call, TableRecipe, number, text};
use crate::bed::loop_device::forget_pages;
use crate::bed::{self, Size};
use crate::error::Result;
use crate::process::Line;
use crate::race::Observer;
use crate::result::Table;

/// Times by block size, direct and buffered.
pub(super) fn recipe() -> TableRecipe {
    TableRecipe {
        name: "seeds-direct",
        title: "Direct against buffered reading",
        what: "Gilbert's study with sg_rbuf: his interface was a disk's own buffer at 80 MB/s, this one is a loop \
               device over tmpfs; each block read is the size of the first column. CPU seconds are those of the \
               tool; the bytes that the page cache copies once more cost time and processor.",
        make,
    }
}

fn make(recipe: &TableRecipe, call: &Call<'_>, observer: &mut dyn Observer) -> Result<Table> {
    let ram = bed::recipe("ram")?;
    let bed = (ram.make)(&ram, call.workplace, if call.size == Size::Full { Size::Quick } else { call.size })?;
    let path = bed.source.path.display();
    let columns =
        ["block size", "dd direct", "CPU", "dd buffered", "CPU", "haul direct", "CPU", "haul buffered", "CPU"];
    let mut table = Call::table(recipe, &columns);
    for kib in [512u64, 256, 32, 16, 8, 4] {
        observer.doing(&format!("{}: {kib} KiB", recipe.name));
        let haul = |direct: &str| format!("{} --direct {direct} --block-size {kib}K {path} /dev/null", call.copy());
        let lines = [
            format!("dd if={path} of=/dev/null bs={kib}k iflag=direct status=none"),
            format!("dd if={path} of=/dev/null bs={kib}k status=none"),
            haul("always"),
            haul("never"),
        ];
        let mut row = vec![text(format!("{kib} KiB"))];
        for line in lines {
            forget_pages(&bed.source.path)?;
            let ended = call.run(&Line::words(&line))?;
            row.extend([number(ended.wall.as_secs_f64(), "s"), number(ended.cpu.as_secs_f64(), "s")]);
        }
        table.rows.push(row);
    }
    Ok(table)
}

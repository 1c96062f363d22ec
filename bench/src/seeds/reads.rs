//! Reading only: the zones of a disk, the whole disk with each tool, and the block sizes of 2005.
use super::{Call, TableRecipe, number, rate, text, utilization};
use crate::bed::loop_device::forget_pages;
use crate::bed::modelled::single;
use crate::contender::in_path;
use crate::error::Result;
use crate::process::Line;
use crate::race::Observer;
use crate::result::Table;

/// Read and write times by position.
pub(super) fn zones() -> TableRecipe {
    TableRecipe {
        name: "seeds-zones",
        title: "Reading and writing at different offsets of a disk",
        what: "Gilbert 2001, first table: the same number of bytes read and written at five places of a zoned disk, \
               64 KiB by 64 KiB with direct I/O. Modelled on his disks, eight times as fast.",
        make: |recipe, call, observer| {
            let (bed, part) = (single("scsi-2001", call.workplace, call.size)?, 16u64);
            let bytes = bed.bytes / part;
            let mut table = Call::table(recipe, &["offset", "read", "write", "rate"]);
            for percent in [0, 25, 50, 75, 100] {
                observer.doing(&format!("{}: at {percent} %", recipe.name));
                let offset = (bed.bytes - bytes) / 100 * percent / 65536;
                let path = bed.source.path.display();
                let dd = format!("dd bs=64k count={} status=none", bytes / 65536);
                let read = format!("{dd} if={path} of=/dev/null skip={offset} iflag=direct");
                let write = format!("{dd} if=/dev/zero of={path} seek={offset} oflag=direct conv=notrunc");
                let read = call.run(&Line::words(&read))?.wall.as_secs_f64();
                let write = call.run(&Line::words(&write))?.wall.as_secs_f64();
                let row = [text(format!("{percent} %")), number(read, "s"), number(write, "s"), rate(bytes, read)];
                table.rows.push(row.into());
            }
            Ok(table)
        },
    }
}

/// The whole disk to /dev/null.
pub(super) fn whole_disk() -> TableRecipe {
    TableRecipe {
        name: "seeds-read",
        title: "Reading a whole disk into /dev/null",
        what: "Gilbert 2001, second table: each tool reads the modelled SCSI disk of 2001 from end to end. CPU is \
               that of the tool, as a share of one processor.",
        make: |recipe, call, observer| {
            let bed = single("scsi-2001", call.workplace, call.size)?;
            let path = bed.source.path.display();
            let lines = [
                ("dd bs=512", format!("dd if={path} of=/dev/null bs=512 status=none")),
                ("dd bs=8192", format!("dd if={path} of=/dev/null bs=8192 status=none")),
                ("dd bs=64k direct", format!("dd if={path} of=/dev/null bs=64k iflag=direct status=none")),
                ("sg_dd", format!("sg_dd if={path} of=/dev/null bs=512")),
                ("sg_dd direct", format!("sg_dd if={path} of=/dev/null bs=512 iflag=direct")),
                ("haul", format!("{} {path} /dev/null", call.copy())),
            ];
            let mut table = Call::table(recipe, &["tool", "time", "rate", "CPU"]);
            for (name, line) in lines {
                if name.starts_with("sg_dd") && !in_path("sg_dd") {
                    continue;
                }
                observer.doing(&format!("{}: {name}", recipe.name));
                forget_pages(&bed.source.path)?;
                let ended = call.run(&Line::words(&line))?;
                let seconds = ended.wall.as_secs_f64();
                let row = [text(name), number(seconds, "s"), rate(bed.bytes, seconds), utilization(&ended)];
                table.rows.push(row.into());
            }
            Ok(table)
        },
    }
}

/// The rate by block size.
pub(super) fn block_sizes() -> TableRecipe {
    TableRecipe {
        name: "seeds-blocks",
        title: "The rate of reading, block size by block size",
        what: "Evans 2005: the first MiB of a disk, read with direct I/O in blocks of 512 bytes to 1 MiB. haul with \
               each of them forced, and without any option in the last row. The disk is the modelled SATA SSD.",
        make: |recipe, call, observer| block_size_table(recipe, call, observer),
    }
}

fn block_size_table(recipe: &TableRecipe, call: &Call<'_>, observer: &mut dyn Observer) -> Result<Table> {
    let bed = single("sata-ssd", call.workplace, call.size)?;
    let path = bed.source.path.display();
    let mut table = Call::table(recipe, &["block size", "dd", "dd, rate", "haul", "haul, rate"]);
    for shift in 9..=20 {
        let block = 1u64 << shift;
        // Small blocks are slow: 8192 requests are sufficient to measure that.
        let bytes = bed.bytes.min(block * 8192);
        observer.doing(&format!("{}: {block} bytes", recipe.name));
        let dd = format!("dd if={path} of=/dev/null bs={block} count={} iflag=direct status=none", bytes / block);
        let haul = format!("{} --direct always --block-size {block} --count {bytes} {path} /dev/null", call.copy());
        let dd = call.run(&Line::words(&dd))?.wall.as_secs_f64();
        let haul = call.run(&Line::words(&haul))?.wall.as_secs_f64();
        let row = [text(block.to_string()), number(dd, "s"), rate(bytes, dd), number(haul, "s"), rate(bytes, haul)];
        table.rows.push(row.into());
    }
    let bytes = bed.bytes;
    let haul = call.run(&Line::words(&format!("{} {path} /dev/null", call.copy())))?.wall.as_secs_f64();
    table.rows.push(vec![text("none given"), text(""), text(""), number(haul, "s"), rate(bytes, haul)]);
    Ok(table)
}

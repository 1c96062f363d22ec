//! Command lines that unpack a compressed image onto a device.
use super::Contender;
use super::catalogue::paths;
use crate::bed::{Bed, Task};
use crate::process::Line;

/// All contenders, haul first.
pub(super) fn catalogue() -> Vec<Contender> {
    let contender =
        |name, needs, version, line| Contender { name, task: Task::Unpack, needs, version, aside: false, line };
    vec![
        contender("haul", ("haul", "haul"), "haul --version", |bed, haul| Some(copy(bed, haul, ""))),
        contender("haul --verify", ("haul", "haul"), "haul --version", |bed, haul| Some(copy(bed, haul, "--verify"))),
        contender("bmaptool", ("bmaptool", "bmap-tools"), "bmaptool --version", |bed, _| {
            let (source, dest) = paths(bed);
            Some(Line::words(&format!("bmaptool -q copy --nobmap {source} {dest}")))
        }),
        contender("xz, dd", ("xz", "xz-utils"), "xz --version", |bed, _| piped(bed, "xz", "xz -T0 -dc")),
        contender("zstd, dd", ("zstd", "zstd"), "zstd --version", |bed, _| piped(bed, "zst", "zstd -q -dc")),
        contender("pzstd, dd", ("pzstd", "zstd"), "pzstd --version", |bed, _| piped(bed, "zst", "pzstd -q -dc")),
        contender("gzip, dd", ("gzip", "gzip"), "gzip --version", |bed, _| piped(bed, "gz", "gzip -dc")),
        contender("pigz, dd", ("pigz", "pigz"), "pigz --version", |bed, _| piped(bed, "gz", "pigz -dc")),
        contender("bzip2, dd", ("bzip2", "bzip2"), "bzip2 --help", |bed, _| piped(bed, "bz2", "bzip2 -dc")),
        contender("lbzip2, dd", ("lbzip2", "lbzip2"), "lbzip2 --version", |bed, _| piped(bed, "bz2", "lbzip2 -dc")),
        contender("lz4, dd", ("lz4", "lz4"), "lz4 --version", |bed, _| piped(bed, "lz4", "lz4 -q -dc")),
    ]
}

fn copy(bed: &Bed, haul: &str, options: &str) -> Line {
    let (source, dest) = paths(bed);
    Line::words(&format!("{haul} copy --yes --progress none {options} {source} {dest}"))
}

/// `decoder` into dd, if the image has its format.
fn piped(bed: &Bed, suffix: &str, decoder: &str) -> Option<Line> {
    let (source, dest) = paths(bed);
    let dd = format!("dd of={dest} bs=1M iflag=fullblock oflag=direct conv=fsync status=none");
    source.ends_with(&format!(".{suffix}")).then(|| Line::shell(format!("{decoder} {source} | {dd}")))
}

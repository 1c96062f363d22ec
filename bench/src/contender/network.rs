//! Command lines of copies over the network.
use super::Contender;
use crate::bed::{Bed, Task};
use crate::process::Line;

/// All contenders, haul first.
pub(super) fn catalogue() -> Vec<Contender> {
    let contender =
        |name, needs, version, line| Contender { name, task: Task::Network, needs, version, aside: false, line };
    vec![
        contender("haul", ("haul", "haul"), "haul --version", |bed, haul| {
            let [source, dest] = sides(bed);
            Some(Line::words(&format!("{haul} copy --yes --progress none {source} {dest}")))
        }),
        contender("nbdcopy", ("nbdcopy", "libnbd-bin"), "nbdcopy --version", |bed, _| {
            let [source, dest] = sides(bed);
            (!source.starts_with("http:")).then(|| Line::words(&format!("nbdcopy --flush {source} {dest}")))
        }),
        contender("qemu-img", ("qemu-img", "qemu-utils"), "qemu-img --version", |bed, _| {
            let [source, dest] = sides(bed);
            let options = "convert -f raw -O raw -n -m 16 -W";
            // The block layer of QEMU has no pre-zeroing to skip here; it flushes at the end.
            (!source.starts_with("http:")).then(|| Line::words(&format!("qemu-img {options} {source} {dest}")))
        }),
        contender("curl, dd", ("curl", "curl"), "curl --version", |bed, _| {
            let [source, dest] = sides(bed);
            let dd = format!("dd of={dest} bs=1M iflag=fullblock oflag=direct conv=fsync status=none");
            source.starts_with("http:").then(|| Line::shell(format!("curl -sf {source} | {dd}")))
        }),
    ]
}

/// The address of each side that has one, the path of the other.
fn sides(bed: &Bed) -> [String; 2] {
    [&bed.source, &bed.dest].map(|side| side.uri.clone().unwrap_or_else(|| side.path.display().to_string()))
}

//! The command lines. Each peer has the options with which it is fastest at this copy, according to its manual and
//! our trials, and is flushed as haul is; haul has only options that safety requires.
use super::Contender;
use crate::bed::{Bed, Shape, Task};
use crate::process::Line;

/// All contenders, haul first.
pub fn catalogue() -> Vec<Contender> {
    let task = Task::Copy;
    let needs = ("haul", "haul");
    let haul = |name, aside, line| Contender { name, task, needs, version: "haul --version", aside, line };
    let peer = |name, command, package, version, line| Contender {
        name,
        task,
        needs: (command, package),
        version,
        aside: false,
        line,
    };
    vec![
        haul("haul", false, |bed, haul| Some(copy(bed, haul, ""))),
        haul("haul, threads", true, |bed, haul| Some(copy(bed, haul, "--engine threads"))),
        peer("dd bs=1M direct", "dd", "coreutils", "dd --version", dd_direct),
        peer("dd bs=1M", "dd", "coreutils", "dd --version", dd_buffered),
        peer("cp", "cp", "coreutils", "cp --version", cp),
        peer("cat", "cat", "coreutils", "cat --version", cat),
        peer("sgp_dd direct", "sgp_dd", "sg3-utils", "sgp_dd --version", sgp_dd),
        peer("sgp_dd 1M direct", "sgp_dd", "sg3-utils", "sgp_dd --version", sgp_dd_large),
        peer("ddpt 1M direct", "ddpt", "ddpt", "ddpt --version", ddpt),
        peer("qemu-img", "qemu-img", "qemu-utils", "qemu-img --version", qemu_img),
        peer("nbdcopy", "nbdcopy", "libnbd-bin", "nbdcopy --version", nbdcopy),
        peer("nbdcopy, NBD", "nbdcopy", "libnbd-bin", "nbdcopy --version", nbdcopy_uri),
        peer("ddrescue direct", "ddrescue", "gddrescue", "ddrescue --version", ddrescue),
        peer("mbuffer", "mbuffer", "mbuffer", "mbuffer --version", mbuffer),
        peer("pv", "pv", "pv", "pv --version", pv),
    ]
}

pub(super) fn paths(bed: &Bed) -> (String, String) {
    (bed.source.path.display().to_string(), bed.dest.path.display().to_string())
}

fn words(text: String) -> Option<Line> {
    Some(Line::words(&text))
}

/// `producer | consumer`, depending on the side of the bed that is a pipe; `None` if neither is.
fn piped(bed: &Bed, filter: &str) -> Option<Line> {
    let (source, dest) = paths(bed);
    match bed.shape {
        Shape::PipeToDevice => Some(Line::shell(format!("cat {source} | {filter} > {dest}"))),
        Shape::DeviceToPipe => Some(Line::shell(format!("{filter} < {source} | sha256sum"))),
        _ => None,
    }
}

/// A program that copies its standard input to its standard output, for any kind of sides.
fn filter(bed: &Bed, filter: &str) -> Option<Line> {
    let (source, dest) = paths(bed);
    piped(bed, filter).or_else(|| Some(Line::shell(format!("{filter} < {source} > {dest}"))))
}

pub(super) fn copy(bed: &Bed, haul: &str, options: &str) -> Line {
    let (source, dest) = paths(bed);
    let copy = format!("{haul} copy --yes --progress none {options}");
    match bed.shape {
        Shape::PipeToDevice => Line::shell(format!("cat {source} | {copy} - {dest}")),
        Shape::DeviceToPipe => Line::shell(format!("{copy} {source} - | sha256sum")),
        _ => Line::words(&format!("{copy} {source} {dest}")),
    }
}

fn dd_direct(bed: &Bed, _: &str) -> Option<Line> {
    let (source, dest) = paths(bed);
    match bed.shape {
        Shape::PipeToDevice => {
            let dd = "dd bs=1M iflag=fullblock oflag=direct conv=fsync";
            Some(Line::shell(format!("cat {source} | {dd} of={dest}")))
        }
        Shape::DeviceToPipe => Some(Line::shell(format!("dd if={source} bs=1M iflag=direct | sha256sum"))),
        Shape::SparseToFile => None,
        _ => words(format!("dd if={source} of={dest} bs=1M iflag=direct oflag=direct conv=fsync")),
    }
}

fn dd_buffered(bed: &Bed, _: &str) -> Option<Line> {
    let (source, dest) = paths(bed);
    match bed.shape {
        Shape::PipeToDevice => {
            Some(Line::shell(format!("cat {source} | dd bs=1M iflag=fullblock conv=fsync of={dest}")))
        }
        Shape::DeviceToPipe => Some(Line::shell(format!("dd if={source} bs=1M | sha256sum"))),
        Shape::SparseToFile => words(format!("dd if={source} of={dest} bs=1M conv=fsync,sparse")),
        _ => words(format!("dd if={source} of={dest} bs=1M conv=fsync")),
    }
}

fn cp(bed: &Bed, _: &str) -> Option<Line> {
    let (source, dest) = paths(bed);
    let files = matches!(bed.shape, Shape::FileToFile | Shape::SparseToFile);
    // With shared extents it would not be a copy.
    if files { words(format!("cp --reflink=never {source} {dest}")) } else { None }
}

fn cat(bed: &Bed, _: &str) -> Option<Line> {
    if bed.shape == Shape::SparseToFile { None } else { filter(bed, "cat") }
}

fn pv(bed: &Bed, _: &str) -> Option<Line> {
    if bed.shape == Shape::SparseToFile { None } else { filter(bed, "pv -q") }
}

fn mbuffer(bed: &Bed, _: &str) -> Option<Line> {
    if bed.shape == Shape::SparseToFile { None } else { filter(bed, "mbuffer -q -m 64M -s 1M") }
}

fn block_devices(bed: &Bed) -> Option<(String, String)> {
    (bed.shape == Shape::DeviceToDevice).then(|| paths(bed))
}

fn sgp_dd(bed: &Bed, _: &str) -> Option<Line> {
    let (source, dest) = block_devices(bed)?;
    words(format!("sgp_dd if={source} of={dest} bs=512 iflag=direct oflag=direct"))
}

fn sgp_dd_large(bed: &Bed, _: &str) -> Option<Line> {
    let (source, dest) = block_devices(bed)?;
    words(format!("sgp_dd if={source} of={dest} bs=512 bpt=2048 iflag=direct oflag=direct"))
}

fn ddpt(bed: &Bed, _: &str) -> Option<Line> {
    let (source, dest) = block_devices(bed)?;
    words(format!("ddpt if={source} of={dest} bs=512 bpt=2048 iflag=direct oflag=direct"))
}

fn qemu_img(bed: &Bed, _: &str) -> Option<Line> {
    let (source, dest) = paths(bed);
    let options = "convert -f raw -O raw -T none -t none -m 16 -W";
    match bed.shape {
        Shape::DeviceToDevice | Shape::FileToDevice => words(format!("qemu-img {options} -n {source} {dest}")),
        Shape::FileToFile | Shape::SparseToFile => words(format!("qemu-img {options} {source} {dest}")),
        _ => None,
    }
}

fn nbdcopy(bed: &Bed, _: &str) -> Option<Line> {
    let (source, dest) = paths(bed);
    match bed.shape {
        Shape::PipeToDevice => Some(Line::shell(format!("cat {source} | nbdcopy --flush - {dest}"))),
        Shape::DeviceToPipe => Some(Line::shell(format!("nbdcopy {source} - | sha256sum"))),
        // It writes only to an existing file of sufficient length.
        Shape::FileToFile | Shape::SparseToFile => {
            Some(Line::shell(format!("truncate --reference={source} {dest} && nbdcopy --flush {source} {dest}")))
        }
        _ => words(format!("nbdcopy --flush {source} {dest}")),
    }
}

/// Bypasses the file and the block device, directly between the servers: the shortest path of all contenders.
fn nbdcopy_uri(bed: &Bed, _: &str) -> Option<Line> {
    let (source, dest) = (bed.source.uri.as_ref()?, bed.dest.uri.as_ref()?);
    words(format!("nbdcopy --flush {source} {dest}"))
}

fn ddrescue(bed: &Bed, _: &str) -> Option<Line> {
    let (source, dest) = paths(bed);
    match bed.shape {
        Shape::DeviceToDevice | Shape::FileToDevice => {
            words(format!("ddrescue --quiet --force --idirect --odirect --cluster-size=2048 {source} {dest}"))
        }
        Shape::SparseToFile => words(format!("ddrescue --quiet --sparse {source} {dest}")),
        Shape::FileToFile => words(format!("ddrescue --quiet --idirect --odirect --cluster-size=2048 {source} {dest}")),
        _ => None,
    }
}

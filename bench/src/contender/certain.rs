//! Command lines of verified copies: with haul's options, and with other programs instead.
use super::Contender;
use super::catalogue::{copy, paths};
use crate::bed::{Bed, Task};
use crate::process::Line;

/// All contenders; on each kind of bed haul is first.
pub(super) fn catalogue() -> Vec<Contender> {
    let haul = |name, task, line| Contender {
        name,
        task,
        needs: ("haul", "haul"),
        version: "haul --version",
        aside: false,
        line,
    };
    let peer = |name, task, (command, package, version), line| Contender {
        needs: (command, package),
        version,
        ..haul(name, task, line)
    };
    let cmp = ("cmp", "diffutils", "cmp --version");
    let qemu_img = ("qemu-img", "qemu-utils", "qemu-img --version");
    vec![
        haul("haul", Task::BeSure, |bed, haul| Some(copy(bed, haul, ""))),
        haul("haul --hash blake3", Task::BeSure, |bed, haul| Some(copy(bed, haul, "--hash blake3"))),
        haul("haul --manifest", Task::BeSure, |bed, haul| with_file(bed, haul, "--manifest", "")),
        haul("haul --verify", Task::BeSure, |bed, haul| Some(copy(bed, haul, "--verify"))),
        haul("haul, then a read", Task::BeSure, then_a_read),
        peer("dd, then cmp", Task::BeSure, cmp, |bed, _| then_cmp(bed, DD)),
        peer("qemu-img, then compare", Task::BeSure, qemu_img, qemu_img_twice),
        peer("nbdcopy, then cmp", Task::BeSure, ("nbdcopy", "libnbd-bin", "nbdcopy --version"), |bed, _| {
            then_cmp(bed, "nbdcopy --flush SOURCE DEST")
        }),
        peer("ddrescue, then cmp", Task::BeSure, ("ddrescue", "gddrescue", "ddrescue --version"), |bed, _| {
            then_cmp(bed, "ddrescue --quiet --force --idirect --odirect --cluster-size=2048 SOURCE DEST")
        }),
        haul("haul", Task::KeepJournal, |bed, haul| with_file(bed, haul, "--journal", "")),
        haul("haul --checkpoint 1", Task::KeepJournal, |bed, haul| with_file(bed, haul, "--journal", "--checkpoint 1")),
        haul("haul --no-journal", Task::KeepJournal, |bed, haul| Some(copy(bed, haul, "--no-journal"))),
        haul("haul", Task::Renew, |bed, haul| Some(copy(bed, haul, ""))),
        haul("haul --delta", Task::Renew, |bed, haul| Some(copy(bed, haul, "--delta"))),
        peer("ddpt, sparing", Task::Renew, ("ddpt", "ddpt", "ddpt --version"), |bed, _| {
            // Compared and written in the same 64 KiB.
            of(bed, "ddpt if=SOURCE of=DEST bs=512 bpt=2048,128 iflag=direct oflag=direct,sparing")
        }),
        haul("haul", Task::Both, both),
        haul("haul, one by one", Task::Both, one_by_one),
        peer("dd, tee", Task::Both, ("tee", "coreutils", "dd --version"), |bed, _| {
            of(bed, "dd if=SOURCE bs=1M iflag=direct status=none | tee DEST > ALSO")
        }),
        haul("haul", Task::Compare, |bed, haul| of(bed, &format!("{haul} verify --progress none SOURCE DEST"))),
        peer("cmp", Task::Compare, cmp, |bed, _| of(bed, "cmp SOURCE DEST")),
        peer("qemu-img compare", Task::Compare, qemu_img, |bed, _| of(bed, QEMU_IMG_COMPARE)),
    ]
}

const DD: &str = "dd if=SOURCE of=DEST bs=1M iflag=direct oflag=direct conv=fsync status=none";
const QEMU_IMG_COMPARE: &str = "qemu-img compare -q -f raw -F raw -T none SOURCE DEST";

/// A command line with the bed's sides.
fn of(bed: &Bed, line: &str) -> Option<Line> {
    let (source, dest) = paths(bed);
    let also = bed.also.as_ref().map(|place| place.path.display().to_string()).unwrap_or_default();
    Some(Line::shell(line.replace("SOURCE", &source).replace("DEST", &dest).replace("ALSO", &also)))
}

/// Copies with direct I/O, so that cmp must read the disks.
fn then_cmp(bed: &Bed, copy: &str) -> Option<Line> {
    of(bed, &format!("{copy} && cmp SOURCE DEST"))
}

fn qemu_img_twice(bed: &Bed, _: &str) -> Option<Line> {
    of(bed, &format!("qemu-img convert -f raw -O raw -T none -t none -m 16 -W -n SOURCE DEST && {QEMU_IMG_COMPARE}"))
}

/// The reference for `--verify`: a copy, followed by one read of the dest.
fn then_a_read(bed: &Bed, haul: &str) -> Option<Line> {
    let copy = copy(bed, haul, "").text();
    of(bed, &format!("{copy} && {haul} copy --yes --progress none DEST /dev/null"))
}

/// haul with an option that names a file beside the copy.
fn with_file(bed: &Bed, haul: &str, option: &str, more: &str) -> Option<Line> {
    let file = bed.beside.as_ref()?.join("written-beside");
    Some(copy(bed, haul, &format!("{option} {} {more}", file.display())))
}

fn both(bed: &Bed, haul: &str) -> Option<Line> {
    Some(copy(bed, haul, &format!("--also {}", bed.also.as_ref()?.path.display())))
}

fn one_by_one(bed: &Bed, haul: &str) -> Option<Line> {
    let copy = |dest: &str| format!("{haul} copy --yes --progress none SOURCE {dest}");
    of(bed, &format!("{} && {}", copy("DEST"), copy("ALSO")))
}

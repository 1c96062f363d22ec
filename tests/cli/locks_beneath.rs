//! Two haul processes with the same bytes via a partition and its disk, or a loop device and its file: the
//! second is refused as if both had the same name; disjoint extents are copied concurrently.
use crate::locks::{Busy, MIB, REFUSED, done, refused_by};
use crate::support::{LoopDevice, ScratchDir, cmp_ranges, has, memory_dir, name, noise, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Offsets and length of the partitions of [`Disk::with_partitions`].
const STARTS: [usize; 2] = [MIB, 9 * MIB];
const PART_BYTES: usize = 8 * MIB;

/// A disk over a file in memory.
struct Disk {
    dir: ScratchDir,
    image: PathBuf,
    source: PathBuf,
    fifo: PathBuf,
}

impl Disk {
    fn new() -> Disk {
        let dir = memory_dir();
        let [image, source, fifo] = ["image", "source", "fifo"].map(|name| dir.path().join(name));
        fs::write(&image, vec![0; 18 * MIB]).expect("the directory in memory is writable");
        fs::write(&source, noise(MIB, 12)).expect("the directory in memory is writable");
        Disk { dir, image, source, fifo }
    }

    /// A loop device over the image, with two partitions; `None`, with a message, if that is not available.
    fn with_partitions(&self) -> Option<LoopDevice> {
        if !has("sfdisk") {
            skip("partitions need sfdisk");
            return None;
        }
        let table = "printf '2048,16384\\n18432,16384\\n' | sfdisk --quiet --no-reread \"$0\"";
        assert!(Command::new("sh").args(["-c", table]).arg(&self.image).status().expect("sh is installed").success());
        let disk = LoopDevice::with_partitions(&self.image)?;
        if !disk.partition(2).exists() {
            skip("this kernel or container makes no partitions of loop devices");
            return None;
        }
        Some(disk)
    }

    /// `haul dd` of 64 KiB to byte `offset` of `to`.
    fn dd(&self, to: &Path, offset: usize) -> Vec<String> {
        let words = [
            "dd".to_owned(),
            format!("if={}", name(&self.source)),
            format!("of={}", name(to)),
            format!("seek={offset}"),
            "oflag=seek_bytes".to_owned(),
            "bs=64K".to_owned(),
            "count=1".to_owned(),
            "conv=notrunc".to_owned(),
        ];
        words.to_vec()
    }

    /// The same with `haul sg_dd`.
    fn sg_dd(&self, to: &Path, offset: usize) -> Vec<String> {
        let (from, to) = (format!("if={}", name(&self.source)), format!("of={}", name(to)));
        let seek = format!("seek={}", offset / 512);
        ["sg_dd", &from, &to, "bs=512", &seek, "count=128"].map(str::to_owned).to_vec()
    }

    /// Starts `verb` at byte `offset` of `to`, which writes 3 MiB.
    fn begin(&self, verb: &str, to: &Path, offset: usize) -> Busy {
        let fifo = name(&self.fifo);
        let (from, of) = (format!("if={fifo}"), format!("of={}", name(to)));
        let blocks = |bytes: usize| [format!("seek={}", offset / bytes), format!("count={}", 3 * MIB / bytes)];
        match verb {
            "dd" => {
                let [seek, count] = blocks(65536);
                Busy::begin(&self.fifo, &["dd", &from, &of, "bs=64K", "iflag=fullblock", "conv=notrunc", &seek, &count])
            }
            "sg_dd" => {
                let [seek, count] = blocks(512);
                Busy::begin(&self.fifo, &["sg_dd", &from, &of, "bs=512", &seek, &count])
            }
            _ => {
                let (seek, count) = (offset.to_string(), (3 * MIB).to_string());
                let words = ["copy", "--yes", "--no-journal", "--progress", "none", "--seek", &seek, "--count", &count];
                Busy::begin(&self.fifo, &[&words[..], &[fifo, name(to)]].concat())
            }
        }
    }
}

fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[test]
fn overlapping_ranges_of_a_partition_and_its_disk_are_locked() {
    let disk = Disk::new();
    let Some(whole) = disk.with_partitions() else { return };
    let [one, other] = [1, 2].map(|number| whole.partition(number));
    let start = STARTS[0];
    for verb in ["copy", "dd", "sg_dd"] {
        // From the second MiB of the partition.
        let mut busy = disk.begin(verb, &one, MIB);
        let pid = busy.pid();
        for below in [whole.path(), &disk.image] {
            refused_by(pid, &disk.image, REFUSED, &words(&disk.dd(below, start + MIB)));
            refused_by(pid, &disk.image, REFUSED, &words(&disk.dd(below, start + 4 * MIB - 65536)));
            refused_by(pid, &disk.image, 90, &words(&disk.sg_dd(below, start + MIB)));
            done(&words(&disk.dd(below, start + PART_BYTES)));
        }
        if verb != "copy" {
            done(&words(&disk.dd(whole.path(), start)));
            done(&words(&disk.dd(whole.path(), start + 4 * MIB)));
        }
        let source = ["copy", "--yes", "--no-journal", "--skip", "2M", "--count", "64K"];
        let out = disk.dir.path().join("out");
        for below in [whole.path(), &disk.image] {
            refused_by(pid, &out, REFUSED, &[&source[..], &[name(below), name(&out)]].concat());
            assert!(!out.exists());
        }
        done(&words(&disk.dd(&other, 0)));
        done(&["copy", "--yes", "--no-journal", name(&disk.source), name(&other)]);
        fs::write(disk.fifo.with_file_name("fed"), busy.end()).expect("the directory in memory is writable");
        let fed = disk.fifo.with_file_name("fed");
        cmp_ranges(fed, 0, &disk.image, (start + MIB) as u64, 3 * MIB as u64);
    }
    for verb in ["dd", "sg_dd"] {
        // Conversely: the last MiB of the first partition and two of the other.
        let mut busy = disk.begin(verb, whole.path(), STARTS[1] - MIB);
        let pid = busy.pid();
        refused_by(pid, &disk.image, REFUSED, &words(&disk.dd(&one, PART_BYTES - 65536)));
        refused_by(pid, &disk.image, REFUSED, &words(&disk.dd(&other, 0)));
        refused_by(pid, &disk.image, 90, &words(&disk.sg_dd(&other, 2 * MIB - 65536)));
        refused_by(pid, &disk.image, REFUSED, &["copy", "--yes", name(&disk.source), name(&other)]);
        done(&words(&disk.dd(&one, 0)));
        done(&words(&disk.dd(&other, 2 * MIB)));
        busy.end();
    }
    let mut busy = disk.begin("copy", whole.path(), STARTS[1]);
    let pid = busy.pid();
    refused_by(pid, &disk.image, REFUSED, &words(&disk.dd(&other, 0)));
    busy.end();
}

#[test]
fn overlapping_ranges_of_a_loop_device_and_its_file_are_locked() {
    let disk = Disk::new();
    let hard = disk.dir.path().join("hard");
    fs::hard_link(&disk.image, &hard).expect("the directory in memory supports links");
    let Some(one) = LoopDevice::over(&disk.image) else { return };
    let refuses = |verb: &str, to: &Path, same: &[&Path]| {
        let mut busy = disk.begin(verb, to, MIB);
        let pid = busy.pid();
        for same in same {
            refused_by(pid, &disk.image, REFUSED, &words(&disk.dd(same, MIB)));
            refused_by(pid, &disk.image, 90, &words(&disk.sg_dd(same, 2 * MIB)));
            done(&words(&disk.dd(same, 5 * MIB)));
        }
        busy.end();
    };
    refuses("copy", one.path(), &[&disk.image, &hard]);
    let mut busy = disk.begin("dd", &hard, MIB);
    let pid = busy.pid();
    refused_by(pid, &disk.image, REFUSED, &["copy", "--yes", name(&disk.source), name(one.path()), "--seek", "2M"]);
    refused_by(pid, &disk.image, REFUSED, &["tune", "--write", "--yes", "--quick", "--time", "1s", name(one.path())]);
    busy.end();
    // Copies refuse to write to files of other loop devices, but dd does not.
    let (Some(other), Some(linked)) = (LoopDevice::over(&disk.image), LoopDevice::over(&hard)) else { return };
    let same = [&*disk.image, &hard, one.path(), other.path(), linked.path()];
    same.iter().for_each(|first| refuses("dd", first, &same));
}

#[test]
fn disjoint_ranges_of_the_ground_are_usable_in_one_copy() {
    let disk = Disk::new();
    let Some(whole) = disk.with_partitions() else { return };
    let [one, other] = [1, 2].map(|number| whole.partition(number));
    let source = name(&disk.source);
    done(&["copy", "--yes", "--no-journal", "--verify", name(&one), name(&other)]);
    cmp_ranges(&disk.image, STARTS[0] as u64, &disk.image, STARTS[1] as u64, PART_BYTES as u64);
    done(&["copy", "--yes", "--verify", source, name(&one), "--also", name(&other)]);
    let ranges = ["copy", "--yes", "--no-journal", "--verify", "--skip", "1M", "--seek", "3M", "--count", "1M"];
    for same in [whole.path(), &one] {
        done(&[&ranges[..], &[name(same), name(same)]].concat());
    }
    done(&["verify", name(&one), name(whole.path()), "--seek", "1M", "--count", "8M"]);
    done(&["dd", &format!("if={}", name(&one)), &format!("of={}", name(&other)), "bs=64K"]);
    let of2 = format!("of2={}", name(&other));
    done(&["sg_dd", &format!("if={source}"), &format!("of={}", name(&one)), &of2, "bs=512"]);
}

#[test]
fn a_loop_device_whose_file_was_removed_is_written() {
    let disk = Disk::new();
    let Some(device) = LoopDevice::over(&disk.image) else { return };
    let aside = disk.dir.path().join("aside");
    fs::rename(&disk.image, &aside).expect("the directory in memory accepts these names");
    let hard = disk.dir.path().join("hard");
    fs::hard_link(&aside, &hard).expect("the directory in memory supports links");
    fs::remove_file(&aside).expect("it was created");
    // The name belongs to another file now.
    fs::write(&disk.image, vec![0; MIB]).expect("the directory in memory is writable");
    let busy = disk.begin("dd", device.path(), MIB);
    done(&words(&disk.dd(&disk.image, MIB)));
    fs::write(disk.dir.path().join("fed"), busy.end()).expect("the directory in memory is writable");
    cmp_ranges(disk.dir.path().join("fed"), 0, &hard, MIB as u64, 3 * MIB as u64);
}

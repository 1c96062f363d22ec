//! sg_dd, sgp_dd and sgm_dd on files and devices, each operand separately, where the originals are no reference.
use crate::sg::{FRONTS, haul_as, read, sg_dd};
use crate::support;
use crate::support::{LoopDevice, ScratchDir, cmp, has, haul_path, memory_dir, noise, traced_calls};
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

const MIB: usize = 1 << 20;

/// A directory with `len` bytes of noise in the file `in`.
fn with_input(len: usize) -> (ScratchDir, Vec<u8>) {
    let (dir, bytes) = (memory_dir(), noise(len, 9));
    fs::write(dir.path().join("in"), &bytes).expect("the file can be written");
    (dir, bytes)
}

#[test]
fn links_and_subcommands_run_the_sg_fronts() {
    let (dir, bytes) = with_input(5 * 512);
    for front in FRONTS {
        std::os::unix::fs::symlink(haul_path(), dir.path().join(front)).expect("the test directory supports links");
        let (mut by_link, mut as_word) = (Command::new(dir.path().join(front)), Command::new(haul_path()));
        as_word.arg(front);
        for command in [&mut by_link, &mut as_word] {
            let output = command.args(["if=in", "of=out"]).current_dir(dir.path()).output().expect("it runs");
            assert!(
                String::from_utf8_lossy(&output.stderr).ends_with("5+0 records in\n5+0 records out\n"),
                "{output:?}"
            );
            assert!(read(dir.path(), "out") == bytes);
            fs::remove_file(dir.path().join("out")).expect("it was created");
        }
        let version = Command::new(haul_path()).args([front, "-V"]).output().expect("it runs");
        assert!(String::from_utf8_lossy(&version.stdout).starts_with(&format!("{front} (haul) ")), "{version:?}");
    }
}

#[test]
fn without_a_count_a_file_is_copied_and_its_last_block_zero_padded() {
    for len in [700, 3 * MIB + 1, 20 * MIB + 513] {
        let (dir, bytes) = with_input(len);
        for front in FRONTS {
            fs::write(dir.path().join("out"), noise(len + 4096, 1)).expect("the file can be written");
            let full = len / 512;
            let counts = format!("{full}+1 records in\n{}+0 records out\n", full + 1);
            haul_as(front, "if=in of=out", dir.path()).assert_ended(0, &[&counts]);
            let out = read(dir.path(), "out");
            let end = (full + 1) * 512;
            assert!(out[..len] == bytes && out[len..end].iter().all(|byte| *byte == 0));
            assert!(out[end..] == noise(len + 4096, 1)[end..], "OFILE is never cut");
        }
    }
}

#[test]
fn every_byte_of_a_pipe_with_short_reads_is_copied() {
    let bytes = noise(300_000, 2);
    for front in FRONTS {
        let dir = memory_dir();
        let mut command = Command::new(haul_path());
        command.args([front, "of=out", "bs=1000", "count=400", "skip=3"]).current_dir(dir.path());
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut pipe = child.stdin.take().expect("it is piped");
        let sent = bytes.clone();
        let feeding = thread::spawn(move || {
            for piece in sent.chunks(777) {
                pipe.write_all(piece).expect("it is read");
                thread::yield_now();
            }
        });
        let output = child.wait_with_output().expect("it is a child of this process");
        feeding.join().expect("it only writes");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("297+0 records in\n297+0 records out\n"),
            "{output:?}"
        );
        assert!(read(dir.path(), "out") == bytes[3000..]);
    }
}

#[test]
fn operands_that_need_scsi_commands_are_refused_with_an_alternative() {
    let table = [
        ("sg_dd", "oflag=dpo", "oflag=nocache"),
        ("sg_dd", "iflag=fua", "iflag=direct"),
        ("sg_dd", "fua=1", "oflag=dsync"),
        ("sg_dd", "dio=1", "iflag=direct"),
        ("sgm_dd", "iflag=dio", "iflag=direct"),
        ("sg_dd", "grpnum=0,3", "omit it"),
        ("sg_dd", "oflag=sgio", "oflag=direct"),
        ("sg_dd", "blk_sgio=1", "iflag=direct"),
        ("sg_dd", "iflag=pt", "iflag=direct"),
        ("sg_dd", "coe=2", "coe=1"),
        ("sg_dd", "iflag=coe,coe,coe", "coe=1"),
        ("sg_dd", "cdbsz=16", "omit it"),
        ("sg_dd", "cdl=3", "omit it"),
        ("sg_dd", "time=1,20", "time=1;"),
        ("sgp_dd", "iflag=mmap", "iflag=direct"),
        ("sgm_dd", "oflag=dio", "oflag=direct"),
    ];
    let (dir, _) = with_input(1024);
    for (front, word, instead) in table {
        haul_as(front, &format!("if=in of=out {word}"), dir.path()).assert_ended(31, &["cannot honour", instead]);
        assert!(!dir.path().join("out").exists(), "{word}");
    }
    sg_dd("if=in of=. oflag=dpo,fua", dir.path()).assert_ended(0, &["2+0 records out"]);
}

/// A disk of 20 MiB: a copy in memory on both sides would not use blocks.
fn empty_disk(dir: &Path) -> Option<LoopDevice> {
    let file = dir.join("disk");
    fs::write(&file, vec![0; 20 * MIB]).expect("the file can be written");
    LoopDevice::over(&file)
}

#[test]
fn a_dry_run_prints_its_plan_and_creates_nothing() {
    let (dir, _) = with_input(20 * MIB);
    if let Some(disk) = empty_disk(dir.path()) {
        let words = format!("if=in of={} -dvv bpt=128", disk.path().display());
        sg_dd(&words, dir.path()).assert_ended(0, &["--dry-run", " >> blocks:", "block size  64 KiB"]);
    }
    haul_as("sgp_dd", "if=in of=out --dry-run", dir.path())
        .assert_ended(0, &["remaining block count=40960\n0+0 records in"]);
    sg_dd("if=nowhere of=out -d", dir.path()).assert_ended(15, &["could not open nowhere"]);
    assert!(!dir.path().join("out").exists());
}

#[test]
fn transfers_have_the_requested_size_and_number() {
    let (dir, _) = with_input(20 * MIB);
    if let Some(disk) = empty_disk(dir.path()) {
        let words = format!("if=in of={} bpt=256 thr=7 deb=2", disk.path().display());
        haul_as("sgp_dd", &words, dir.path()).assert_ended(0, &["block size  128 KiB, depth 7"]);
        cmp(dir.path().join("in"), disk.path());
    }
    if !has("strace") {
        return;
    }
    for (words, call) in [
        ("bpt=6 iflag=nocache count=60", "read(.*3072) = 3072"),
        ("bpt=3 oflag=dsync count=60", "write(.*1536) = 1536"),
    ] {
        let trace = dir.path().join("trace");
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=read,write", "-o"]).arg(&trace).arg(haul_path());
        command.args(["sg_dd", "if=in", "of=out"]).args(words.split(' ')).current_dir(dir.path());
        assert!(command.output().expect("strace is installed").status.success());
        let (begin, end) = call.split_once(".*").expect("it has both");
        let text = traced_calls(&trace);
        let calls = text.lines().filter(|line| line.contains(begin) && line.ends_with(end)).count();
        assert_eq!(calls, if words.contains("bpt=6") { 10 } else { 20 }, "{words}: {text}");
    }
}

#[test]
fn a_source_that_ends_before_the_count_is_not_a_failure() {
    let (dir, _) = with_input(1300);
    for front in FRONTS {
        let result = haul_as(front, "if=in of=out bs=512 count=10", dir.path());
        result.assert_ended(0, &["2+1 records in\n3+0 records out\n"]);
        // sgp_dd prints the number of missing blocks.
        assert_eq!(result.stderr.contains("  remaining block count=7\n"), front == "sgp_dd", "{result:?}");
        haul_as(front, "if=in of=out skip=10 count=2", dir.path())
            .assert_ended(0, &["nothing is copied\n", "0+0 records out"]);
    }
}

#[test]
fn the_time_is_printed_in_the_format_of_each_program() {
    let (dir, _) = with_input(MIB);
    let rate = |text: &str| text.split_whitespace().rev().nth(1).is_some_and(|number| number.parse::<f64>().is_ok());
    for (front, begins, between) in [
        ("sg_dd", "time to transfer data: 0.", " secs at "),
        ("sgp_dd", "time to transfer data was 0.", " secs, "),
        ("sgm_dd", "time to transfer data: 0.", " secs at "),
    ] {
        let result = haul_as(front, "if=in of=out bs=512 time=1", dir.path());
        let line = result.stderr.lines().next().unwrap_or_default().to_owned();
        assert!(line.starts_with(begins) && line.contains(between) && line.ends_with(" MB/sec"), "{result:?}");
        assert!(rate(&line), "{line}");
        let result = haul_as(front, "if=in of=out bs=512 -p", dir.path());
        assert!(result.stderr.contains(" MB/sec\n\nCompleted:\n2048+0 records in\n"), "{result:?}");
    }
}

#[test]
fn verify_compares_and_writes_nothing() {
    let (dir, bytes) = with_input(3 * MIB + 100);
    let at = |name: &str| dir.path().join(name);
    fs::write(at("same"), &bytes).expect("the file can be written");
    sg_dd("if=in of=same -x", dir.path()).assert_ended(0, &["6144+1 records in\n6144+1 records verified\n"]);
    let mut other = bytes.clone();
    (other[700_000], other[2_000_000]) = (!bytes[700_000], !bytes[2_000_000]);
    fs::write(at("other"), &other).expect("the file can be written");
    let first = ["miscompare on other block 1367, byte 96", "1367+0 records verified", "1 miscompare error(s)"];
    sg_dd("if=in of=other --verify", dir.path()).assert_ended(14, &first);
    let all = ["block 1367, byte 96", "block 3906, byte 128", "6144+1 records verified", "2 miscompare error(s)"];
    sg_dd("if=in of=other --verify oflag=coe", dir.path()).assert_ended(14, &all);
    sg_dd("if=in of=other -x skip=2000 seek=2000 count=1906", dir.path()).assert_ended(0, &["1906+0 records verified"]);
    fs::write(at("short"), &bytes[..10_000]).expect("the file can be written");
    sg_dd("if=in of=short -x", dir.path()).assert_ended(14, &["it ends in block 19", "19+0 records verified"]);
    sg_dd("if=in of=nowhere -x", dir.path()).assert_ended(15, &["nowhere"]);
    assert!(read(dir.path(), "other") == other && !at("nowhere").exists());
}

#[test]
fn pattern_flags_replace_the_source() {
    let dir = memory_dir();
    sg_dd("iflag=00 of=zeros count=40", dir.path()).assert_ended(0, &["40+0 records in"]);
    assert_eq!(read(dir.path(), "zeros"), vec![0; 40 * 512]);
    sg_dd("iflag=ff of=ones count=40", dir.path()).assert_ended(0, &["40+0 records out"]);
    assert_eq!(read(dir.path(), "ones"), vec![0xff; 40 * 512]);
    sg_dd("iflag=00,ff of=places skip=7 count=3000 bpt=64", dir.path()).assert_ended(0, &["3000+0 records out"]);
    let places = read(dir.path(), "places");
    for (block, bytes) in places.chunks(512).enumerate() {
        assert!(bytes.chunks(4).all(|word| word == (block as u32 + 7).to_be_bytes()), "block {block}");
    }
    for name in ["random", "another"] {
        sg_dd(&format!("iflag=random of={name} count=3000"), dir.path()).assert_ended(0, &["3000+0 records out"]);
    }
    let random = read(dir.path(), "random");
    assert!(random != read(dir.path(), "another"));
    assert!(random.chunks(512).zip(random.chunks(512).skip(1)).all(|(one, next)| one != next));
    sg_dd("iflag=random of=random", dir.path()).assert_ended(99, &["Couldn't calculate count"]);
}

#[test]
fn blocks_are_checked_for_their_own_number() {
    let dir = memory_dir();
    let check = |line: &str| haul_as("sgp_dd", line, dir.path());
    sg_dd("iflag=00,ff of=places skip=5 count=3000", dir.path()).assert_ended(0, &["3000+0 records out"]);
    let right = read(dir.path(), "places");
    fs::write(dir.path().join("all"), [&[0; 5 * 512][..], &right[..]].concat()).expect("the file can be written");
    check("if=all of=. skip=5 -cc").assert_ended(0, &["3000+0 records in"]);
    check("if=all of=. -c")
        .assert_ended(14, &["chkaddr failure at addr=0x1", "all block 1 holds 0x00000000 at byte 0"]);
    let mut wrong = read(dir.path(), "all");
    wrong[2000 * 512 + 511] ^= 1;
    fs::write(dir.path().join("all"), &wrong).expect("the file can be written");
    check("if=all of=. skip=5 --chkaddr").assert_ended(0, &["3000+0 records in"]);
    for words in ["", "thr=1", "bpt=7", "bpt=1"] {
        let result = check(&format!("if=all of=out skip=5 -c --chkaddr {words}"));
        let messages = ["all block 2000 holds 0x000007d1 at byte 508, not its address", "1995+0 records in"];
        result.assert_ended(14, &messages);
        assert!(read(dir.path(), "out") == right[..1995 * 512], "{words}: what is right before it is there");
        fs::remove_file(dir.path().join("out")).expect("it was created");
    }
}

#[test]
fn nocopy_is_refused_with_a_real_output() {
    let (dir, bytes) = with_input(20 * 512);
    let at = |name: &str| dir.path().join(name);
    for front in FRONTS {
        for words in ["of=out -n", "of=out --nocopy", "of=out --nc --dry-run", "--nocopy"] {
            let messages = ["cannot honour --nocopy", "would write to OFILE", "of=/dev/null"];
            haul_as(front, &format!("if=in {words}"), dir.path()).assert_ended(31, &messages);
            assert!(!at("out").exists(), "{front} {words}");
        }
        for words in ["of=.", "of=/dev/null"] {
            haul_as(front, &format!("if=in {words} --nocopy"), dir.path()).assert_ended(0, &["20+0 records in"]);
        }
    }
    sg_dd("if=in of=. of2=out --nocopy", dir.path()).assert_ended(31, &["cannot honour --nocopy"]);
    fs::write(at("same"), &bytes).expect("the file can be written");
    sg_dd("if=in of=same --nocopy --compare", dir.path()).assert_ended(0, &["20+0 records verified"]);
    assert!(!at("out").exists() && read(dir.path(), "same") == bytes);
}

#[test]
fn of2_has_every_byte_also_those_that_sparse_skips() {
    let dir = memory_dir();
    let mut bytes = vec![0; 2 * MIB];
    bytes[MIB..MIB + 70_000].copy_from_slice(&noise(70_000, 4));
    fs::write(dir.path().join("in"), &bytes).expect("the file can be written");
    let result = sg_dd("if=in of=out of2=second oflag=sparse", dir.path());
    result.assert_ended(0, &["4096+0 records in\n384+0 records out\n3712 bypassed records out\n"]);
    assert!(read(dir.path(), "out") == bytes && read(dir.path(), "second") == bytes);
    let occupied = |name: &str| fs::metadata(dir.path().join(name)).expect("it exists").blocks() * 512;
    assert!(occupied("out") <= 256 << 10 && occupied("second") >= 2 * MIB as u64);
    let fifo = dir.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).expect("the test directory supports FIFOs");
    let reading = thread::spawn(move || fs::read(fifo).expect("it can be read"));
    sg_dd("if=in of=out of2=fifo", dir.path()).assert_ended(0, &["4096+0 records out"]);
    assert!(reading.join().expect("it only reads") == bytes);
}

#[test]
fn sparse_writes_the_last_transfer_and_zeros_that_cannot_be_skipped() {
    let dir = memory_dir();
    fs::write(dir.path().join("in"), vec![0; 100_000]).expect("the file can be written");
    let last_written = ["68+0 records out\n128 bypassed records out"];
    sg_dd("if=in of=out conv=sparse count=500", dir.path()).assert_ended(0, &last_written);
    assert_eq!(read(dir.path(), "out"), vec![0; 196 * 512]);
    fs::write(dir.path().join("old"), vec![1; 100_352]).expect("the file can be written");
    sg_dd("if=in of=old conv=sparse", dir.path()).assert_ended(0, &last_written);
    let old = read(dir.path(), "old");
    assert!(old[..128 * 512].iter().all(|byte| *byte == 1) && old[128 * 512..].iter().all(|byte| *byte == 0));
    sg_dd("if=in of=/dev/null conv=sparse", dir.path()).assert_ended(0, &["196+0 records out\n0 bypassed records out"]);
    let pipe = sg_dd("if=in oflag=sparse", dir.path());
    assert!(pipe.status == Some(0) && pipe.stdout == vec![0; 196 * 512], "{pipe:?}");
    sg_dd("if=in of=out oflag=sparse,append", dir.path()).assert_ended(31, &["append and sparse"]);
}

#[test]
fn locks_are_respected() {
    let (dir, _) = with_input(1024);
    let lock = fs::File::create(dir.path().join("out")).expect("the file can be written");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("no other process has it");
    sg_dd("if=in of=out oflag=flock", dir.path()).assert_ended(90, &["flock(LOCK_EX | LOCK_NB) on out failed"]);
    sg_dd("if=out of=new iflag=flock count=1", dir.path()).assert_ended(90, &["out failed"]);
    // Closing it would not do: a child of another test has it open until it runs its program.
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::Unlock).expect("it is locked");
    sg_dd("if=in of=out oflag=flock", dir.path()).assert_ended(0, &["2+0 records out"]);
}

#[test]
fn only_sync_makes_the_copy_durable() {
    if !has("strace") {
        return;
    }
    let (dir, _) = with_input(20 * MIB);
    for (word, calls) in [("sync=1", 1), ("sync=0", 0)] {
        let trace = dir.path().join("trace");
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=fsync,fdatasync", "-o"]).arg(&trace).arg(haul_path());
        command.args(["sg_dd", "if=in", "of=out", word]).current_dir(dir.path());
        assert!(command.output().expect("strace is installed").status.success());
        let text = traced_calls(&trace);
        assert_eq!(text.matches("sync(").count(), calls, "{word}: {text}");
    }
}

#[test]
fn direct_copies_keep_an_unaligned_end() {
    let dir = support::scratch();
    if !support::direct_works(dir.path()) {
        return;
    }
    let bytes = noise(9 * MIB + 700, 6);
    fs::write(dir.path().join("in"), &bytes).expect("the file can be written");
    for words in ["iflag=direct", "iflag=direct oflag=direct bs=4096", "iflag=direct,nocache bs=4096"] {
        sg_dd(&format!("if=in of=out {words}"), dir.path()).assert_ended(0, &["+1 records in"]);
        assert!(read(dir.path(), "out")[..bytes.len()] == bytes, "{words}");
        for compared in ["in", "out"] {
            let line = format!("if=in of={compared} -x oflag=direct bs=4096");
            sg_dd(&line, dir.path()).assert_ended(0, &["2304+1 records verified"]);
        }
        fs::remove_file(dir.path().join("out")).expect("it was created");
    }
}

#[test]
fn skip_and_seek_are_refused_without_offsets() {
    let (dir, bytes) = with_input(2048);
    let result = sg_dd("if=in seek=3", dir.path());
    result.assert_ended(15, &["couldn't seek to required position on stdout"]);
    assert!(result.stdout.is_empty());
    let result = sg_dd("if=in skip=1", dir.path());
    assert!(result.status == Some(0) && result.stdout == bytes[512..]);
}

#[test]
fn a_device_too_small_or_of_another_block_size_is_reported() {
    let dir = memory_dir();
    fs::write(dir.path().join("in"), noise(4 * MIB, 1)).expect("the file can be written");
    fs::write(dir.path().join("disk"), vec![0; 3 * MIB]).expect("the file can be written");
    let Some(disk) = LoopDevice::with_sectors(&dir.path().join("disk"), 4096) else { return };
    let name = disk.path().display();
    let confusion = "confusion: bs=512, device claims=4096; give bs=4096";
    for (front, status) in FRONTS.into_iter().zip([99, 99, 1]) {
        haul_as(front, &format!("if=in of={name}"), dir.path())
            .assert_ended(status, &[confusion, "Couldn't calculate count"]);
    }
    let all = sg_dd(&format!("if=in of={name} bs=4096"), dir.path());
    all.assert_ended(0, &["768+0 records out"]);
    let full = sg_dd(&format!("if=in of={name} bs=4096 count=1000 oflag=excl"), dir.path());
    full.assert_ended(99, &["No space left on device", "remaining block count=232", "768+0 records out"]);
    assert!(read(Path::new("/"), &name.to_string()) == noise(4 * MIB, 1)[..3 * MIB]);
    sg_dd(&format!("if={name} of=x bs=4096 odir=1"), dir.path()).assert_ended(0, &["768+0 records in"]);
    // Two exclusive opens exclude each other.
    let held = rustix::fs::open(disk.path(), rustix::fs::OFlags::EXCL, rustix::fs::Mode::empty()).expect("it is free");
    sg_dd(&format!("if=in of={name} bs=4096 oflag=excl"), dir.path()).assert_ended(15, &["in use"]);
    sg_dd(&format!("if=in of={name} bs=4096 oflag=excl,force"), dir.path()).assert_ended(15, &["busy"]);
    drop(held);
}

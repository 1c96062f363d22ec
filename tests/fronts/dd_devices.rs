//! `haul dd` and /usr/bin/dd on block devices, with direct I/O if available, and with inputs of megabytes.
use crate::dd;
use crate::dd::words::{operand, runner};
use crate::dd::{Case, GNU, Stdin, Stdout, compare, without_times};
use crate::support::{LoopDevice, direct_works, haul_path, memory_dir, noise, scratch, skip};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Sizes that are aligned for direct I/O, and some that are not.
fn size() -> impl Strategy<Value = String> {
    select(&["512", "1024", "4096", "64K", "1M", "1000", "3000", "12K", "7M"][..]).prop_map(str::to_owned)
}

fn large_operand() -> impl Strategy<Value = String> {
    let amount = select(&["0", "1", "2", "3", "17", "700", "5B", "4096B", "512KiB", "70000"][..]);
    let named = |name: &'static str| move |value: String| format!("{name}={value}");
    prop_oneof![
        4 => size().prop_map(named("bs")),
        2 => size().prop_map(named("ibs")),
        2 => size().prop_map(named("obs")),
        2 => amount.clone().prop_map(|amount| format!("skip={amount}")),
        2 => amount.clone().prop_map(|amount| format!("seek={amount}")),
        3 => amount.prop_map(|amount| format!("count={amount}")),
        2 => select(&["iflag=direct", "oflag=direct", "iflag=direct oflag=direct"][..]).prop_map(str::to_owned),
        1 => select(&["iflag=fullblock", "conv=notrunc", "conv=noerror,sync", "conv=fsync", "conv=sparse"][..])
            .prop_map(str::to_owned),
    ]
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    let few = prop::collection::vec(large_operand(), 0..4);
    let any = prop::collection::vec(operand(), 0..2);
    (few, any, 0..4u8).prop_map(|(few, any, with_any)| {
        let words = few.into_iter().chain(if with_any == 0 { any } else { Vec::new() });
        words.flat_map(|words| words.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect()
    })
}

/// Runs a program, and returns the resulting bytes at `dest`, starting from the same contents.
fn run(program: &Path, words: &[String], dest: &Path, before: &[u8]) -> (Option<i32>, String, Vec<u8>, Vec<u8>) {
    fs::write(dest, before).expect("it is as long");
    fs::File::open(dest).and_then(|dest| dest.sync_all()).expect("it can be flushed");
    let mut command = Command::new(program);
    command.arg0("dd").args(words).env("LC_ALL", "C").stdin(Stdio::null());
    let output = command.output().expect("it can be run");
    let messages = without_times(&String::from_utf8_lossy(&output.stderr));
    (output.status.code(), messages, output.stdout, fs::read(dest).expect("it can be read"))
}

#[test]
fn random_command_lines_on_devices_match_gnu_dd() {
    if dd::reference().is_none() {
        return;
    }
    let dir = memory_dir();
    // The smaller one ends first.
    let files = [("a", 9_000_448), ("b", 10_000_384)].map(|(name, len)| {
        let path = dir.path().join(name);
        fs::write(&path, noise(len, len as u64)).expect("the file can be written");
        path
    });
    let (Some(a), Some(b)) = (LoopDevice::over(&files[0]), LoopDevice::over(&files[1])) else { return };
    let file = dir.path().join("file");
    fs::write(&file, noise(9_500_000, 3)).expect("the file can be written");
    let [a, b, file] = [a.path().to_owned(), b.path().to_owned(), file];
    let before = noise(9_000_448, 9);
    let longer = noise(10_000_384, 10);
    let sides = select(vec![(b.clone(), a.clone()), (a.clone(), b.clone()), (file.clone(), a.clone()), (b, file)]);
    let (mut runner, seed) = runner(100);
    let result = runner.run(&(sides, lines()), |((source, dest), words)| {
        let named = [format!("if={}", source.display()), format!("of={}", dest.display())];
        // A later of= would write somewhere else.
        prop_assume!(!words.iter().any(|word| word.starts_with("of=") || word.starts_with("if=")));
        prop_assume!(!words.iter().any(|word| ["bs=1", "ibs=1", "obs=1"].contains(&word.as_str())));
        let words: Vec<String> = named.into_iter().chain(words).collect();
        let bytes = if dest == a || dest.ends_with("file") { &before } else { &longer };
        let theirs = run(Path::new(GNU), &words, &dest, bytes);
        let ours = run(&haul_path(), &words, &dest, bytes);
        let line = words.join(" ");
        // GNU dd 9.1 does not count a partially written last record; later versions do.
        let full = theirs.1.contains("No space left on device");
        let reported =
            |messages: &str| messages.lines().take(if full { 1 } else { 99 }).map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!((theirs.0, reported(&theirs.1)), (ours.0, reported(&ours.1)), "dd {}", line);
        prop_assert!(theirs.2 == ours.2 && theirs.3 == ours.3, "dd {}: the bytes differ", line);
        Ok(())
    });
    if let Err(error) = result {
        panic!("HAUL_DD_SEED={seed}: {error}");
    }
}

#[test]
fn random_command_lines_with_direct_io_match_gnu_dd() {
    let dir = scratch();
    if dd::reference().is_none() {
        return;
    }
    if !direct_works(dir.path()) {
        skip("direct I/O does not work where scratch is");
        return;
    }
    let len = select(&[0usize, 512, 4096, 5000, 65536, 100_001, 3 << 20, 9_000_000][..]);
    let (mut runner, seed) = runner(100);
    let result = runner.run(&(lines(), len, any::<bool>()), |(words, len, exists)| {
        let words = ["if=in", "of=out"].map(str::to_owned).into_iter().chain(words).collect();
        let output = exists.then(|| vec![7; 20_000]);
        let case = Case { words, input: noise(len, 1), output, stdin: Stdin::Nothing, stdout: Stdout::Pipe };
        compare(&case, dir.path()).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("HAUL_DD_SEED={seed}: {error}");
    }
}

#[test]
fn copying_half_a_disk_to_the_other_uses_blocks_and_matches_gnu_dd() {
    if dd::reference().is_none() {
        return;
    }
    let dir = memory_dir();
    let before = noise(32 << 20, 12);
    let path = dir.path().join("disk");
    fs::write(&path, &before).expect("the file can be written");
    let Some(disk) = LoopDevice::over(&path) else { return };
    let name = disk.path().display();
    let halves = [format!("if={name}"), format!("of={name}")];
    let words = |rest: &str| [&halves[..], &rest.split(' ').map(str::to_owned).collect::<Vec<_>>()].concat();
    for (rest, way) in [("bs=1M skip=16 count=16 conv=fsync", "blocks: "), ("bs=1M seek=15 count=16", "records: ")] {
        let words = words(rest);
        let explained = Command::new(haul_path()).args(["dd", "--explain"]).args(&words).output().expect("it runs");
        assert!(explained.stdout.starts_with(way.as_bytes()), "{rest}: {explained:?}");
        let theirs = run(Path::new(GNU), &words, disk.path(), &before);
        let ours = run(&haul_path(), &words, disk.path(), &before);
        assert!(theirs.0 == ours.0 && theirs.1 == ours.1, "{rest}: {:?} and {:?}", theirs.1, ours.1);
        assert!(theirs.3 == ours.3, "{rest}: the bytes differ");
    }
}

/// A node of a SCSI generic device that does not exist; `None` if this process may not create nodes.
fn scsi_generic_node(dir: &Path) -> Option<std::path::PathBuf> {
    let node = dir.join("sg200");
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        &node,
        rustix::fs::FileType::CharacterDevice,
        0o600.into(),
        rustix::fs::makedev(21, 200),
    );
    made.map(|()| node).map_err(|error| skip(&format!("no device node can be made: {error}"))).ok()
}

#[test]
fn a_passthrough_node_is_refused_in_one_line_that_names_sg_dd() {
    let dir = scratch();
    let Some(node) = scsi_generic_node(dir.path()) else { return };
    fs::write(dir.path().join("in"), noise(2048, 1)).expect("the file can be written");
    let messages = |line: &str, status: i32, name: &str| {
        let output = Command::new(haul_path()).args(line.split(' ')).current_dir(dir.path()).output().expect("it runs");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(status) && words.contains(name), "{line}: {output:?}");
        assert!(words.contains("SCSI generic node, which accepts only SCSI commands"), "{line}: {words}");
        assert!(words.contains("Use 'haul sg_dd' instead of 'haul dd'"), "{line}: {words}");
        assert!(words.lines().count() == 1 || line.starts_with("sg_dd"), "{line}: {words}");
    };
    messages("dd if=sg200 of=out count=1", 3, "read source sg200");
    messages("dd --explain if=sg200 of=out bs=1M", 3, "read source sg200");
    messages("dd if=in of=sg200", 3, "write to destination sg200");
    messages("dd if=in of=sg200 seek=1 conv=notrunc status=none", 3, "write to destination sg200");
    messages("sg_dd if=in of=. of2=sg200", 31, "write to destination sg200");
    assert!(!dir.path().join("out").exists(), "nothing is made");
    // By every name of the node.
    std::os::unix::fs::symlink(&node, dir.path().join("link")).expect("the test directory supports links");
    messages("dd if=in of=link", 3, "write to destination link");
}

#[test]
fn other_character_devices_match_gnu_dd() {
    let dir = scratch();
    let full = Command::new(haul_path()).args(["dd", "if=/dev/urandom", "of=/dev/full", "count=1"]).output();
    let words = String::from_utf8_lossy(&full.expect("it runs").stderr).into_owned();
    assert!(words.contains("No space left on device"), "{words}");
    let mut read = Command::new(haul_path());
    read.args(["dd", "if=/dev/urandom", "of=out", "count=3"]).current_dir(dir.path());
    assert!(read.status().expect("it runs").success());
    assert_eq!(fs::metadata(dir.path().join("out")).expect("it was created").len(), 1536);
}

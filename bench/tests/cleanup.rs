//! Nothing stays mounted, attached or running, however the bench ends.
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Whether a test is skipped; prints why.
fn cannot_run() -> bool {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: not root, so no mounts and no loop devices");
        return true;
    }
    false
}

/// One bench at a time: the loop devices of another would be counted as left behind.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bench on the RAM bed in `dir`; the measured program is a script.
fn bench(dir: &Path, program: &str) -> Command {
    let haul = dir.join("haul");
    std::fs::write(&haul, format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 'haul 0' && exit\n{program}\n")).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&haul).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_haul-bench"));
    command.args(["ram", "--tiny", "--only", "nobody", "--haul"]).arg(&haul);
    command.arg("--dir").arg(dir).arg("--out").arg(dir.join("out"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Leftovers of the bench in `dir`: mounts and loop devices that name it, directories in it, processes below it.
fn left_behind(dir: &Path) -> Vec<String> {
    let dir_text = dir.display().to_string();
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let mut left: Vec<String> = mounts.lines().filter(|line| line.contains(&dir_text)).map(Into::into).collect();
    let loops =
        Command::new("losetup").args(["--list", "--noheadings", "--output", "NAME,BACK-FILE"]).output().unwrap();
    let loops = String::from_utf8_lossy(&loops.stdout).into_owned();
    left.extend(loops.lines().filter(|line| line.contains("ram-source") || line.contains("ram-dest")).map(Into::into));
    let running = Command::new("pgrep").args(["-a", "-f", &dir_text]).output().unwrap();
    left.extend(String::from_utf8_lossy(&running.stdout).lines().map(Into::into));
    left
}

/// The kernel detaches a loop device shortly after its last user has closed it.
fn assert_nothing_is_left(dir: &Path) {
    let started = Instant::now();
    loop {
        let left = left_behind(dir);
        if left.is_empty() {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{left:#?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(started.elapsed() < Duration::from_secs(60), "waited for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A bench whose haul is in the middle of a copy that never ends: `wait`.
fn in_the_middle(dir: &Path, wait: &str) -> Child {
    let child = bench(dir, &format!("touch {}/started; {wait}", dir.display())).spawn().unwrap();
    until("the copy to begin", || dir.join("started").exists());
    assert!(!left_behind(dir).is_empty(), "the test would see nothing");
    child
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_completed_bench_leaves_no_files() {
    if cannot_run() {
        return;
    }
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    // Its words are: copy --yes --progress none SRC DST.
    let output = bench(dir.path(), "exec dd if=$5 of=$6 bs=1M conv=fsync status=none").output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_nothing_is_left(dir.path());
}

#[test]
fn an_interrupted_bench_leaves_no_files_and_reports_the_interruption() {
    if cannot_run() {
        return;
    }
    let _alone = alone();
    for signal in ["INT", "TERM"] {
        let dir = tempfile::tempdir().unwrap();
        let child = in_the_middle(dir.path(), "sleep 1000");
        assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", text(&output));
        assert!(text(&output).contains("Interrupted"), "{}", text(&output));
        assert_nothing_is_left(dir.path());
    }
}

#[test]
fn the_directory_of_a_killed_bench_is_removed_by_the_next() {
    if cannot_run() {
        return;
    }
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    // Processes started by a bench end with it; grandchildren would remain.
    let mut child = in_the_middle(dir.path(), "exec sleep 1000");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_nothing_is_left(dir.path());
    let directories = || {
        let names = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("haul-bench-")).count()
    };
    assert_eq!(directories(), 1);
    let output = bench(dir.path(), "exec dd if=$5 of=$6 bs=1M conv=fsync status=none").output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(directories(), 0);
}

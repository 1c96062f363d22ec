//! `make demo`, with and without a toolchain: its scripts find only the programs that a test installs.
use crate::support::{ScratchDir, has, haul_path, scratch, stderr, stderr_lines};
use assert_cmd::Command;
use assert_cmd::assert::Assert;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Programs that the demo and its scripts use, without a toolchain.
const PROGRAMS: &str = "sh make dirname sed sort head tail uname id df awk mktemp truncate losetup yes dd rm sync cmp \
                        date git stat env mkdir cp ln tr cat";

/// The machine of a demo: a directory of programs, which is the whole PATH.
struct Machine {
    dir: ScratchDir,
}

impl Machine {
    /// Without toolchain and haul. `None`: `make` is not installed.
    fn new() -> Option<Self> {
        if !has("make") || !has("cmp") {
            return None;
        }
        let dir = scratch();
        fs::create_dir(dir.path().join("bin")).unwrap();
        for name in PROGRAMS.split_whitespace() {
            let found = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].map(|directory| format!("{directory}/{name}"));
            if let Some(path) = found.iter().find(|path| fs::exists(path).unwrap_or(false)) {
                symlink(path, dir.path().join("bin").join(name)).unwrap();
            }
        }
        Some(Machine { dir })
    }

    fn has_script(&self, name: &str, text: &str) {
        let path = self.dir.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn has_haul(&self) {
        symlink(haul_path(), self.dir.path().join("bin/haul")).unwrap();
    }

    fn demo(&self) -> Assert {
        let mut command = Command::new(self.dir.path().join("bin/make"));
        command.args(["--no-print-directory", "demo"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        for inherited in ["CARGO", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "RUSTFLAGS"] {
            command.env_remove(inherited);
        }
        command.env("PATH", self.dir.path().join("bin")).env("CARGO_TARGET_DIR", self.dir.path().join("target"));
        command.env("HAUL", haul_path()).env("CARGO_HOME", self.dir.path().join("cargo"));
        command.env("DEMO_MIB", "8").assert()
    }
}

/// The lines printed by the demo, without those of make.
fn lines(demo: &Assert) -> Vec<String> {
    stderr_lines(demo).lines().filter(|line| line.starts_with("demo: ")).map(str::to_owned).collect()
}

#[track_caller]
fn assert_the_disks_are_equal(demo: Assert) {
    let demo = demo.success();
    let messages = String::from_utf8_lossy(&demo.get_output().stdout).into_owned();
    assert!(messages.contains("the disks are equal"), "{messages}");
}

#[test]
fn without_a_toolchain_and_haul_make_demo_explains_the_installation_in_two_lines() {
    let Some(machine) = Machine::new() else { return };
    let lines = lines(&machine.demo().failure());
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("Rust is not installed") && lines[0].contains("1.88 or newer"), "{lines:?}");
    assert!(lines[1].contains("rustup") && lines[1].contains("make demo"), "{lines:?}");
}

#[test]
fn with_the_rust_of_debian_12_make_demo_reports_it_as_too_old_and_does_not_run_cargo() {
    let Some(machine) = Machine::new() else { return };
    machine.has_script("rustc", "echo 'rustc 1.63.0'");
    machine.has_script("cargo", "echo 'cargo ran' >&2; exit 1");
    let demo = machine.demo().failure();
    let lines = lines(&demo);
    assert!(lines.len() == 2 && lines[0].contains("Rust 1.63 is too old"), "{lines:?}");
    assert!(!stderr(&demo).contains("cargo ran"), "{lines:?}");
}

#[test]
fn without_a_toolchain_make_demo_runs_the_installed_haul() {
    let Some(machine) = Machine::new() else { return };
    machine.has_haul();
    let demo = machine.demo();
    let lines = lines(&demo);
    assert_the_disks_are_equal(demo);
    assert!(lines.len() == 1 && lines[0].contains("running") && lines[0].contains("bin/haul"), "{lines:?}");
}

#[test]
fn with_a_toolchain_make_demo_builds_and_runs_haul() {
    let Some(machine) = Machine::new() else { return };
    machine.has_script("rustc", "echo 'rustc 1.1000.0'");
    // Replaces a build that takes minutes.
    let build = "mkdir -p \"$CARGO_TARGET_DIR/release\" && ln -s \"$HAUL\" \"$CARGO_TARGET_DIR/release/haul\"";
    machine.has_script("cargo", &format!("case $1 in build) {build} ;; esac"));
    let demo = machine.demo();
    assert_eq!(lines(&demo), Vec::<String>::new(), "nothing is missing here");
    assert_the_disks_are_equal(demo);
}

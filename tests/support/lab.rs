//! The lab: runs scripts of `lab/` in its virtual machine as root, with real drivers and the binary under test.
use super::abilities::{has, skip};
use super::running::haul_path;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

/// The directory of the launcher and the scripts.
fn lab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("lab")
}

/// Whether the lab is available here, with these additional tools; prints what is missing.
pub fn lab_is_available(tools: &[&str]) -> bool {
    if !cfg!(target_arch = "x86_64") {
        skip("the lab is a machine of x86_64");
        return false;
    }
    if !lab().join("vmlab").exists() {
        skip("there is no lab beside these tests: a published package has none");
        return false;
    }
    let own = ["qemu-system-x86_64", "busybox", "cpio", "modprobe", "xz", "setpriv"];
    // All are checked, so that all missing ones are printed at once.
    let missing = own.iter().chain(tools).filter(|tool| !has(tool)).count();
    let images = std::fs::read_dir("/boot").into_iter().flatten().flatten();
    let mut releases =
        images.filter_map(|image| Some(image.file_name().to_str()?.strip_prefix("vmlinuz-")?.to_owned()));
    let kernel = releases.any(|release| Path::new("/lib/modules").join(release).exists());
    if !kernel {
        skip("there is no kernel in /boot with its modules (package linux-image-amd64)");
    }
    missing == 0 && kernel
}

/// The release binary: emulation is slow, and in virtual time an instruction takes a nanosecond, so an unoptimised
/// or instrumented binary would have other times. Built by cargo next to the other builds, unless HAUL_TEST_BINARY
/// names one.
pub fn release_binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(build_release_binary).clone()
}

fn build_release_binary() -> PathBuf {
    if std::env::var_os("HAUL_TEST_BINARY").is_some() {
        return haul_path();
    }
    // As in `make build`: other flags would compile everything again.
    let mut build = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/build"));
    build.env("CARGO_TARGET_DIR", build_directory());
    as_without_cargo(&mut build);
    // These contain the flags for coverage.
    build.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("LLVM_PROFILE_FILE");
    assert!(build.status().expect("the script runs").success(), "packaging/build failed");
    build_directory().join("release/haul")
}

/// The program that runs a command without io_uring (`examples/without-io-uring.rs`).
pub fn without_io_uring() -> PathBuf {
    example("without-io-uring")
}

/// A program of `examples`. `cargo test` builds them unless one test is requested by name; built like the tests, so
/// that nothing is compiled again.
pub fn example(name: &str) -> PathBuf {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    as_without_cargo(&mut build);
    build.args(["build", "--locked", "--quiet", "--example", name, "--target-dir"]).arg(build_directory());
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    assert!(build.status().expect("cargo runs").success(), "cargo build --example {name} failed");
    build_directory().join("debug/examples").join(name)
}

/// Removes what cargo tells a test about its package. The build script of ring reads it: it would run again, and all
/// that needs ring would be compiled again, by this build and by the next one outside of tests.
fn as_without_cargo(build: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" || name == "OUT_DIR" {
            build.env_remove(name);
        }
    }
}

/// The build directory of the tests.
fn build_directory() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the build directory")
}

/// Permission to run one guest, one per processor; released when it goes out of scope.
pub struct Slot(());

/// The number of slots in use, and the number of announced guests, which precede all others.
static SLOTS: (Mutex<(usize, usize)>, Condvar) = (Mutex::new((0, 0)), Condvar::new());

impl Slot {
    /// Announces this number of guests, for each of which [`Slot::take_announced`] is called: the long ones start
    /// first.
    pub fn announce(guests: usize) {
        SLOTS.0.lock().unwrap_or_else(PoisonError::into_inner).1 += guests;
    }

    /// Waits for a slot for an announced guest.
    pub fn take_announced() -> Self {
        let slot = Self::take_if(|_| true);
        SLOTS.0.lock().unwrap_or_else(PoisonError::into_inner).1 -= 1;
        SLOTS.1.notify_all();
        slot
    }

    /// Waits for a slot after the announced guests.
    pub fn take() -> Self {
        Self::take_if(|announced| announced == 0)
    }

    fn take_if(may_go: impl Fn(usize) -> bool) -> Self {
        let slots = std::thread::available_parallelism().map_or(1, Into::into);
        let state = SLOTS.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_to_wait = |(taken, announced): &mut (usize, usize)| *taken >= slots || !may_go(*announced);
        SLOTS.1.wait_while(state, has_to_wait).unwrap_or_else(PoisonError::into_inner).0 += 1;
        Slot(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        SLOTS.0.lock().unwrap_or_else(PoisonError::into_inner).0 -= 1;
        SLOTS.1.notify_all();
    }
}

/// The launcher, to be completed with a command. The caller has a [`Slot`].
pub fn launcher() -> Command {
    launcher_under(&[])
}

/// The same for a guest with the lowest priority, which needs no [`Slot`].
pub fn patient_launcher() -> Command {
    launcher_under(&["nice", "-n", "19"])
}

fn launcher_under(wrapper: &[&str]) -> Command {
    // It ends with the thread that starts it, for any reason: a guest would continue for hours.
    let mut vmlab = Command::new("setpriv");
    vmlab.args(["--pdeathsig", "TERM"]).args(wrapper).arg(lab().join("vmlab"));
    // The guest has the same environment: it must not lengthen the PATH of its programs. scripts/left-behind finds
    // leftovers by these variables.
    let path = std::env::var("PATH").unwrap_or_default();
    vmlab.env_clear().env("PATH", format!("{path}:/usr/sbin:/sbin"));
    vmlab.envs(["HAUL_TEST_RUN", "TMPDIR"].iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    vmlab.env("VMLAB_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("vmlab"));
    vmlab
}

/// Runs a script of `lab/` in the guest with `arguments`, and variables of the launcher such as VMLAB_CLOCK=virtual;
/// returns its output. The launcher ends a guest that hangs, and prints its console.
#[track_caller]
pub fn in_the_lab(script: &str, arguments: &[&Path], words: &[(&str, &str)]) -> String {
    let _slot = Slot::take();
    let mut vmlab = launcher();
    vmlab.arg("bash").arg(lab().join(script)).args(arguments).envs(words.iter().copied());
    let output = vmlab.output().expect("bash is installed");
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script} ended with {}; its output:\n{messages}{complaints}", output.status);
    messages
}

/// An additional NVMe drive of 16 MiB: its name, which is also its serial number, and qemu's options for its
/// controller and its namespace.
pub type Drive = (&'static str, &'static str, &'static str);

/// Such drives, on images in `dir`, in the form of VMLAB_QEMU.
pub fn words_for(drives: &[Drive], dir: &Path) -> String {
    let words = drives.iter().map(|(name, controller, namespace)| {
        let image = dir.join(name);
        File::create(&image).and_then(|file| file.set_len(16 << 20)).expect("there is enough space for a sparse file");
        format!(
            "-blockdev node-name={name},driver=file,filename={},discard=unmap -device \
             nvme,id={name},serial={name},{controller} -device nvme-ns,bus={name},drive={name},{namespace}",
            image.display()
        )
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The findings of a script that sources `lab/judge.sh`: its lines `ok NAME`, `skip NAME: WHY` and `FAIL NAME: WHY`.
pub struct Findings {
    messages: String,
    found: BTreeMap<String, String>,
}

impl Findings {
    /// Runs the script in a separate guest, with the path of the binary under test as its first argument.
    #[track_caller]
    pub fn of(script: &str, more: &[&str], words: &[(&str, &str)]) -> Self {
        let haul = release_binary();
        let arguments: Vec<&Path> = std::iter::once(haul.as_path()).chain(more.iter().map(Path::new)).collect();
        Self::in_words(script, &in_the_lab(script, &arguments, words))
    }

    /// The findings in the output of the script. Skipped ones are printed.
    #[track_caller]
    pub fn in_words(script: &str, messages: &str) -> Self {
        let mut found = BTreeMap::new();
        for line in messages.lines() {
            let Some((verdict, rest)) = line.split_once(' ') else { continue };
            let (name, why) = rest.split_once(": ").unwrap_or((rest, ""));
            if !matches!(verdict, "ok" | "skip" | "FAIL") {
                continue;
            }
            if verdict == "skip" {
                skip(&format!("{name}: {why}"));
            }
            let before = found.insert(name.to_owned(), verdict.to_owned());
            assert!(before.is_none(), "{script} checked '{name}' twice:\n{messages}");
        }
        Findings { messages: messages.to_owned(), found }
    }

    /// Fails the test unless exactly `names` were checked, and nothing failed: a script that ends early, or checks
    /// nothing, has not passed.
    #[track_caller]
    pub fn expect(&self, names: &[&str]) {
        let failed: Vec<&str> = names.iter().copied().filter(|name| !self.is_fine(name)).collect();
        assert!(failed.is_empty(), "not found right: {failed:?}\n{}", self.messages);
        let more: Vec<&String> = self.found.keys().filter(|name| !names.contains(&name.as_str())).collect();
        assert!(more.is_empty(), "checked, but listed by no test: {more:?}\n{}", self.messages);
    }

    /// The output of the script.
    pub fn messages(&self) -> &str {
        &self.messages
    }

    fn is_fine(&self, name: &str) -> bool {
        matches!(self.found.get(name).map(String::as_str), Some("ok" | "skip"))
    }
}

//! Finds packages, and runs programs in a root that contains only a package.
use crate::support::{cmp, skip, write_noise};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The expected version of the packages.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Size of a copied file: more than one block, and not a whole number of sectors.
const FILE_BYTES: usize = 5_000_001;

/// The directory of packages.
pub fn dist() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("dist")
}

/// The package of this version with this `prefix` and `suffix`; fails if it was not made.
pub fn package(prefix: &str, suffix: &str) -> Option<PathBuf> {
    let names = fs::read_dir(dist()).into_iter().flatten().flatten();
    let wanted = |name: &str| name.starts_with(&format!("{prefix}{VERSION}")) && name.ends_with(suffix);
    let found = names.map(|entry| entry.path()).find(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(wanted)
    });
    if found.is_none() {
        skip(&format!("there is no {prefix}{VERSION}*{suffix} in {}; make it with: make dist", dist().display()));
    }
    found
}

/// Runs a program, which must succeed.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = command.env("LC_ALL", "C").output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", messages(&output));
    String::from_utf8(output.stdout).expect("its output is UTF-8")
}

/// How a program ended and its output, for messages.
pub fn messages(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))
}

/// A program in the root `root`, with an empty environment, so that it does not depend on the machine.
pub fn inside(root: &Path, user: Option<&str>, words: &[&str]) -> Command {
    let mut command = Command::new("/usr/sbin/chroot");
    command.env_clear().current_dir(root);
    command.args(user.map(|user| format!("--userspec={user}"))).arg(root).args(words);
    command
}

/// Asserts that the program `haul` prints its version, copies a file with `--verify` and finds both equal with `haul
/// verify`, in the directory `dir` of the root `root`.
#[track_caller]
pub fn assert_haul_works(root: &Path, user: Option<&str>, haul: &str, dir: &str) {
    let outside = |name: &str| root.join(dir.trim_start_matches('/')).join(name);
    assert_eq!(run(&mut inside(root, user, &[haul, "--version"])).trim(), format!("haul {VERSION}"));
    write_noise(&outside("source"), FILE_BYTES, 7);
    let words = [format!("{dir}/source"), format!("{dir}/copy")];
    let json = run(&mut inside(root, user, &[haul, "copy", "--verify", "--json", &words[0], &words[1]]));
    let report: serde_json::Value = serde_json::from_str(&json).expect("the report is JSON");
    assert_eq!(report["status"], "complete", "{json}");
    assert_eq!(report["verified"]["right"], true, "{json}");
    cmp(outside("source"), outside("copy"));
    run(&mut inside(root, user, &[haul, "verify", &words[0], &words[1]]));
}

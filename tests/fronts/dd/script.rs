//! Shell commands in which `dd` is GNU dd or haul.
use super::{GNU, reference, without_times};
use crate::support::{haul_path, memory_dir, noise};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `line` in a shell in which `dd` is `program` under that name.
pub fn shell(program: &Path, line: &str, dir: &Path) -> Output {
    let script = format!("dd() {{ (exec -a dd {} \"$@\"); }}; {line}", program.display());
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(dir).env("LC_ALL", "C").stdin(Stdio::null());
    command.output().expect("bash is installed")
}

/// Compares status, output and messages of both shells, and the file `out`, for each line. `in` has 1000 bytes,
/// `all` one of each value.
#[track_caller]
pub fn same_in_both(lines: &[&str]) {
    if reference().is_none() {
        return;
    }
    for line in lines {
        let result = [Path::new(GNU), &haul_path()].map(|program| {
            let dir = memory_dir();
            fs::write(dir.path().join("in"), noise(1000, 1)).expect("the file can be written");
            fs::write(dir.path().join("all"), (0..=255).collect::<Vec<u8>>()).expect("the file can be written");
            let output = shell(program, line, dir.path());
            let left = fs::read(dir.path().join("out")).ok();
            (output.status.code(), output.stdout, without_times(&String::from_utf8_lossy(&output.stderr)), left)
        });
        let [theirs, ours] = &result;
        let bytes_differ = theirs.3 != ours.3 && theirs.3.is_some() && ours.3.is_some();
        assert_eq!((&theirs.0, &theirs.2, theirs.3.is_some()), (&ours.0, &ours.2, ours.3.is_some()), "{line}");
        // Not printed: a thousand numbers do not help.
        assert!(theirs.1 == ours.1 && !bytes_differ, "{line}: the bytes differ");
    }
}

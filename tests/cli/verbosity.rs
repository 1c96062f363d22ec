//! Verbosity: three lines, all measurements with `-v`, the plan's reasons with `-vv`, only errors with `-q`.
use crate::support::{haul, in_one_line, run_in_shell, scratch, stderr_lines, with_haul_in_path, write_noise};
use std::fs;
use std::path::Path;
use std::process::Command;

const MIB: usize = 1 << 20;

/// Standard error line by line, and the exit status.
fn run(words: &[&str], paths: &[&Path]) -> (String, Option<i32>) {
    let assert = haul().args(words).args(paths).assert();
    (stderr_lines(&assert), assert.get_output().status.code())
}

#[test]
fn a_copy_prints_three_lines_and_with_v_everything() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 511);
    let paths = [source.as_path(), dest.as_path()];
    let (short, _) = run(&["copy"], &paths);
    assert!(!short.contains("1048576 bytes") && !short.contains("peak RSS"), "{short}");
    let flat = in_one_line(&short);
    assert!(flat.starts_with("haul: copied 1.05 MB from ") && flat.contains("B/s"), "{short}");
    let (full, _) = run(&["copy", "-v"], &paths);
    let full = in_one_line(full);
    assert!(
        full.contains("bytes 1048576 bytes") && full.contains("peak RSS") && !full.contains("io_uring works"),
        "{full}"
    );
    let (everything, _) = run(&["copy", "-vv"], &paths);
    assert!(everything.contains("peak RSS") && everything.contains("\nflush "), "{everything}");
}

#[test]
fn quiet_commands_print_nothing_on_success() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 512);
    let both = [source.as_path(), dest.as_path()];
    for (words, paths) in [
        (&["copy", "-q"][..], &both[..]),
        (&["verify", "--quiet"], &both),
        (&["pattern", "write", "-q"], &both[1..]),
        (&["pattern", "check", "-q"], &both[1..]),
    ] {
        assert_eq!(run(words, paths), (String::new(), Some(0)), "{words:?}");
    }
}

#[test]
fn quiet_commands_print_errors() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 513);
    write_noise(&dest, MIB, 514);
    let (different, status) = run(&["verify", "-q"], &[&source, &dest]);
    assert_eq!(status, Some(1));
    assert!(different.starts_with("haul: different: "), "{different}");
    let (missing, status) = run(&["copy", "-q"], &[&dir.path().join("missing"), &dest]);
    assert_eq!(status, Some(1));
    assert!(missing.starts_with("haul: ") && missing.contains("missing"), "{missing}");
    let (refused, status) = run(&["copy", "-q", "-v"], &[&source, &dest]);
    assert_eq!(status, Some(2), "{refused}");
}

#[test]
fn quiet_copies_print_requested_digests_and_json() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 515);
    let output = haul().args(["copy", "-q", "--hash", "md5"]).args([&source, &dest]).output().expect("haul runs");
    assert!(output.stdout.starts_with(b"MD5 (") && output.stderr.is_empty(), "{output:?}");
    let output = haul().args(["copy", "-q", "--json"]).args([&source, &dest]).output().expect("haul runs");
    assert!(output.stdout.starts_with(b"{") && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn quiet_compare_prints_nothing_for_equal_manifests() {
    let dir = scratch();
    let [source, dest, one, two] = ["source", "dest", "one", "two"].map(|name| dir.path().join(name));
    write_noise(&source, MIB, 516);
    for (manifest, seed) in [(&one, 516), (&two, 517)] {
        write_noise(&source, MIB, seed);
        haul().args(["copy", "--manifest"]).args([manifest, &source, &dest]).assert().success();
    }
    let diff = |first: &Path| {
        let output = haul().args(["manifest", "diff", "-q"]).args([first, &two]).output().expect("haul runs");
        (output.stdout, output.stderr, output.status.code())
    };
    assert_eq!(diff(&two), (Vec::new(), Vec::new(), Some(0)));
    assert_eq!(diff(&one), (Vec::new(), Vec::new(), Some(1)));
}

#[test]
fn the_check_command_of_a_pattern_has_its_count() {
    let dir = scratch();
    let file = dir.path().join("pattern");
    fs::write(&file, vec![0; 4 * MIB]).expect("the file can be written");
    let (text, _) = run(&["pattern", "write", "-c", "1M"], &[&file]);
    let line = text.lines().find(|line| line.contains("pattern check")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("--count=1048576"), "{line}");
    let status = Command::new("sh").args(["-c", line]).env("PATH", with_haul_in_path()).status();
    assert!(status.expect("a shell runs").success(), "{line}");
}

#[test]
fn an_interrupted_copy_with_a_count_can_be_continued() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, 4 * MIB, 518);
    let words = ["copy", "--no-journal", "--time", "1", "-l2M", "-b64K", "-vc3M"];
    let (text, status) = run(&words, &[&source, &dest]);
    assert_eq!(status, Some(4), "{text}");
    let line = text.lines().skip_while(|line| *line != "To copy the rest:").nth(1).unwrap_or_else(|| panic!("{text}"));
    let line = line.replace("--time 1", "").replace("--limit=2M", "");
    assert_eq!(line.matches("--count").count() + line.matches("-c3M").count(), 1, "{line}");
    run_in_shell(&line);
    assert!(fs::read(&dest).expect("it exists") == bytes[..3 * MIB]);
}

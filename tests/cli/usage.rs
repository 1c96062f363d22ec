//! Invalid command lines, and unusable paths: one clear message, a status, nothing changed.
use crate::support;
use crate::support::{cmp, haul, in_one_line, is_root, scratch, skip, stderr, write_noise};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const USAGE: i32 = 2;

/// Option and invalid value, and what the message must name besides the option.
const BAD_VALUES: &[(&str, &str, &str)] = &[
    ("--count", "12X", "12X"),
    ("--count", "twelve", "twelve"),
    ("--count", "", "--count"),
    ("--count", "-1", "-1"),
    ("--count", "0", "0"),
    ("--skip", "-4096", "-4096"),
    ("--skip", "1Q", "1Q"),
    ("--seek", "K", "K"),
    ("--seek", "99999999999999999999", "99999999999999999999"),
    ("--count", "16777216T", "16777216T"),
    ("--skip", "0x", "0x"),
    ("--count", "1.5", "1.5"),
    ("--block-size", "0", "0"),
    ("--block-size", "-4K", "-4K"),
    ("--block-size", "1000000T", "1000000T"),
    ("--depth", "0", "0"),
    ("--depth", "-3", "-3"),
    ("--depth", "many", "many"),
    ("--limit", "0", "0"),
    ("--limit", "fast", "fast"),
    ("--engine", "warp", "warp"),
    ("--direct", "maybe", "maybe"),
    ("--sparse", "maybe", "maybe"),
    ("--reflink", "perhaps", "perhaps"),
    ("--hash", "crc7", "crc7"),
    ("--progress", "dance", "dance"),
    ("--expect", "colour=red", "colour"),
    ("--expect", "size=12Q", "12Q"),
];

#[test]
fn an_invalid_value_is_named_with_its_option() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 4096, 81);
    for (option, value, named) in BAD_VALUES {
        let assert = haul().arg("copy").args([option, value]).args([&source, &dest]).assert();
        let messages = stderr(&assert);
        let status = assert.get_output().status;
        assert_eq!(status.code(), Some(USAGE), "{option} {value}: {status}\n{messages}");
        assert!(messages.contains(option) && messages.contains(named), "{option} {value}: not named in:\n{messages}");
        assert!(!messages.contains("panicked"), "{option} {value}:\n{messages}");
        assert!(!dest.exists(), "{option} {value}: the dest was made");
    }
}

#[test]
fn the_name_of_another_program_suggests_the_matching_command() {
    let lines: &[(&[&str], &str)] = &[
        (&["sgq_dd", "if=a", "of=b"], "haul sgp_dd"),
        (&["sg_map", "-x"], "haul list"),
        (&["sg_rbuf", "/dev/sg0"], "haul profile"),
        (&["lmdd", "if=internal", "of=b"], "haul copy"),
        (&["dd-parallel"], "haul copy"),
        (&["hdparm", "-tT", "/dev/sda"], "haul profile --timing"),
        (&["fdisk", "-ul"], "haul list"),
    ];
    for (words, command) in lines {
        let assert = haul().args(*words).assert().code(USAGE);
        let messages = stderr(&assert);
        assert!(messages.contains(command), "{words:?}: {messages}");
        assert_eq!(
            assert.get_output().stderr.iter().filter(|&&byte| byte == b'\n').count(),
            1,
            "{words:?}: {messages}"
        );
        assert!(assert.get_output().stdout.is_empty());
    }
}

#[test]
fn dd_parallel_copies_under_its_name() {
    use std::os::unix::process::CommandExt;
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 300_001, 82);
    haul().arg("dd-parallel").args([&source, &dest]).assert().success();
    cmp(&source, &dest);
    fs::remove_file(&dest).expect("it exists");
    let mut command = std::process::Command::new(support::haul_path());
    let output = command.arg0("/usr/local/bin/dd-parallel").arg("--md5").args([&source, &dest]).output();
    let output = output.expect("haul runs");
    assert!(output.status.success(), "{}", in_one_line(&output.stderr));
    cmp(&source, &dest);
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("MD5 ("), "{:?}", output.stdout);
    let output = std::process::Command::new(support::haul_path()).arg0("dd-parallel").arg(&source).output();
    assert_eq!(output.expect("haul runs").status.code(), Some(USAGE));
}

#[test]
fn a_command_line_without_operands_is_a_usage_error() {
    let lines: &[&[&str]] = &[
        &["copy"],
        &["copy", "only-one"],
        &["copy", "a", "b", "c"],
        &["copy", "--no-such-option", "a", "b"],
        &["copy", "a", "b", "--count"],
        &["no-such-command"],
    ];
    for line in lines {
        let assert = haul().args(*line).assert();
        let status = assert.get_output().status;
        assert_eq!(status.code(), Some(USAGE), "{line:?}: {status}");
        assert!(!stderr(&assert).is_empty(), "{line:?}: no message");
    }
}

#[test]
fn a_range_beyond_the_end_of_the_source_is_a_usage_error() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 10_000, 82);
    write_noise(&dest, 500, 83);
    fs::copy(&dest, dir.path().join("old")).expect("the file can be written");
    let ranges: &[(&[&str], &str)] = &[
        (&["--skip", "10001"], "--skip"),
        (&["--count", "10001"], "--count"),
        (&["--skip", "9999", "--count", "2"], "--count"),
        (&["--seek", "9223372036854775807"], "--seek"),
    ];
    for (range, option) in ranges {
        let messages = stderr(&haul().arg("copy").args(*range).args([&source, &dest]).assert().code(USAGE));
        assert!(messages.contains(option), "{range:?}: {messages}");
        cmp(dir.path().join("old"), &dest);
    }
}

#[test]
fn a_pipe_cannot_be_skipped_or_sought() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 4096, 84);
    haul().args(["copy", "--skip", "1", "-"]).arg(&dest).write_stdin("abc").assert().code(USAGE);
    assert!(!dest.exists(), "the dest was made");
    haul().args(["copy", "--seek", "1"]).arg(&source).arg("-").assert().code(USAGE).stdout("");
}

#[test]
fn json_and_data_both_on_standard_output_are_a_usage_error() {
    // The data and the report cannot both go to standard output.
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 4096, 85);
    let messages = stderr(&haul().args(["copy", "--json"]).arg(&source).arg("-").assert().code(USAGE));
    assert!(messages.contains("--json"), "{messages}");
}

/// Runs a copy that fails because of the type of `path`; the message names it and there is no panic.
#[track_caller]
fn fails_naming(source: &str, dest: &str, path: &str, statuses: &[i32]) {
    let assert = haul().args(["copy", source, dest]).assert();
    let (messages, status) = (stderr(&assert), assert.get_output().status);
    assert!(status.code().is_some_and(|code| statuses.contains(&code)), "{source} to {dest}: {status}\n{messages}");
    assert!(messages.contains(path), "{path} is not named in:\n{messages}");
    assert!(!messages.contains("panicked"), "{messages}");
}

#[test]
fn sources_that_cannot_be_read_are_named() {
    let dir = scratch();
    let name = |file: &str| dir.path().join(file).to_str().expect("text").to_owned();
    fs::create_dir(dir.path().join("directory")).expect("the test directory is writable");
    write_noise(&dir.path().join("file"), 10, 86);
    let dest = name("dest");
    for source in ["missing", "missing/deeper", "directory", "file/deeper"] {
        fails_naming(&name(source), &dest, &name(source), &[1, USAGE]);
        assert!(!dir.path().join("dest").exists(), "{source}: the dest was made");
    }
}

#[test]
fn dests_that_cannot_be_written_are_named() {
    let dir = scratch();
    let name = |file: &str| dir.path().join(file).to_str().expect("text").to_owned();
    fs::create_dir(dir.path().join("directory")).expect("the test directory is writable");
    write_noise(&dir.path().join("source"), 10, 87);
    for dest in ["directory", "missing/deeper", "source/deeper"] {
        fails_naming(&name("source"), &name(dest), &name(dest), &[1, USAGE, 3]);
    }
}

#[test]
fn missing_permissions_are_reported() {
    if is_root() {
        return skip("root may read and write everything");
    }
    let dir = scratch();
    let name = |file: &str| dir.path().join(file).to_str().expect("text").to_owned();
    write_noise(&dir.path().join("open"), 10, 88);
    write_noise(&dir.path().join("closed"), 10, 89);
    fs::set_permissions(dir.path().join("closed"), fs::Permissions::from_mode(0o000)).expect("this test created it");
    fails_naming(&name("closed"), &name("dest"), &name("closed"), &[1]);
    fails_naming(&name("open"), &name("closed"), &name("closed"), &[1]);
}

#[test]
fn a_socket_is_refused_as_an_endpoint() {
    let dir = scratch();
    let (source, socket) = (dir.path().join("source"), dir.path().join("socket"));
    write_noise(&source, 10, 90);
    // Not in the test directory, because names of sockets must be short.
    let short =
        crate::support::ScratchDir::below(std::env::temp_dir()).expect("a directory for temporary files exists");
    let _listener = std::os::unix::net::UnixListener::bind(short.path().join("s")).expect("it supports sockets");
    std::os::unix::fs::symlink(short.path().join("s"), &socket).expect("the test directory supports links");
    let messages = stderr(&haul().arg("copy").arg(&source).arg(&socket).assert().failure());
    assert!(messages.contains("socket"), "{messages}");
}

#[test]
fn help_and_version_go_to_standard_output_and_succeed() {
    for line in [&["--help"][..], &["--version"], &["copy", "--help"], &["copy", "-h"], &["list", "--help"]] {
        let assert = haul().args(line).assert().success();
        assert!(!assert.get_output().stdout.is_empty(), "{line:?}");
        assert_eq!(stderr(&assert), "", "{line:?}");
    }
}

#[test]
fn a_closed_standard_output_does_not_panic() {
    let line = "\"$0\" copy --help | true; \"$0\" list | true; \"$0\" list --json | true";
    let output = std::process::Command::new("sh").args(["-c", line]).arg(support::haul_path()).output();
    let messages = in_one_line(&output.expect("a shell is installed").stderr);
    assert!(!messages.contains("panicked"), "{messages}");
}

#[test]
fn commands_that_print_json_print_it_also_for_early_errors() {
    let dir = crate::support::scratch();
    let missing = dir.path().join("nosuch");
    for (words, report) in [
        (&["tune", "--json"][..], "tune"),
        (&["profile", "--json"], "profile"),
        (&["manifest", "show", "--json"], "manifest"),
    ] {
        let output = crate::support::haul().args(words).arg(&missing).output().unwrap();
        let status = output.status.code().unwrap();
        let reported: serde_json::Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        assert_eq!(
            (status, &reported["report"], &reported["status"]),
            (1, &report.into(), &"failed".into()),
            "{reported}"
        );
        let message = reported["error"]["message"].as_str().unwrap();
        let messages = crate::support::in_one_line(&output.stderr);
        assert!(message.contains("nosuch") && messages.contains(message), "{reported}\n{messages}");
        assert_eq!(reported["command"][0], "haul", "{reported}");
    }
}

//! `haul list` with columns: a line for each disk, on a terminal and in a pipe.
use crate::support::{LoopDevice, Terminal, filled, haul, haul_command, in_one_line, memory_dir, stderr};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const MIB: usize = 1 << 20;

fn disk(dir: &Path) -> Option<LoopDevice> {
    let disk = dir.join("a disk whose name is too long for a column of eighty letters, or for most terminals");
    filled(&disk, 3 * MIB, 0);
    LoopDevice::over(&disk)
}

/// What `haul list` prints with these arguments.
fn listed(arguments: &[&str]) -> String {
    let assert = haul().arg("list").args(arguments).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).expect("it is UTF-8")
}

/// The words of the line that begins with `name`.
#[track_caller]
fn line<'a>(text: &'a str, name: &str) -> &'a str {
    let found = text.lines().find(|line| line.split_whitespace().next() == Some(name));
    found.unwrap_or_else(|| panic!("no line of {name} in:\n{text}"))
}

#[test]
fn each_disk_has_one_line_under_the_usual_headings() {
    let dir = memory_dir();
    let Some(disk) = disk(dir.path()) else { return };
    let name = disk.path().to_string_lossy().replace("/dev/", "");
    let text = listed(&[]);
    let headings: Vec<&str> = text.lines().next().expect("headings").split_whitespace().collect();
    assert_eq!(headings, ["NAME", "SIZE", "MODEL", "SERIAL", "CONTENT", "USE"]);
    // The kernel may still list partitions of the device that had the name before.
    assert!(line(&text, &name).contains(" empty"), "{text}");
    // Loop devices of other tests are attached and detached meanwhile.
    let json: Value = serde_json::from_str(&listed(&["--json"])).expect("it is JSON");
    assert!(json["devices"].as_array().is_some_and(|devices| devices.iter().any(|device| device["name"] == *name)));
    assert!(text.lines().all(|line| !line.is_empty() && !line.starts_with(' ')), "more than a line a disk:\n{text}");
}

#[test]
fn columns_are_shown_in_the_order_of_the_option() {
    let dir = memory_dir();
    let Some(disk) = disk(dir.path()) else { return };
    let path = disk.path().to_string_lossy().into_owned();
    let text = listed(&["--columns", "path,BYTES,made-of"]);
    assert!(text.starts_with("PATH"), "{text}");
    let words = in_one_line(line(&text, &path));
    assert!(words.starts_with(&format!("{path} {} ", 3 * MIB)), "{words}");
    assert!(words.ends_with("or for most terminals"), "what programs read was cut: {words}");
    let more = listed(&["-o", "+tran,ro"]);
    let headings = in_one_line(more.lines().next().expect("headings"));
    assert_eq!(headings, "NAME SIZE MODEL SERIAL CONTENT USE TRAN RO");
}

#[test]
fn an_unknown_column_is_refused_with_the_list_of_columns() {
    let assert = haul().args(["list", "--columns", "name,colour"]).assert().code(2);
    let messages = stderr(&assert);
    assert!(messages.contains("unknown column 'colour'") && messages.contains("SERIAL"), "{messages}");
    haul().args(["list", "--columns", ""]).assert().code(2);
}

#[test]
fn lines_are_truncated_at_the_width_of_the_terminal() {
    let dir = memory_dir();
    let Some(disk) = disk(dir.path()) else { return };
    let path = disk.path().to_string_lossy().into_owned();
    for columns in [60, 80, 120] {
        let command = haul_command(&["list", "--columns", "path,size,model,serial,content,made-of"]);
        let (shown, status) = Terminal::sized(columns, 24, command).end();
        assert_eq!(status, 0, "{}", shown.text);
        let lines = shown.lines();
        let line = line(&lines, &path);
        assert!(line.ends_with('…') && line.chars().count() <= columns.into(), "{columns} columns: {line}");
    }
}

#[test]
fn list_all_shows_every_field() {
    let dir = memory_dir();
    let Some(disk) = disk(dir.path()) else { return };
    let name = disk.path().to_string_lossy().replace("/dev/", "");
    let text = listed(&["--all"]);
    assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{text}");
    assert!(in_one_line(&text).contains("512-byte blocks"), "{text}");
    for arguments in [["--all", "--json"], ["--columns=name", "--json"], ["--all", "--columns=name"]] {
        haul().arg("list").args(arguments).assert().code(2);
    }
}

#[test]
fn a_mounted_disk_is_listed_with_its_mount_point() {
    let root = Command::new("findmnt").args(["-no", "SOURCE", "/"]).output().ok();
    let Some(source) = root.and_then(|output| String::from_utf8(output.stdout).ok()) else { return };
    let Some(name) = source.trim().strip_prefix("/dev/").filter(|name| Path::new("/sys/block").join(name).exists())
    else {
        eprintln!("skipped: / is not on a whole disk here");
        return;
    };
    assert!(line(&listed(&[]), name).contains("system disk; mounted at /"));
}

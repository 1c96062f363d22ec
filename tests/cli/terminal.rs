//! The output and questions of `haul copy` on a terminal: a pty.
use crate::support::{
    LoopDevice, Terminal, cmp, copy_on_a_terminal, filled, haul_command, memory_dir, on_a_terminal, scratch,
    write_noise,
};
use std::fs;
use std::path::Path;

const MIB: usize = 1 << 20;
const REFUSED: i32 = 3;

/// A file as source and a disk as dest, filled with 0xAA. The device is the first field, so that it is dropped
/// first.
fn file_and_disk(dir: &Path) -> Option<(LoopDevice, std::path::PathBuf)> {
    let (source, disk) = (dir.join("source"), dir.join("disk"));
    write_noise(&source, MIB, 131);
    filled(&disk, MIB, 0xAA);
    Some((LoopDevice::over(&disk)?, source))
}

#[test]
fn the_prompt_shows_both_sides_and_yes_starts_the_copy() {
    let dir = memory_dir();
    let Some((dest, source)) = file_and_disk(dir.path()) else { return };
    let mut session = copy_on_a_terminal(&[], &source, dest.path());
    let question = session.wait_for("Type \"yes\"").text;
    assert!(question.contains("source") && question.contains("/dev/loop"), "{question}");
    assert!(fs::read(dir.path().join("disk")).expect("it exists") == vec![0xAA; MIB], "written before the answer");
    session.answer("yes");
    let (shown, status) = session.end();
    assert_eq!(status, 0, "{}", shown.text);
    cmp(&source, &dest);
}

#[test]
fn any_other_answer_writes_nothing() {
    let dir = memory_dir();
    for answer in ["no", "", "y", "yes please", "YESYES"] {
        let Some((dest, source)) = file_and_disk(dir.path()) else { return };
        let mut session = copy_on_a_terminal(&[], &source, dest.path());
        session.wait_for("Type \"yes\"");
        session.answer(answer);
        let (shown, status) = session.end();
        assert_eq!(status, REFUSED, "{answer:?}: {}", shown.text);
        assert_eq!(fs::read(dir.path().join("disk")).expect("it exists"), vec![0xAA; MIB], "{answer:?}");
    }
}

#[test]
fn end_of_input_at_the_prompt_writes_nothing() {
    let dir = memory_dir();
    let Some((dest, source)) = file_and_disk(dir.path()) else { return };
    let mut session = copy_on_a_terminal(&[], &source, dest.path());
    session.wait_for("Type \"yes\"");
    session.control('d');
    let (shown, status) = session.end();
    assert_eq!(status, REFUSED, "{}", shown.text);
    assert_eq!(fs::read(dir.path().join("disk")).expect("it exists"), vec![0xAA; MIB]);
}

#[test]
fn a_disk_that_is_replaced_during_the_prompt_is_not_written() {
    let dir = memory_dir();
    let Some((mut dest, source)) = file_and_disk(dir.path()) else { return };
    let other = dir.path().join("other");
    filled(&other, MIB, 0xBB);
    let mut session = copy_on_a_terminal(&[], &source, dest.path());
    session.wait_for("Type \"yes\"");
    if dest.replace(&other).is_none() {
        return;
    }
    session.answer("yes");
    let (shown, status) = session.end();
    assert_eq!(status, REFUSED, "{}", shown.text);
    assert!(shown.text.contains("another disk or medium has its name now"), "{}", shown.text);
    for (file, byte) in [("disk", 0xAA), ("other", 0xBB)] {
        assert_eq!(fs::read(dir.path().join(file)).expect("it exists"), vec![byte; MIB], "{file}");
    }
}

#[test]
fn a_refused_copy_has_no_prompt() {
    let dir = memory_dir();
    let Some((dest, source)) = file_and_disk(dir.path()) else { return };
    write_noise(&source, MIB + 1, 132);
    let session = copy_on_a_terminal(&[], &source, dest.path());
    let (shown, status) = session.end();
    assert_eq!(status, REFUSED, "{}", shown.text);
    assert!(!shown.text.contains("Type \"yes\""), "it asked about what it then refused: {}", shown.text);
}

#[test]
fn the_bar_shows_the_progress() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 4 * MIB, 133);
    let options = ["--limit", "4M", "--block-size", "64K"];
    let mut session = copy_on_a_terminal(&options, &source, &dest);
    session.wait_for_match(r"[1-9][0-9]?\s?%");
    session.wait_for_match("[KMG]i?B/s");
    let (shown, status) = session.end();
    assert_eq!(status, 0, "{}", shown.text);
    cmp(&source, &dest);
}

#[test]
fn without_colour_no_escape_sequences_for_colour_are_sent() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 134);
    let mut command = haul_command(&["copy", "--progress", "none"]);
    command.args([&source, &dest]).env("NO_COLOR", "1");
    let session = Terminal::start(command);
    let (shown, status) = session.end();
    assert_eq!(status, 0, "{}", shown.text);
    let sent = String::from_utf8_lossy(&shown.raw);
    assert!(!sent.contains("\u{1b}["), "escape sequences in {sent:?}");
    cmp(&source, &dest);
}

/// The chart of sustained writing on a terminal of this width; empty if it has none.
fn chart_on_a_terminal(new_file: &Path, columns: u16, environment: &[(&str, &str)]) -> String {
    let mut command = haul_command(&["profile", "--write", "--sustained", "64M"]);
    command.arg(new_file).env("LC_ALL", "C.UTF-8").envs(environment.iter().copied());
    let (shown, status) = Terminal::sized(columns, 50, command).end();
    assert_eq!(status, 0, "{}", shown.text);
    let text = shown.lines();
    let chart = text.split_once("rate over time\n").map(|(_, rest)| rest.split_once("\n\n").expect("it ends").0);
    chart.unwrap_or_default().to_owned()
}

#[test]
fn a_chart_is_as_wide_as_the_terminal_up_to_80_columns() {
    let dir = memory_dir();
    for (columns, wide) in [(39, 0), (40, 40), (60, 60), (80, 80), (200, 80)] {
        let chart = chart_on_a_terminal(&dir.path().join("new"), columns, &[]);
        let widest = chart.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert_eq!(widest, wide, "{columns} columns:\n{chart}");
        assert_eq!(chart.contains(['█', '▇', '▄', '▁']), wide > 0, "{chart}");
    }
}

#[test]
fn a_chart_is_ascii_if_block_characters_are_disabled_or_unsupported() {
    let dir = memory_dir();
    for environment in [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "linux"), ("LC_ALL", "C")] {
        let chart = chart_on_a_terminal(&dir.path().join("new"), 80, &[environment]);
        assert!(chart.is_ascii() && chart.contains(" +---"), "{environment:?}:\n{chart}");
    }
}

#[test]
fn a_terminal_on_both_sides_is_refused_under_any_name() {
    let dir = scratch();
    let (source, file) = (dir.path().join("source"), dir.path().join("file"));
    write_noise(&source, 1000, 132);
    let [source, file] = [&source, &file].map(|path| path.to_str().expect("paths of test directories are UTF-8"));
    for (one, other) in [("/dev/tty", "-"), ("/dev/stdout", "/dev/tty"), ("/dev/tty", "/dev/stderr")] {
        let session = on_a_terminal(&["copy", source, one, "--also", file, "--also", other]);
        let (shown, status) = session.end();
        assert_eq!(status, REFUSED, "{}", shown.text);
        let wanted = format!("destination {one} and destination {other} are one terminal");
        assert!(shown.text.contains(&wanted), "{}", shown.text);
        assert!(!Path::new(file).exists(), "{one} {other}: it was refused after the first write");
    }
}

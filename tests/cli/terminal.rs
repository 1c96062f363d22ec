//! What `haul copy` shows and asks on a terminal: a pty, with the binary on both of its ends.
use crate::support::{LoopDevice, cmp, filled, haul_path, memory_dir, scratch, write_noise};
use rexpect::process::WaitStatus;
use rexpect::session::{PtySession, spawn_command};
use std::fs;
use std::path::Path;
use std::process::Command;

const MIB: usize = 1 << 20;
const REFUSED: i32 = 3;
/// In milliseconds: what takes this long hangs.
const HANGS_AFTER: Option<u64> = Some(120_000);

fn on_a_terminal(options: &[&str], source: &Path, dest: &Path) -> PtySession {
    let mut command = Command::new(haul_path());
    command.arg("copy").args(options).args([source, dest]).env("TERM", "xterm").env("COLUMNS", "100");
    spawn_command(command, HANGS_AFTER).expect("there are ptys")
}

/// Everything up to the end, and how it ended.
#[track_caller]
pub fn end(session: &mut PtySession) -> (String, i32) {
    let said = session.exp_eof().expect("it ends");
    match session.process().wait().expect("it is our child") {
        WaitStatus::Exited(_, status) => (said, status),
        other => panic!("{other:?}: {said}"),
    }
}

/// A file as source and a disk as dest, the disk full of 0xAA. The device comes first, so that it goes first.
fn file_and_disk(dir: &Path) -> Option<(LoopDevice, std::path::PathBuf)> {
    let (source, disk) = (dir.join("source"), dir.join("disk"));
    write_noise(&source, MIB, 131);
    filled(&disk, MIB, 0xAA);
    Some((LoopDevice::over(&disk)?, source))
}

#[test]
fn the_question_shows_both_sides_and_a_yes_lets_it_copy() {
    let dir = memory_dir();
    let Some((dest, source)) = file_and_disk(dir.path()) else { return };
    let mut session = on_a_terminal(&[], &source, dest.path());
    let question = session.exp_regex("[Tt]ype yes").expect("it asks").0;
    assert!(question.contains("source") && question.contains("/dev/loop"), "{question}");
    assert!(fs::read(dir.path().join("disk")).expect("it is there") == vec![0xAA; MIB], "written before the answer");
    session.send_line("yes").expect("it listens");
    let (said, status) = end(&mut session);
    assert_eq!(status, 0, "{said}");
    cmp(&source, &dest);
}

#[test]
fn any_other_answer_leaves_the_disk_alone() {
    let dir = memory_dir();
    for answer in ["no", "", "y", "yes please", "YESYES"] {
        let Some((dest, source)) = file_and_disk(dir.path()) else { return };
        let mut session = on_a_terminal(&[], &source, dest.path());
        session.exp_regex("[Tt]ype yes").expect("it asks");
        session.send_line(answer).expect("it listens");
        let (said, status) = end(&mut session);
        assert_eq!(status, REFUSED, "{answer:?}: {said}");
        assert_eq!(fs::read(dir.path().join("disk")).expect("it is there"), vec![0xAA; MIB], "{answer:?}");
    }
}

#[test]
fn the_end_of_the_input_is_no_yes() {
    let dir = memory_dir();
    let Some((dest, source)) = file_and_disk(dir.path()) else { return };
    let mut session = on_a_terminal(&[], &source, dest.path());
    session.exp_regex("[Tt]ype yes").expect("it asks");
    session.send_control('d').expect("it listens");
    let (said, status) = end(&mut session);
    assert_eq!(status, REFUSED, "{said}");
    assert_eq!(fs::read(dir.path().join("disk")).expect("it is there"), vec![0xAA; MIB]);
}

#[test]
fn a_refusal_comes_without_a_question() {
    let dir = memory_dir();
    let Some((dest, source)) = file_and_disk(dir.path()) else { return };
    write_noise(&source, MIB + 1, 132);
    let mut session = on_a_terminal(&[], &source, dest.path());
    let (said, status) = end(&mut session);
    assert_eq!(status, REFUSED, "{said}");
    assert!(!said.contains("ype yes"), "it asked about what it then refused:\n{said}");
}

#[test]
fn a_bar_shows_how_far_it_is() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 4 * MIB, 133);
    let options = ["--limit", "4M", "--block-size", "64K"];
    let mut session = on_a_terminal(&options, &source, &dest);
    session.exp_regex("[1-9][0-9]? ?%").expect("the bar shows percent");
    session.exp_regex("[KMG]i?B/s").expect("the bar shows a rate");
    let (said, status) = end(&mut session);
    assert_eq!(status, 0, "{said}");
    cmp(&source, &dest);
}

#[test]
fn without_colours_none_are_sent() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 134);
    let mut command = Command::new(haul_path());
    command.args(["copy", "--progress", "none"]).args([&source, &dest]).env("NO_COLOR", "1").env("TERM", "xterm");
    let mut session = spawn_command(command, HANGS_AFTER).expect("there are ptys");
    let (said, status) = end(&mut session);
    assert_eq!(status, 0, "{said}");
    assert!(!said.contains("\u{1b}["), "escape sequences in {said:?}");
    cmp(&source, &dest);
}

/// The chart of sustained writing, as a terminal of so many columns shows it; empty where it has none.
fn chart_on_a_terminal(new_file: &Path, columns: u32, environment: &[(&str, &str)]) -> String {
    let mut command = Command::new("sh");
    let script = format!("stty cols {columns} rows 50; exec \"$@\"");
    command.args(["-c", &script, "sh"]).arg(haul_path());
    command.args(["profile", "--write", "--sustained", "64M"]).arg(new_file);
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    command.envs(environment.iter().copied());
    let (said, status) = end(&mut spawn_command(command, HANGS_AFTER).expect("there are ptys"));
    assert_eq!(status, 0, "{said}");
    // rexpect makes a character of each byte.
    let bytes: Vec<u8> = said.chars().map(|byte| byte as u8).collect();
    let text = anstream::adapter::strip_bytes(&bytes).into_vec();
    let text = String::from_utf8(text).expect("it is text").replace('\r', "");
    let chart = text.split_once("rate over time\n").map(|(_, rest)| rest.split_once("\n\n").expect("it ends").0);
    chart.unwrap_or_default().to_owned()
}

#[test]
fn a_chart_is_as_wide_as_the_terminal_and_never_wider_than_eighty_columns() {
    let dir = memory_dir();
    for (columns, wide) in [(39, 0), (40, 40), (60, 60), (80, 80), (200, 80)] {
        let chart = chart_on_a_terminal(&dir.path().join("new"), columns, &[]);
        let widest = chart.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert_eq!(widest, wide, "{columns} columns:\n{chart}");
        assert_eq!(chart.contains(['█', '▇', '▄', '▁']), wide > 0, "{chart}");
    }
}

#[test]
fn a_chart_is_plain_where_blocks_are_not_wanted_or_cannot_be_shown() {
    let dir = memory_dir();
    for environment in [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "linux"), ("LC_ALL", "C")] {
        let chart = chart_on_a_terminal(&dir.path().join("new"), 80, &[environment]);
        assert!(chart.is_ascii() && chart.contains(" +---"), "{environment:?}:\n{chart}");
    }
}

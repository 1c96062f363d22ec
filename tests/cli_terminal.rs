//! What a person sees who sits at a terminal: the bar, the question before a device is overwritten, ^C.
mod support;

use rexpect::session::{PtySession, spawn_command};
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::process::Command;
use support::{LoopDevice, cmp, filled, memory_dir, scratch, write_noise};

const MIB: usize = 1 << 20;
/// Patience for a busy machine; nothing is judged by it.
const TIMEOUT_MS: Option<u64> = Some(60_000);

fn name(path: &Path) -> &str {
    path.to_str().expect("scratch names are text")
}

/// haul on a terminal of 80 columns.
fn at_terminal(arguments: &[&str], environment: &[(&str, &str)]) -> PtySession {
    let mut haul = Command::new("sh");
    let script = r#"stty cols 80 rows 24; exec "$@""#;
    haul.args(["-c", script, "sh", env!("CARGO_BIN_EXE_haul")]).args(arguments);
    haul.env("TERM", "xterm-256color").env_remove("NO_COLOR").envs(environment.iter().copied());
    spawn_command(haul, TIMEOUT_MS).expect("there are pseudo terminals")
}

/// How it ended, as nix prints it, whose type is not to be named here: `Exited(Pid(1), 0)`.
fn ending(session: &PtySession) -> String {
    format!("{:?}", session.process().wait().expect("it can be waited for"))
}

fn exits_with(session: &PtySession, expected: i32) {
    let ending = ending(session);
    assert!(ending.starts_with("Exited(") && ending.ends_with(&format!(", {expected})")), "{ending}");
}

/// Every state that the screen went through: what the terminal shows after each piece of output.
fn screens(shown: &str) -> Vec<String> {
    // rexpect makes a character of each byte.
    let bytes: Vec<u8> = shown.chars().map(|byte| byte as u8).collect();
    let lines = |count| NonZero::new(count).expect("a terminal has a size");
    let mut terminal = vt100::Parser::new(lines(24), lines(80), 0);
    let mut screens = Vec::new();
    for piece in bytes.split_inclusive(|&byte| byte == b'\r') {
        terminal.process(piece);
        screens.push(terminal.screen().contents());
    }
    screens
}

#[test]
fn a_bar_moves_and_fits_the_line_and_the_report_follows() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 6 * MIB, 11);
    let mut session = at_terminal(&["copy", "--limit", "4M", "--block-size", "64K", name(&source), name(&dest)], &[]);
    let shown = session.exp_string("durable").expect("the report comes");
    session.exp_eof().expect("it ends");
    exits_with(&session, 0);
    cmp(&source, &dest);
    let screens = screens(&shown);
    let bars = |screen: &String| screen.lines().filter(|line| line.contains('%')).count();
    assert!(screens.iter().filter(|screen| bars(screen) == 1).count() >= 3, "the bar hardly moved:\n{screens:#?}");
    assert!(screens.iter().all(|screen| bars(screen) <= 1), "a bar was left behind:\n{screens:#?}");
    // The bar has two lines; a third would be what wrapped.
    let lines = |screen: &String| screen.lines().filter(|line| !line.trim().is_empty()).count();
    let bars_only = screens.iter().filter(|screen| bars(screen) == 1);
    assert!(bars_only.clone().all(|screen| lines(screen) <= 2), "a line that wraps:\n{screens:#?}");
    assert!(screens.iter().any(|screen| screen.contains(" left")), "no time left is told:\n{screens:#?}");
}

#[test]
fn no_color_gives_no_colour() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 12);
    for (environment, coloured) in [(&[][..], true), (&[("NO_COLOR", "1")][..], false)] {
        let mut session = at_terminal(&["copy", name(&source), name(&dest)], environment);
        let shown = session.exp_eof().expect("it ends");
        // Select Graphic Rendition ends with m; moving the cursor for the bar does not.
        let colour = shown.split("\u{1b}[").skip(1).any(|after| {
            after.find(|end: char| end.is_ascii_alphabetic()).is_some_and(|at| after[at..].starts_with('m') && at > 0)
        });
        assert_eq!(colour, coloured, "{shown:?}");
    }
}

#[test]
fn ctrl_c_ends_in_order_and_tells_how_to_continue() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 24 * MIB, 13);
    let mut session = at_terminal(&["copy", "--limit", "2M", "--block-size", "64K", name(&source), name(&dest)], &[]);
    session.exp_string("%").expect("a bar comes");
    session.send_control('c').expect("it can be typed");
    session.exp_string("interrupted").expect("it says so");
    session.exp_string("--skip").expect("it tells how to continue");
    let ending = ending(&session);
    assert!(ending.starts_with("Signaled(") && ending.contains("SIGINT"), "{ending}");
    assert!(fs::metadata(&dest).expect("it was made").len() < 24 * MIB as u64);
}

#[test]
fn a_device_is_only_overwritten_after_a_yes() {
    let dir = memory_dir();
    let (source, disk) = (dir.path().join("source"), dir.path().join("disk"));
    write_noise(&source, 2 * MIB, 14);
    filled(&disk, 2 * MIB, 0xAA);
    let before = fs::read(&disk).expect("just made");
    let Some(device) = LoopDevice::over(&disk) else { return };
    for (answer, expected) in [("no", 3), ("", 3), ("y", 3), ("yes", 0)] {
        let mut session = at_terminal(&["copy", name(&source), name(device.path())], &[]);
        let question = session.exp_string("yes").expect("it asks");
        assert!(question.contains(name(device.path())), "{question}");
        assert!(question.to_lowercase().contains("erase"), "{question}");
        session.send_line(answer).expect("it can be typed");
        session.exp_eof().expect("it ends");
        exits_with(&session, expected);
        let now = fs::read(device.path()).expect("it is there");
        assert_eq!(now == before, expected == 3, "after the answer {answer:?}");
    }
    cmp(&source, device.path());
}

//! The bar, as a terminal of 80 columns shows it, and ^C.
use crate::support::{Shown, Terminal, cmp, haul_command, name, on_a_terminal, scratch, write_noise};
use std::fs;
use std::num::NonZero;

const MIB: usize = 1 << 20;

/// Every state of the screen of 80 columns: the text on the terminal after each piece of output.
fn screens(shown: &Shown) -> Vec<String> {
    screens_of(shown, 80)
}

/// The same with this number of columns.
fn screens_of(shown: &Shown, columns: u16) -> Vec<String> {
    let lines = |count| NonZero::new(count).expect("a terminal has a size");
    let mut terminal = vt100::Parser::new(lines(24), lines(columns), 0);
    let mut screens = Vec::new();
    for piece in shown.raw.split_inclusive(|&byte| byte == b'\r') {
        terminal.process(piece);
        // The terminal joins a line that fills its width with the next one.
        screens.push(terminal.screen().rows(0, columns).map(|row| row.trim_end().to_owned() + "\n").collect());
    }
    screens
}

#[test]
fn the_bar_advances_within_its_line_and_the_report_follows() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 6 * MIB, 11);
    let mut session = on_a_terminal(&["copy", "--limit", "4M", "--block-size", "64K", name(&source), name(&dest)]);
    let shown = session.wait_for("durable");
    assert_eq!(session.end().1, 0);
    cmp(&source, &dest);
    let screens = screens(&shown);
    let bars = |screen: &String| screen.lines().filter(|line| line.contains('%')).count();
    assert!(screens.iter().filter(|screen| bars(screen) == 1).count() >= 3, "the bar hardly moved:\n{screens:#?}");
    assert!(screens.iter().all(|screen| bars(screen) <= 1), "a bar was left behind:\n{screens:#?}");
    // The bar has two lines; a third would be a wrapped one.
    let lines = |screen: &String| screen.lines().filter(|line| !line.trim().is_empty()).count();
    let bars_only = screens.iter().filter(|screen| bars(screen) == 1);
    assert!(bars_only.clone().all(|screen| lines(screen) <= 2), "a line that wraps:\n{screens:#?}");
    assert!(screens.iter().any(|screen| screen.contains(" left")), "no remaining time is shown:\n{screens:#?}");
}

#[test]
fn ctrl_c_stops_the_copy_and_the_report_has_the_resume_command() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 24 * MIB, 13);
    let mut session = on_a_terminal(&["copy", "--limit", "2M", "--block-size", "64K", name(&source), name(&dest)]);
    // The bar is shown before the first block; without one there is nothing to resume.
    session.wait_for_match("[1-9] %");
    session.control('c');
    session.wait_for("interrupted");
    session.wait_for("--resume");
    session.end_by(libc::SIGINT);
    assert!(fs::metadata(&dest).expect("it was created").len() < 24 * MIB as u64);
}

#[test]
fn ctrl_c_clears_the_bar_at_every_width() {
    let dir = scratch();
    for columns in [30, 60, 80, 120, 200] {
        let [source, dest] = ["source", "dest"].map(|file| dir.path().join(format!("{file}{columns}")));
        write_noise(&source, 24 * MIB, 14);
        for times in [1, 2] {
            let words = ["copy", "--restart", "--limit", "2M", "-b64K", "--no-flush", name(&source), name(&dest)];
            let mut session = Terminal::sized(columns, 24, haul_command(&words));
            let mut shown = session.wait_for_match(r"[1-9] %");
            (0..times).for_each(|_| session.control('c'));
            shown.raw.extend(session.end_by(libc::SIGINT).raw);
            let last = screens_of(&shown, columns).pop().expect("there was one");
            let bars: Vec<&str> =
                last.lines().filter(|line| line.contains(['━', '─']) || line.contains(" left")).collect();
            assert!(bars.is_empty(), "{columns} columns, {times} times: {bars:?} in\n{last}");
        }
    }
}

#[test]
fn each_of_several_dests_has_a_row_below_the_bar() {
    let dir = scratch();
    let [source, one, two] = ["source", "one", "two"].map(|name| dir.path().join(name));
    write_noise(&source, 6 * MIB, 12);
    let ways = ["copy", "--verify", "--limit", "4M", "--block-size", "64K", "--manifest-block", "64K"];
    let words = [&ways[..], &[name(&source), name(&one), "--also", name(&two)]].concat();
    let mut session = on_a_terminal(&words);
    let shown = session.wait_for("durable, verified");
    assert_eq!(session.end().1, 0);
    let screens = screens(&shown);
    let rows = |screen: &String, word: &str| {
        let row = |line: &&str| (line.contains("/one ") || line.contains("/two ")) && line.contains('%');
        screen.lines().filter(row).filter(|line| line.contains(word)).count()
    };
    assert!(screens.iter().any(|screen| rows(screen, "") == 2 && rows(screen, "back") == 0), "{screens:#?}");
    assert!(screens.iter().any(|screen| rows(screen, "reading back") == 2), "{screens:#?}");
    assert!(screens.iter().all(|screen| rows(screen, "") <= 2), "a row was left behind: {screens:#?}");
}

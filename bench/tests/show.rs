//! What people see of results, against the made-up ones in `fixtures/results.json`.
use haul_bench::result::Results;
use haul_bench::show;
use std::io::Write;

fn fixture() -> Results {
    serde_json::from_str(include_str!("fixtures/results.json")).expect("the fixture is not what result.rs says")
}

/// What a pipe, or a terminal under NO_COLOR, is given.
fn plain(results: &Results, width: usize) -> String {
    let mut out = anstream::StripStream::new(Vec::new());
    show::terminal(results, width, &mut out).unwrap();
    out.flush().unwrap();
    String::from_utf8(out.into_inner()).unwrap()
}

#[test]
fn the_terminal_at_80_columns() {
    insta::assert_snapshot!(plain(&fixture(), 80));
}

#[test]
fn the_terminal_at_120_columns() {
    insta::assert_snapshot!(plain(&fixture(), 120));
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    for width in [80, 100, 120] {
        for line in plain(&fixture(), width).lines() {
            assert!(line.chars().count() <= width, "{} columns, not {width}: {line}", line.chars().count());
            assert_eq!(line, line.trim_end());
        }
    }
}

#[test]
fn colours_are_all_that_a_pipe_misses() {
    let mut out = Vec::new();
    show::terminal(&fixture(), 100, &mut out).unwrap();
    let coloured = String::from_utf8(out).unwrap();
    assert!(coloured.contains("\u{1b}["));
    assert!(!plain(&fixture(), 100).contains('\u{1b}'));
}

#[test]
fn what_a_peer_says_cannot_steer_the_terminal() {
    let mut results = fixture();
    let evil = "\u{1b}]0;owned\u{7}\r\n";
    results.beds[0].contenders[1].name.push_str(evil);
    results.beds[0].contenders[2].runs[0].verdict = haul_bench::result::Verdict::Failed { why: evil.into() };
    results.missing[0].why.push_str(evil);
    results.machine.processor.push_str(evil);
    let mut out = Vec::new();
    show::terminal(&results, 120, &mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    assert!(!shown.contains("\u{1b}]") && !shown.contains('\u{7}') && !shown.contains('\r'));
    assert_eq!(shown.matches("\\u{1b}]0;owned").count(), 4 + claims_that_name_it(&shown));
}

/// The claims may name the same peer again.
fn claims_that_name_it(shown: &str) -> usize {
    shown.matches("against dd bs=64k\\u{1b}").count() + shown.matches("others: dd bs=64k\\u{1b}").count()
}

//! Text on terminals: wrapped to their width between words, with colour if enabled.
use crate::support::{Terminal, haul, haul_command, scratch, write_noise};
use std::path::Path;

const MIB: usize = 1 << 20;

/// The output of haul on a terminal with this number of columns, line by line.
fn shown(columns: u16, words: &[&str], paths: &[&Path]) -> String {
    let mut command = haul_command(words);
    command.args(paths);
    Terminal::sized(columns, 24, command).end().0.lines()
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or(0)
}

#[test]
fn reports_plans_and_errors_are_as_wide_as_the_terminal() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 4 * MIB, 521);
    let missing = dir.path().join("missing");
    let paths = [source.as_path(), dest.as_path()];
    let path_columns = dest.to_str().expect("paths of test directories are UTF-8").len() + 16;
    for columns in [60, 80, 120, 200] {
        let texts = [
            shown(columns, &["copy", "-v", "--progress", "none"], &paths),
            shown(columns, &["copy", "-n"], &paths),
            shown(columns, &["verify", "--progress", "none"], &paths),
            shown(columns, &["copy", "--expect", "serial=NOT-THIS-ONE,model=NOR-THIS"], &paths),
            shown(columns, &["copy"], &[&missing, &dest]),
            shown(columns, &["copy", "--count", "5Q"], &paths),
        ];
        for text in texts {
            // A path that is too long is not split.
            let most = usize::from(columns).max(path_columns);
            assert!(widest(&text) <= most, "{columns} columns, {} in\n{text}", widest(&text));
        }
    }
    let full = shown(200, &["copy", "-v", "--progress", "none"], &paths);
    assert!(widest(&full) > 80, "a wide terminal is not used:\n{full}");
}

#[test]
fn a_table_has_as_many_columns_as_fit() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 16 * MIB, 524);
    for (columns, has_p99) in [(60, false), (80, true)] {
        let text = shown(columns, &["tune", "--time", "1"], &[&source]);
        let heading = text.lines().find(|line| line.contains("way  ")).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(heading.contains("p99"), has_p99, "{columns} columns:\n{text}");
        assert!(heading.contains("rate") && heading.contains("IOPS"), "{heading}");
        let rows = text.lines().filter(|line| line.starts_with("direct") || line.starts_with("buffered "));
        assert!(rows.clone().count() > 3 && rows.clone().all(|row| row.chars().count() <= columns.into()), "{text}");
    }
}

#[test]
fn help_is_as_wide_as_the_terminal_and_no_word_of_it_is_broken() {
    for words in [&["-h"][..], &["copy", "-h"], &["--help"], &["copy", "--help"], &["verify", "--help"]] {
        let broad = shown(100, words, &[]);
        let narrow = shown(60, words, &[]);
        assert!(widest(&narrow) <= 60, "{words:?}: {} in\n{narrow}", widest(&narrow));
        for word in narrow.split_whitespace() {
            assert!(broad.contains(word), "{words:?}: {word:?} is part of a word");
        }
    }
}

#[test]
fn messages_off_a_terminal_have_one_line_each() {
    let dir = scratch();
    let missing = dir.path().join(format!("missing{}", "-".repeat(100)));
    let output = haul().args(["copy"]).args([&missing, &dir.path().join("dest")]).output().expect("haul runs");
    let messages = String::from_utf8(output.stderr).expect("haul's output is UTF-8");
    let first = messages.lines().next().expect("there is an error");
    assert!(first.contains("---") && first.contains("No such file"), "{messages}");
}

#[test]
fn colour_follows_the_option_and_the_environment() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 522);
    let is_coloured = |variables: &[(&str, &str)], on_terminal: bool| {
        let mut command = haul_command(&["copy"]);
        command.args([&source, &dest]).envs(variables.iter().copied());
        let raw = match on_terminal {
            true => Terminal::sized(80, 24, command).end().0.raw,
            false => {
                for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
                    if variables.iter().all(|(set, _)| *set != name) {
                        command.env_remove(name);
                    }
                }
                command.output().expect("haul runs").stderr
            }
        };
        String::from_utf8_lossy(&raw).contains("\u{1b}[1m")
    };
    assert!(is_coloured(&[], true));
    for variable in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
        assert!(!is_coloured(&[variable], true), "{variable:?}");
    }
    assert!(!is_coloured(&[], false));
    assert!(is_coloured(&[("CLICOLOR_FORCE", "1")], false));
    assert!(!is_coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false));
}

#[test]
fn a_dumb_terminal_receives_lines_without_escape_sequences() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 4 * MIB, 523);
    let mut command = haul_command(&["copy", "--limit", "2M", "-b64K"]);
    command.args([&source, &dest]).env("TERM", "dumb");
    let (shown, status) = Terminal::sized(80, 24, command).end();
    assert_eq!(status, 0, "{}", shown.text);
    assert!(!shown.raw.contains(&0x1b), "{:?}", shown.lines());
    assert!(shown.lines().lines().any(|line| line.starts_with("haul: ") && line.contains('%')), "{}", shown.lines());
}

//! `haul help` and `haul version`, and the list of all commands in help.
use crate::support::{self, haul};

fn printed(words: &[&str]) -> String {
    let assert = haul().args(words).assert().success();
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

#[test]
fn help_and_version_are_commands() {
    assert_eq!(printed(&["version"]), printed(&["--version"]));
    assert_eq!(printed(&["help"]), printed(&["--help"]));
    let commands = [
        &["copy"][..],
        &["verify"],
        &["tune"],
        &["list"],
        &["pattern", "write"],
        &["manifest", "diff"],
        &["dd"],
        &["sg_dd"],
        &["sgm_dd"],
    ];
    for command in commands {
        let asked = printed(&[&["help"], command].concat());
        assert_eq!(asked, printed(&[command, &["--help"]].concat()), "{command:?}");
        assert!(asked.contains("Usage: ") && asked.contains(command[0]), "{asked}");
    }
    let assert = haul().args(["help", "nosuch"]).assert().code(2);
    assert!(support::stderr(&assert).contains("'nosuch'"), "{}", support::stderr(&assert));
}

#[test]
fn help_names_every_command_and_the_fronts() {
    for text in [printed(&["-h"]), printed(&["--help"])] {
        let named = |name: &str| text.lines().any(|line| line.trim_start().starts_with(&format!("{name} ")));
        let names =
            "copy rescue map verify manifest pattern journal tune profile list dd sg_dd sgp_dd sgm_dd help version";
        for name in names.split(' ') {
            assert!(named(name), "{name} is not in\n{text}");
        }
        assert!(!named("generate"), "generate is for packages:\n{text}");
    }
}

#[test]
fn short_help_fits_one_screen_and_refers_to_the_full_help() {
    for (command, lines) in [("copy", 23), ("verify", 23), ("pattern write", 23)] {
        let words: Vec<&str> = command.split(' ').chain(["-h"]).collect();
        let text = printed(&words);
        assert!(text.lines().count() <= lines, "{}:\n{text}", text.lines().count());
        assert!(text.contains(&format!("More, see 'haul {command} --help':")), "{text}");
        assert!(text.contains("--block-size") && !text.contains("--units"), "{text}");
    }
}

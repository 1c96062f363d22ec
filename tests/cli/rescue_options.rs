//! The table of the options of GNU ddrescue in haul-rescue(1): complete, and without options that do not exist.
use crate::support::{has, haul};
use std::collections::BTreeSet;
use std::process::Command;

/// The long options in this text: `--sector-size`.
fn long_options(text: &str) -> BTreeSet<String> {
    let starts = text.match_indices("--").filter(|(at, _)| !text[..*at].ends_with('-'));
    let name = |(at, _): (usize, &str)| {
        let rest = &text[at + 2..];
        let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-').unwrap_or(rest.len());
        rest[..end].trim_end_matches('-').to_owned()
    };
    starts.map(name).filter(|name| !name.is_empty()).collect()
}

fn printed(words: &[&str]) -> String {
    String::from_utf8(haul().args(words).assert().success().get_output().stdout.clone()).unwrap()
}

/// Tags and descriptions of the table.
fn table() -> Vec<(String, String)> {
    let page = printed(&["generate", "man-rescue"]).replace("\\-", "-").replace("\\fB", "").replace("\\fR", "");
    let (_, rest) = page.split_once("GNU DDRESCUE OPTIONS").expect("the page has the table");
    let table = rest.split("\n.SH").next().unwrap();
    let entries = table.split("\n.TP").skip(1);
    let entry = |entry: &str| entry.trim_start().split_once('\n').map(|(tag, text)| (tag.to_owned(), text.to_owned()));
    entries.map(|text| entry(text).unwrap_or_else(|| panic!("no description: {text}"))).collect()
}

#[test]
fn every_option_of_ddrescue_has_an_equivalent_or_a_reason() {
    let table = table();
    let tags: BTreeSet<String> = table.iter().flat_map(|(tag, _)| long_options(tag)).collect();
    let ours = long_options(&printed(&["rescue", "--help"]));
    for (tag, text) in &table {
        let missing: Vec<String> = long_options(text).difference(&ours).cloned().collect();
        assert!(missing.is_empty() && !text.trim().is_empty(), "{tag} names options that do not exist: {missing:?}");
    }
    if !has("ddrescue") {
        return;
    }
    let help = Command::new("ddrescue").arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, options) = help.split_once("Options:").unwrap();
    // The lines of options; what follows them has none.
    let theirs: BTreeSet<String> = options
        .lines()
        .filter(|line| line.trim_start().starts_with('-'))
        .flat_map(|line| long_options(line).into_iter().take(1))
        .filter(|name| !["help", "version"].contains(&name.as_str()))
        .collect();
    assert!(theirs.len() > 50, "{theirs:?}");
    let missing: Vec<&String> = theirs.difference(&tags).collect();
    assert!(missing.is_empty(), "options of ddrescue that the table lacks: {missing:?}");
    let unknown: Vec<&String> = tags.difference(&theirs).collect();
    assert!(unknown.is_empty(), "options in the table that ddrescue does not have: {unknown:?}");
}

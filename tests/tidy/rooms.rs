//! The permitted imports.
use super::source::{Source, words_at};

/// Each room with the rooms that it may import. `docs/developer/design.md` has the same table.
pub const ROOMS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("sys", &[]),
    ("files", &[]),
    ("ledger", &["core", "files"]),
    ("hold", &["core", "sys"]),
    ("disks", &["core", "files", "hold", "sys"]),
    ("engine", &["core", "sys"]),
    ("measure", &["core", "engine", "files", "sys"]),
    ("plan", &["core"]),
    ("job", &["core", "sys", "files", "ledger", "hold", "disks", "engine", "measure", "plan"]),
    ("cli", &["core", "plan"]),
    ("report", &["core", "measure", "plan"]),
    ("apps", &["core", "sys", "files", "ledger", "hold", "disks", "engine", "measure", "plan", "job", "cli", "report"]),
    // Exported by the root of the library.
    ("main", &["Exit", "die_by", "run"]),
];

/// Features in a directory below `apps`, which only the list of commands may name.
pub const FEATURES: &[&str] = &["fronts", "measuring", "pattern"];

/// The list of commands.
const COMMAND_LIST: &[&str] = &["src/apps/mod.rs", "src/apps/commands.rs"];

/// Uses of a feature outside its own directory.
pub fn features(source: &Source) -> Vec<String> {
    if source.room().is_none() || COMMAND_LIST.iter().any(|place| source.path.starts_with(place)) {
        return Vec::new();
    }
    let (text, lines) = source.joined();
    // In the directory of a feature, `super` is a module of the feature.
    let in_feature = FEATURES.iter().any(|feature| source.path.starts_with(&format!("src/apps/{feature}/")));
    let roots: &[&str] = if in_feature { &["apps"] } else { &["apps", "super"] };
    let mut found = Vec::new();
    for feature in FEATURES.iter().filter(|feature| !source.path.starts_with(&format!("src/apps/{feature}/"))) {
        let outside = words_at(&text, feature).filter(|&at| is_below(&text[..at], roots)).map(|at| lines[at]);
        let outside = outside.filter(|&line| !source.test[line]);
        found.extend(outside.map(|line| source.at(line, &format!("{feature} is a feature of its own"))));
    }
    found
}

/// Whether a name after `before` is below a root: `root::name`, or in a group after `root::`.
fn is_below(before: &str, roots: &[&str]) -> bool {
    let before = before.trim_end();
    let group = before.rfind("::{").filter(|&at| !before[at..].contains(['}', ';']));
    let path = group.map_or(before.strip_suffix("::"), |at| Some(&before[..at]));
    path.is_some_and(|path| roots.iter().any(|root| path.trim_end().ends_with(root)))
}

/// Imports of other rooms that are not in the table; test code may import anything.
pub fn imports(source: &Source) -> Vec<String> {
    let Some(room) = source.room().filter(|&room| room != "lib") else { return Vec::new() };
    let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
        return vec![source.at(0, &format!("room {room} is not in the table of tests/tidy/rooms.rs"))];
    };
    let forbidden = |(line, other): (usize, String)| {
        let fine = source.test[line] || other == room || allowed.contains(&other.as_str());
        (!fine).then(|| source.at(line, &format!("{room} must not import {other}")))
    };
    crossings(source).into_iter().filter_map(forbidden).collect()
}

/// Every path through the root of the crate: its line, and the room.
fn crossings(source: &Source) -> Vec<(usize, String)> {
    let (text, lines) = source.joined();
    let mut found = Vec::new();
    let root = if source.room() == Some("main") { "haul" } else { "crate" };
    for at in words_at(&text, root) {
        entered(&text, at + root.len(), &mut |at, room| found.push((lines[at], room)));
    }
    for at in words_at(&text, "super") {
        if text[..at].trim_end().ends_with("::") {
            continue;
        }
        let (supers, end) = supers(&text, at);
        if supers >= depth(source, &text, at) {
            entered(&text, end, &mut |at, room| found.push((lines[at], room)));
        }
    }
    found
}

/// The number of consecutive `super` from `at`, and the offset after the last one.
fn supers(text: &str, at: usize) -> (usize, usize) {
    let mut count = 1;
    let mut end = at + "super".len();
    while let Some(rest) = path_rest(text, end).filter(|&rest| text[rest..].starts_with("super")) {
        count += 1;
        end = rest + "super".len();
    }
    (count, end)
}

/// The module depth of the code at `at`: that of its file, and of modules opened in it.
fn depth(source: &Source, text: &str, at: usize) -> usize {
    let rest = source.path.trim_start_matches("src/").trim_end_matches(".rs");
    let by_file = rest.split('/').filter(|part| !matches!(*part, "mod" | "main" | "lib")).count();
    let opened = words_at(text, "mod").filter(|&start| start < at).filter(|&start| {
        let end = super::source::item_end(text, start);
        text.as_bytes()[end] == b'}' && end > at
    });
    by_file + opened.count()
}

/// The offset at which the path continues after `::` at `at`.
fn path_rest(text: &str, at: usize) -> Option<usize> {
    let rest = text[at..].trim_start().strip_prefix("::")?.trim_start();
    Some(text.len() - rest.len())
}

/// Calls `enter` with each name after `::` at `at`: one, or those of a group.
fn entered(text: &str, at: usize, enter: &mut dyn FnMut(usize, String)) {
    let Some(start) = path_rest(text, at) else { return };
    if !text[start..].starts_with('{') {
        enter(start, first_name(&text[start..]));
        return;
    }
    let mut depth = 0;
    let mut fresh = false;
    for (at, c) in text[start..].char_indices().map(|(at, c)| (start + at, c)) {
        match c {
            '{' => (depth, fresh) = (depth + 1, depth == 0),
            '}' => depth -= 1,
            ',' if depth == 1 => fresh = true,
            c if fresh && !c.is_whitespace() => {
                enter(at, first_name(&text[at..]));
                fresh = false;
            }
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

/// The name at the start of `text`, or its first character: `*`.
fn first_name(text: &str) -> String {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.is_empty() { text.chars().take(1).collect() } else { name }
}

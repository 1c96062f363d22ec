//! Rules about documents: every link leads to a file and, if it names one, to a heading in it.
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// Directories without documents of this project.
const SKIPPED: &[&str] = &["target", ".git", "results"];

/// The Markdown files below `root`, by their path relative to it, with their text.
pub fn documents(root: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let (mut found, mut ahead) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = ahead.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            if entry.file_type()?.is_dir() {
                if !SKIPPED.iter().any(|skipped| name == *skipped) {
                    ahead.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path)?;
                found.push((path.strip_prefix(root).expect("it is below the root").to_owned(), text));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Broken links in `documents`; `exists` checks files and directories of the repository.
pub fn broken(documents: &[(PathBuf, String)], exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in documents {
        for target in targets(text) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = if file.is_empty() { path.clone() } else { joined(path, file) };
            if !exists(&to) {
                found.push(format!("{}: {target} leads to no file", path.display()));
                continue;
            }
            let linked = documents.iter().find(|(document, _)| *document == to);
            let is_missing = |(_, text): &(PathBuf, String)| !headings(text).contains(anchor);
            if !anchor.is_empty() && linked.is_none_or(is_missing) {
                found.push(format!("{}: {target} leads to no heading", path.display()));
            }
        }
    }
    found
}

/// Targets of the links in `text` within the repository. Code between backticks has none.
fn targets(text: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let before = &line[..at];
            let target = line[at + 2..].split([')', ' ']).next().unwrap_or_default();
            let is_code = before.matches('`').count() % 2 == 1;
            if !is_code && !target.contains("://") && !target.starts_with("mailto:") {
                targets.push(target);
            }
        }
        // A reference: [name]: target
        let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        targets.extend(definition.map(|(_, target)| target.trim()).filter(|target| !target.contains("://")));
    }
    targets
}

/// The anchors of the headings in `text`, as GitHub makes them.
fn headings(text: &str) -> BTreeSet<String> {
    let heading = |line: &str| {
        let title = line.trim_start_matches('#');
        let kept = title.trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        line.starts_with('#').then(|| kept.map(|c| if c == ' ' { '-' } else { c }).collect())
    };
    text.lines().filter_map(heading).collect()
}

/// `target` relative to the directory of the document `path`, without `..`.
fn joined(path: &Path, target: &str) -> PathBuf {
    let mut to = path.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                to.pop();
            }
            Component::Normal(name) => to.push(name),
            _ => {}
        }
    }
    to
}

#[test]
fn broken_links_are_found_and_valid_ones_pass() {
    let document = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
    let exists = |path: &Path| ["README.md", "docs", "docs/a.md"].iter().any(|known| path == Path::new(known));
    let check = |text: &str| {
        let other = document("README.md", "# A `b` of c, d-e\n");
        broken(&[other, document("docs/a.md", text)], exists).len()
    };
    let good = "[a](../README.md) [b](../README.md#a-b-of-c-d-e) [c](https://x.y/z) `[d](e)`\n```\n[f](g)\n```\n\
                ![h](../docs) [i]\n\n[i]: a.md\n";
    assert_eq!(check(good), 0);
    for bad in ["[a](b.md)", "[a](../README.md#b)", "[a](#b)", "[a](README.md)", "![a](b.svg)", "[i]: b.md"] {
        assert_eq!(check(bad), 1, "{bad}");
    }
}

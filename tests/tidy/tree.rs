//! Rules about the whole tree: which files exist, and whether documents, manifest and Makefile agree.
use super::source::{Source, item_end, words_at};
use std::collections::{BTreeMap, BTreeSet};
use std::{fs, path::Path, sync::OnceLock};

/// The text files of the repository, by their path relative to its root.
pub struct Tree {
    pub files: BTreeMap<String, String>,
    scanned: OnceLock<Vec<Source>>,
}

impl From<BTreeMap<String, String>> for Tree {
    fn from(files: BTreeMap<String, String>) -> Self {
        Self { files, scanned: OnceLock::new() }
    }
}

impl Tree {
    pub fn load(root: &Path) -> Self {
        let mut tree = Tree::from(BTreeMap::new());
        for name in ["bench/src", "bench/tests", "bench/modelled-disk/src", "bench/modelled-disk/tests"] {
            tree.add_below(root, &root.join(name));
        }
        for name in ["src", "tests", "benches", "examples", "fuzz/fuzz_targets", "docs", "scripts", ".ci", "contrib"] {
            tree.add_below(root, &root.join(name));
        }
        for name in ["Makefile", "Cargo.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
            tree.add(root, &root.join(name));
        }
        tree
    }

    fn add_below(&mut self, root: &Path, dir: &Path) {
        let Ok(entries) = fs::read_dir(dir) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() { self.add_below(root, &path) } else { self.add(root, &path) }
        }
    }

    fn add(&mut self, root: &Path, path: &Path) {
        let Ok(text) = fs::read_to_string(path) else { return };
        let name = path.strip_prefix(root).expect("it is below the root").to_string_lossy().into_owned();
        self.files.insert(name, text);
    }

    fn text(&self, path: &str) -> &str {
        self.files.get(path).map_or("", String::as_str)
    }

    /// Every Rust file, scanned; those that only tests compile are marked.
    pub fn sources(&self) -> &[Source] {
        self.scanned.get_or_init(|| self.scan())
    }

    fn scan(&self) -> Vec<Source> {
        let reached = self.reached();
        let scan = |(path, text): (&String, &String)| {
            let source = Source::new(path, text);
            if reached.get(path) == Some(&true) { source.all_test() } else { source }
        };
        self.files.iter().filter(|(path, _)| path.ends_with(".rs")).map(scan).collect()
    }

    /// Files of `src` that are reachable from the crate roots, and whether only tests compile them.
    fn reached(&self) -> BTreeMap<String, bool> {
        let mut reached = BTreeMap::new();
        let mut ahead: Vec<(String, bool)> = vec![("src/main.rs".into(), false), ("src/lib.rs".into(), false)];
        while let Some((path, test)) = ahead.pop() {
            let Some(text) = self.files.get(&path) else { continue };
            let known = reached.get(&path).copied();
            if known == Some(false) || known == Some(test) {
                continue;
            }
            reached.insert(path.clone(), test);
            let source = Source::new(&path, text);
            for (name, line) in declared_modules(&source) {
                let test = test || source.test[line];
                ahead.extend(candidates(&path, &name, &source, line).into_iter().map(|file| (file, test)));
            }
        }
        reached
    }
}

/// Names of `mod name;` lines with their line; inline modules have no file.
fn declared_modules(source: &Source) -> Vec<(String, usize)> {
    let (text, lines) = source.joined();
    let declaration = |at: usize| {
        let end = item_end(&text, at);
        let name = text[at + "mod".len()..end].trim().to_owned();
        (text.as_bytes()[end] == b';' && !name.contains(char::is_whitespace)).then(|| (name, lines[at]))
    };
    words_at(&text, "mod").filter_map(declaration).collect()
}

/// The possible files of `mod name;` in `path`.
fn candidates(path: &str, name: &str, source: &Source, line: usize) -> Vec<String> {
    let (dir, file) = path.rsplit_once('/').unwrap_or(("", path));
    let above = line.checked_sub(1).map_or("", |above| source.raw[above].trim());
    if let Some(named) = above.strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]")) {
        return vec![format!("{dir}/{named}")];
    }
    let stem = file.trim_end_matches(".rs");
    let below = if matches!(stem, "mod" | "lib" | "main") { dir.to_owned() } else { format!("{dir}/{stem}") };
    vec![format!("{below}/{name}.rs"), format!("{below}/{name}/mod.rs")]
}

pub fn dead_files(tree: &Tree) -> Vec<String> {
    let reached = tree.reached();
    let rust = tree.files.keys().filter(|path| path.starts_with("src/") && path.ends_with(".rs"));
    rust.filter(|path| !reached.contains_key(*path)).map(|path| format!("{path}: no mod line leads here")).collect()
}

pub fn file_names(tree: &Tree) -> Vec<String> {
    let forbidden = ["util", "utils", "common", "helper", "helpers", "misc", "type", "types"];
    let says_nothing = |path: &&String| {
        let parts = path.trim_end_matches(".rs").split('/');
        path.ends_with(".rs") && parts.into_iter().any(|part| forbidden.contains(&part))
    };
    tree.files.keys().filter(says_nothing).map(|path| format!("{path}: a name that says nothing")).collect()
}

pub fn decision_numbers(tree: &Tree) -> Vec<String> {
    let names = tree.files.keys().filter_map(|path| path.strip_prefix("docs/decisions/"));
    let mut found = Vec::new();
    for (expected, name) in (1..).zip(names) {
        let number = name.split('-').next().filter(|number| number.len() == 4).and_then(|n| n.parse::<u32>().ok());
        if number != Some(expected) {
            found.push(format!("docs/decisions/{name}: the number here should be {expected:04}"));
        }
    }
    if !tree.files.contains_key("docs/decisions/0001-one-package.md") {
        found.push("docs/decisions: the first one is missing".into());
    }
    found
}

pub fn dependency_reasons(tree: &Tree) -> Vec<String> {
    const DECISION: &str = "docs/decisions/0003-dependencies.md";
    let used = dependencies(tree.text("Cargo.toml"));
    let row = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    let reasoned: BTreeSet<String> = tree.text(DECISION).lines().filter_map(row).collect();
    let without = used.difference(&reasoned).map(|name| format!("Cargo.toml: {name} has no reason in {DECISION}"));
    let gone = reasoned.difference(&used).map(|name| format!("{DECISION}: {name} is not in Cargo.toml"));
    let mut found: Vec<String> = without.chain(gone).collect();
    if used.is_empty() {
        found.push("Cargo.toml: no dependency was found; this rule is blind".into());
    }
    found
}

/// Names of the tables `[dependencies]`, `[dev-dependencies]` and `[build-dependencies]`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            inside = header.ends_with("dependencies");
            let named = header.split_once("dependencies.").map(|(_, name)| name.to_owned());
            names.extend(named);
        } else if inside && !line.starts_with('#') {
            names.extend(line.split_once('=').map(|(name, _)| name.trim().to_owned()));
        }
    }
    names
}

/// Every make target in CI and documents exists.
pub fn make_targets(tree: &Tree) -> Vec<String> {
    let makefile = tree.text("Makefile");
    let rule = |line: &str| Some(line.split_once(':')?.0.to_owned());
    let known: BTreeSet<String> = makefile.lines().filter(|line| !line.starts_with('\t')).filter_map(rule).collect();
    let mut found = Vec::new();
    for path in [".ci/run", "README.md", "CONTRIBUTING.md"] {
        for name in made(tree.text(path), path.ends_with(".md")) {
            if !known.contains(&name) {
                found.push(format!("{path}: make {name}, which is no target of the Makefile"));
            }
        }
    }
    if made(tree.text(".ci/run"), false).is_empty() {
        found.push(".ci/run: calls no make target".into());
    }
    found
}

/// Targets after `make` in a script; in a document only at the start of a line or of `code`.
fn made(text: &str, document: bool) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines().filter(|line| document || !line.trim_start().starts_with('#')) {
        for at in words_at(line, "make") {
            let before = &line[..at];
            if document && !before.is_empty() && !before.ends_with('`') && !before.ends_with("sudo ") {
                continue;
            }
            let rest = &line[at + "make".len()..];
            let name: String =
                rest.trim_start_matches(' ').chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            if rest.starts_with(' ') && !name.is_empty() {
                names.push(name);
            }
        }
    }
    names
}

/// The page of versions has a row for each file format, with the version that haul writes.
pub fn format_versions(tree: &Tree) -> Vec<String> {
    const PAGE: &str = "docs/versions.md";
    let after = |text: &str, start: &str, end: char| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(start)?.split_once(end));
        line.map(|(value, _)| value.to_owned())
    };
    let ledger = tree.files.iter().filter(|(path, _)| path.starts_with("src/ledger/"));
    let formats: Vec<(String, String)> = ledger
        .filter_map(|(_, text)| {
            let version = after(text, "pub const FORMAT_VERSION: u64 = ", ';')?;
            Some((after(text, "const KEY: &'static str = \"", '"')?, version))
        })
        .collect();
    let row = |(key, version): &(String, String)| format!("| `{key}` | {version} |");
    let missing = formats.iter().map(row).filter(|row| !tree.text(PAGE).contains(row.as_str()));
    let mut found: Vec<String> = missing.map(|row| format!("{PAGE}: has no row with {row}")).collect();
    if formats.is_empty() {
        found.push("src/ledger: no format was found; this rule is blind".into());
    }
    found
}

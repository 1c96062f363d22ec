//! Files that depend on each other: reading one requires reading all of them.
//!
//! A name counts for the file that defines it, regardless of re-exports by `pub use`. `mod` lines and `pub use` are
//! no dependency, nor is code that only tests compile.
use super::source::{Source, words_at};
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// A path as modules below the root of the crate.
type Module = Vec<String>;

/// The names that one file defines and uses.
#[derive(Default)]
struct File {
    path: String,
    module: Module,
    /// Names of its items.
    defined: BTreeSet<String>,
    /// Names that `use` imports, and their origin; `pub`: it only re-exports them.
    imported: Vec<Import>,
    /// Modules of which it imports all names.
    globs: Vec<Module>,
    /// Paths in its code.
    named: Vec<Module>,
}

struct Import {
    name: String,
    from: Module,
    handed_on: bool,
}

/// Groups of files below `src` in which each depends on all others.
pub fn circles(tree: &Tree) -> Vec<String> {
    let files: Vec<File> = tree.sources().iter().filter_map(read).collect();
    let by_module: BTreeMap<&Module, usize> = files.iter().enumerate().map(|(at, file)| (&file.module, at)).collect();
    let crates = Crate { files: &files, by_module };
    let needs: Vec<BTreeSet<usize>> = (0..files.len()).map(|at| crates.needs(at)).collect();
    let reach: Vec<BTreeSet<usize>> = (0..files.len()).map(|at| reached(&needs, at)).collect();
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for at in 0..files.len() {
        if told.contains(&at) || !reach[at].contains(&at) {
            continue;
        }
        let circle: BTreeSet<usize> = reach[at].iter().copied().filter(|&other| reach[other].contains(&at)).collect();
        let names: Vec<&str> = circle.iter().map(|&other| files[other].path.as_str()).collect();
        found.push(format!("a circle of {} files: {}", names.len(), names.join(" ")));
        told.extend(circle);
    }
    found
}

/// Every file on which `from` depends.
fn reached(needs: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let (mut reached, mut ahead) = (BTreeSet::new(), vec![from]);
    while let Some(at) = ahead.pop() {
        ahead.extend(needs[at].iter().copied().filter(|&next| reached.insert(next)));
    }
    reached
}

struct Crate<'a> {
    files: &'a [File],
    by_module: BTreeMap<&'a Module, usize>,
}

impl Crate<'_> {
    fn needs(&self, at: usize) -> BTreeSet<usize> {
        let file = &self.files[at];
        let imports = file.imported.iter().filter(|import| !import.handed_on);
        let mut needs = BTreeSet::new();
        for import in imports {
            // If a module is imported, only the names that are used count.
            if !self.by_module.contains_key(&import.from) {
                needs.extend(self.defines(&import.from, 0));
            }
        }
        for path in &file.named {
            let through = file.imported.iter().find(|import| import.name == path[0]);
            let absolute = match path[0].as_str() {
                "crate" | "super" | "self" => absolute(&file.module, path),
                _ => match through {
                    Some(import) => Some([&import.from[..], &path[1..]].concat()),
                    None => Some([&file.module[..], path].concat())
                        .filter(|_| self.by_module.contains_key(&[&file.module[..], &path[..1]].concat())),
                },
            };
            needs.extend(absolute.and_then(|path| self.defines(&path, 0)));
        }
        needs.extend(file.globs.iter().filter_map(|glob| self.by_module.get(glob).copied()));
        needs.remove(&at);
        needs
    }

    /// The file that defines what `path` names.
    fn defines(&self, path: &Module, depth: usize) -> Option<usize> {
        // A circle of re-exports would not compile.
        if depth > 20 {
            return None;
        }
        let module = (0..=path.len()).rev().find(|&len| self.by_module.contains_key(&path[..len].to_vec()))?;
        let at = self.by_module[&path[..module].to_vec()];
        let (file, rest) = (&self.files[at], &path[module..]);
        let Some(name) = rest.first().filter(|&name| !file.defined.contains(name)) else { return Some(at) };
        if let Some(import) = file.imported.iter().find(|import| import.name == *name) {
            return self.defines(&[&import.from[..], &rest[1..]].concat(), depth + 1);
        }
        let mut globs = file.globs.iter().filter_map(|glob| self.defines(&[&glob[..], rest].concat(), depth + 1));
        globs.find(|&other| self.files[other].defined.contains(name)).or(Some(at))
    }
}

/// The names of a file of `src`; `None` for one that only tests compile.
fn read(source: &Source) -> Option<File> {
    let below = source.path.strip_prefix("src/")?.strip_suffix(".rs")?;
    if source.test.iter().all(|&test| test) && !source.test.is_empty() {
        return None;
    }
    let mut module: Module = below.split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
        module.pop();
    }
    let lines = source.code.iter().zip(&source.test).map(|(line, &test)| if test { "" } else { line });
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut file = File { path: source.path.clone(), module, ..File::default() };
    let mut rest = text.clone();
    for at in words_at(&text, "use").collect::<Vec<_>>() {
        let Some(end) = text[at..].find(';').map(|len| at + len) else { continue };
        let statement: String = text[at + "use".len()..end].split_whitespace().collect::<Vec<_>>().join(" ");
        let line = text[..at].rfind(['\n', ';', '}']).map_or(0, |start| start + 1);
        let handed_on = text[line..at].trim_start().starts_with("pub");
        rest.replace_range(line..end, &" ".repeat(end - line));
        each_import(&statement, &mut |path, name| add_import(&mut file, path, name, handed_on));
    }
    for keyword in ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules!"] {
        let behind = |at: usize| word(rest[at + keyword.len()..].trim_start());
        file.defined.extend(words_at(&rest, keyword).map(behind).filter(|name| !name.is_empty()));
    }
    file.named = paths(&rest);
    Some(file)
}

fn add_import(file: &mut File, path: &[String], name: &str, handed_on: bool) {
    let Some(first) = path.first() else { return };
    let from = match first.as_str() {
        "crate" | "super" | "self" => absolute(&file.module, path),
        // A name of this module, or of another crate.
        _ => Some([&file.module[..], path].concat()),
    };
    let Some(mut from) = from else { return };
    if name == "*" {
        from.pop();
        if !handed_on {
            file.globs.push(from);
        }
        return;
    }
    file.imported.push(Import { name: name.to_owned(), from, handed_on });
}

/// Calls `add` with each path of a `use` and the name that it gets.
fn each_import(statement: &str, add: &mut dyn FnMut(&[String], &str)) {
    let statement = statement.trim();
    let Some(open) = statement.find('{') else {
        let (path, alias) = statement.split_once(" as ").map_or((statement, None), |(path, name)| (path, Some(name)));
        let mut path: Module = path.split("::").map(|part| part.trim().to_owned()).collect();
        path.pop_if(|last| last == "self");
        let name = alias.map(str::trim).or(path.last().map(String::as_str)).unwrap_or_default().to_owned();
        return add(&path, &name);
    };
    let (prefix, group) = (&statement[..open], statement[open + 1..].trim_end().trim_end_matches('}'));
    // The last brace is that of this group, even if it contains others.
    let group = &statement[open + 1..statement.rfind('}').unwrap_or(open + 1 + group.len())];
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
        each_import(&format!("{prefix}{part}"), add);
    }
}

/// The path from the root of the crate; `None`: it leads out of the crate.
fn absolute(module: &Module, path: &[String]) -> Option<Module> {
    let mut from = if path[0] == "crate" { Module::new() } else { module.clone() };
    let climbs = path.iter().take_while(|part| matches!(part.as_str(), "crate" | "super" | "self")).count();
    for part in &path[..climbs] {
        if part == "super" {
            from.pop()?;
        }
    }
    from.extend_from_slice(&path[climbs..]);
    Some(from)
}

/// Paths of two names and more, except those in `pub(in …)`.
fn paths(text: &str) -> Vec<Module> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let name = word(&text[at..]);
        if name.is_empty() {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        let scope = text[..at].trim_end().ends_with("(in");
        let continues = text[..at].ends_with("::") || text[..at].ends_with('.');
        at += name.len();
        let mut path = vec![name];
        while let Some(next) = text[at..].strip_prefix("::").map(word).filter(|next| !next.is_empty()) {
            at += "::".len() + next.len();
            path.push(next);
        }
        if path.len() > 1 && !scope && !continues {
            found.push(path);
        }
    }
    found
}

/// The word at the start of `text`; empty if there is none.
fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

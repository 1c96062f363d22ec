//! Rules about single Rust files. Each returns a line for every violation.
use super::source::{Source, item_end, words_at};

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;
const LINE_CHARS_MAX: usize = 120;
/// A command that is not a feature is a recipe: longer code belongs to another room.
const RECIPE_LINES_MAX: usize = 120;

/// Where `unsafe` is permitted.
const UNSAFE_IN: &[&str] = &[
    "src/sys/",
    "src/core/buffer.rs",
    "src/core/pool.rs",
    // Declares the guarantees of endpoints for their ring entries, and has no block.
    "src/core/endpoint.rs",
    "src/engine/",
    "src/disks/",
    "tests/",
    // Programs that only tests run.
    "examples/tcmu-disk.rs",
    "examples/without-io-uring.rs",
    // Programs, mounts and devices of the bench.
    "bench/src/process.rs",
    "bench/src/workplace.rs",
    "bench/src/bed/loop_device.rs",
    "bench/modelled-disk/src/clock.rs",
    "bench/modelled-disk/tests/",
];

/// Parts of names for which the glossary has another word.
const NOT_IN_GLOSSARY: &[(&str, &str)] = &[
    ("target", "dest"),
    ("backend", "endpoint"),
    ("chunk", "block or extent"),
    ("lane", "queue"),
    ("ioengine", "engine"),
    ("iodepth", "depth"),
    ("outstanding", "in flight"),
    ("uncached", "direct"),
    ("settings", "options"),
    ("geometry", "facts"),
    ("metrics", "tally"),
    ("tell", "print, report or describe"),
    ("told", "print, report or describe"),
    ("say", "print, report or describe"),
    ("said", "print, report or describe"),
    ("hear", "on_event"),
    ("on_progress", "on_event"),
    ("misfit", "mismatch"),
];

pub fn file_size(source: &Source) -> Vec<String> {
    let lines = source.raw.len();
    if lines <= FILE_LINES_MAX {
        return Vec::new();
    }
    vec![source.at(FILE_LINES_MAX, &format!("{lines} lines; at most {FILE_LINES_MAX}"))]
}

/// Files directly below `apps` and the `mod.rs` of its directories, except those that all commands share.
pub fn recipe_size(source: &Source) -> Vec<String> {
    let Some(name) = source.path.strip_prefix("src/apps/") else { return Vec::new() };
    let is_recipe = match name.split_once('/') {
        Some((_, rest)) => rest == "mod.rs",
        None => !matches!(name, "command.rs" | "console.rs") && !name.ends_with("_tests.rs"),
    };
    let lines = source.raw.len();
    let message = format!("a recipe of {lines} lines; at most {RECIPE_LINES_MAX}");
    (is_recipe && lines > RECIPE_LINES_MAX).then(|| source.at(RECIPE_LINES_MAX, &message)).into_iter().collect()
}

pub fn line_width(source: &Source) -> Vec<String> {
    let wide = |(at, line): (usize, &String)| {
        let chars = line.chars().count();
        let message = format!("{chars} characters; at most {LINE_CHARS_MAX}");
        (chars > LINE_CHARS_MAX).then(|| source.at(at, &message))
    };
    source.raw.iter().enumerate().filter_map(wide).collect()
}

pub fn function_size(source: &Source) -> Vec<String> {
    let (text, lines) = source.joined();
    let mut found = Vec::new();
    for at in words_at(&text, "fn") {
        let name: String =
            text[at + 2..].trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // `fn(` without a name is a type.
        if name.is_empty() {
            continue;
        }
        let count = lines[item_end(&text, at)] - lines[at] + 1;
        if count > FUNCTION_LINES_MAX {
            let message = format!("fn {name} has {count} lines; at most {FUNCTION_LINES_MAX}");
            found.push(source.at(lines[at], &message));
        }
    }
    found
}

pub fn printing(source: &Source) -> Vec<String> {
    if source.room().is_none() {
        return Vec::new();
    }
    let in_report = source.room() == Some("report");
    let mut found = Vec::new();
    for name in ["print!", "println!", "eprint!", "eprintln!", "dbg!"] {
        let allowed = |line: usize| source.test[line] || (in_report && name != "dbg!");
        let lines = source.lines_with(name).into_iter().filter(|&line| !allowed(line));
        found.extend(lines.map(|line| source.at(line, &format!("{name} outside src/report"))));
    }
    found
}

pub fn exiting(source: &Source) -> Vec<String> {
    if matches!(source.room(), None | Some("main")) {
        return Vec::new();
    }
    let ways = ["process::exit", "process::abort", "libc::exit", "libc::_exit", "libc::abort"];
    let lines = ways.iter().flat_map(|way| source.lines_with(way));
    lines.map(|line| source.at(line, "the process is ended outside src/main.rs")).collect()
}

/// Threads are started so that a machine without any left is an error or a slower copy, never a panic.
pub fn threads(source: &Source) -> Vec<String> {
    if source.room().is_none() {
        return Vec::new();
    }
    let lines = ["thread::spawn", "scope.spawn"].iter().flat_map(|call| source.lines_with(call));
    let message = "it panics where no thread is left; use core::run_beside or thread::Builder";
    lines.filter(|&line| !source.test[line]).map(|line| source.at(line, message)).collect()
}

/// Calls that create, name or remove files, permitted only in the room that does it safely.
const FILE_CALLS: &[&str] = &[
    "create_new",
    "File::create",
    "fs::write",
    "fs::rename",
    "fs::remove_file",
    "fs::hard_link",
    "fs::copy",
    "renameat",
    "renameat_with",
    "linkat",
    "unlinkat",
    "unlink",
    "OFlags::CREATE",
    "OFlags::TMPFILE",
];

/// Where files are created that are not files beside a copy: the destination itself, and checks of its directory.
const FILE_CALLS_IN: &[&str] = &[
    "src/files/",
    "src/disks/file/regular.rs",
    "src/disks/file/probe.rs",
    "src/apps/fronts/records/open.rs",
    // Limits of a control group are written to its files.
    "src/measure/surroundings/group.rs",
];

pub fn file_calls(source: &Source) -> Vec<String> {
    if source.room().is_none() || FILE_CALLS_IN.iter().any(|place| source.path.starts_with(place)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for call in FILE_CALLS {
        let lines = source.lines_with(call).into_iter().filter(|&line| !source.test[line]);
        found.extend(lines.map(|line| source.at(line, &format!("{call} outside src/files"))));
    }
    found
}

/// The only file that reads the output on a terminal: elsewhere tests would match line breaks, which depend on
/// paths.
const TERMINAL: &str = "tests/support/terminal.rs";

pub fn terminals(source: &Source) -> Vec<String> {
    if source.path == TERMINAL {
        return Vec::new();
    }
    let lines = ["TIOCGPTPEER", "openpt", "openpty", "forkpty"].into_iter().flat_map(|opens| source.lines_with(opens));
    lines.map(|line| source.at(line, &format!("a terminal outside {TERMINAL}"))).collect()
}

/// Reports are wrapped: tests match words on one line, or state that they mean lines (`stderr_lines`).
pub fn wrapped_words(source: &Source) -> Vec<String> {
    if !source.path.starts_with("tests/cli/") {
        return Vec::new();
    }
    let reads = |&line: &usize| words_at(&source.code[line], "stderr").next().is_some();
    let lines = source.lines_with("from_utf8_lossy").into_iter().filter(reads);
    lines.map(|line| source.at(line, "standard error as it is wrapped; in_one_line is for words")).collect()
}

/// An instrumented program writes its coverage data when it ends, and reports an error if a limit of file sizes
/// prevents it.
pub fn limited_coverage(source: &Source) -> Vec<String> {
    let text = source.raw.join("\n");
    if !source.path.starts_with("tests/")
        || source.path.starts_with("tests/tidy/")
        || text.contains("LLVM_PROFILE_FILE")
    {
        return Vec::new();
    }
    let limits = |line: &&String| ["ulimit -f", "RLIMIT_FSIZE"].iter().any(|limit| line.contains(limit));
    let of_programs = source.raw.iter().position(|line| limits(&line) || line.contains("new(\"prlimit\")"));
    let found = of_programs.map(|line| source.at(line, "a limit on file sizes without LLVM_PROFILE_FILE=/dev/null"));
    found.into_iter().collect()
}

pub fn unsafe_places(source: &Source) -> Vec<String> {
    if UNSAFE_IN.iter().any(|place| source.path.starts_with(place)) {
        return Vec::new();
    }
    source.lines_with("unsafe").into_iter().map(|line| source.at(line, "unsafe is not allowed in this room")).collect()
}

pub fn unsafe_reasons(source: &Source) -> Vec<String> {
    let lines = source.lines_with("unsafe").into_iter().filter(|&line| !has_reason(source, line));
    lines.map(|line| source.at(line, "unsafe without a SAFETY comment before it")).collect()
}

/// Whether a comment with the reason is on the line, or above its statement or item.
fn has_reason(source: &Source, line: usize) -> bool {
    let has_comment = |at: usize| source.raw[at].contains("SAFETY:") || source.raw[at].contains("# Safety");
    if has_comment(line) {
        return true;
    }
    for at in (0..line).rev() {
        if has_comment(at) {
            return true;
        }
        let code = source.code[at].trim_end();
        let ends_before = code.ends_with([';', '{', '}']) || source.raw[at].trim().is_empty();
        if ends_before {
            return false;
        }
    }
    false
}

pub fn leftovers(source: &Source) -> Vec<String> {
    // Concatenated, so that this file does not violate the rule.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let macros = [concat!("unimple", "mented!"), concat!("to", "do!")];
    let mut found = Vec::new();
    for (at, line) in source.raw.iter().enumerate() {
        let mark = marks.iter().find(|mark| words_at(line, mark).next().is_some());
        let call = macros.iter().find(|call| words_at(&source.code[at], call).next().is_some());
        found.extend(mark.or(call).map(|word| source.at(at, &format!("{word} left over"))));
    }
    found
}

pub fn room_header(source: &Source) -> Vec<String> {
    let Some(name) = source.path.strip_prefix("src/").and_then(|rest| rest.strip_suffix("/mod.rs")) else {
        return Vec::new();
    };
    let header: Vec<&str> = source.raw.iter().map(String::as_str).take_while(|line| line.starts_with("//!")).collect();
    if header.is_empty() {
        return vec![source.at(0, "a mod.rs opens with //! and says what the room does")];
    }
    let is_room = !name.contains('/');
    if is_room && !header.join(" ").contains("must not know") {
        return vec![source.at(0, "the header of a room says what it must not know, in these words")];
    }
    Vec::new()
}

/// Rooms without `unsafe` forbid it by an attribute.
pub fn unsafe_forbidden(source: &Source) -> Vec<String> {
    let is_room = source.path.starts_with("src/") && source.path.matches('/').count() == 2;
    let may = ["core", "sys", "engine", "disks"];
    if !is_room || !source.path.ends_with("/mod.rs") || source.room().is_some_and(|room| may.contains(&room)) {
        return Vec::new();
    }
    if source.code.iter().any(|line| line.trim() == "#![forbid(unsafe_code)]") {
        return Vec::new();
    }
    vec![source.at(0, "#![forbid(unsafe_code)] is missing at the top of this room")]
}

/// Names of public items and fields; `sys` uses the kernel's words.
pub fn glossary(source: &Source) -> Vec<String> {
    if matches!(source.room(), None | Some("sys")) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, line) in source.code.iter().enumerate().filter(|(at, _)| !source.test[*at]) {
        let Some(name) = public_name(line) else { continue };
        let words = name_words(&name);
        let bad = NOT_IN_GLOSSARY.iter().find(|(word, _)| words.iter().any(|part| part == word));
        found.extend(bad.map(|(word, right)| source.at(at, &format!("{name}: the glossary says {right}, not {word}"))));
    }
    found
}

/// The name that a line with `pub` declares.
fn public_name(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest };
    if !rest.starts_with(' ') {
        return None;
    }
    let kinds = ["async", "const", "unsafe", "fn", "struct", "enum", "trait", "type", "static", "mod", "mut"];
    let mut words = rest.split_whitespace().filter(|word| !kinds.contains(word));
    let name: String = words.next()?.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty() && name != "use").then_some(name)
}

/// `RingQueue` and `ring_queue` both consist of ring and queue; a plural counts as its singular.
fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && words.last().is_some_and(|w| !w.ends_with(char::is_uppercase))) {
            words.push(String::new());
        }
        if c != '_' {
            words.last_mut().expect("never empty").push(c);
        }
    }
    let known = |word: &str| NOT_IN_GLOSSARY.iter().any(|(bad, _)| *bad == word);
    let lower = words.into_iter().map(|word| word.to_lowercase());
    lower.map(|word| word.strip_suffix('s').filter(|one| known(one)).map_or(word.clone(), str::to_owned)).collect()
}

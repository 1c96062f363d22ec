//! The words that docs/style.md excludes from user text: string literals, help texts, man pages, JSON schemas and
//! documents.
use super::source::{Source, words_at};
use super::tree::Tree;

const STYLE: &str = "docs/style.md";

/// Documents that list the words.
const ABOUT_WORDS: &[&str] = &[STYLE, "docs/developer/glossary.md"];

/// Documents that have not been rewritten yet; the list may only become shorter.
const NOT_YET: &[&str] = &["docs/developer/design.md", "docs/developer/measuring.md"];

/// A phrase that user text must not contain, in lower case, and what to write instead.
pub struct Avoided {
    phrase: String,
    instead: String,
}

/// The list in the block `words` of docs/style.md.
pub fn avoided(tree: &Tree) -> Vec<Avoided> {
    let entry = |line: &str| {
        let (phrase, instead) = line.split_once(": ")?;
        Some(Avoided { phrase: phrase.to_lowercase(), instead: instead.to_owned() })
    };
    block(tree, "words").lines().filter_map(entry).collect()
}

/// Words with which the name of a test must not begin: they hide the subject.
const NO_SUBJECT: &[&str] = &["what", "who", "of"];

/// Names of tests that paraphrase instead of naming the behaviour: the block `test-names` of docs/style.md.
pub fn test_names(tree: &Tree) -> Vec<String> {
    let phrases: Vec<&str> = block(tree, "test-names").lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if phrases.is_empty() {
        return vec![format!("{STYLE}: no block of test names was found; this rule is blind")];
    }
    let mut found = Vec::new();
    for source in tree.sources() {
        let mut is_test = false;
        for (line, code) in source.code.iter().map(|code| code.trim()).enumerate() {
            is_test |= code.starts_with("#[test]");
            let Some((_, rest)) = code.split_once("fn ").filter(|_| is_test) else { continue };
            is_test = false;
            let name = rest.split(['(', '<']).next().unwrap_or_default().replace('_', " ");
            let begin = NO_SUBJECT.iter().filter(|word| name.split(' ').next() == Some(**word));
            let within = phrases.iter().filter(|phrase| words_at(&name, phrase).next().is_some());
            found.extend(
                begin.chain(within).map(|word| source.at(line, &format!("test name with \"{word}\", see {STYLE}"))),
            );
        }
    }
    found
}

/// The block of docs/style.md that begins with this name.
fn block<'a>(tree: &'a Tree, name: &str) -> &'a str {
    let text = tree.files.get(STYLE).map_or("", String::as_str);
    let begin = format!("```{name}\n");
    text.split_once(&begin).and_then(|(_, rest)| rest.split("```").next()).unwrap_or("")
}

/// Every violation of the list in the tree.
pub fn user_text(tree: &Tree) -> Vec<String> {
    let avoided = avoided(tree);
    let mut found: Vec<String> = tree.sources().iter().flat_map(|source| in_literals(source, &avoided)).collect();
    for (path, text) in tree.files.iter().filter(|(path, _)| is_user_text(path)) {
        found.extend(in_text(path, text, &avoided));
    }
    for (path, text) in tree.files.iter().filter(|(path, _)| path.starts_with("docs/schema/")) {
        found.extend(in_descriptions(path, text, &avoided));
    }
    if avoided.is_empty() {
        found.push(format!("{STYLE}: no block of words to avoid was found; this rule is blind"));
    }
    found
}

fn is_user_text(path: &str) -> bool {
    let in_src = path.starts_with("src/") && [".txt", ".roff", ".html", ".snap"].iter().any(|end| path.ends_with(end));
    let document = path.ends_with(".md") && !path.contains("proptest") && !path.starts_with("tests/");
    let listed =
        |list: &[&str]| list.iter().any(|place| path == *place || place.ends_with('/') && path.starts_with(place));
    in_src
        || path.starts_with("contrib/") && (path.ends_with(".1") || path.ends_with(".7"))
        || document && !listed(ABOUT_WORDS) && !listed(NOT_YET)
}

/// Literals with a space: messages and sentences. Names, JSON keys and single words have none.
fn in_literals(source: &Source, avoided: &[Avoided]) -> Vec<String> {
    if source.room().is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for literal in source.literals() {
        let shown = !source.test[literal.line] || literal.is_snapshot;
        if shown && literal.text.trim().contains(' ') {
            found.extend(breaches(&literal.text, avoided).map(|what| source.at(literal.line, &what)));
        }
    }
    found
}

/// Sentences for users, each with its position: literals of at least five words, and lines of help texts.
pub fn sentences(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for source in tree.sources().iter().filter(|source| source.room().is_some()) {
        for literal in source.literals().iter().filter(|literal| !source.test[literal.line]) {
            let internal = source.raw[literal.line].contains("expect(\"");
            if !internal && literal.text.split_whitespace().filter(|word| word.len() > 1).count() >= 5 {
                found.push(source.at(literal.line, &literal.text));
            }
        }
    }
    for (path, text) in tree.files.iter().filter(|(path, _)| path.starts_with("src/") && path.ends_with(".txt")) {
        let lines = text.lines().filter(|line| line.starts_with("    ") && line.ends_with('.'));
        found.extend(lines.map(|line| format!("{path}: {}", line.trim())));
    }
    found
}

/// Paragraphs of a text, without code blocks and code spans.
fn in_text(path: &str, text: &str, avoided: &[Avoided]) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_code = false;
    let mut paragraph = String::new();
    let mut began = 1;
    // A snapshot begins with its metadata, between two lines of dashes.
    let made = if path.ends_with(".snap") { text.match_indices("---\n").nth(1).map_or(0, |(at, _)| at + 4) } else { 0 };
    let before = text[..made].lines().count();
    for (number, line) in (before + 1..).zip(text[made..].lines().chain([""])) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let blank = line.trim().is_empty() || line.trim_start().starts_with("```") || in_code;
        if blank {
            found.extend(breaches(&paragraph, avoided).map(|what| format!("{path}:{began}: {what}")));
            paragraph.clear();
            began = number + 1;
        } else {
            // Names in JSON are not words.
            let name = line.trim_start().strip_prefix('"').and_then(|rest| rest.split_once("\": "));
            let line = name.filter(|_| path.ends_with(".snap")).map_or(line, |(_, value)| value);
            let is_markdown = path.ends_with(".md");
            let shown = line.split('`').enumerate().filter(|(at, _)| !is_markdown || at % 2 == 0).map(|(_, part)| part);
            let shown = shown.collect::<Vec<_>>().join("\u{0}");
            paragraph += &if is_markdown { without_targets(&shown) } else { shown };
            paragraph.push(' ');
        }
    }
    found
}

/// Titles and descriptions of a JSON schema, which are on separate lines; its keys are not words.
fn in_descriptions(path: &str, text: &str, avoided: &[Avoided]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((name, value)) = line.trim().split_once("\": \"") else { continue };
        if ["\"title", "\"description", "\"$comment"].contains(&name) {
            found.extend(breaches(value, avoided).map(|what| format!("{path}:{number}: {what}")));
        }
    }
    found
}

/// The text without the targets of its links: names of files are not words.
fn without_targets(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + "] " + part.split_once(')').map_or("", |(_, rest)| rest))
}

/// The text without parts between braces: names of values, and templates.
fn without_values(text: &str) -> String {
    let mut depth = 0_usize;
    let keep = |c: &char| {
        let inside = depth > 0;
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        !inside && *c != '{'
    };
    text.chars().filter(keep).collect()
}

fn breaches<'a>(text: &str, avoided: &'a [Avoided]) -> impl Iterator<Item = String> + use<'a> {
    let plain =
        without_values(&text.replace("\\n", " ").replace("\\u{fdd0}", " ").replace('\u{fdd0}', " ")).to_lowercase();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let stands = move |entry: &&Avoided| words_at(&plain, &entry.phrase).next().is_some();
    avoided.iter().filter(stands).map(|entry| format!("\"{}\": {STYLE} says: {}", entry.phrase, entry.instead))
}

//! The lists of operands and flags in `--help` and the man pages, made from text files. A term may be followed
//! by two spaces and the programs that support it, if not all do. The first line of a description is printed in
//! both, the others only in the man page.
use crate::cli::help::{escape, fill, sections, width};
use crate::cli::manual::finished;
use minijinja::context;
use textwrap::{Options, WordSeparator, WordSplitter};

/// The column in which descriptions begin.
const WORDS_COLUMN: usize = 24;

/// What `--help` prints for `program`, which behaves as `front`.
pub(super) fn help(template: &str, operands: &str, program: &str, front: &str) -> String {
    let mut listed = String::new();
    for section in sections(operands) {
        let parts = section.parts.iter().map(|part| (remark(part.head[0]), part.words[0]));
        let mut known = parts.filter(|((_, who), _)| who.is_empty() || names(who).any(|name| name == front)).peekable();
        if known.peek().is_some() {
            listed += &format!("\n{}:\n", section.title);
        }
        for ((term, _), words) in known {
            // If a term is too long for its column, the description begins on the next line.
            match term.chars().count() {
                0..=20 => listed += &format!("  {term:<20}  {words}\n"),
                _ => listed += &format!("  {term}\n{:WORDS_COLUMN$}{words}\n", ""),
            }
        }
    }
    let text = fill(template, context! { program, front, operands => listed });
    text.lines().map(wrapped).collect()
}

/// Wraps the line to the width of the terminal, with a newline after each part; further parts begin at the
/// column of the description.
fn wrapped(line: &str) -> String {
    let indent = " ".repeat(if line.starts_with("  ") { WORDS_COLUMN } else { 0 });
    let options = Options::new(width()).subsequent_indent(&indent).break_words(false);
    let options = options.word_separator(WordSeparator::AsciiSpace).word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(line, options) + "\n"
}

/// The man page.
pub(super) fn manual(template: &str, operands: &str) -> String {
    let mut listed = String::new();
    for section in sections(operands) {
        listed += &format!(".SS \"{}\"\n", escape(section.title));
        for part in section.parts {
            let (term, who) = remark(part.head[0]);
            let space = if who.is_empty() { "" } else { " " };
            listed += &format!(".TP\n\\fB{}\\fR{space}{}\n{}\n", escape(term), escape(who), escape(part.words[0]));
            if let more @ [_, ..] = &part.words[1..] {
                listed += &(escape(&more.join(" ")) + "\n");
            }
        }
    }
    finished(&fill(template, context! { version => env!("CARGO_PKG_VERSION"), operands => listed }))
}

/// Splits a term from the remark that names the programs with it.
fn remark(head: &str) -> (&str, &str) {
    head.split_once("  ").unwrap_or((head, ""))
}

/// The programs named in a remark.
fn names(who: &str) -> impl Iterator<Item = &str> {
    who.split([' ', ',', '(', ')'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_the_width_and_continue_below_their_words() {
        let words = "word ".repeat(40);
        let text = help("{{ operands }}", &format!("# Operands\nif=FILE\n    {words}\n"), "haul dd", "dd");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() > 3 && lines.iter().all(|line| line.chars().count() <= width()), "{text}");
        let rest = lines.iter().skip_while(|line| !line.starts_with("  if=FILE")).skip(1);
        assert!(rest.clone().count() > 0 && rest.clone().all(|line| line.starts_with(&" ".repeat(24))), "{text}");
    }
}

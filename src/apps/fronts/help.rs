//! What `--help` and the man pages list of operands and words, which are text files. Behind a term and two spaces stand
//! the programs that know it, where not all do. The first line below is for both, the others for the man page alone.
use crate::cli::help::{escape, fill, sections};
use crate::cli::manual::finished;
use minijinja::context;

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
            // Behind a term that is too long for its column the words begin on the next line.
            match term.chars().count() {
                0..=20 => listed += &format!("  {term:<20}  {words}\n"),
                _ => listed += &format!("  {term}\n{:24}{words}\n", ""),
            }
        }
    }
    fill(template, context! { program, front, operands => listed }) + "\n"
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

/// A term, and the remark which programs know it.
fn remark(head: &str) -> (&str, &str) {
    head.split_once("  ").unwrap_or((head, ""))
}

/// The programs that a remark names.
fn names(who: &str) -> impl Iterator<Item = &str> {
    who.split([' ', ',', '(', ')'])
}

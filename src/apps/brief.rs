//! Short help. `-h` fits one screen: the options that are needed most, one line each, and the names of all
//! others.
use crate::cli::help;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use textwrap::{Options, WordSeparator, WordSplitter};

/// No headings: each would take two lines of the screen.
const TEMPLATE: &str = "{about-with-newline}{usage-heading} {usage}\n{positionals}\n\n{options}{after-help}";

/// The most common options of commands whose options do not fit one screen.
const NEEDED: &[(&str, &[&str])] = &[
    ("copy", &["dry-run", "yes", "also", "count", "on-error", "resume", "verify", "hash", "limit", "verbose", "quiet"]),
    (
        "rescue",
        &["retries", "reverse", "no-scrape", "no-trim", "domain", "stop-after", "yes", "expect", "verbose", "quiet"],
    ),
    ("verify", &["dry-run", "manifest", "skip", "seek", "count", "on-error", "limit", "json", "verbose", "quiet"]),
    // For `haul pattern`.
    ("write", &["dry-run", "yes", "expect", "seek", "count", "run", "limit", "json", "verbose", "quiet"]),
    ("check", &["dry-run", "seek", "count", "run", "limit", "json", "verbose", "quiet"]),
    (
        "profile",
        &["timing", "random", "sustained", "read-buffer", "time", "write", "yes", "expect", "json", "csv", "report"],
    ),
    ("tune", &["quick", "time", "save", "restore", "write", "yes", "json", "csv", "report"]),
];

/// Rewrites `haul help`, `haul help COMMAND` and `haul version` to the options that do the same. `is_front`:
/// this name is the name of another program, whose operands are not rewritten.
pub(super) fn in_options(args: Vec<OsString>, is_front: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
    let is_haul = args.first().is_some_and(|program| !is_front(program));
    let Some((verb, rest)) = args.get(1..).and_then(<[OsString]>::split_first).filter(|_| is_haul) else { return args };
    let words: Vec<OsString> = match verb.to_str() {
        Some("help") => rest.iter().cloned().chain(["--help".into()]).collect(),
        Some("version") if rest.is_empty() => vec!["--version".into()],
        _ => return args,
    };
    args.iter().take(1).cloned().chain(words).collect()
}

/// What `-h` prints for the command in `words`; `None` if `words` has `--help`, or no command. `haul` has
/// already been parsed.
pub(super) fn help_of(haul: &clap::Command, words: &[String]) -> Option<clap::builder::StyledStr> {
    let behind = words.iter().position(|word| word == "--").unwrap_or(words.len());
    if words[..behind].iter().any(|word| word == "--help") {
        return None;
    }
    let mut asked: Option<&clap::Command> = None;
    for word in &words[..behind] {
        asked = asked.unwrap_or(haul).find_subcommand(word).or(asked);
    }
    let asked = asked.filter(|command| !command.has_subcommands())?;
    Some(brief(asked.clone()).render_help())
}

/// The command with a short help: no headings, and at the end the names of the options that only the long help
/// describes.
fn brief(command: clap::Command) -> clap::Command {
    let needed = NEEDED.iter().find(|(name, _)| *name == command.get_name()).map(|(_, options)| *options);
    let is_left_out = |arg: &clap::Arg| match (arg.get_long(), needed) {
        (Some(long), Some(needed)) => !needed.contains(&long),
        (Some(_), None) => arg.is_hide_short_help_set(),
        (None, _) => false,
    };
    let more = more(&command, is_left_out);
    let place = |arg: &clap::Arg| needed?.iter().position(|name| arg.get_long() == Some(name));
    let command = command.help_template(TEMPLATE).mut_args(|arg| {
        let (left_out, place) = (is_left_out(&arg) || arg.is_hide_set(), place(&arg));
        let arg = arg.help_heading(None::<&str>).hide(left_out);
        match place {
            Some(place) => arg.display_order(place),
            None => arg,
        }
    });
    let behind = command.get_after_help().map(|text| format!("\n{text}")).unwrap_or_default();
    command.after_help(more + &behind)
}

/// A paragraph with the names of the options that the short help omits.
fn more(command: &clap::Command, is_left_out: impl Fn(&clap::Arg) -> bool) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut names = String::new();
    for arg in
        command.get_arguments().filter(|arg| is_left_out(arg) && !arg.is_hide_set() && !arg.is_hide_short_help_set())
    {
        let Some(long) = arg.get_long().filter(|long| !["help", "version"].contains(long)) else { continue };
        let short = arg.get_short().map(|short| format!("-{short}/")).unwrap_or_default();
        write!(names, " {short}--{long}").ok();
    }
    let text = match names.as_str() {
        "" => format!("Details: '{name} --help'."),
        names => format!("More, see '{name} --help':{names}"),
    };
    let options = Options::new(help::width() + 1).break_words(false).word_separator(WordSeparator::AsciiSpace);
    textwrap::fill(&text, options.word_splitter(WordSplitter::NoHyphenation))
}

//! Man pages, made from the definition of the command line and from the text files of the help.
use super::help::{escape, fill, roff};
use clap_mangen::Man;
use minijinja::context;
use std::fmt::Write;

/// The release date of this version, as in CHANGELOG.md: the pages have it as their date, and are the same on
/// each run.
const RELEASED: &str = "2026-11-23";

/// The page of the command `name` of `haul`, or of its subcommands; `texts` are its sections after the options.
pub(crate) fn page(mut haul: clap::Command, name: &str, texts: &[&str]) -> String {
    haul.build();
    let command = haul.find_subcommand(name).expect("it is a subcommand");
    let below: Vec<&clap::Command> = command.get_subcommands().collect();
    let (usages, options) = match below.as_slice() {
        [] => (vec![usage(command)], options(command)),
        below => (below.iter().copied().map(usage).collect(), below.iter().copied().map(command_below).collect()),
    };
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let values = context! {
        command => escape(name),
        title => escape(name).to_uppercase(),
        version => env!("CARGO_PKG_VERSION"),
        about => escape(&about),
        synopsis => usages.join("\n.br\n"),
        description => description(command),
        heading => if below.is_empty() { "OPTIONS" } else { "COMMANDS" },
        options,
        sections => roff(&texts.concat()),
    };
    finished(&fill(include_str!("help/manual.roff"), values))
}

/// The page of haul itself, which lists the commands with their pages.
pub(crate) fn overview(mut haul: clap::Command, texts: &[&str]) -> String {
    haul.build();
    let commands = haul.get_subcommands().filter(|command| !command.is_hide_set());
    let listed = commands.fold(String::new(), |mut listed, command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        writeln!(listed, ".TP\n\\fBhaul\\-{}\\fR(1)\n{}", escape(command.get_name()), escape(&about)).ok();
        listed
    });
    let summary = haul.get_about().map(ToString::to_string).unwrap_or_default();
    let values = context! {
        version => env!("CARGO_PKG_VERSION"),
        summary => escape(&summary),
        commands => listed,
        sections => roff(&texts.concat()),
    };
    finished(&fill(include_str!("help/overview.roff"), values))
}

/// A page of section 7: a guide, which belongs to several commands; `texts` are its sections.
pub(crate) fn guide(name: &str, about: &str, texts: &[&str]) -> String {
    let values = context! {
        name => escape(name),
        title => escape(name).to_uppercase(),
        version => env!("CARGO_PKG_VERSION"),
        about => escape(about),
        sections => roff(&texts.concat()),
    };
    finished(&fill(include_str!("help/guide.roff"), values))
}

/// Maximum length of a line; `mandoc -T lint` reports longer ones.
const LINE_BYTES: usize = 80;

/// The page with long lines of text wrapped between words, which renders the same, and with the date of the
/// version.
pub(crate) fn finished(page: &str) -> String {
    let (mut finished, mut verbatim) = (String::new(), false);
    for line in page.lines() {
        match line {
            ".nf" => verbatim = true,
            ".fi" => verbatim = false,
            _ => {}
        }
        if line.starts_with(".TH ") {
            // Without hyphenation, which would split options.
            finished += &(line.replacen("\"\"", &format!("\"{RELEASED}\""), 1) + "\n.nh");
        } else if verbatim || line.starts_with('.') {
            finished += line;
        } else {
            finished += &broken(line);
        }
        finished += "\n";
    }
    finished
}

fn broken(line: &str) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in line.split(' ') {
        // A line must not begin with a character that starts a roff request.
        let may_begin = !word.is_empty() && !word.starts_with(['.', '\'']);
        if width + 1 + word.len() > LINE_BYTES && width > 0 && may_begin {
            text += "\n";
            width = 0;
        } else if !text.is_empty() {
            text += " ";
            width += 1;
        }
        text += word;
        width += word.len();
    }
    text
}

/// One line of a synopsis.
fn usage(command: &clap::Command) -> String {
    let mut line = format!("\\fB{}\\fR", escape(command.get_bin_name().unwrap_or_default()));
    if command.get_opts().any(|option| !option.is_hide_set()) || flags(command) {
        line += " [\\fIoptions\\fR]";
    }
    for operand in command.get_positionals().filter(|operand| !operand.is_hide_set()) {
        let names = operand.get_value_names().unwrap_or_default().iter().map(ToString::to_string);
        let name = escape(&names.collect::<Vec<_>>().join(" "));
        line += &if operand.is_required_set() { format!(" \\fI{name}\\fR") } else { format!(" [\\fI{name}\\fR]") };
    }
    line
}

/// Whether the command has options besides `--help`.
fn flags(command: &clap::Command) -> bool {
    let flags = command.get_arguments().filter(|argument| !argument.is_positional() && !argument.is_hide_set());
    flags.filter(|argument| argument.get_id() != "help").count() > 0
}

/// The paragraphs of the command's long help, or else the short one as a sentence.
fn description(command: &clap::Command) -> String {
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    // The first paragraph is the summary, which is under NAME.
    let paragraphs: Vec<&str> = long.split("\n\n").skip(1).collect();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default() + ".";
    let paragraphs = if paragraphs.is_empty() { vec![about.as_str()] } else { paragraphs };
    let paragraphs: Vec<String> = paragraphs.into_iter().map(|text| escape(text.trim()) + "\n").collect();
    paragraphs.join(".PP\n")
}

/// A subsection for a subcommand.
fn command_below(command: &clap::Command) -> String {
    format!(".SS {}\n{}{}", usage(command), description(command), options(command))
}

/// The options and operands, with their headings as subsections, without `--help`.
fn options(command: &clap::Command) -> String {
    let mut command = command.clone().mut_args(|argument| match argument.get_id().as_str() {
        "help" => argument.hide(true),
        _ => argument,
    });
    command.build();
    let below = command.get_bin_name().unwrap_or_default().split(' ').count() > 2;
    let mut options = Vec::new();
    Man::new(command).render_options_section(&mut options).expect("writing to a vector succeeds");
    let options = String::from_utf8_lossy(&options).replace("\\*(Aq", "\\(aq");
    let lines = options.lines().filter(|line| !line.starts_with(".ie ") && !line.starts_with(".el "));
    lines.fold(String::new(), |mut section, line| {
        match line.strip_prefix(".SH ") {
            // The page already has that heading, or the command has its own.
            Some("OPTIONS") => {}
            Some(heading) if below => {
                writeln!(section, ".PP\n{}:", sentence(heading)).expect("writing to a string succeeds")
            }
            Some(heading) => writeln!(section, ".SS {}", sentence(heading)).expect("writing to a string succeeds"),
            None => section += &format!("{line}\n"),
        }
        section
    })
}

/// A heading in capitals in the form of a subsection: `"READING BACK"` as `Reading back`.
fn sentence(heading: &str) -> String {
    let heading = heading.trim_matches('"').to_lowercase();
    let mut letters = heading.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

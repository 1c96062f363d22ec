//! What packages install beside the program: man page and completions, made of the definition of the command line.

use crate::apps::measuring::manual;
use crate::cli::help::{self, Part};
use crate::cli::words::{Table, words};
use clap::builder::TypedValueParser;
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::{self, Write};

/// Something that packages install beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Artifact {
    /// The man page `haul(1)`.
    Man,
    /// The man page `haul-dd(1)`.
    ManDd,
    /// The man page `haul-sg_dd(1)`, of its kin, too.
    ManSgDd,
    /// The man page `haul-tune(1)`.
    ManTune,
    /// The man page `haul-profile(1)`.
    ManProfile,
    /// Completions for bash.
    Bash,
    /// Completions for zsh.
    Zsh,
    /// Completions for fish.
    Fish,
}

/// The bytes of the artifact, ready for a file; none of the man pages of the fronts, which write their own. The same on
/// every run of the same version: no date is in it.
pub fn render(artifact: Artifact) -> Vec<u8> {
    let mut bytes = Vec::new();
    match artifact {
        Artifact::Man => manual(&mut bytes).expect("a vector takes all bytes"),
        Artifact::ManDd | Artifact::ManSgDd => {}
        Artifact::ManTune => manual::tune(&mut bytes).expect("a vector takes all bytes"),
        Artifact::ManProfile => manual::profile(&mut bytes).expect("a vector takes all bytes"),
        Artifact::Bash => complete(Shell::Bash, &mut bytes),
        Artifact::Zsh => complete(Shell::Zsh, &mut bytes),
        Artifact::Fish => complete(Shell::Fish, &mut bytes),
    }
    bytes
}

fn complete(shell: Shell, bytes: &mut Vec<u8>) {
    clap_complete::generate(shell, &mut super::command(), "haul", bytes);
}

/// The commands that exchange a journal.
fn journal(out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(out, ".PP\n\\fBhaul journal export\\fR writes the journal of an interrupted copy as a mapfile of GNU")?;
    writeln!(
        out,
        "ddrescue; \\fBhaul journal import\\fR makes one of a mapfile, after it has made the dest durable and"
    )?;
    writeln!(out, "compared some of it, so that \\fBhaul copy \\-\\-resume\\fR goes on.")
}

/// The commands that measure a disk.
fn measuring(out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(
        out,
        ".PP\n\\fBhaul tune\\fR finds the smallest block size and depth that reach 95 % of a disk's best rate,"
    )?;
    writeln!(
        out,
        "by reading only, or with \\fB\\-\\-write\\fR by writing.\n\
        \\fBhaul profile\\fR measures its rate from place to place, what a command costs,"
    )?;
    writeln!(
        out,
        "and what each way of reading takes; with \\fB\\-\\-write \\-\\-sustained\\fR where its write cache runs out.\n\
        See \\fBhaul\\-tune\\fR(1) and \\fBhaul\\-profile\\fR(1)."
    )
}

/// One page for haul's own commands: nobody looks for `haul-copy(1)`. The fronts with words of others have theirs, and
/// so have the commands that measure, whose options are many and not those of a copy.
fn manual(out: &mut Vec<u8>) -> io::Result<()> {
    let mut command = super::command();
    command.build();
    let copy = command.find_subcommand("copy").expect("copy is a subcommand").clone();
    let version = command.get_version().unwrap_or_default();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    // By hand, because mangen drops the empty date and moves what stands behind it.
    writeln!(out, ".TH HAUL 1 \"\" \"haul {version}\" \"User Commands\"")?;
    writeln!(out, ".SH NAME\nhaul \\- {}", escape(&about))?;
    writeln!(out, ".SH SYNOPSIS\n\\fBhaul copy\\fR [\\fIoptions\\fR] \\fISRC\\fR \\fIDST\\fR")?;
    writeln!(out, ".br\n\\fBhaul verify\\fR [\\fIoptions\\fR] \\fISRC\\fR \\fIDST\\fR")?;
    writeln!(out, ".br\n\\fBhaul pattern write\\fR [\\fIoptions\\fR] \\fIDST\\fR")?;
    writeln!(out, ".br\n\\fBhaul pattern check\\fR [\\fIoptions\\fR] \\fISRC\\fR")?;
    writeln!(out, ".br\n\\fBhaul journal export\\fR \\fIJOURNAL\\fR \\fIMAPFILE\\fR")?;
    writeln!(out, ".br\n\\fBhaul journal import\\fR [\\fIoptions\\fR] \\fIMAPFILE\\fR \\fISRC\\fR \\fIDST\\fR")?;
    writeln!(out, ".br\n\\fBhaul tune\\fR [\\fIoptions\\fR] \\fIPATH\\fR")?;
    writeln!(out, ".br\n\\fBhaul profile\\fR [\\fIoptions\\fR] \\fIPATH\\fR")?;
    for front in ["dd", "sg_dd", "sgp_dd", "sgm_dd"] {
        writeln!(out, ".br\n\\fBhaul {front}\\fR [\\fIoperand\\fR]...")?;
    }
    writeln!(out, ".br\n\\fBhaul manifest show\\fR \\fIFILE\\fR")?;
    writeln!(out, ".br\n\\fBhaul manifest diff\\fR \\fIFIRST\\fR \\fISECOND\\fR")?;
    writeln!(out, ".br\n\\fBhaul list\\fR [\\fB\\-\\-json\\fR]")?;
    writeln!(out, ".SH DESCRIPTION")?;
    let long = copy.get_long_about().map(ToString::to_string).unwrap_or_default();
    // The first paragraph is the one-line summary.
    for paragraph in long.split("\n\n").skip(1) {
        writeln!(out, ".PP\n{}", escape(paragraph))?;
    }
    writeln!(
        out,
        ".PP\n\\fBhaul verify\\fR reads both sides and tells whether they are equal, and where they differ;"
    )?;
    writeln!(out, "\\fBhaul verify \\-\\-help\\fR has its options. Its exit status is 1 if they differ.")?;
    manifests(out)?;
    writeln!(
        out,
        ".PP\n\\fBhaul pattern write\\fR fills a disk or file with blocks that carry their own address, the"
    )?;
    writeln!(
        out,
        "number of the run and a checksum; \\fBhaul pattern check\\fR reads them back past every cache and tells"
    )?;
    writeln!(
        out,
        "which are flipped, swapped, misplaced, stale, torn or gone, and whether the disk lies about its size."
    )?;
    writeln!(
        out,
        "\\fBhaul pattern check \\-\\-help\\fR has the options and the kinds of damage; the exit status is 1 if"
    )?;
    writeln!(out, "there is any.")?;
    journal(out)?;
    measuring(out)?;
    writeln!(
        out,
        ".PP\n\\fBhaul list\\fR shows every block device: its aliases, size, model, serial number, transport,"
    )?;
    writeln!(out, "what uses it, and its partitions with start and length in sectors; with \\fB\\-\\-json\\fR as one")?;
    writeln!(out, "JSON document.")?;
    writeln!(out, ".PP\n\\fBhaul dd\\fR takes the operands of dd, and haul called by that name does; see")?;
    writeln!(out, "\\fBhaul\\-dd\\fR(1). The same goes for sg_dd, sgp_dd and sgm_dd of sg3_utils; see")?;
    writeln!(out, "\\fBhaul\\-sg_dd\\fR(1). They ask nothing and refuse nothing for safety.")?;
    Man::new(copy).render_options_section(out)?;
    for section in help::MANUAL {
        writeln!(out, ".SH \"{}\"", section.title)?;
        section.parts.iter().try_for_each(|one| part(out, one))?;
    }
    Ok(())
}

/// What is said of manifests.
fn manifests(out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(
        out,
        ".PP\n\\fBhaul manifest\\fR shows what a manifest says, and where two differ; a copy writes one with"
    )?;
    writeln!(out, "\\fB\\-\\-manifest\\fR, and \\fBhaul verify \\-\\-manifest\\fR compares with it without the source.")
}

pub(crate) fn part(out: &mut Vec<u8>, part: &Part) -> io::Result<()> {
    match part {
        Part::Text(words) => writeln!(out, ".PP\n{}", escape(words)),
        Part::Term(term, words) => writeln!(out, ".TP\n\\fB{}\\fR\n{}", escape(term), escape(words)),
        Part::Example(line, words) => {
            writeln!(out, ".PP\n{}\n.RS 4\n.nf\n\\fB{}\\fR\n.fi\n.RE", escape(words), escape(line))
        }
    }
}

/// `text` with what roff takes for its own made plain.
pub(crate) fn escape(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('…', "\\&...");
    match text.strip_prefix(['.', '\'']) {
        Some(_) => format!("\\&{text}"),
        None => text,
    }
}

/// The words for them.
const ARTIFACTS: Table<Artifact> = &[
    ("man", "the man page haul(1)", Artifact::Man),
    ("man-dd", "the man page haul-dd(1)", Artifact::ManDd),
    ("man-sg_dd", "the man page haul-sg_dd(1)", Artifact::ManSgDd),
    ("man-tune", "the man page haul-tune(1)", Artifact::ManTune),
    ("man-profile", "the man page haul-profile(1)", Artifact::ManProfile),
    ("bash", "completions for bash", Artifact::Bash),
    ("zsh", "completions for zsh", Artifact::Zsh),
    ("fish", "completions for fish", Artifact::Fish),
];

/// Reads which artifact is meant.
pub(crate) fn artifact() -> impl TypedValueParser<Value = Artifact> {
    words(ARTIFACTS)
}

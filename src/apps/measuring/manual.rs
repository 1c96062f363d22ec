//! The man pages of commands whose options are not those of a copy.
use crate::apps::command_line::command;
use crate::apps::command_line::generate::{escape, part};
use crate::cli::help;
use clap_mangen::Man;
use std::io::{self, Write};

/// `haul-tune(1)`.
pub(crate) fn tune(out: &mut Vec<u8>) -> io::Result<()> {
    page(out, "tune", help::TUNE_MANUAL)
}

/// `haul-profile(1)`.
pub(crate) fn profile(out: &mut Vec<u8>) -> io::Result<()> {
    page(out, "profile", help::PROFILE_MANUAL)
}

/// One page: what `--help` has, with `sections` behind the options.
fn page(out: &mut Vec<u8>, verb: &str, sections: &[help::Section]) -> io::Result<()> {
    let mut haul = command();
    haul.build();
    let found = haul.find_subcommand(verb).expect("it is a subcommand").clone();
    let version = env!("CARGO_PKG_VERSION");
    writeln!(out, ".TH HAUL\\-{} 1 \"\" \"haul {version}\" \"User Commands\"", verb.to_uppercase())?;
    let about = found.get_about().map(ToString::to_string).unwrap_or_default();
    writeln!(out, ".SH NAME\nhaul\\-{verb} \\- {}", escape(&about))?;
    writeln!(out, ".SH SYNOPSIS\n\\fBhaul {verb}\\fR [\\fIoptions\\fR] \\fIPATH\\fR\n.SH DESCRIPTION")?;
    let long = found.get_long_about().map(ToString::to_string).unwrap_or_default();
    // The first paragraph is the one-line summary, and stands as NAME.
    for paragraph in long.split("\n\n").skip_while(|paragraph| *paragraph == about) {
        writeln!(out, ".PP\n{}", escape(paragraph))?;
    }
    Man::new(found).render_options_section(out)?;
    for section in sections {
        writeln!(out, ".SH \"{}\"", section.title)?;
        section.parts.iter().try_for_each(|one| part(out, one))?;
    }
    Ok(())
}

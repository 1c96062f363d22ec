//! The man pages of the fronts that speak in the words of other programs.
use super::dd::cli as dd_words;
use super::sg_dd::cli as sg_words;
use crate::apps::command_line::generate::escape;
use std::io::{self, Write};

/// One page: its name, of which others are aliases, and what it is about.
fn begin(out: &mut impl Write, names: &[&str], about: &str) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let title = names[0].to_uppercase();
    writeln!(out, ".TH {} 1 \"\" \"haul {version}\" \"User Commands\"", escape(&title))?;
    let names: Vec<String> = names.iter().map(|name| escape(name)).collect();
    writeln!(out, ".SH NAME\n{} \\- {}", names.join(", "), escape(about))?;
    writeln!(out, ".SH SYNOPSIS")
}

fn term(out: &mut impl Write, term: &str, words: &str) -> io::Result<()> {
    writeln!(out, ".TP\n\\fB{}\\fR\n{}", escape(term), escape(words))
}

fn example(out: &mut impl Write, line: &str, words: &str) -> io::Result<()> {
    writeln!(out, ".PP\n{}\n.RS 4\n.nf\n\\fB{}\\fR\n.fi\n.RE", escape(words), escape(line))
}

/// `haul-dd(1)`.
pub(super) fn dd(out: &mut impl Write) -> io::Result<()> {
    begin(out, &["haul-dd"], "copy with the operands of dd")?;
    writeln!(out, "\\fBhaul dd\\fR [\\fB\\-\\-explain\\fR] [\\fIoperand\\fR]...\n.SH DESCRIPTION")?;
    for paragraph in dd_words::MANUAL_TEXT {
        writeln!(out, ".PP\n{}", escape(paragraph))?;
    }
    writeln!(out, ".SH \"OPERANDS AND WORDS\"")?;
    for group in dd_words::MANUAL_OPERANDS {
        writeln!(out, ".SS \"{}\"", escape(group.title))?;
        group.entries.iter().try_for_each(|(name, words)| term(out, name, words))?;
    }
    writeln!(out, ".SH \"EXIT STATUS\"")?;
    term(out, "0", "Done; not durable unless conv=fsync or conv=fdatasync says so.")?;
    term(out, "1", "Anything failed, or the words cannot be meant.")?;
    term(out, "3", "Refused: another haul reads or writes those bytes of the output just now. Nothing was written.")?;
    term(out, "by signal", "Interrupted.")?;
    writeln!(out, ".SH EXAMPLES")?;
    example(out, "haul dd if=/dev/sda of=/dev/sdb", "What dd does, at the speed of the disks:")?;
    example(out, "haul dd --explain if=/dev/sda of=/dev/sdb", "Which way it would go, and why:")?;
    example(out, "ln -s $(command -v haul) ~/bin/dd", "Let scripts take haul for dd:")?;
    writeln!(out, ".SH \"SEE ALSO\"\n{}", escape("haul(1), haul-sg_dd(1), dd(1)"))
}

/// `haul-sg_dd(1)`.
pub(super) fn sg_dd(out: &mut impl Write) -> io::Result<()> {
    let names = ["haul-sg_dd", "haul-sgp_dd", "haul-sgm_dd"];
    begin(out, &names, "copy with the operands of sg_dd, sgp_dd, sgm_dd")?;
    for (at, name) in ["sg_dd", "sgp_dd", "sgm_dd"].into_iter().enumerate() {
        let line_break = if at == 0 { "" } else { ".br\n" };
        writeln!(out, "{line_break}\\fBhaul {name}\\fR [\\fIoption\\fR]... [\\fIoperand\\fR]...")?;
    }
    writeln!(out, ".SH DESCRIPTION")?;
    for paragraph in sg_words::MANUAL_TEXT {
        writeln!(out, ".PP\n{}", escape(paragraph))?;
    }
    writeln!(out, ".SH \"OPERANDS AND WORDS\"")?;
    for group in sg_words::groups() {
        writeln!(out, ".SS \"{}\"", escape(group.title))?;
        for (who, name, words, more) in group.entries {
            let remark = who.remark();
            writeln!(out, ".TP\n\\fB{}\\fR{}\n{}", escape(name), escape(&remark), escape(words))?;
            if !more.is_empty() {
                writeln!(out, "{}", escape(more))?;
            }
        }
    }
    writeln!(out, ".SH SIGNALS")?;
    sg_words::SIGNALS.iter().try_for_each(|(name, words)| term(out, name, words))?;
    writeln!(out, ".SH \"EXIT STATUS\"")?;
    sg_words::STATUSES.iter().try_for_each(|(name, words)| term(out, name, words))?;
    writeln!(out, ".SH EXAMPLES")?;
    example(out, "haul sg_dd if=/dev/sdb of=disk.img iflag=coe retries=2 time=1", "Save what can be read of a disk:")?;
    example(out, "haul sg_dd if=disk.img of=/dev/sdc -x", "Compare a disk with an image:")?;
    example(
        out,
        "haul sgp_dd if=/dev/sdb of=/dev/sdc bpt=2048 thr=8 time=1",
        "Say how many transfers, and how large:",
    )?;
    writeln!(out, ".SH \"SEE ALSO\"\n{}", escape("haul(1), haul-dd(1), sg_dd(8), sgp_dd(8), sgm_dd(8)"))
}

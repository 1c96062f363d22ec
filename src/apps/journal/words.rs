//! `haul journal` as clap sees it.
use crate::apps::command::{Call, Unmeant, Words};
use crate::apps::exit::Exit;
use crate::cli::help::{ENVIRONMENT, FILES, SIZES};
use crate::cli::words;
use crate::cli::words::address;
use crate::plan::{JournalWish, Options};
use clap::{Args, Parser, Subcommand, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = include_str!("help/examples.txt");
const STATUS: &str = include_str!("help/status.txt");
const SEE_ALSO: &str = "# SEE ALSO\nhaul(1), haul-copy(1), ddrescue(1), ddrescuelog(1)\n";

/// Exchange a journal with GNU ddrescue
///
/// Write the journal of an interrupted copy as a mapfile of GNU ddrescue, or create a journal from a mapfile, so that
/// either program can continue a copy of the other.
#[derive(Debug, Parser)]
#[command(name = "journal", subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct JournalArguments {
    #[command(subcommand)]
    verb: JournalVerb,
}

/// What is done with a journal.
#[derive(Debug, Subcommand)]
enum JournalVerb {
    /// Write a journal as a mapfile of GNU ddrescue
    ///
    /// Write JOURNAL as a mapfile of GNU ddrescue, so that ddrescue can continue the copy: durable data is finished,
    /// unreadable sectors are bad, the rest is not tried. The journal is kept.
    Export {
        /// The journal
        #[arg(value_name = "JOURNAL", value_hint = ValueHint::FilePath)]
        journal: PathBuf,

        /// The mapfile to create; it must not exist
        #[arg(value_name = "MAPFILE", value_hint = ValueHint::FilePath)]
        mapfile: PathBuf,
    },

    /// Create a journal from a mapfile, for haul copy --resume
    ///
    /// Create the journal of a copy from SRC to DST from MAPFILE, so that haul copy --resume can continue a copy of GNU
    /// ddrescue. haul first flushes DST and compares samples of the finished parts on both sides; it writes nothing to
    /// DST. Only finished parts count: haul retries the rest, including bad sectors.
    Import(ImportArguments),
}

/// The words behind `haul journal import`.
#[derive(Debug, Args)]
struct ImportArguments {
    /// The mapfile that ddrescue wrote
    #[arg(value_name = "MAPFILE", value_hint = ValueHint::FilePath)]
    mapfile: PathBuf,

    /// Source of the copy: block device or file
    #[arg(value_name = "SRC", value_hint = ValueHint::AnyPath)]
    source: OsString,

    /// Destination of the copy: block device or file
    #[arg(id = "destination", value_name = "DST", value_hint = ValueHint::AnyPath)]
    dest: OsString,

    /// As the copy that is to go on has it
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true)]
    skip: Option<u64>,

    /// As the copy that is to go on has it
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true)]
    seek: Option<u64>,

    /// As the copy that is to go on has it
    #[arg(long, value_name = "SIZE", value_parser = words::amount, allow_hyphen_values = true)]
    count: Option<u64>,

    /// Path of the journal, instead of the default of haul copy
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    journal: Option<PathBuf>,
}

impl ImportArguments {
    /// The mapfile, and the options of the copy that is to go on.
    fn into_options(self) -> Result<(PathBuf, Options), Unmeant> {
        let options = Options {
            source: address("SRC", self.source)?,
            dest: address("DST", self.dest)?,
            skip_bytes: self.skip,
            seek_bytes: self.seek,
            count_bytes: self.count,
            journal: self.journal.map_or(JournalWish::Auto, JournalWish::At),
            resume: true,
            ..Options::default()
        };
        Ok((self.mapfile, options))
    }
}

/// What `haul journal` was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JournalAsked {
    Export {
        journal: PathBuf,
        /// To be made.
        mapfile: PathBuf,
    },
    Import {
        mapfile: PathBuf,
        /// The copy that is to go on.
        options: Box<Options>,
    },
}

impl Words for JournalArguments {
    type Options = JournalAsked;

    const PAGE: &'static [&'static str] = &[SIZES, STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE_ALSO];

    fn into_options(self) -> Result<JournalAsked, Unmeant> {
        Ok(match self.verb {
            JournalVerb::Export { journal, mapfile } => JournalAsked::Export { journal, mapfile },
            JournalVerb::Import(words) => {
                let (mapfile, options) = words.into_options()?;
                JournalAsked::Import { mapfile, options: Box::new(options) }
            }
        })
    }

    fn run(asked: &JournalAsked, call: &Call<'_>) -> crate::core::Result<Exit> {
        match asked {
            JournalAsked::Export { journal, mapfile } => super::export_journal(journal, mapfile, call.out),
            JournalAsked::Import { mapfile, options } => super::import_journal(mapfile, options, call.out),
        }
    }
}

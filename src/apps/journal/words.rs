//! The arguments of `haul journal`.
use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::Exit;
use crate::cli::help::{ENVIRONMENT, FILES, SIZES};
use crate::cli::words;
use crate::cli::words::address;
use crate::core::ObjectAddress;
use crate::plan::{JournalChoice, Options};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = include_str!("help/examples.txt");
const STATUS: &str = include_str!("help/status.txt");
const SEE_ALSO: &str = "# SEE ALSO\nhaul(1), haul-copy(1), ddrescue(1), ddrescuelog(1)\n";

/// List or remove journals; exchange them with GNU ddrescue
///
/// List the unfinished copies that have a journal, or remove one. Write the journal of an interrupted copy as a mapfile
/// of GNU ddrescue, or create a journal from a mapfile, so that either program can continue a copy of the other.
#[derive(Debug, Parser)]
#[command(name = "journal", subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct JournalArguments {
    #[command(subcommand)]
    verb: JournalVerb,
}

/// The operation on a journal.
#[derive(Debug, Subcommand)]
enum JournalVerb {
    /// List unfinished copies, and the command that continues each
    ///
    /// List the unfinished copies that have a journal: source, destination, the durable amount, the start time, and the
    /// command that continues each. Without PATH these are the copies to devices, and those to files in the current
    /// directory, whose journals are next to them.
    List {
        /// A directory, a journal, or the destination of a copy
        #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
        paths: Vec<OsString>,

        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },

    /// Remove a journal: discard an unfinished copy
    ///
    /// Remove the journal of an unfinished copy; --resume cannot continue it afterwards. The copied data is not
    /// changed. haul asks on a terminal; otherwise --yes is required. haul refuses to remove a journal that a running
    /// copy uses.
    Remove {
        /// The journal, or the destination of its copy
        #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, required = true)]
        paths: Vec<OsString>,

        /// Remove without asking
        #[arg(long, short = 'y')]
        yes: bool,
    },

    /// List incomplete uploads in an object store
    ///
    /// List the incomplete uploads to objects whose keys begin with that of ADDRESS, of haul and of other programs:
    /// when each began, its ID and its object. Their parts take space in the store until it is completed or aborted.
    Uploads {
        /// s3://BUCKET, s3://BUCKET/PREFIX, gs://BUCKET, gs://BUCKET/PREFIX
        #[arg(value_name = "ADDRESS", value_hint = ValueHint::Url)]
        address: OsString,
    },

    /// Abort an incomplete upload in an object store
    ///
    /// Abort an incomplete upload: the store removes its parts, and --resume cannot continue the copy afterwards. The
    /// object itself is not changed. haul asks on a terminal; otherwise --yes is required.
    Abort {
        /// Address of the object
        #[arg(value_name = "ADDRESS", value_hint = ValueHint::Url)]
        address: OsString,

        /// ID of the upload, as haul journal uploads lists it
        #[arg(value_name = "ID")]
        id: OsString,

        /// Abort without asking
        #[arg(long, short = 'y')]
        yes: bool,
    },

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

/// The arguments after `haul journal import`.
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

    /// --skip of the copy to be continued
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true)]
    skip: Option<u64>,

    /// --seek of the copy to be continued
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true)]
    seek: Option<u64>,

    /// --count of the copy to be continued
    #[arg(long, value_name = "SIZE", value_parser = words::amount, allow_hyphen_values = true)]
    count: Option<u64>,

    /// Path of the journal, instead of the default of haul copy
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    journal: Option<PathBuf>,
}

impl ImportArguments {
    /// The mapfile, and the options of the copy to be continued.
    fn into_options(self) -> Result<(PathBuf, Options), UsageError> {
        let options = Options {
            source: address("SRC", self.source)?,
            dest: address("DST", self.dest)?,
            skip_bytes: self.skip,
            seek_bytes: self.seek,
            count_bytes: self.count,
            journal: self.journal.map_or(JournalChoice::Auto, JournalChoice::At),
            resume: true,
            ..Options::default()
        };
        Ok((self.mapfile, options))
    }
}

/// The request of `haul journal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JournalAction {
    List {
        /// Directories, journals and destinations; none: the default directories.
        paths: Vec<String>,
        json: bool,
    },
    Remove {
        /// Journals, or destinations of copies.
        paths: Vec<String>,
        yes: bool,
    },
    Uploads(ObjectAddress),
    Abort {
        address: ObjectAddress,
        id: String,
        yes: bool,
    },
    Export {
        journal: PathBuf,
        /// The mapfile to create.
        mapfile: PathBuf,
    },
    Import {
        mapfile: PathBuf,
        /// The copy to be continued.
        options: Box<Options>,
    },
}

impl Words for JournalArguments {
    type Options = JournalAction;

    const PAGE: &'static [&'static str] = &[SIZES, STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE_ALSO];

    fn into_options(self) -> Result<JournalAction, UsageError> {
        let addresses =
            |paths: Vec<OsString>| paths.into_iter().map(|path| address("PATH", path)).collect::<Result<_, _>>();
        Ok(match self.verb {
            JournalVerb::List { paths, json } => JournalAction::List { paths: addresses(paths)?, json },
            JournalVerb::Remove { paths, yes } => JournalAction::Remove { paths: addresses(paths)?, yes },
            JournalVerb::Uploads { address: of } => JournalAction::Uploads(object(of, ObjectAddress::of_prefix)?),
            JournalVerb::Abort { address: of, id, yes } => {
                JournalAction::Abort { address: object(of, ObjectAddress::parse)?, id: address("ID", id)?, yes }
            }
            JournalVerb::Export { journal, mapfile } => JournalAction::Export { journal, mapfile },
            JournalVerb::Import(words) => {
                let (mapfile, options) = words.into_options()?;
                JournalAction::Import { mapfile, options: Box::new(options) }
            }
        })
    }

    fn run(asked: &JournalAction, call: &Call<'_>) -> crate::core::Result<Exit> {
        match asked {
            JournalAction::List { paths, json } => super::list_journals(paths, *json, call.out),
            JournalAction::Remove { paths, yes } => super::remove_journals(paths, *yes, call.out),
            JournalAction::Uploads(address) => super::list_uploads(address, call.out),
            JournalAction::Abort { address, id, yes } => super::abort_upload(address, id, *yes, call.out),
            JournalAction::Export { journal, mapfile } => super::export_journal(journal, mapfile, call.out),
            JournalAction::Import { mapfile, options } => super::import_journal(mapfile, options, call.out),
        }
    }

    fn json_report(asked: &JournalAction) -> Option<&'static str> {
        matches!(asked, JournalAction::List { json: true, .. }).then_some("journals")
    }
}

/// The object, or the beginning of keys, that a word names.
fn object(word: OsString, parse: impl Fn(&str) -> Result<ObjectAddress, String>) -> Result<ObjectAddress, UsageError> {
    let text = address("ADDRESS", word)?;
    parse(&text)
        .map_err(|why| (ErrorKind::ValueValidation, format!("ADDRESS '{}': {why}", ObjectAddress::redacted(&text))))
}

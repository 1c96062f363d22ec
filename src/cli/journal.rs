//! Options about the journal.
use crate::plan::{JournalChoice, Options};
use clap::error::ErrorKind;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

/// Whether to record durable data, and whether to resume.
#[derive(Debug, Args)]
pub(crate) struct JournalArguments {
    /// Resume an interrupted copy
    ///
    /// Resume the same command after a signal, an error, a crash or a power loss: haul does not copy again what the
    /// journal lists as durable. If all data is copied except unreadable sectors (--on-error skip), it retries only
    /// those. haul refuses, without writing, if either side has changed: it compares identity, size and samples of the
    /// data.
    #[arg(long, conflicts_with = "no_journal", help_heading = "Resume")]
    resume: bool,

    /// Discard an unfinished copy and copy from the start
    ///
    /// Copy from the start although an earlier copy to DST is unfinished: haul removes its journal and copies all data
    /// again. Without this option and without --resume haul asks on a terminal, and otherwise refuses (status 3); --yes
    /// does not apply here. The same applies to an unfinished copy to the disk of which DST is a partition, or to a
    /// partition of DST.
    #[arg(long, conflicts_with = "resume", help_heading = "Resume")]
    restart: bool,

    /// Keep the journal in this file
    ///
    /// Keep the journal in FILE. The default is .NAME.haul-journal next to a destination file, and for a device a file
    /// named after its identity in $XDG_STATE_HOME/haul, or ~/.local/state/haul. haul creates it after the first
    /// seconds, or when a copy ends early or has unreadable sectors, and removes it when the copy is complete. Streams,
    /// and destinations in memory, have no journal unless FILE is given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Resume")]
    journal: Option<PathBuf>,

    /// Keep no journal
    ///
    /// Keep no journal: an interrupted copy cannot be resumed with --resume, and haul does not flush during the copy.
    #[arg(long, conflicts_with = "journal", help_heading = "Resume")]
    no_journal: bool,

    /// Seconds between two checkpoints
    ///
    /// Flush the copied data and record it in the journal every S seconds, fractions allowed, 0 to 86400. The default
    /// is 5 seconds, and up to 60 if flushing takes long.
    #[arg(long, value_name = "S", conflicts_with = "no_journal", help_heading = "Resume")]
    checkpoint: Option<String>,
}

impl JournalArguments {
    /// Whether a copy is to be resumed.
    pub(crate) fn resumes(&self) -> bool {
        self.resume
    }

    /// The options about the journal; all others have their defaults.
    pub(crate) fn into_options(self) -> Result<Options, (ErrorKind, String)> {
        let journal = match self.journal {
            Some(path) if path.as_os_str().is_empty() => {
                return Err((ErrorKind::InvalidValue, "--journal: the name of the file is empty".to_owned()));
            }
            Some(path) => JournalChoice::At(path),
            None if self.no_journal => JournalChoice::Never,
            None => JournalChoice::Auto,
        };
        let checkpoint = self.checkpoint.map(|words| seconds(&words)).transpose()?;
        Ok(Options { journal, resume: self.resume, restart: self.restart, checkpoint, ..Options::default() })
    }
}

fn seconds(words: &str) -> Result<Duration, (ErrorKind, String)> {
    let seconds = words.parse().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds)).map(Duration::from_secs_f64);
    seconds.ok_or_else(|| {
        let what = format!("--checkpoint {words}: expected seconds from 0 to 86400, such as 5 or 0.5");
        (ErrorKind::InvalidValue, what)
    })
}

//! Options about the journal.
use crate::plan::{JournalWish, Options};
use clap::error::ErrorKind;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

/// Whether what is durable is written down, and whether that is gone on with.
#[derive(Debug, Args)]
pub(crate) struct JournalArguments {
    /// Go on with an interrupted copy
    ///
    /// Go on where the same command ended early, by a signal, an error, a crash or a power loss: what the journal says
    /// is durable is not copied again. Where --on-error skip went around what could not be read, that alone is tried
    /// again. Refused, with nothing written, where either side is no longer what it was: who it is, its size, and some
    /// of its bytes are compared.
    #[arg(long, conflicts_with = "no_journal", help_heading = "Resume")]
    resume: bool,

    /// Give an unfinished copy up and copy from the start
    ///
    /// Copy from the start although an earlier copy to DST did not come to its end: its journal is removed, and what it
    /// copied is copied again. Without this and without --resume haul asks on a terminal, and refuses (status 3)
    /// elsewhere; --yes does not answer that. The same where the unfinished copy is to the disk of which DST is a
    /// partition, or to a partition of DST.
    #[arg(long, conflicts_with = "resume", help_heading = "Resume")]
    restart: bool,

    /// Keep the journal in this file
    ///
    /// Keep the journal in FILE. By default it is .NAME.haul-journal beside a dest file, and for a device a file named
    /// by who the device is in $XDG_STATE_HOME/haul, or ~/.local/state/haul. It is made after the first seconds, or
    /// when a copy ends early or not all could be read, and removed when the copy is complete. Streams, and dests in
    /// memory, have none unless FILE is given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Resume")]
    journal: Option<PathBuf>,

    /// Keep no journal
    ///
    /// Keep no journal: a copy that ends early cannot be gone on with by --resume, and does not flush on the way.
    #[arg(long, conflicts_with = "journal", help_heading = "Resume")]
    no_journal: bool,

    /// Seconds between two checkpoints
    ///
    /// Make what was copied durable and write that down every S seconds, fractions allowed, 0 to 86400. By default it
    /// is every 5 seconds, and up to 60 where a flush takes long.
    #[arg(long, value_name = "S", conflicts_with = "no_journal", help_heading = "Resume")]
    checkpoint: Option<String>,
}

impl JournalArguments {
    /// A copy is to be continued.
    pub(crate) fn resumes(&self) -> bool {
        self.resume
    }

    /// What was asked for about the journal, and nothing else.
    pub(crate) fn into_options(self) -> Result<Options, (ErrorKind, String)> {
        let journal = match self.journal {
            Some(path) if path.as_os_str().is_empty() => {
                return Err((ErrorKind::InvalidValue, "--journal: the name of the file is empty".to_owned()));
            }
            Some(path) => JournalWish::At(path),
            None if self.no_journal => JournalWish::Never,
            None => JournalWish::Auto,
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

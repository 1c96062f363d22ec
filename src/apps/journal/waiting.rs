//! Unfinished copies that wait to be gone on with, when a copy is to begin at the start: nobody's work is given up
//! without a word.
use super::ExistingJournal;
use crate::core::{EndpointKind, Error, Kind, Plan, Result, Side};
use crate::report::{Out, text};
use std::io::{self, IsTerminal};
use std::path::PathBuf;

/// An unfinished copy whose journal says that some of its bytes are durable.
#[derive(Clone, Debug)]
pub(in crate::apps) struct Waiting {
    pub(super) path: PathBuf,
    pub(super) durable_bytes: u64,
    /// It is to another device that shares bytes with the dest: its disk, or a partition of it.
    pub(super) of_kin: bool,
}

impl Waiting {
    /// A clause.
    fn words(&self, dest: &str) -> String {
        let whose = if self.of_kin { "a partition or the disk of destination" } else { "destination" };
        let (bytes, path) = (self.durable_bytes, self.path.display());
        format!("an unfinished copy to {whose} {dest} waits: {bytes} bytes of it are durable, as journal {path} says")
    }
}

/// What is to become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::apps) enum Choice {
    /// It is gone on with.
    Resume,
    /// It is given up.
    Restart,
}

impl ExistingJournal {
    /// What a dry run says of unfinished copies that wait.
    pub(in crate::apps) fn foretell(&self, dest: &str) -> Vec<String> {
        let words = |waiting: &Waiting| {
            let ways = if waiting.of_kin || !self.source_lasts() {
                "--restart gives it up"
            } else {
                "--resume goes on with it, --restart gives it up"
            };
            format!("{}; this command asks on a terminal, and is refused elsewhere: {ways}", waiting.words(dest))
        };
        self.waiting.iter().map(words).collect()
    }

    /// Whether this copy's source can be read again, so that `--resume` can be said of it.
    fn source_lasts(&self) -> bool {
        let kind = self.head.source.kind.as_str();
        [EndpointKind::File, EndpointKind::Block].iter().any(|lasting| lasting.name() == kind)
    }

    /// Asks what is to become of unfinished copies that wait, if any do. `can_resume`: this command can go on with one.
    ///
    /// # Errors
    /// Refused where nobody can be asked, or the answer is neither.
    pub(in crate::apps) fn settle_waiting(&self, plan: &Plan, can_resume: bool, out: Out) -> Result<Choice> {
        let Some(waiting) = self.waiting.first() else { return Ok(Choice::Restart) };
        let dest = &plan.dest.address;
        // Of a journal in a place of its own this command knows nothing but that.
        let other = |waiting: &Waiting| waiting.of_kin || self.named && self.path.as_deref() != Some(&waiting.path);
        let can_resume = can_resume && self.source_lasts() && !self.waiting.iter().any(other);
        let what = waiting.words(dest);
        let terminals = plan.source.address != "-" && io::stdin().is_terminal() && out.error_is_terminal();
        if !terminals {
            let advice = match (waiting.of_kin, can_resume) {
                (true, _) => "Finish that copy by its own command with --resume, or give it up with --restart",
                (false, false) if !self.source_lasts() => {
                    "This copy's source cannot be read again, so it cannot go on with that one: begin with --restart"
                }
                (false, true) => "Go on with it by --resume, or begin anew with --restart",
                (false, false) => {
                    "Go on with it by a copy to that destination alone with --resume, or begin anew with --restart"
                }
            };
            let advice =
                format!("Nothing was written. {advice}, which removes its journal; --yes does not answer this.");
            return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
        }
        let cannot_ask = |error| Error::new(Kind::Refused, "cannot ask what is to become of it").because(error);
        let question = text::waiting_copy(&what, can_resume);
        let answer = text::answer(&question, &mut io::stdin().lock(), &mut out.error_stream()).map_err(cannot_ask)?;
        match answer.as_str() {
            "continue" if can_resume => Ok(Choice::Resume),
            "restart" => Ok(Choice::Restart),
            _ => {
                let what = format!("stopped: nothing was written to destination {dest}");
                let advice = "The unfinished copy still waits: --resume goes on with it, --restart gives it up.";
                Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice))
            }
        }
    }
}

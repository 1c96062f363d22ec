//! The page of `--report`: where it goes is examined first, and it is written last.
use super::exit::{Exit, failed};
use super::run_report::FinishedRun;
use crate::core::{Facts, Result, Series, Side};
use crate::disks::probe;
use crate::ledger::PageFile;
use crate::report::page::CopyFound;
use crate::report::{Out, page, text};
use std::path::{Path, PathBuf};

/// A page that is to be written, and what it is about.
pub(super) struct PendingPage {
    file: PageFile,
    /// As they were found, before anything was done.
    facts: Vec<(Side, Facts)>,
}

/// Where the page goes, if one was asked for. Nothing is made yet, but it is sure that it could be.
pub(super) fn place(path: Option<&Path>, used: &[(Side, &Facts)]) -> Result<Option<PendingPage>> {
    let Some(path) = path else { return Ok(None) };
    let file = PageFile::check(path, page::MARK, used)?;
    Ok(Some(PendingPage { file, facts: used.iter().map(|&(side, facts)| (side, facts.clone())).collect() }))
}

impl PendingPage {
    /// Writes the page of a copy; where it is.
    ///
    /// # Errors
    /// It cannot be written. What was done stays done.
    pub(super) fn put(self, went: &FinishedRun<'_>, series: &Series) -> Result<PathBuf> {
        let FinishedRun { decision, outcome, words, started, .. } = *went;
        let (facts, machine) = (&self.facts[..], &probe::machine());
        let page = page::copy(CopyFound { decision, outcome, series, facts, machine, words, started });
        let path = self.file.path().to_owned();
        self.file.write(&page).map(|()| path)
    }

    /// Writes it, and says so. What was done stays done if it cannot be written, but exit status 0 would be untrue.
    pub(super) fn write(self, page: &str, exit: Exit, out: Out) -> Exit {
        let path = self.file.path().to_owned();
        match self.file.write(page) {
            Ok(()) => {
                out.eprint(&text::paged(&path));
                exit
            }
            Err(error) => {
                let other = failed(out, &error);
                if exit == Exit::Status(0) { other } else { exit }
            }
        }
    }
}

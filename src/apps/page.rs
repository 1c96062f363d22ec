//! The page of `--report`: its path is examined first, and it is written last.
use super::exit::{Exit, failed};
use super::run_report::FinishedRun;
use crate::core::rescue::CoursePoint;
use crate::core::{Facts, Result, Series, Side};
use crate::disks::probe;
use crate::ledger::PageFile;
use crate::report::json::RescueEnd;
use crate::report::page::{CopyFound, RescueFound};
use crate::report::{Out, page, text};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A page to be written, and the sides that it describes.
pub(super) struct PendingPage {
    file: PageFile,
    /// As probed before anything was changed.
    facts: Vec<(Side, Facts)>,
}

/// Checks the path of the page, if one was requested. Nothing is created yet, but creating it is known to be
/// possible.
pub(super) fn place(path: Option<&Path>, used: &[(Side, &Facts)]) -> Result<Option<PendingPage>> {
    let Some(path) = path else { return Ok(None) };
    let file = PageFile::check(path, page::MARK, used)?;
    Ok(Some(PendingPage { file, facts: used.iter().map(|&(side, facts)| (side, facts.clone())).collect() }))
}

impl PendingPage {
    /// Writes the page of a copy; returns its path.
    ///
    /// # Errors
    /// It cannot be written. The copy is unaffected.
    pub(super) fn put(self, went: &FinishedRun<'_>, series: &Series) -> Result<PathBuf> {
        let FinishedRun { decision, outcome, words, started, .. } = *went;
        let (facts, machine) = (&self.facts[..], &probe::machine());
        let page = page::copy(CopyFound { decision, outcome, series, facts, machine, words, started });
        let path = self.file.path().to_owned();
        self.file.write(&page).map(|()| path)
    }

    /// Writes the page of a rescue; returns its path.
    ///
    /// # Errors
    /// It cannot be written. The rescue is unaffected.
    pub(super) fn put_rescue(
        self,
        end: &RescueEnd<'_>,
        course: &[CoursePoint],
        started: SystemTime,
    ) -> Result<PathBuf> {
        let page = page::rescue(RescueFound { end, course, machine: &probe::machine(), started });
        let path = self.file.path().to_owned();
        self.file.write(&page).map(|()| path)
    }

    /// Writes the page and reports its path. If that fails, the exit status is not 0, although the copy is
    /// unaffected.
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

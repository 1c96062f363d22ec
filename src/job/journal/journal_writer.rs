//! Who writes the journal while the copy runs.
use super::fits::{SAMPLE_BYTES, SAMPLES, digest_at, ended_as};
use super::place;
use crate::core::{CheckpointSink, Endpoint, Error, Extent, ExtentSet, Kind, Plan, Result, Side};
use crate::ledger::journal::{FinalStamp, Head, Journal, Sample, sample_places};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The same where a head has to move for each.
const SAMPLES_UNDER_A_HEAD: u64 = 6;

/// Writes a journal, which is made when there is something to write: a copy that is over before its first checkpoint
/// never has one.
#[derive(Clone)]
pub(super) struct JournalWriter(Arc<Mutex<Inner>>);

struct Inner {
    path: PathBuf,
    /// Without samples as long as there is no journal.
    head: Head,
    source: Arc<dyn Endpoint>,
    samples: u64,
    /// What is copied of the source, counted from the first byte of the copy; `None`: all.
    ranges: Option<Vec<Extent>>,
    journal: Option<Journal>,
    /// When this run began, in the form of [`FinalStamp::dest_mtime`].
    began: String,
    /// What the dest was when an earlier run ended.
    before: Option<FinalStamp>,
}

/// What became of a journal after a copy.
#[derive(Default)]
pub(super) struct JournalEnd {
    /// Where it is left.
    pub(super) left: Option<PathBuf>,
    /// Bytes that it says could not be read.
    pub(super) unread_bytes: u64,
    /// What the user should know about it.
    pub(super) note: Option<String>,
}

impl Inner {
    fn error(&self, fault: crate::ledger::Fault) -> Error {
        fault.into_error(&self.path.display().to_string())
    }

    fn begin(&mut self) -> Result<&mut Journal> {
        if self.journal.is_none() {
            let mut head = self.head.clone();
            let whole = || vec![Extent::new(0, head.len_bytes.unwrap_or(0))];
            let whole: ExtentSet = self.ranges.clone().unwrap_or_else(whole).into_iter().collect();
            for place in sample_places(&whole, self.samples, SAMPLE_BYTES) {
                let on_source = Extent::new(head.source.offset_bytes + place.offset, place.len);
                // What cannot be read is no sample; the copy has its own way with it.
                if let Some(digest) = digest_at(Side::Source, &self.source, on_source) {
                    head.samples.push(Sample { offset_bytes: place.offset, len_bytes: place.len, digest });
                }
            }
            // It exists from the first journal on: nothing is made before the user agreed.
            let what = || format!("cannot create journal {}", self.path.display());
            place::prepare(&self.path).map_err(|cause| Error::new(Kind::Io, what()).because(cause))?;
            self.journal = Some(Journal::create(&self.path, head).map_err(|fault| self.error(fault))?);
        }
        Ok(self.journal.as_mut().unwrap_or_else(|| unreachable!("it was made just now")))
    }
}

impl JournalWriter {
    /// `journal` is one that is continued; `before`: what the dest was when it ended.
    pub(super) fn new(
        path: PathBuf,
        head: Head,
        source: Arc<dyn Endpoint>,
        plan: &Plan,
        journal: Option<Journal>,
        before: Option<FinalStamp>,
    ) -> Self {
        let samples = if plan.source.moves_head { SAMPLES_UNDER_A_HEAD } else { SAMPLES };
        let began = format!("{:.9}", jiff::Timestamp::now());
        let ranges = plan.ranges_from_first();
        JournalWriter(Arc::new(Mutex::new(Inner { path, head, source, samples, ranges, journal, began, before })))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes the journal now.
    pub(super) fn begin(&self) -> Result<()> {
        self.with(|inner| inner.begin().map(|_| ()))
    }

    /// After a copy: the journal goes when `all_done`, or when it says nothing. One that stays says what `dest` is now,
    /// to which nothing more is written.
    pub(super) fn settle(&self, all_done: bool, dest: Option<&Arc<dyn Endpoint>>) -> JournalEnd {
        self.with(|inner| {
            let Some(mut journal) = inner.journal.take() else { return JournalEnd::default() };
            let state = journal.state();
            if !all_done && !state.durable.is_empty() {
                let unread_bytes = state.unread.total_bytes();
                // Some file systems keep no time of writing: theirs is older than what was written.
                let is_kept =
                    |ended: &FinalStamp| ended.dest_mtime >= inner.began || inner.before.as_ref() == Some(ended);
                if let Some(ended) = dest.and_then(ended_now).filter(is_kept) {
                    // Without that line the journal claims no less.
                    let _ = journal.end(ended);
                }
                return JournalEnd { left: Some(inner.path.clone()), unread_bytes, note: None };
            }
            let path = &inner.path;
            let note = journal
                .remove()
                .err()
                .map(|fault| format!("cannot remove journal {}, which is no longer needed: {fault}", path.display()));
            JournalEnd { note, ..JournalEnd::default() }
        })
    }
}

/// What a destination file is now. The time of its last write has to survive a power loss too, or it would be another
/// one afterwards.
fn ended_now(dest: &Arc<dyn Endpoint>) -> Option<FinalStamp> {
    let file = dest.descriptor()?;
    // Of a device there is nothing to say.
    ended_as(&rustix::fs::fstat(file).ok()?)?;
    rustix::fs::fsync(file).ok()?;
    ended_as(&rustix::fs::fstat(file).ok()?)
}

impl CheckpointSink for JournalWriter {
    fn keep(&mut self, durable: &ExtentSet, unread: &ExtentSet) -> Result<()> {
        let [durable, unread] = [durable, unread].map(|set| set.iter().collect::<Vec<Extent>>());
        self.with(|inner| {
            let appended = inner.begin()?.append(&durable, &unread);
            appended.map_err(|fault| inner.error(fault))
        })
    }
}

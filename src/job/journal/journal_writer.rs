//! Writes the journal while the copy runs.
use super::fits::{SAMPLE_BYTES, SAMPLES, digest_at, ended_as};
use super::place;
use crate::core::{
    AddressMap, CheckpointSink, Endpoint, Error, Extent, ExtentSet, Kept, Kind, Plan, PlanSide, Result, Side,
};
use crate::job::journal_digests::JournalDigests;
use crate::ledger::journal::{FinalStamp, Head, Journal, Sample, sample_places};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of samples on a rotational disk.
const SAMPLES_UNDER_A_HEAD: u64 = 6;

/// Writes a journal, which is created when there is something to write: a copy that ends before its first
/// checkpoint never has one.
#[derive(Clone)]
pub(super) struct JournalWriter(Arc<Mutex<Inner>>);

struct Inner {
    path: PathBuf,
    /// Has no samples until the journal is created.
    head: Head,
    source: Arc<dyn Endpoint>,
    samples: u64,
    /// The address map of the source.
    on_source: AddressMap,
    journal: Option<Journal>,
    /// When this run began, in the form of [`FinalStamp::dest_mtime`].
    began: String,
    /// The stamp of the dest at the end of an earlier run.
    before: Option<FinalStamp>,
    /// The digests that it records.
    digests: Option<Arc<JournalDigests>>,
}

/// The state of a journal after a copy.
#[derive(Default)]
pub(super) struct JournalEnd {
    /// Its path, if it was kept.
    pub(super) left: Option<PathBuf>,
    /// Bytes that it records as unreadable.
    pub(super) unread_bytes: u64,
    /// A note for the user.
    pub(super) note: Option<String>,
}

impl Inner {
    fn error(&self, fault: crate::ledger::Fault) -> Error {
        fault.into_error(&self.path.display().to_string())
    }

    fn begin(&mut self) -> Result<&mut Journal> {
        if self.journal.is_none() {
            let mut head = self.head.clone();
            let whole: ExtentSet = [Extent::new(0, head.len_bytes.unwrap_or(0))].into_iter().collect();
            head.samples = samples(&whole, self.samples, &self.on_source, &self.source);
            // The journal does not exist before the first call: nothing is created before the user agrees.
            let what = || format!("cannot create journal {}", self.path.display());
            place::prepare(&self.path).map_err(|cause| Error::new(Kind::Io, what()).because(cause))?;
            self.journal = Some(Journal::create(&self.path, head).map_err(|fault| self.error(fault))?);
        }
        Ok(self.journal.as_mut().unwrap_or_else(|| unreachable!("it was made just now")))
    }
}

/// Samples of the source of a copy that consists of the bytes of `whole`.
pub(crate) fn samples_of(whole: &ExtentSet, plan: &PlanSide, source: &Arc<dyn Endpoint>) -> Vec<Sample> {
    samples(whole, number_of_samples(plan), &plan.map, source)
}

fn number_of_samples(source: &PlanSide) -> u64 {
    if source.moves_head { SAMPLES_UNDER_A_HEAD } else { SAMPLES }
}

fn samples(whole: &ExtentSet, count: u64, on_source: &AddressMap, source: &Arc<dyn Endpoint>) -> Vec<Sample> {
    let mut samples = Vec::new();
    for place in sample_places(whole, count, SAMPLE_BYTES) {
        let len = place.len.min(on_source.run_bytes(place.offset));
        let place = Extent::new(place.offset, len);
        // Unreadable bytes give no sample; the copy handles their error.
        if let Some(digest) = digest_at(Side::Source, source, on_source.place(place)) {
            samples.push(Sample { offset_bytes: place.offset, len_bytes: place.len, digest });
        }
    }
    samples
}

impl JournalWriter {
    /// `journal` is one that is resumed; `before`: the stamp of the dest when it ended.
    pub(super) fn new(
        path: PathBuf,
        head: Head,
        source: Arc<dyn Endpoint>,
        plan: &Plan,
        journal: Option<Journal>,
        before: Option<FinalStamp>,
        digests: Option<Arc<JournalDigests>>,
    ) -> Self {
        let samples = number_of_samples(&plan.source);
        let began = format!("{:.9}", jiff::Timestamp::now());
        let on_source = plan.source.map.clone();
        let inner = Inner { path, head, source, samples, on_source, journal, began, before, digests };
        JournalWriter(Arc::new(Mutex::new(inner)))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Creates the journal now.
    pub(super) fn begin(&self) -> Result<()> {
        self.with(|inner| inner.begin().map(|_| ()))
    }

    /// After a copy: removes the journal if `all_done`, or if it claims nothing. One that is kept gets a stamp
    /// of `dest`, to which nothing more is written.
    pub(super) fn close(&self, all_done: bool, dest: Option<&Arc<dyn Endpoint>>) -> JournalEnd {
        self.with(|inner| {
            let Some(mut journal) = inner.journal.take() else { return JournalEnd::default() };
            let state = journal.state();
            if !all_done && !state.durable.is_empty() {
                let unread_bytes = state.unread.total_bytes();
                // Some file systems store no modification time: theirs is older than the write.
                let is_kept =
                    |ended: &FinalStamp| ended.dest_mtime >= inner.began || inner.before.as_ref() == Some(ended);
                if let Some(ended) = dest.and_then(ended_now).filter(is_kept) {
                    // Without that line the journal still claims the same bytes.
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

/// The present stamp of a destination file. Its modification time must survive a power loss too, otherwise it
/// would differ afterwards.
fn ended_now(dest: &Arc<dyn Endpoint>) -> Option<FinalStamp> {
    let file = dest.descriptor()?;
    // Devices have no stamp.
    ended_as(&rustix::fs::fstat(file).ok()?)?;
    rustix::fs::fsync(file).ok()?;
    ended_as(&rustix::fs::fstat(file).ok()?)
}

impl CheckpointSink for JournalWriter {
    fn keep(&mut self, kept: &Kept, unread: &ExtentSet) -> Result<()> {
        let [durable, unread] = [&kept.bytes, unread].map(|set| set.iter().collect::<Vec<Extent>>());
        self.with(|inner| {
            let digests = inner.digests.clone();
            let journal = inner.begin()?;
            let added = kept.upload.as_ref().map_or(Ok(()), |upload| journal.add_upload(upload));
            let appended = added.and_then(|()| journal.append(&durable, &unread));
            let appended = appended.and_then(|()| match &digests {
                Some(digests) => {
                    let blocks = digests.take(&journal.state().durable);
                    journal.add_digests(digests.how(), &blocks)
                }
                None => Ok(()),
            });
            appended.map_err(|fault| inner.error(fault))
        })
    }
}

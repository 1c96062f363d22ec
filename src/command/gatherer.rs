//! What becomes of the digests of blocks: kept to read back by, and written to the manifest.
use crate::contract::{
    DigestedBlock, Ended, Error, Event, Extent, Facts, HashKind, Kind, Observer, Outcome, Plan, Result, Side,
};
use crate::ledger::manifest::{Entry, Head, ManifestFile};
use crate::ledger::{Fault, SideIdentity};
use crate::plan::Options;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Hears of digested blocks.
#[derive(Default)]
pub(super) struct Gatherer {
    /// Ascending; `None`: nobody will ask for them.
    kept: Option<Mutex<Vec<DigestedBlock>>>,
    paper: Option<Paper>,
}

impl Gatherer {
    /// Keeps what `plan` needs later, and begins the manifest that is asked for: what keeps it from being written is
    /// told before the copy begins.
    ///
    /// # Errors
    /// The manifest cannot be begun.
    pub(super) fn begin(options: &Options, plan: &Plan, source: &Facts, dest: &Facts) -> Result<Self> {
        let paper = options.manifest.as_deref().map(|path| Paper::begin(path, plan, source, dest)).transpose()?;
        Ok(Gatherer { kept: plan.read_back.is_some().then(Mutex::default), paper })
    }

    /// The blocks so far.
    pub(super) fn take(&mut self) -> Vec<DigestedBlock> {
        self.kept.take().map(|kept| kept.into_inner().unwrap_or_else(PoisonError::into_inner)).unwrap_or_default()
    }

    /// Ends the manifest: it gets its name if the copy is complete.
    ///
    /// # Errors
    /// It could not be written.
    pub(super) fn finish(self, outcome: &mut Outcome) -> Result<()> {
        self.paper.map_or(Ok(()), |paper| paper.finish(outcome))
    }
}

impl Observer for Gatherer {
    fn hear(&self, event: &Event<'_>) {
        let Event::Digested(block) = event else { return };
        if let Some(kept) = &self.kept {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(*block);
        }
        if let Some(paper) = &self.paper {
            // Fails only when the writer has given up, which the end tells.
            let _ = paper.to_writer.send(*block);
        }
    }
}

/// A manifest under way, written by a thread of its own: a slow file system must not hold the copy up.
struct Paper {
    path: String,
    /// Where the copy begins on the source, in bytes.
    from: u64,
    to_writer: Sender<DigestedBlock>,
    writer: JoinHandle<std::result::Result<ManifestFile, Fault>>,
}

impl Paper {
    fn begin(path: &str, plan: &Plan, source: &Facts, dest: &Facts) -> Result<Self> {
        let blocks = plan.digest_blocks.expect("a plan with a manifest digests blocks");
        if same_name(Path::new(path), &dest.path) {
            let what = format!("--manifest {path} is the dest itself");
            return Err(Error::new(Kind::Usage, what).on(Side::Dest).advise("Name another file for the manifest."));
        }
        let head = Head {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created: format!("{:.0}", jiff::Timestamp::now()),
            algorithm: blocks.kind,
            block_bytes: blocks.block_bytes,
            len_bytes: plan.len,
            source: SideIdentity::of(source, plan.source.offset),
            // Before the copy, as the source: a file that is not there has no size.
            dest: SideIdentity {
                size_bytes: dest.size.filter(|_| dest.exists),
                ..SideIdentity::of(dest, plan.dest.offset)
            },
        };
        let mut file = ManifestFile::create(Path::new(path), &head).map_err(|fault| fault.into_error(path))?;
        let (to_writer, inbox) = channel::<DigestedBlock>();
        let write = move || {
            for DigestedBlock { extent, digest } in inbox {
                file.add(digest.map_or(Entry::Zeros(extent), |digest| Entry::Block { extent, digest }))?;
            }
            Ok(file)
        };
        let writer = thread::Builder::new()
            .name("haul-manifest".to_owned())
            .spawn(write)
            .map_err(|error| Error::new(Kind::Io, "no thread is left to write the manifest").because(error))?;
        Ok(Paper { path: path.to_owned(), from: plan.source.offset, to_writer, writer })
    }

    fn finish(self, outcome: &mut Outcome) -> Result<()> {
        drop(self.to_writer);
        let file = self.writer.join().expect("the writer of the manifest only writes");
        if !matches!(outcome.ended, Ended::Complete) {
            outcome.notes.push(format!("no manifest {} was made: the copy is not complete", self.path));
            return Ok(());
        }
        let whole = outcome.digests.iter().find(|digest| digest.kind == HashKind::Blake3);
        let whole = whole.and_then(|digest| digest.hex.parse().ok());
        let unread = outcome.unread[Side::Source.index()].runs.iter();
        let unread = unread.map(|run| Entry::Unread(Extent::new(run.offset.saturating_sub(self.from), run.len)));
        let finished = file.and_then(|mut file| {
            unread.into_iter().try_for_each(|entry| file.add(entry))?;
            file.close(whole)
        });
        finished.map_err(|fault| fault.into_error(&self.path))?;
        outcome.manifest = Some(self.path);
        Ok(())
    }
}

/// Both paths name one file that may not be there yet.
fn same_name(one: &Path, other: &Path) -> bool {
    let full = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((parent.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    full(one).is_some() && full(one) == full(other)
}

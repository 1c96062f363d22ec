//! The destination of `--write`: a temporary file, extents of a device that are saved and restored, or a whole
//! device.
use crate::apps::measuring::plan::{WriteDest, WriteOptions, Writing};
use crate::core::{
    Cache, Endpoint, EndpointKind, Error, Existing, Extent, ExtentSet, Facts, FileId, Kind, PlanSide, Result, Side,
    Stop,
};
use crate::disks;
use crate::disks::probe;
use crate::files::{DirectoryEntry, FileError};
use crate::job::undo::{self, AT_ONCE_BYTES, UndoTask};
use crate::ledger::undo::{Content, Undo};
use crate::measure::{BadRange, Ground, Subject, Way, Written};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is overwritten, and how to restore it.
pub(crate) struct Scratch {
    /// The original data, and the device to which it is restored.
    undo: Option<(Undo, Arc<dyn Endpoint>)>,
    written: Written,
}

/// Examines the destination: a device, or a file that does not exist; for a directory, a new file in it.
///
/// # Errors
/// As for [`probe::dest`].
pub(crate) fn look(path: &str) -> Result<Facts> {
    if !Path::new(path).is_dir() {
        return probe::dest(path);
    }
    let name = format!(".haul-measures-{}-{:08x}", std::process::id(), fastrand::u32(..));
    let mut facts = probe::dest(&Path::new(path).join(name).to_string_lossy())?;
    facts.address = path.to_owned();
    Ok(facts)
}

/// The path of the undo journal of a device, with its facts; `None`: nothing is saved.
///
/// # Errors
/// There is no directory for it, or it cannot be created.
pub(crate) fn store(facts: &Facts, options: &WriteOptions) -> Result<Option<(PathBuf, Facts)>> {
    if facts.kind != EndpointKind::Block || options.destroy {
        return Ok(None);
    }
    let path = undo::place(facts)?;
    undo::make_directory(&path)?;
    let facts = probe::dest(&path.to_string_lossy())?;
    Ok(Some((path, facts)))
}

/// Opens the destination in every mode of the plan. A file is unlinked at once: it disappears when this process
/// ends, for any reason.
///
/// # Errors
/// As for [`disks::open_dest_to_change`]; a file that cannot be removed.
pub(crate) fn open(writing: &Writing, facts: &Facts) -> Result<Vec<(Way, Arc<dyn Endpoint>)>> {
    let mut facts = facts.clone();
    let mut ways = Vec::new();
    let mut opened = Ok(());
    for (cache, side) in &writing.measuring.ways {
        // The first mode has created it.
        let existing = if ways.is_empty() { side.access.existing } else { Existing::Keep };
        let side = PlanSide { access: crate::core::Access { existing, ..side.access }, ..side.clone() };
        match disks::open_dest_to_change(&side, &facts) {
            Ok(end) => {
                facts = end.facts().clone();
                ways.push((if *cache == Cache::Direct { Way::Direct } else { Way::Buffered }, end));
            }
            Err(error) => {
                opened = Err(error);
                break;
            }
        }
    }
    if matches!(writing.over, WriteDest::NewFile(_)) && !ways.is_empty() {
        let removed = match facts.id {
            Some(FileId::File(dev, ino)) => {
                DirectoryEntry::of(&facts.path).map_err(Into::into).and_then(|place| place.remove_inode((dev, ino)))
            }
            _ => Ok(()),
        };
        removed.map_err(|error: FileError| {
            Error::new(Kind::Io, format!("cannot remove the temporary file {}", facts.path.display()))
                .because(error.into())
                .advise("Remove it manually.")
        })?;
    }
    opened.map(|()| ways)
}

/// Prepares the destination for overwriting: saves the original data of a device, or fills a file if requested.
/// Takes about `time`. `Err`: a signal arrived first, and nothing was written to a device.
///
/// # Errors
/// Nothing can be saved, or the file cannot be filled.
pub(crate) fn prepare(
    subject: &mut Subject,
    over: &WriteDest,
    filled: bool,
    store: Option<&Path>,
    time: Duration,
    stop: &Stop,
) -> Result<std::result::Result<Scratch, i32>> {
    let (_, end) = subject.ways[0].clone();
    let mut session = [0; 32];
    session.fill_with(|| fastrand::u8(..));
    let mut undo = None;
    let ground = match (over, store) {
        (WriteDest::Kept(places), Some(store)) => {
            let facts = end.facts().clone();
            let kept = undo::keep(store, &UndoTask { facts: &facts, end: &end, places, time }, stop)?;
            let Some(kept) = kept else { return Ok(Err(stop.signal().unwrap_or(0))) };
            session = *kept.undo.head().session.as_bytes();
            subject.extents = kept.extents;
            subject.failed += kept.bad.len() as u64;
            subject.bad.extend::<Vec<BadRange>>(kept.bad);
            undo = Some((kept.undo, end));
            Ground::Kept
        }
        (WriteDest::NewFile(bytes), _) => {
            let content = Content::of(&session.into());
            let len = if filled { fill(&end, *bytes, content.bytes(), time, stop)? } else { *bytes };
            subject.extents = vec![Extent::new(0, len)];
            if let Some(signal) = stop.signal() {
                return Ok(Err(signal));
            }
            Ground::NewFile
        }
        _ => Ground::All,
    };
    subject.op = crate::core::Op::Write;
    subject.content = Content::of(&session.into()).bytes().to_vec();
    let bytes = subject.extents.iter().map(|extent| extent.len).sum();
    let written = Written { ground, bytes, places: subject.extents.len(), put_back_bytes: None, left: None };
    Ok(Ok(Scratch { undo, written }))
}

/// Fills the file, so that allocating its blocks is not measured; returns its length.
fn fill(end: &Arc<dyn Endpoint>, bytes: u64, content: &[u8], time: Duration, stop: &Stop) -> Result<u64> {
    let address = &end.facts().address;
    let failed = |offset, error: std::io::Error| {
        let kind = end.diagnose(crate::core::Op::Write, offset, &error);
        Error::of_request(kind, crate::core::Op::Write, Side::Dest, address, offset, error)
    };
    end.prepare(Extent::new(0, bytes)).map_err(|error| failed(0, error))?;
    let mut writer = undo::Mover::new(end)?;
    let (began, mut filled) = (Instant::now(), 0);
    let piece: Vec<u8> = content.iter().copied().cycle().take(AT_ONCE_BYTES as usize).collect();
    while filled < bytes && !stop.is_requested() && (filled == 0 || began.elapsed() < time) {
        let len = (bytes - filled).min(AT_ONCE_BYTES.into());
        writer.write(filled, &piece[..len as usize]).map_err(|error| failed(filled, error))?;
        filled += len;
    }
    end.end_at(filled).and_then(|()| end.make_durable()).map_err(|error| failed(filled, error))?;
    Ok(filled)
}

/// Adjacent extents as one: a run may continue from one to the next.
pub(crate) fn merged(extents: &[Extent]) -> Vec<Extent> {
    extents.iter().copied().collect::<ExtentSet>().iter().collect()
}

impl Scratch {
    /// Whether there is original data to restore.
    pub(crate) fn is_kept(&self) -> bool {
        self.undo.is_some()
    }

    /// Restores the saved bytes. Returns what was overwritten in any case.
    pub(crate) fn restore(self) -> (Written, Option<Error>) {
        let Scratch { undo, mut written } = self;
        let Some((undo, end)) = undo else { return (written, None) };
        match undo::put_back(undo, &end) {
            Ok(done) => {
                written.put_back_bytes = Some(done.written_bytes);
                (written, None)
            }
            Err(not_back) => {
                let undo::NotPutBack { error, left } = *not_back;
                written.left = Some(left);
                (written, Some(error))
            }
        }
    }
}

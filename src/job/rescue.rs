//! A rescue: the map of the source, which is kept in a mapfile, and its run.
use super::finished::Finished;
use super::journal;
use super::operator::Operator;
use super::rescue_dest::RescueDest;
use crate::core::rescue::{
    Course, RescueLog, RescueMap, RescueState, RescueStatus, SharedRescue, Status, StatusBlock, TimeLimits,
};
use crate::core::{
    CheckpointSink, Endpoint, Error, ExtentSet, Facts, Kept, Kind, PlanSide, Result, Side, byte_count, locked,
};
use crate::files::{FileError, open_to_read};
use crate::ledger::mapfile::{KeptMapfile, Mapfile};
use crate::ledger::{RescueLogFile, RescueLogKind, SideIdentity};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The comment that names the source of a rescue.
const SOURCE: &str = "# Source: ";

/// The rescue of one source into one dest, before it runs.
pub(crate) struct Rescue {
    /// The state, which continues that of the mapfile.
    pub(crate) state: SharedRescue,
    /// Whether there was a mapfile.
    pub(crate) continues: bool,
    /// Whether that mapfile names its source.
    pub(crate) names_source: bool,
    pub(super) file: Arc<Mutex<RescueFile>>,
    pub(super) logs: Vec<Box<dyn RescueLog>>,
    pub(super) operator: Arc<dyn Operator>,
}

/// The mapfile of a rescue.
pub(super) struct RescueFile {
    path: PathBuf,
    kept: KeptMapfile,
    comments: Vec<String>,
    pub(super) dest: RescueDest,
    /// What the mapfile says.
    saved: RescueMap,
}

/// A rescue after its run.
pub(crate) struct Rescued {
    pub(crate) finished: Finished,
    pub(crate) state: SharedRescue,
    /// Whether everything that the run has rescued is durable and in the mapfile.
    pub(crate) is_saved: bool,
    /// Why the last writing of the mapfile failed.
    pub(crate) unsaved: Option<Error>,
    pub(crate) limits: TimeLimits,
    pub(crate) course: Course,
}

impl Rescue {
    /// Opens the mapfile at `path`, or a new one, for a rescue of `len` bytes of `source` into `dest`. Changes nothing.
    ///
    /// # Errors
    /// Refused if the mapfile is of another source, or says that bytes were rescued that `dest` does not have.
    pub(crate) fn open(
        path: &Path,
        len: u64,
        source: &Facts,
        dest: &Facts,
        operator: &Arc<dyn Operator>,
    ) -> Result<Rescue> {
        let name = path.display().to_string();
        let (kept, found) = match journal::is_in_new_directory(path) {
            true => (KeptMapfile::in_new_directory(path), None),
            false => KeptMapfile::open(path).map_err(|fault| fault.into_error(&name))?,
        };
        let identity = SideIdentity::of(source, 0);
        let continues = found.is_some();
        let then = found.as_ref().and_then(source_of);
        if let Some(then) = &then {
            is_source(&name, then, &identity)?;
        }
        let named_dest = found.as_ref().and_then(RescueDest::of).unwrap_or_else(|| RescueDest::new(dest));
        let state = match found {
            None => RescueState::new(RescueMap::untried(len), RescueStatus::Copying, 1, 0),
            Some(found) => {
                fits(&name, &found, len, operator)?;
                RescueState::new(
                    RescueMap::of_blocks(len, found.blocks),
                    found.doing,
                    found.current_pass,
                    found.current_pos,
                )
            }
        };
        has_rescued(&name, &state.map, dest)?;
        let created = format!("# Mapfile. Created by haul version {}", env!("CARGO_PKG_VERSION"));
        let named = serde_json::to_string(&identity).ok().map(|identity| format!("{SOURCE}{identity}"));
        let comments = std::iter::once(created).chain(named).collect();
        let file = RescueFile { path: path.to_owned(), kept, comments, dest: named_dest, saved: state.map.clone() };
        Ok(Rescue {
            state: Arc::new(Mutex::new(state)),
            continues,
            names_source: then.is_some(),
            file: Arc::new(Mutex::new(file)),
            logs: Vec::new(),
            operator: operator.clone(),
        })
    }

    /// Refuses a dest, opened by `plan`, that is not the one that the mapfile describes.
    ///
    /// # Errors
    /// As for [`RescueDest::check`].
    pub(crate) fn check_dest(&self, plan: &PlanSide, dest: &Facts) -> Result<()> {
        let mut file = locked(&self.file);
        let name = file.path.display().to_string();
        let map = file.saved.clone();
        file.dest.check(&name, &map, plan, dest)
    }

    /// Writes the mapfile for the first time, so that one that cannot be written is found before the first write.
    ///
    /// # Errors
    /// It cannot be written; nothing was changed.
    pub(crate) fn begin(&self) -> Result<()> {
        let state = locked(&self.state).clone();
        let mut file = locked(&self.file);
        journal::prepare(&file.path).map_err(|cause| {
            let what = format!("cannot create the directory of map {}", file.path.display());
            Error::new(Kind::Io, what).because(cause).advise("Nothing was written. Name the map after the destination.")
        })?;
        file.save(&state, state.map.clone())
    }

    /// The same rescue, recorded in these logs of the command line `command`.
    ///
    /// # Errors
    /// A file exists and is not such a log, or cannot be written.
    pub(crate) fn logged(mut self, logs: &[(RescueLogKind, PathBuf)], command: &str) -> Result<Rescue> {
        for (kind, path) in logs {
            let operator = self.operator.clone();
            let failed = move |error| operator.warn(&format!("{error}; the rescue continues without this log"));
            let log = RescueLogFile::open(*kind, path, command, &locked(&self.state), failed);
            self.logs.push(Box::new(log.map_err(|fault| fault.into_error(&path.display().to_string()))?));
        }
        Ok(self)
    }

    /// Gives the unfinished bytes of each sector one status: another program may have had smaller sectors.
    pub(crate) fn join_sectors(&self, sector_bytes: u64) {
        locked(&self.state).map.join_sectors(sector_bytes);
    }

    /// Marks all bytes of these statuses as of the status beside each.
    pub(crate) fn change(&self, changes: &[(Status, Status)]) {
        let mut state = locked(&self.state);
        let blocks: Vec<StatusBlock> = state.map.blocks().collect();
        for StatusBlock { extent, status } in blocks {
            if let Some((_, other)) = changes.iter().find(|(from, _)| *from == status) {
                state.map.set(extent, *other);
            }
        }
    }
}

impl RescueFile {
    pub(super) fn save(&mut self, state: &RescueState, map: RescueMap) -> Result<()> {
        let mapfile = Mapfile {
            comments: self.comments.iter().cloned().chain(self.dest.comment()).collect(),
            current_pos: state.pos,
            doing: state.phase,
            current_pass: state.pass,
            blocks: map.blocks().collect(),
        };
        self.kept.save(&mapfile).map_err(|fault| fault.into_error(&self.path.display().to_string()))?;
        self.saved = map;
        Ok(())
    }
}

/// Writes the mapfile after each flush of the dest.
pub(super) struct Saves {
    pub(super) state: SharedRescue,
    pub(super) file: Arc<Mutex<RescueFile>>,
    pub(super) operator: Arc<dyn Operator>,
    /// Whether the last writing failed.
    pub(super) failed: bool,
    /// What was durable before.
    pub(super) durable: ExtentSet,
    /// Reads the dest; `None`: it cannot be read beside being written.
    pub(super) reader: Option<Arc<dyn Endpoint>>,
}

impl CheckpointSink for Saves {
    fn keep(&mut self, kept: &Kept, _unread: &ExtentSet) -> Result<()> {
        self.durable.insert_all(&kept.bytes);
        let (state, mut file) = (locked(&self.state).clone(), locked(&self.file));
        if let Some(reader) = &self.reader {
            file.dest.take_samples(&self.durable, reader, false);
        }
        // What was written since the flush began is not durable: it has the status that the mapfile has.
        let mut map = state.map.clone();
        for part in state.map.set_of(Status::Finished).iter().flat_map(|part| self.durable.gaps(part)) {
            for before in file.saved.blocks().filter(|before| before.extent.overlaps(&part)) {
                if let Some(both) = before.extent.intersection(&part) {
                    map.set(both, before.status);
                }
            }
        }
        // The rescue continues without: the disk may not live until there is space for the mapfile.
        let saved = file.save(&state, map);
        if let Err(error) = &saved
            && !self.failed
        {
            let warning = format!("{error}; the map of the last writing remains, and haul tries to write it again");
            self.operator.warn(&warning);
        }
        self.failed = saved.is_err();
        Ok(())
    }
}

/// The source that a mapfile names.
fn source_of(map: &Mapfile) -> Option<SideIdentity> {
    let named = map.comments.iter().find_map(|comment| comment.strip_prefix(SOURCE))?;
    serde_json::from_str(named).ok()
}

fn refused(what: String, advice: impl Into<String>) -> Error {
    Error::new(Kind::Refused, what).advise(advice.into())
}

/// Refuses a mapfile of another source.
fn is_source(name: &str, then: &SideIdentity, now: &SideIdentity) -> Result<()> {
    let mismatches: Vec<String> =
        then.mismatches(Side::Source, now).iter().map(|mismatch| mismatch.to_string()).collect();
    if mismatches.is_empty() {
        return Ok(());
    }
    let what = format!("mapfile {name} is of another source: {}", mismatches.join("; "));
    Err(refused(
        what,
        format!(
            "Nothing was written. Name the source of that rescue, or another mapfile. If it is the same disk, remove \
             the line that begins with '{}' from the mapfile.",
            SOURCE.trim_end()
        ),
    ))
}

/// Refuses a mapfile with results beyond the end of the source, and warns of places there that were not tried.
fn fits(name: &str, map: &Mapfile, len: u64, operator: &Arc<dyn Operator>) -> Result<()> {
    let mut beyond = map.blocks.iter().filter(|block| block.extent.end() > len);
    let Some(last) = beyond.clone().next_back() else { return Ok(()) };
    let end = last.extent.end();
    if beyond.all(|block| block.status == Status::Untried) {
        // GNU ddrescue ends the map of a source of unknown length there.
        if end < i64::MAX as u64 {
            operator.warn(&format!(
                "map {name} is of a source of {}, and this one has {len}: the rest is left out",
                byte_count(end)
            ));
        }
        return Ok(());
    }
    let what =
        format!("mapfile {name} is of a larger source: it describes bytes up to {end}, and the source has {len} bytes");
    Err(refused(what, "Nothing was written. Name the source of that rescue, or another mapfile."))
}

/// Refuses a dest that does not have what the mapfile says.
fn has_rescued(name: &str, map: &RescueMap, dest: &Facts) -> Result<()> {
    let last = map.previous(Status::Finished, map.len_bytes(), None).map_or(0, |last| last.end());
    let has = if dest.exists { dest.size.unwrap_or(u64::MAX) } else { 0 };
    if has >= last {
        return Ok(());
    }
    let is = if dest.exists { format!("has only {}", byte_count(has)) } else { "does not exist".to_owned() };
    let what = format!("mapfile {name} lists rescued data up to byte {last}, but destination {} {is}", dest.address);
    Err(refused(what, "Nothing was written. Name the destination of that rescue, or another mapfile.").on(Side::Dest))
}

/// The bytes that the mapfile at `path` lists as finished.
///
/// # Errors
/// As for [`read_map`].
pub(crate) fn domain(path: &Path) -> Result<ExtentSet> {
    read_map(path).map(|map| map.sets().finished)
}

/// Whether the mapfile names this side as its source.
pub(crate) fn is_source_of(map: &Mapfile, side: &Facts) -> bool {
    source_of(map).is_some_and(|then| then.mismatches(Side::Source, &SideIdentity::of(side, 0)).is_empty())
}

/// The mapfile at `path`.
///
/// # Errors
/// It cannot be read, or is not a mapfile.
pub(crate) fn read_map(path: &Path) -> Result<Mapfile> {
    let name = path.display().to_string();
    let failed = |error: FileError| Error::new(Kind::Open, format!("cannot open map {name}")).because(error.into());
    let file = open_to_read(path).map_err(failed)?;
    Mapfile::parse(BufReader::new(file)).map_err(|fault| fault.into_error(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{EndpointKind, Extent};
    use crate::job::operator::tests::AcceptAll;
    use std::fs;

    const LEN: u64 = 1 << 20;

    #[test]
    fn the_map_lists_as_finished_only_what_was_flushed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map");
        fs::write(&path, "0 ? 1\n0 0x10000 +\n0x10000 0x10000 *\n0x20000 0xE0000 ?\n").unwrap();
        let facts = |name| Facts { exists: true, size: Some(LEN), ..Facts::new(name, EndpointKind::File) };
        let operator: Arc<dyn Operator> = Arc::new(AcceptAll);
        let rescue = Rescue::open(&path, LEN, &facts("source"), &facts("dest"), &operator).unwrap();
        let extent = |start: u64, end: u64| Extent::new(start << 12, (end - start) << 12);
        for acknowledged in [extent(16, 24), extent(32, 48)] {
            locked(&rescue.state).map.set(acknowledged, Status::Finished);
        }
        locked(&rescue.state).map.set(extent(64, 65), Status::Bad);
        let Rescue { state, file, operator, .. } = rescue;
        let durable = [extent(0, 16)].into_iter().collect();
        let mut saves = Saves { state, file, operator, failed: false, durable, reader: None };
        let kept = Kept { bytes: [extent(20, 40)].into_iter().collect(), upload: None };
        saves.keep(&kept, &ExtentSet::new()).unwrap();
        let saved = Mapfile::parse(fs::read(&path).unwrap().as_slice()).unwrap();
        let saved = RescueMap::of_blocks(LEN, saved.blocks);
        let statuses: Vec<(u64, char)> =
            saved.blocks().map(|block| (block.extent.offset >> 12, block.status.letter())).collect();
        // Blocks 16 to 19 were `*` in the map before, and 40 to 47 were not tried.
        let expected = [(0, '+'), (16, '*'), (20, '+'), (24, '*'), (32, '+'), (40, '?'), (64, '-'), (65, '?')];
        assert_eq!(statuses, expected);
    }
}

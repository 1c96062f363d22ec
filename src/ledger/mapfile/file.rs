//! The file of a mapfile that is being made.
use super::Mapfile;
use crate::ledger::paper_file::{io_fault, lock, opened, rename_without_replacing, sync_directory_of, with_suffix};
use crate::ledger::{Fault, FaultKind, Paper};
use std::fs::{self, File, OpenOptions};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

const PAPER: Paper = Paper::Mapfile;

/// A mapfile that will be written at the end of a copy. Until then its place is held by an empty file that has `.new`
/// behind its name and goes when this is dropped: that nothing can be written there is known before the copy begins.
#[derive(Debug)]
pub struct MapfileFile {
    path: PathBuf,
    being_made: PathBuf,
    file: File,
}

impl MapfileFile {
    /// Holds the place of a mapfile at `path`, where nothing may be: a mapfile may stand for days of work.
    ///
    /// # Errors
    /// Something is there, another process is just making it, or the file system fails.
    pub fn create(path: &Path) -> Result<Self, Fault> {
        if path.symlink_metadata().is_ok() {
            return Err(Fault::of(PAPER, FaultKind::Exists));
        }
        let being_made = with_suffix(path, ".new");
        let options = &mut OpenOptions::new();
        let file = opened(PAPER, options.write(true).create(true).truncate(false), &being_made)?;
        lock(PAPER, &file)?;
        if !file.metadata().map_err(|error| io_fault(PAPER, error))?.is_file() {
            return Err(Fault::of(PAPER, FaultKind::Other));
        }
        Ok(MapfileFile { path: path.to_owned(), being_made, file })
    }

    /// Writes it, makes it durable and gives it its name.
    ///
    /// # Errors
    /// Something of that name has appeared, or the file system fails. Then there is none.
    pub fn close(self, mapfile: &Mapfile) -> Result<(), Fault> {
        let failed = |error| io_fault(PAPER, error);
        self.file.set_len(0).map_err(failed)?;
        mapfile.write(BufWriter::with_capacity(64 << 10, &self.file)).map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        rename_without_replacing(PAPER, &self.being_made, &self.path)?;
        sync_directory_of(&self.path).map_err(failed)
    }
}

impl Drop for MapfileFile {
    fn drop(&mut self) {
        // After a rename it is not there any more; that it may stay is no failure to report.
        let _ = fs::remove_file(&self.being_made);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Extent, ExtentSet};

    fn mapfile() -> Mapfile {
        let bad = [Extent::new(512, 512)].into_iter().collect();
        Mapfile::of_sets(Extent::new(0, 4096), &ExtentSet::new(), &bad)
    }

    #[test]
    fn a_mapfile_has_its_name_only_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map");
        let file = MapfileFile::create(&path).unwrap();
        assert!(!path.exists());
        file.close(&mapfile()).unwrap();
        assert_eq!(Mapfile::parse(fs::read(&path).unwrap().as_slice()).unwrap().sets(), mapfile().sets());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "something stays beside it");
        drop(MapfileFile::create(&dir.path().join("other")).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "something stays of one that was given up");
    }

    #[test]
    fn what_is_there_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map");
        let file = MapfileFile::create(&path).unwrap();
        assert!(matches!(MapfileFile::create(&path).unwrap_err().kind, FaultKind::Busy));
        fs::write(&path, b"days of work").unwrap();
        assert!(matches!(file.close(&mapfile()).unwrap_err().kind, FaultKind::Exists));
        assert!(matches!(MapfileFile::create(&path).unwrap_err().kind, FaultKind::Exists));
        assert_eq!(fs::read(&path).unwrap(), b"days of work");
    }
}

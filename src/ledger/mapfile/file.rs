//! The file of a mapfile to be written.
use super::Mapfile;
use crate::files::{NewFile, Visibility};
use crate::ledger::record_file::{file_fault, free_place, io_fault};
use crate::ledger::{Fault, RecordFile};
use std::io::BufWriter;
use std::path::Path;

const KIND: RecordFile = RecordFile::Mapfile;

/// A mapfile that will be written at the end of a copy. Its file is created before, so that an unwritable
/// directory is detected before the copy begins; dropping this removes it.
#[derive(Debug)]
pub struct MapfileFile(NewFile);

impl MapfileFile {
    /// Reserves the name `path` for a mapfile; it must not exist, because an old mapfile may represent days of
    /// work.
    ///
    /// # Errors
    /// The file exists, another process is creating it, or the file system fails.
    pub fn create(path: &Path) -> Result<Self, Fault> {
        let place = free_place(KIND, path)?;
        Ok(MapfileFile(NewFile::begin(&place).map_err(|error| file_fault(KIND, error))?))
    }

    /// Writes the mapfile, makes it durable and names it.
    ///
    /// # Errors
    /// A file of that name exists now, or the file system fails. Then there is no mapfile.
    pub fn close(self, mapfile: &Mapfile) -> Result<(), Fault> {
        let MapfileFile(new) = self;
        mapfile.write(BufWriter::with_capacity(64 << 10, new.file())).map_err(|error| io_fault(KIND, error))?;
        new.publish(Visibility::Umask).map(drop).map_err(|error| file_fault(KIND, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Extent, ExtentSet};
    use crate::ledger::FaultKind;
    use std::fs;

    fn mapfile() -> Mapfile {
        let bad = [Extent::new(512, 512)].into_iter().collect();
        Mapfile::of_sets(Extent::new(0, 4096), &ExtentSet::new(), &bad)
    }

    #[test]
    fn a_mapfile_is_named_only_when_it_is_complete() {
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
    fn an_existing_file_is_never_replaced() {
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

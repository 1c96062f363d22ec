//! The file of a mapfile that is being made.
use super::Mapfile;
use crate::files::{NewFile, Visibility};
use crate::ledger::record_file::{file_fault, free_place, io_fault};
use crate::ledger::{Fault, RecordFile};
use std::io::BufWriter;
use std::path::Path;

const KIND: RecordFile = RecordFile::Mapfile;

/// A mapfile that will be written at the end of a copy. Its file is made before, so that a folder that cannot be
/// written to is found before the copy begins; it goes when this is dropped.
#[derive(Debug)]
pub struct MapfileFile(NewFile);

impl MapfileFile {
    /// Holds the place of a mapfile at `path`, where nothing may be: a mapfile may stand for days of work.
    ///
    /// # Errors
    /// Something is there, another process is just making it, or the file system fails.
    pub fn create(path: &Path) -> Result<Self, Fault> {
        let place = free_place(KIND, path)?;
        Ok(MapfileFile(NewFile::begin(&place).map_err(|error| file_fault(KIND, error))?))
    }

    /// Writes it, makes it durable and gives it its name.
    ///
    /// # Errors
    /// Something of that name has appeared, or the file system fails. Then there is none.
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

//! The mapfile of a rescue, which is replaced again and again.
use super::Mapfile;
use crate::files::{DirectoryEntry, NewFile, Visibility};
use crate::ledger::record_file::{file_fault, free_place, io_fault, open_own};
use crate::ledger::{Fault, RecordFile};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

const KIND: RecordFile = RecordFile::Mapfile;

/// A mapfile, locked against other processes of haul.
#[derive(Debug)]
pub struct KeptMapfile {
    /// Where its directory does not exist yet: only its path is known.
    place: Result<DirectoryEntry, PathBuf>,
    /// The file that has the name; `None`: there is none yet.
    file: Option<File>,
}

impl KeptMapfile {
    /// Opens the mapfile at `path`, and reads it; `None` if it does not exist or is empty.
    ///
    /// # Errors
    /// Another process uses it, it may belong to another user, it is not a mapfile, or the file system fails.
    pub fn open(path: &Path) -> Result<(Self, Option<Mapfile>), Fault> {
        let Some((place, file)) = open_own(KIND, path)? else {
            return Ok((KeptMapfile { place: Ok(free_place(KIND, path)?), file: None }, None));
        };
        // GNU ddrescue takes an empty file for a new mapfile.
        let is_empty = file.metadata().map_err(|error| io_fault(KIND, error))?.len() == 0;
        let map = if is_empty { None } else { Some(Mapfile::parse(BufReader::new(&file))?) };
        Ok((KeptMapfile { place: Ok(place), file: Some(file) }, map))
    }

    /// A new mapfile at `path`, whose directory is created before the first [`KeptMapfile::save`].
    pub fn in_new_directory(path: &Path) -> Self {
        KeptMapfile { place: Err(path.to_owned()), file: None }
    }

    /// Writes `map` and makes it durable. At every moment the name leads to the old or the new mapfile, complete.
    ///
    /// # Errors
    /// The name leads to another file now, which is kept, or the file system fails; the old mapfile then remains.
    pub fn save(&mut self, map: &Mapfile) -> Result<(), Fault> {
        let new = match &self.place {
            Ok(place) => NewFile::begin(place),
            Err(path) => {
                let place = free_place(KIND, path)?;
                let new = NewFile::begin(&place);
                self.place = Ok(place);
                new
            }
        };
        let new = new.map_err(|error| file_fault(KIND, error))?;
        map.write(BufWriter::with_capacity(64 << 10, new.file())).map_err(|error| io_fault(KIND, error))?;
        let named = match &self.file {
            Some(old) => new.replace(old),
            None => new.publish(Visibility::Umask),
        };
        self.file = Some(named.map_err(|error| file_fault(KIND, error))?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Extent, ExtentSet};
    use crate::ledger::FaultKind;
    use std::fs;

    fn of_finished(len: u64) -> Mapfile {
        let finished = [Extent::new(0, len)].into_iter().collect();
        Mapfile::of_sets(Extent::new(0, 4096), &finished, &ExtentSet::new())
    }

    #[test]
    fn a_kept_mapfile_is_replaced_as_a_whole_and_locked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map");
        let (mut kept, none) = KeptMapfile::open(&path).unwrap();
        assert!(none.is_none() && !path.exists());
        for len in [512, 1024, 2048] {
            kept.save(&of_finished(len)).unwrap();
            let written = Mapfile::parse(fs::read(&path).unwrap().as_slice()).unwrap();
            assert_eq!(written.sets(), of_finished(len).sets());
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "something stays beside it");
        }
        assert!(matches!(KeptMapfile::open(&path).unwrap_err().kind, FaultKind::Busy));
        drop(kept);
        let (mut again, found) = KeptMapfile::open(&path).unwrap();
        assert_eq!(found.unwrap().sets(), of_finished(2048).sets());
        fs::remove_file(&path).unwrap();
        fs::write(&path, b"of another program").unwrap();
        assert!(again.save(&of_finished(4096)).is_err(), "it replaced the file of another program");
        assert_eq!(fs::read(&path).unwrap(), b"of another program");
    }

    #[test]
    fn a_mapfile_in_a_new_directory_is_created_by_its_first_writing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/map");
        let mut kept = KeptMapfile::in_new_directory(&path);
        assert!(kept.save(&of_finished(512)).is_err() && !dir.path().join("new").exists());
        fs::create_dir(dir.path().join("new")).unwrap();
        kept.save(&of_finished(512)).unwrap();
        assert!(matches!(KeptMapfile::open(&path).unwrap_err().kind, FaultKind::Busy));
        drop(kept);
        assert_eq!(KeptMapfile::open(&path).unwrap().1.unwrap().sets(), of_finished(512).sets());
    }

    #[test]
    fn an_empty_mapfile_is_new_and_a_damaged_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map");
        fs::write(&path, b"").unwrap();
        let (mut kept, none) = KeptMapfile::open(&path).unwrap();
        assert!(none.is_none());
        kept.save(&of_finished(512)).unwrap();
        drop(kept);
        fs::write(&path, b"0x0 + 1\n0x0 0x200 =\n").unwrap();
        assert!(KeptMapfile::open(&path).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"0x0 + 1\n0x0 0x200 =\n");
    }
}

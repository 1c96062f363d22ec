//! The file of a manifest that is being written.
use super::{Entry, Head, Manifest, Writer};
use crate::core::BlockDigest;
use crate::files::{FileError, FolderEntry, NewFile, Opening, Visibility, open_to_read};
use crate::ledger::record_file::{self, free_place};
use crate::ledger::{Fault, FaultKind, RecordFile};
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;

/// A manifest that is written while the copy runs. It gets its name when it is complete and durable; before that it is
/// gone when this is dropped. So a file with that name is complete.
pub struct ManifestFile {
    new: NewFile,
    /// The one that is replaced.
    old: Option<File>,
    writer: Writer<BufWriter<File>>,
}

impl ManifestFile {
    /// Begins a manifest that will be at `path`, where nothing may be.
    ///
    /// # Errors
    /// Something is there, another process is just making it, or the file system fails.
    pub fn create(path: &Path, head: &Head) -> Result<Self, Fault> {
        ManifestFile::begin(&free_place(RecordFile::Manifest, path)?, head, None)
    }

    /// Begins a manifest that will take the place of the one at `path`, when it is complete and durable.
    ///
    /// # Errors
    /// There is none; another process is just making it, or the file system fails.
    pub fn renew(path: &Path, head: &Head) -> Result<Self, Fault> {
        let place = FolderEntry::following(path).map_err(file_fault)?;
        let old = place.open(Opening::Read).map_err(file_fault)?;
        let old = old.ok_or_else(|| io_fault(rustix::io::Errno::NOENT.into()))?;
        ManifestFile::begin(&place, head, Some(old))
    }

    fn begin(place: &FolderEntry, head: &Head, old: Option<File>) -> Result<Self, Fault> {
        let new = NewFile::begin(place).map_err(file_fault)?;
        let file = new.file().try_clone().map_err(io_fault)?;
        let writer = Writer::create(BufWriter::with_capacity(64 << 10, file), head)?;
        Ok(ManifestFile { new, old, writer })
    }

    /// Writes one line, or keeps it until there are more.
    ///
    /// # Errors
    /// Those of [`Writer::add`].
    pub fn add(&mut self, entry: Entry) -> Result<(), Fault> {
        self.writer.add(entry)
    }

    /// Writes the last line, makes it durable and gives it its name.
    ///
    /// # Errors
    /// Those of [`Writer::close`]; something of that name has appeared; the file system fails. Then there is none.
    pub fn close(self, whole: Option<BlockDigest>) -> Result<(), Fault> {
        let ManifestFile { new, old, writer } = self;
        writer.close(whole)?.into_inner().map_err(|error| io_fault(error.into_error()))?;
        let named = match old {
            Some(old) => new.replace(old),
            None => new.publish(Visibility::Owner),
        };
        named.map(drop).map_err(file_fault)
    }
}

impl Manifest {
    /// Reads all of the manifest at `path`.
    ///
    /// # Errors
    /// Those of [`Manifest::load`].
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let file = open_to_read(path).map_err(file_fault)?;
        Manifest::load(BufReader::with_capacity(256 << 10, file))
    }
}

fn io_fault(source: io::Error) -> Fault {
    Fault::of(RecordFile::Manifest, FaultKind::Io(source))
}

fn file_fault(error: FileError) -> Fault {
    record_file::file_fault(RecordFile::Manifest, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{EndpointKind, Extent, Facts, HashKind};
    use crate::ledger::SideIdentity;
    use std::fs;

    fn head(len: u64) -> Head {
        let side = SideIdentity::of(&Facts::new("x", EndpointKind::File), 0);
        Head {
            version: "0".to_owned(),
            created: "1970-01-01T00:00:00Z".to_owned(),
            algorithm: HashKind::Blake3,
            block_bytes: 65536,
            len_bytes: Some(len),
            source: side.clone(),
            dest: side,
            also: Vec::new(),
            range: false,
        }
    }

    #[test]
    fn a_manifest_has_its_name_only_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m");
        let zeros = Entry::Zeros(Extent::new(0, 65536));
        let mut file = ManifestFile::create(&path, &head(65536)).unwrap();
        file.add(zeros).unwrap();
        assert!(!path.exists());
        file.close(None).unwrap();
        assert_eq!(Manifest::open(&path).unwrap().pieces().len(), 1);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing stays beside it");
    }

    #[test]
    fn one_that_is_given_up_or_lacks_bytes_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m");
        drop(ManifestFile::create(&path, &head(65536)).unwrap());
        let lacking = ManifestFile::create(&path, &head(65536)).unwrap().close(None).unwrap_err();
        assert!(matches!(lacking.kind, FaultKind::Missing(_)), "{lacking}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn one_that_is_renewed_is_the_old_one_until_the_new_one_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m");
        ManifestFile::create(&path, &head(0)).unwrap().close(None).unwrap();
        let zeros = Entry::Zeros(Extent::new(0, 65536));
        let mut file = ManifestFile::renew(&path, &head(65536)).unwrap();
        file.add(zeros).unwrap();
        assert!(Manifest::open(&path).unwrap().pieces().is_empty());
        drop(file);
        assert!(Manifest::open(&path).unwrap().pieces().is_empty(), "one that is given up changes nothing");
        let mut file = ManifestFile::renew(&path, &head(65536)).unwrap();
        file.add(zeros).unwrap();
        file.close(None).unwrap();
        assert_eq!(Manifest::open(&path).unwrap().pieces().len(), 1);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_there_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m");
        let mut file = ManifestFile::create(&path, &head(0)).unwrap();
        assert!(matches!(ManifestFile::create(&path, &head(0)).err().unwrap().kind, FaultKind::Busy));
        file.add(Entry::Zeros(Extent::new(0, 1))).unwrap_err();
        fs::write(&path, b"somebody's").unwrap();
        assert!(matches!(file.close(None).unwrap_err().kind, FaultKind::Exists));
        assert_eq!(fs::read(&path).unwrap(), b"somebody's");
        assert!(matches!(ManifestFile::create(&path, &head(0)).err().unwrap().kind, FaultKind::Exists));
    }
}

//! The file of a manifest in progress.
use super::{Entry, Head, Manifest, Writer};
use crate::core::BlockDigest;
use crate::files::{DirectoryEntry, FileError, NewFile, Opening, Visibility, open_to_read};
use crate::ledger::record_file::{self, free_place};
use crate::ledger::{Fault, FaultKind, RecordFile};
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;

/// A manifest that is written during the copy. It gets its name when it is complete and durable; dropping this
/// before removes it. A file with that name is therefore complete.
pub struct ManifestFile {
    new: NewFile,
    /// The file to be replaced.
    old: Option<File>,
    writer: Writer<BufWriter<File>>,
}

impl ManifestFile {
    /// Begins a manifest at `path`, which must not exist.
    ///
    /// # Errors
    /// The file exists, another process is creating it, or the file system fails.
    pub fn create(path: &Path, head: &Head) -> Result<Self, Fault> {
        ManifestFile::begin(&free_place(RecordFile::Manifest, path)?, head, None)
    }

    /// Begins a manifest that replaces the one at `path` when it is complete and durable.
    ///
    /// # Errors
    /// It does not exist; another process is creating it, or the file system fails.
    pub fn renew(path: &Path, head: &Head) -> Result<Self, Fault> {
        let place = DirectoryEntry::following(path).map_err(file_fault)?;
        let old = place.open(Opening::Read).map_err(file_fault)?;
        let old = old.ok_or_else(|| io_fault(rustix::io::Errno::NOENT.into()))?;
        ManifestFile::begin(&place, head, Some(old))
    }

    fn begin(place: &DirectoryEntry, head: &Head, old: Option<File>) -> Result<Self, Fault> {
        let new = NewFile::begin(place).map_err(file_fault)?;
        let file = new.file().try_clone().map_err(io_fault)?;
        let writer = Writer::create(BufWriter::with_capacity(64 << 10, file), head)?;
        Ok(ManifestFile { new, old, writer })
    }

    /// Writes one line, or buffers it.
    ///
    /// # Errors
    /// Those of [`Writer::add`].
    pub fn add(&mut self, entry: Entry) -> Result<(), Fault> {
        self.writer.add(entry)
    }

    /// Writes the last line, makes the file durable and names it.
    ///
    /// # Errors
    /// Those of [`Writer::close`]; a file of that name exists now; the file system fails. Then there is no
    /// manifest.
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
    /// Reads the complete manifest at `path`.
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
    use crate::core::{BlockHash, EndpointKind, Extent, Facts};
    use crate::ledger::SideIdentity;
    use std::fs;

    fn head(len: u64) -> Head {
        let side = SideIdentity::of(&Facts::new("x", EndpointKind::File), 0);
        Head {
            version: "0".to_owned(),
            created: "1970-01-01T00:00:00Z".to_owned(),
            algorithm: BlockHash::Blake3,
            block_bytes: 65536,
            len_bytes: Some(len),
            source: side.clone(),
            dest: side,
            also: Vec::new(),
            range: false,
        }
    }

    #[test]
    fn a_manifest_is_named_only_when_it_is_complete() {
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
    fn a_discarded_or_incomplete_manifest_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m");
        drop(ManifestFile::create(&path, &head(65536)).unwrap());
        let lacking = ManifestFile::create(&path, &head(65536)).unwrap().close(None).unwrap_err();
        assert!(matches!(lacking.kind, FaultKind::Missing(_)), "{lacking}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_updated_manifest_replaces_the_old_one_only_when_complete() {
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
    fn an_existing_file_is_never_replaced() {
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

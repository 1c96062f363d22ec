//! The file of a manifest that is being written.
use super::{Entry, Head, Manifest, Writer};
use crate::contract::BlockDigest;
use crate::ledger::paper_file::{lock, opened, rename_without_replacing, sync_directory_of, with_suffix};
use crate::ledger::{Fault, FaultKind, Paper};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

/// A manifest that is written while the copy runs. It gets its name when it is complete and durable; until then it has
/// `.new` behind it, and goes when this is dropped. So whatever bears the name is a whole one.
pub struct ManifestFile {
    path: PathBuf,
    /// It has this name; `None`: it has its own.
    being_made: Option<PathBuf>,
    /// One of that name is replaced.
    renews: bool,
    /// `None` only while it is being closed.
    writer: Option<Writer<BufWriter<File>>>,
}

impl ManifestFile {
    /// Begins a manifest that will be at `path`, where nothing may be.
    ///
    /// # Errors
    /// Something is there, another process is just making it, or the file system fails.
    pub fn create(path: &Path, head: &Head) -> Result<Self, Fault> {
        if path.symlink_metadata().is_ok() {
            return Err(fault(FaultKind::Exists));
        }
        ManifestFile::begin(path, head, false)
    }

    /// Begins a manifest that will take the place of the one at `path`, when it is complete and durable.
    ///
    /// # Errors
    /// Another process is just making it, or the file system fails.
    pub fn renew(path: &Path, head: &Head) -> Result<Self, Fault> {
        ManifestFile::begin(path, head, true)
    }

    fn begin(path: &Path, head: &Head, renews: bool) -> Result<Self, Fault> {
        let being_made = with_suffix(path, ".new");
        // What a killed process left there is no reason to refuse, so the lock tells, not the name.
        let options = &mut OpenOptions::new();
        let file = opened(Paper::Manifest, options.write(true).create(true).truncate(false), &being_made)?;
        lock(Paper::Manifest, &file)?;
        let regular = file.metadata().map_err(io_fault)?.is_file();
        if !regular {
            return Err(fault(FaultKind::Other));
        }
        file.set_len(0).map_err(io_fault)?;
        let mut made = ManifestFile { path: path.to_owned(), being_made: Some(being_made), renews, writer: None };
        made.writer = Some(Writer::create(BufWriter::with_capacity(64 << 10, file), head)?);
        Ok(made)
    }

    /// Writes one line, or keeps it until there are more.
    ///
    /// # Errors
    /// Those of [`Writer::add`].
    pub fn add(&mut self, entry: Entry) -> Result<(), Fault> {
        self.writer.as_mut().map_or(Err(fault(FaultKind::Spoiled)), |writer| writer.add(entry))
    }

    /// Writes the last line, makes it durable and gives it its name.
    ///
    /// # Errors
    /// Those of [`Writer::close`]; something of that name has appeared; the file system fails. Then there is none.
    pub fn close(mut self, whole: Option<BlockDigest>) -> Result<(), Fault> {
        let Some(writer) = self.writer.take() else { return Err(fault(FaultKind::Spoiled)) };
        let file = writer.close(whole)?.into_inner().map_err(|error| io_fault(error.into_error()))?;
        file.sync_all().map_err(io_fault)?;
        if let Some(being_made) = &self.being_made
            && self.renews
        {
            fs::rename(being_made, &self.path).map_err(io_fault)?;
        } else if let Some(being_made) = &self.being_made {
            rename_without_replacing(Paper::Manifest, being_made, &self.path)?;
        }
        self.being_made = None;
        sync_directory_of(&self.path).map_err(io_fault)
    }
}

impl Drop for ManifestFile {
    fn drop(&mut self) {
        // Nobody would know what to do with half of one; that it may stay is no failure to report.
        self.being_made.iter().for_each(|path| drop(fs::remove_file(path)));
    }
}

impl Manifest {
    /// Reads all of the manifest at `path`.
    ///
    /// # Errors
    /// Those of [`Manifest::load`].
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let file = File::open(path).map_err(io_fault)?;
        Manifest::load(BufReader::with_capacity(256 << 10, file))
    }
}

fn fault(kind: FaultKind) -> Fault {
    Fault::of(Paper::Manifest, kind)
}

fn io_fault(source: io::Error) -> Fault {
    fault(FaultKind::Io(source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{EndpointKind, Extent, Facts, HashKind};
    use crate::ledger::SideIdentity;

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
        // What a killed copy left is taken over.
        fs::remove_file(&path).unwrap();
        fs::write(dir.path().join("m.new"), b"half of one").unwrap();
        ManifestFile::create(&path, &head(0)).unwrap().close(None).unwrap();
        assert!(Manifest::open(&path).unwrap().pieces().is_empty());
    }
}

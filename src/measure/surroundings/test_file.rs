//! The test file: a file in the page cache.
use crate::files::nameless;
use crate::sys::page_cache;
use rustix::fs::{Advice, fadvise, fstatfs};
use std::env;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// File systems in memory, whose files never leave the page cache.
const MEMORY_FILE_SYSTEMS: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// An unnamed file that consists of a hole: it is removed with its descriptor, however the process ends, and nothing is
/// written for it. Its cached pages are treated like any others.
#[derive(Debug)]
pub(super) struct TestFile {
    file: File,
    bytes: u64,
}

impl TestFile {
    /// Creates a file of this size in the first directory for temporary files that permits it and is on a disk.
    pub(super) fn new(bytes: u64) -> io::Result<TestFile> {
        let mut why = io::Error::other("no directory for temporary files is on a disk");
        for directory in directories() {
            match made_in(&directory, bytes) {
                Ok(Some(file)) => return Ok(TestFile { file, bytes }),
                Ok(None) => {}
                Err(error) => why = io::Error::new(error.kind(), format!("{}: {error}", directory.display())),
            }
        }
        Err(why)
    }

    /// Size in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Another descriptor at the start of the file, for a process that reads it.
    pub(super) fn reader(&self) -> io::Result<File> {
        rustix::fs::seek(&self.file, rustix::fs::SeekFrom::Start(0))?;
        self.file.try_clone()
    }

    /// Drops all of its pages from the page cache.
    pub(super) fn forget(&self) -> io::Result<()> {
        Ok(fadvise(&self.file, 0, None, Advice::DontNeed)?)
    }

    /// Share of its pages in the page cache, from 0 to 1.
    pub(super) fn share(&self) -> io::Result<f64> {
        let stat = page_cache::cachestat(self.file.as_fd(), 0, self.bytes)?;
        Ok(stat.nr_cache as f64 * rustix::param::page_size() as f64 / self.bytes as f64)
    }
}

/// Directories for temporary files: $TMPDIR, and the usual ones.
fn directories() -> Vec<PathBuf> {
    let cache = env::home_dir().map(|home| home.join(".cache"));
    [env::temp_dir(), "/var/tmp".into(), "/tmp".into()].into_iter().chain(cache).collect()
}

/// Creates an unnamed file in a directory; `None` if the directory is in memory.
fn made_in(directory: &Path, bytes: u64) -> io::Result<Option<File>> {
    let file = nameless(directory)?;
    if MEMORY_FILE_SYSTEMS.contains(&(fstatfs(&file)?.f_type as u64)) {
        return Ok(None);
    }
    file.set_len(bytes)?;
    Ok(Some(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_test_file_has_no_name_and_no_blocks_but_cached_pages() {
        let Ok(test_file) = TestFile::new(4 << 20) else {
            eprintln!("skipped: all folders for temporary files here are memory");
            return;
        };
        use std::os::unix::fs::MetadataExt;
        let metadata = test_file.file.metadata().unwrap();
        assert_eq!((metadata.nlink(), metadata.len(), metadata.blocks()), (0, 4 << 20, 0));
        test_file.forget().unwrap();
        assert_eq!(test_file.share().unwrap(), 0.0);
        for _ in 0..2 {
            let mut bytes = Vec::new();
            test_file.reader().unwrap().read_to_end(&mut bytes).unwrap();
            assert!(bytes.len() == 4 << 20 && bytes.iter().all(|&byte| byte == 0));
        }
        let share = test_file.share().unwrap();
        assert!(share > 0.0 && share <= 1.0, "{share}");
    }

    #[test]
    fn a_directory_in_memory_is_refused() {
        if Path::new("/dev/shm").is_dir() {
            assert!(made_in(Path::new("/dev/shm"), 4096).unwrap().is_none());
        }
        assert!(made_in(Path::new("/proc"), 4096).is_err());
    }
}

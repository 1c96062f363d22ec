//! The test file: a file whose pages are in the page cache, as those of every file that was read.
use crate::files::nameless;
use crate::sys::page_cache;
use rustix::fs::{Advice, fadvise, fstatfs};
use std::env;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// File systems that are memory themselves: what lies there is in the page cache for good.
const MEMORY_FILE_SYSTEMS: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// A file without a name and without data, all hole: it goes away with its descriptor, whatever ends us, and nothing is
/// written for it. Its pages in the page cache are like all others.
#[derive(Debug)]
pub(super) struct TestFile {
    file: File,
    bytes: u64,
}

impl TestFile {
    /// Makes one of so many bytes, in the first folder for temporary files that takes it and lies on a disk.
    pub(super) fn new(bytes: u64) -> io::Result<TestFile> {
        let mut why = io::Error::other("no directory for temporary files is on a disk");
        for folder in folders() {
            match made_in(&folder, bytes) {
                Ok(Some(file)) => return Ok(TestFile { file, bytes }),
                Ok(None) => {}
                Err(error) => why = io::Error::new(error.kind(), format!("{}: {error}", folder.display())),
            }
        }
        Err(why)
    }

    /// Bytes of it.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Another descriptor of it at its start, for a process that reads it.
    pub(super) fn reader(&self) -> io::Result<File> {
        rustix::fs::seek(&self.file, rustix::fs::SeekFrom::Start(0))?;
        self.file.try_clone()
    }

    /// Nothing of it is in the page cache any more.
    pub(super) fn forget(&self) -> io::Result<()> {
        Ok(fadvise(&self.file, 0, None, Advice::DontNeed)?)
    }

    /// Share of it in the page cache, from 0 to 1.
    pub(super) fn share(&self) -> io::Result<f64> {
        let stat = page_cache::cachestat(self.file.as_fd(), 0, self.bytes)?;
        Ok(stat.nr_cache as f64 * rustix::param::page_size() as f64 / self.bytes as f64)
    }
}

/// Where temporary files go: $TMPDIR, and the usual places.
fn folders() -> Vec<PathBuf> {
    let cache = env::home_dir().map(|home| home.join(".cache"));
    [env::temp_dir(), "/var/tmp".into(), "/tmp".into()].into_iter().chain(cache).collect()
}

/// A file there that has no name; `None` where the folder is memory.
fn made_in(folder: &Path, bytes: u64) -> io::Result<Option<File>> {
    let file = nameless(folder)?;
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
    fn it_has_no_name_and_no_data_but_pages_like_any_file() {
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
    fn a_folder_in_memory_takes_none() {
        if Path::new("/dev/shm").is_dir() {
            assert!(made_in(Path::new("/dev/shm"), 4096).unwrap().is_none());
        }
        assert!(made_in(Path::new("/proc"), 4096).is_err());
    }
}

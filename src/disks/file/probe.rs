//! Facts of a regular file, or of one to be made.
use crate::core::{CallStyle, DirectAlignment, Facts, Order};
use crate::disks::queue_limits;
use crate::disks::reading::{self, StatedAlignment};
use crate::sys::page_cache;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Alignment that satisfies every file system that takes O_DIRECT without telling what it asks for: tmpfs, and all of
/// them before 6.1.
const CAREFUL: DirectAlignment = DirectAlignment { memory_bytes: 4096, offset_bytes: 4096 };

/// Fills in what concerns the I/O on the existing regular file `path`. A file that may not be read is no error here:
/// `stat` says enough of a dest, and for a source the open says it.
///
/// # Errors
/// The error of `statx(2)` or `open(2)`.
pub fn probe(path: &Path, facts: &mut Facts) -> io::Result<()> {
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS)?;
    facts.size = Some(stat.stx_size);
    facts.sparse = stat.stx_blocks.saturating_mul(512) < stat.stx_size;
    facts.logical_block_bytes = 1;
    facts.physical_block_bytes = stat.stx_blksize.max(1);
    facts.order = Order::Any;
    facts.calls = CallStyle::Waits;
    facts.queue = queue_limits::of_device(stat.stx_dev_major, stat.stx_dev_minor);
    facts.queue_policy = queue_limits::policy_of_device(stat.stx_dev_major, stat.stx_dev_minor);
    facts.direct = match reading::stated_alignment(path) {
        StatedAlignment::Asks(alignment) => Some(alignment),
        StatedAlignment::Never => None,
        StatedAlignment::Unknown => reading::opens_direct(path).then_some(CAREFUL),
    };
    if let Some(fd) = reading::open_if_allowed(path, OFlags::empty())? {
        facts.dontcache = reading::takes_dontcache(fd.as_fd(), stat.stx_size);
        facts.cached_bytes = page_cache::cached_bytes(fd.as_fd());
    }
    Ok(())
}

/// Finds out the least that can be read of a source, where it is not reported (FUSE, network file systems): with
/// `--on-error skip` no more is lost around a bad place than has to be. It is not asked of a dest, to which whole pages
/// are written.
pub fn probe_least_read(path: &Path, facts: &mut Facts) {
    if facts.direct == Some(CAREFUL) && matches!(reading::stated_alignment(path), StatedAlignment::Unknown) {
        facts.direct = reading::reads_sectors_directly(path).or(facts.direct);
    }
}

/// Fills in what concerns the I/O on a file that is to be made in the directory `parent`, found with a nameless file
/// there that is gone again at once. Where the file system has none (O_TMPFILE), direct I/O and dontcache count as
/// impossible.
///
/// # Errors
/// The error of `statx(2)` about the directory.
pub fn probe_new(parent: &Path, facts: &mut Facts) -> io::Result<()> {
    let stat = rustix::fs::statx(CWD, parent, AtFlags::empty(), StatxFlags::BASIC_STATS)?;
    facts.size = Some(0);
    facts.logical_block_bytes = 1;
    facts.physical_block_bytes = stat.stx_blksize.max(1);
    facts.order = Order::Any;
    facts.calls = CallStyle::Waits;
    facts.queue = queue_limits::of_device(stat.stx_dev_major, stat.stx_dev_minor);
    facts.queue_policy = queue_limits::policy_of_device(stat.stx_dev_major, stat.stx_dev_minor);
    facts.direct = None;
    facts.dontcache = false;
    facts.cached_bytes = Some(0);
    let nameless = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let Ok(fd) = rustix::fs::open(parent, nameless, Mode::RUSR | Mode::WUSR) else { return Ok(()) };
    facts.dontcache = reading::takes_dontcache(fd.as_fd(), 0);
    facts.direct = match reading::stated_alignment_of(fd.as_fd()) {
        StatedAlignment::Asks(alignment) => Some(alignment),
        StatedAlignment::Never => None,
        StatedAlignment::Unknown => {
            let direct = rustix::fs::open(parent, nameless | OFlags::DIRECT, Mode::RUSR | Mode::WUSR);
            direct.is_ok().then_some(CAREFUL)
        }
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::EndpointKind;
    use std::fs::{self, File};

    fn facts() -> Facts {
        Facts::new("x", EndpointKind::File)
    }

    #[test]
    fn a_file_with_holes_is_sparse_and_one_without_is_not() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let (holes, full) = (dir.path().join("holes"), dir.path().join("full"));
        File::create(&holes).unwrap().set_len(1 << 20).unwrap();
        fs::write(&full, vec![1; 1 << 20]).unwrap();
        File::open(&full).unwrap().sync_all().unwrap();
        for (path, sparse) in [(holes, true), (full, false)] {
            let mut facts = facts();
            probe(&path, &mut facts).unwrap();
            assert_eq!((facts.size, facts.sparse), (Some(1 << 20), sparse), "{path:?}");
        }
    }

    #[test]
    fn tmpfs_gets_a_careful_alignment_because_it_does_not_say_any() {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = dir.path().join("x");
        fs::write(&path, b"x").unwrap();
        let (mut existing, mut new) = (facts(), facts());
        probe(&path, &mut existing).unwrap();
        probe_new(dir.path(), &mut new).unwrap();
        assert!(existing.direct.is_none_or(|direct| direct == CAREFUL), "{:?}", existing.direct);
        assert_eq!(new.direct, existing.direct);
        assert!(!existing.dontcache && !new.dontcache, "tmpfs is the cache itself");
    }

    #[test]
    fn probing_brings_nothing_into_the_page_cache_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = dir.path().join("x");
        fs::write(&path, vec![1; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        let before = page_cache::cached_bytes(file.as_fd());
        probe(&path, &mut facts()).unwrap();
        probe_new(dir.path(), &mut facts()).unwrap();
        assert_eq!(page_cache::cached_bytes(file.as_fd()), before);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error_and_not_a_panic() {
        let error = probe(Path::new("/nowhere/at/all"), &mut facts()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}

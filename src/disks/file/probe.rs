//! Facts of a regular file, existing or to be created.
use crate::core::{CallStyle, DirectAlignment, Facts, Order};
use crate::disks::queue_limits;
use crate::disks::reading::{self, StatedAlignment};
use crate::sys::page_cache;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Alignment that suffices on all file systems that support O_DIRECT but do not report its requirements: tmpfs, and all
/// file systems before 6.1.
const CAREFUL: DirectAlignment = DirectAlignment { memory_bytes: 4096, offset_bytes: 4096 };

/// Fills in the I/O properties of the existing regular file `path`. A file without read permission is no error here:
/// `stat` is sufficient for a dest, and opening a source reports it.
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
        StatedAlignment::Required(alignment) => Some(alignment),
        StatedAlignment::Never => None,
        StatedAlignment::Unknown => reading::opens_direct(path).then_some(CAREFUL),
    };
    if let Some(fd) = reading::open_if_allowed(path, OFlags::empty())? {
        facts.dontcache = reading::supports_dontcache(fd.as_fd(), stat.stx_size);
        facts.cached_bytes = page_cache::cached_bytes(fd.as_fd());
    }
    Ok(())
}

/// Determines the smallest readable unit of a source if it is not reported (FUSE, network file systems), so that
/// `--on-error skip` loses as little as possible around a bad sector. Not needed for a dest, to which whole pages are
/// written.
pub fn probe_least_read(path: &Path, facts: &mut Facts) {
    if facts.direct == Some(CAREFUL) && matches!(reading::stated_alignment(path), StatedAlignment::Unknown) {
        facts.direct = reading::reads_sectors_directly(path).or(facts.direct);
    }
}

/// Fills in the I/O properties of a file to be created in the directory `parent`, by means of a temporary unnamed file
/// (O_TMPFILE) there. If the file system does not support that, direct I/O and RWF_DONTCACHE count as unavailable.
///
/// # Errors
/// The error of `statx(2)` for the directory.
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
    facts.dontcache = reading::supports_dontcache(fd.as_fd(), 0);
    facts.direct = match reading::stated_alignment_of(fd.as_fd()) {
        StatedAlignment::Required(alignment) => Some(alignment),
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
    fn tmpfs_gets_a_safe_alignment_because_it_reports_none() {
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
    fn probing_neither_fills_the_page_cache_nor_leaves_files() {
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
    fn a_missing_file_is_an_error_and_not_a_panic() {
        let error = probe(Path::new("/nowhere/at/all"), &mut facts()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}

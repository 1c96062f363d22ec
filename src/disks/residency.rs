//! Page cache residency: haul drops only pages that were not cached before its own I/O, because other processes may use
//! the others.
use super::writeback_queue::drop_pages;
use crate::core::Extent;
use crate::sys::page_cache;
use std::io;
use std::os::fd::BorrowedFd;

/// Attempts to evict pages before they count as not evictable.
const UNCACHE_TRIES: u32 = 3;

/// Maximum number of bytes mapped at once to count cached pages.
const MAPPED_BYTES: u64 = 1 << 30;

/// The parts of `block` that are not cached, rounded to pages. Empty if unknown: then nothing is dropped, because an
/// additional page in the cache costs less than evicting a page that another process uses.
///
/// A page that `block` covers only partly may have been cached just now by the adjacent block, so it is treated like
/// the whole page next to it.
pub(super) fn absent(fd: BorrowedFd<'_>, block: Extent) -> Vec<Extent> {
    let page = rustix::param::page_size() as u64;
    let outer_start = block.offset - block.offset % page;
    let outer_end = block.end().next_multiple_of(page);
    let inner_start = block.offset.next_multiple_of(page);
    let inner_end = block.end() - block.end() % page;
    let mut found = Vec::new();
    let resident = |part: Extent| resident_pages(fd, part);
    if inner_start >= inner_end {
        return match split(Extent::new(outer_start, outer_end - outer_start), page, &resident, &mut found) {
            Ok(()) => found,
            Err(_) => Vec::new(),
        };
    }
    if split(Extent::new(inner_start, inner_end - inner_start), page, &resident, &mut found).is_err() {
        return Vec::new();
    }
    for part in &mut found {
        let start = if part.offset == inner_start { outer_start } else { part.offset };
        let end = if part.end() == inner_end { outer_end } else { part.end() };
        *part = Extent::new(start, end - start);
    }
    found
}

/// Bisects `part`, which consists of whole pages, until each piece is completely cached or completely absent.
fn split(
    part: Extent,
    page: u64,
    resident: &impl Fn(Extent) -> io::Result<u64>,
    found: &mut Vec<Extent>,
) -> io::Result<()> {
    let pages = part.len / page;
    let resident_count = resident(part)?;
    if resident_count == 0 {
        match found.last_mut() {
            Some(last) if last.end() == part.offset => last.len += part.len,
            _ => found.push(part),
        }
        return Ok(());
    }
    if resident_count >= pages {
        return Ok(());
    }
    let half = pages / 2 * page;
    split(Extent::new(part.offset, half), page, resident, found)?;
    split(Extent::new(part.offset + half, part.len - half), page, resident, found)
}

/// Evicts the clean pages of `extent` from the page cache, and returns the number of its bytes that remain cached;
/// `None` if unknown.
pub(super) fn uncache(fd: BorrowedFd<'_>, extent: Extent) -> Option<u64> {
    let mut left = None;
    // A page in another processor's per-CPU batch cannot be evicted immediately.
    for _ in 0..UNCACHE_TRIES {
        drop_pages(fd, extent);
        left = resident_bytes(fd, extent);
        if left.is_none_or(|left| left == 0) {
            break;
        }
    }
    left
}

/// Number of bytes of `extent` in the page cache.
fn resident_bytes(fd: BorrowedFd<'_>, extent: Extent) -> Option<u64> {
    let page = rustix::param::page_size() as u64;
    let (mut at, mut pages) = (extent.offset, 0);
    while at < extent.end() {
        // Limited because mincore needs one byte of memory per page.
        let len = (extent.end() - at).min(MAPPED_BYTES);
        pages += resident_pages(fd, Extent::new(at, len)).ok()?;
        at += len;
    }
    Some((pages * page).min(extent.len))
}

fn resident_pages(fd: BorrowedFd<'_>, part: Extent) -> io::Result<u64> {
    match page_cache::cachestat(fd, part.offset, part.len) {
        Ok(stat) => Ok(stat.nr_cache),
        Err(_) => page_cache::resident_pages(fd, part.offset, part.len as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    proptest! {
        #[test]
        fn the_absent_parts_are_exactly_the_non_resident_pages(
            cached in prop::collection::vec(any::<bool>(), 1..40)
        ) {
            let within = |part: Extent| &cached[(part.offset / 4096) as usize..(part.end() / 4096) as usize];
            let resident = |part: Extent| Ok(within(part).iter().filter(|is_resident| **is_resident).count() as u64);
            let mut found = Vec::new();
            split(Extent::new(0, cached.len() as u64 * 4096), 4096, &resident, &mut found).unwrap();
            let absent = |index: u64| found.iter().any(|part| part.overlaps(&Extent::new(index * 4096, 4096)));
            let answer: Vec<bool> = (0..cached.len() as u64).map(|index| !absent(index)).collect();
            prop_assert_eq!(answer, cached);
        }
    }

    #[test]
    fn mincore_and_cachestat_agree() {
        let mut file = tempfile::tempfile_in("/var/tmp").unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
        file.read_at(&mut [0; 8192], 512 << 10).unwrap();
        let by_map = page_cache::resident_pages(file.as_fd(), 0, 1 << 20).unwrap();
        assert!(by_map > 0, "the pages just read are there");
        if let Ok(stat) = page_cache::cachestat(file.as_fd(), 0, 1 << 20) {
            assert_eq!(stat.nr_cache, by_map);
        }
    }
}

//! Which pages were not in the page cache before we read them: haul drops those; other processes use the others.
use super::writeback_queue::drop_pages;
use crate::core::Extent;
use crate::sys::page_cache;
use std::io;
use std::os::fd::BorrowedFd;

/// How often pages are asked to go before they are taken to stay.
const UNCACHE_TRIES: u32 = 3;

/// Bytes that are mapped at once to count their pages.
const MAPPED_BYTES: u64 = 1 << 30;

/// The parts of `block` that no page of the cache holds, rounded to pages. Empty if unknown: then nothing is dropped,
/// because a page too many in the cache costs less than a user's hot file out of it.
///
/// A page that `block` covers only in part also belongs to the block beside it, which may have brought it in just
/// now; so it counts with the whole page next to it.
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

/// Halves `part` until each piece is all there or all absent. `part` is made of whole pages.
fn split(
    part: Extent,
    page: u64,
    resident: &impl Fn(Extent) -> io::Result<u64>,
    found: &mut Vec<Extent>,
) -> io::Result<()> {
    let pages = part.len / page;
    let there = resident(part)?;
    if there == 0 {
        match found.last_mut() {
            Some(last) if last.end() == part.offset => last.len += part.len,
            _ => found.push(part),
        }
        return Ok(());
    }
    if there >= pages {
        return Ok(());
    }
    let half = pages / 2 * page;
    split(Extent::new(part.offset, half), page, resident, found)?;
    split(Extent::new(part.offset + half, part.len - half), page, resident, found)
}

/// Has the page cache drop the clean pages of `extent`, and says how many bytes of it are there still; `None` if
/// unknown.
pub(super) fn uncache(fd: BorrowedFd<'_>, extent: Extent) -> Option<u64> {
    let mut left = None;
    // A page that another processor has just put aside is let go only after a while.
    for _ in 0..UNCACHE_TRIES {
        drop_pages(fd, extent);
        left = resident_bytes(fd, extent);
        if left.is_none_or(|left| left == 0) {
            break;
        }
    }
    left
}

/// Bytes of `extent` that are in the page cache.
fn resident_bytes(fd: BorrowedFd<'_>, extent: Extent) -> Option<u64> {
    let page = rustix::param::page_size() as u64;
    let (mut at, mut pages) = (extent.offset, 0);
    while at < extent.end() {
        // For mincore, which needs a byte of memory for each page.
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
        fn the_absent_parts_are_exactly_the_pages_that_are_not_resident(
            cached in prop::collection::vec(any::<bool>(), 1..40)
        ) {
            let within = |part: Extent| &cached[(part.offset / 4096) as usize..(part.end() / 4096) as usize];
            let resident = |part: Extent| Ok(within(part).iter().filter(|there| **there).count() as u64);
            let mut found = Vec::new();
            split(Extent::new(0, cached.len() as u64 * 4096), 4096, &resident, &mut found).unwrap();
            let absent = |index: u64| found.iter().any(|part| part.overlaps(&Extent::new(index * 4096, 4096)));
            let answer: Vec<bool> = (0..cached.len() as u64).map(|index| !absent(index)).collect();
            prop_assert_eq!(answer, cached);
        }
    }

    #[test]
    fn mincore_counts_what_cachestat_counts() {
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

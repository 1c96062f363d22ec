//! After a copy the page cache contains the same as before.
use super::moving::{Door, pattern};
use super::places::{Place, file_in, loop_device, open_dest, open_source};
use haul::core::Cache;
use haul::sys::page_cache::cachestat;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

const BYTES: usize = (40 << 20) + 777;

fn cached_pages(file: &File) -> u64 {
    cachestat(file.as_fd(), 0, 0).unwrap().nr_cache
}

/// A file on a real file system, evicted from the cache; `None`, with a message, if the kernel does not report
/// cached pages.
fn cold_file() -> Option<(Place, File)> {
    let place = file_in("/var/tmp", "/var/tmp", &pattern(BYTES));
    let file = File::open(&place.path).unwrap();
    if let Err(error) = cachestat(file.as_fd(), 0, 0) {
        eprintln!("SKIPPED: no cachestat here: {error}");
        return None;
    }
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    if cached_pages(&file) != 0 {
        eprintln!("SKIPPED: /var/tmp keeps its files in memory");
        return None;
    }
    // No readahead by reads of the test, which would affect the result.
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
    Some((place, file))
}

fn leaving_no_trace(place: &Place) -> Vec<Cache> {
    place.caches().into_iter().filter(|cache| *cache != Cache::Keep).collect()
}

fn read_all(place: &Place, cache: Cache, block: usize) {
    let source = open_source(&place.side(cache), &place.facts()).unwrap();
    for at in (0..BYTES).step_by(block) {
        Door::Calls.read(&*source, at as u64, block.min(BYTES - at) as u32);
    }
}

#[test]
fn an_uncached_file_stays_uncached_after_a_read() {
    let Some((place, file)) = cold_file() else { return };
    for cache in leaving_no_trace(&place) {
        for block in [1 << 20, 300_001] {
            read_all(&place, cache, block);
            assert_eq!(cached_pages(&file), 0, "{cache:?} in blocks of {block}");
        }
    }
}

#[test]
fn a_cached_file_stays_cached_after_a_read() {
    let Some((place, file)) = cold_file() else { return };
    let all = BYTES.div_ceil(4096) as u64;
    for cache in leaving_no_trace(&place) {
        // A kernel that is short of memory, or reclaims it early, may evict pages at any time; a read that evicts
        // them does
        // so every time.
        let tries = (0..10).map(|_| {
            fs::read(&place.path).unwrap();
            let before = cached_pages(&file);
            read_all(&place, cache, 1 << 20);
            (before, cached_pages(&file))
        });
        let tries: Vec<(u64, u64)> = tries.collect();
        assert!(tries.contains(&(all, all)), "{cache:?}: of {all} pages, before and after: {tries:?}");
    }
}

#[test]
fn only_pages_cached_before_stay_cached() {
    let Some((place, file)) = cold_file() else { return };
    for at in [5 << 20, (9 << 20) + 12_288, 20 << 20] {
        file.read_exact_at(&mut [0; 8192], at).unwrap();
    }
    let hot = cached_pages(&file);
    assert!(hot >= 6);
    read_all(&place, Cache::Drop, 1 << 20);
    assert_eq!(cached_pages(&file), hot);
    assert_eq!(cachestat(file.as_fd(), (9 << 20) + 12_288, 8192).unwrap().nr_cache, 2, "the same ones");
}

#[test]
fn written_bytes_are_on_the_medium_and_evicted_from_the_cache() {
    let Some((place, file)) = cold_file() else { return };
    let bytes = pattern(BYTES);
    for cache in leaving_no_trace(&place) {
        for block in [1 << 20, 300_001] {
            let dest = open_dest(&place.side(cache), &place.facts()).unwrap();
            for at in (0..BYTES).step_by(block) {
                Door::Calls.write(&*dest, at as u64, &bytes[at..BYTES.min(at + block)]);
            }
            dest.make_durable().unwrap();
            assert_eq!(cached_pages(&file), 0, "{cache:?} in blocks of {block}");
        }
    }
    assert!(fs::read(&place.path).unwrap() == bytes);
}

#[test]
fn no_more_than_the_window_is_in_the_cache_while_a_file_is_written() {
    let Some((place, file)) = cold_file() else { return };
    for cache in leaving_no_trace(&place) {
        for mut door in Door::all() {
            let dest = open_dest(&place.side(cache), &place.facts()).unwrap();
            for at in (0..40 << 20).step_by(1 << 20) {
                door.write(&*dest, at, &[3; 1 << 20]);
                if cache == Cache::DroppedByKernel {
                    // Without waiting for writeback, more than the window of a slow disk would be dirty.
                    file.sync_data().unwrap();
                }
                let stat = cachestat(file.as_fd(), 0, 0).unwrap();
                assert!(stat.nr_cache * 4096 <= 18 << 20, "{cache:?} {stat:?} at {at}");
            }
            dest.make_durable().unwrap();
            assert_eq!(cached_pages(&file), 0, "{cache:?}");
        }
    }
}

#[test]
fn a_device_with_an_unaligned_tail_is_evicted_from_the_cache() {
    let Some(place) = loop_device(&vec![1; 4 << 20]) else { return };
    // While this is open, the kernel keeps the device's pages.
    let device = File::open(&place.path).unwrap();
    if cachestat(device.as_fd(), 0, 0).is_err() {
        eprintln!("SKIPPED: no cachestat here");
        return;
    }
    rustix::fs::fadvise(&device, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    for cache in leaving_no_trace(&place) {
        let dest = open_dest(&place.side(cache), &place.facts()).unwrap();
        Door::Calls.write(&*dest, 0, &pattern((1 << 20) + 777));
        dest.make_durable().unwrap();
        assert_eq!(dest.descriptor().and_then(haul::sys::page_cache::cached_bytes), Some(0), "written {cache:?}");
        drop(dest);
        let source = open_source(&place.side(cache), &place.facts()).unwrap();
        Door::Calls.read(&*source, 0, (2 << 20) + 99);
        assert_eq!(cached_pages(&device), 0, "read {cache:?}");
    }
}

#[test]
fn many_helpers_leave_nothing_in_the_cache() {
    let Some((place, file)) = cold_file() else { return };
    let (side, facts, block) = (place.side(Cache::Drop), place.facts(), 300_001);
    let (source, dest) = (open_source(&side, &facts).unwrap(), open_dest(&side, &facts).unwrap());
    let each_helper = |work: &(dyn Fn(usize, usize) + Sync)| {
        std::thread::scope(|scope| {
            for helper in 0..4 {
                let mine = (0..BYTES).step_by(block).skip(helper).step_by(4);
                scope.spawn(move || mine.for_each(|at| work(at, block.min(BYTES - at))));
            }
        });
    };
    each_helper(&|at, len| drop(Door::Calls.read(&*source, at as u64, len as u32)));
    assert_eq!(cached_pages(&file), 0, "read");
    each_helper(&|at, len| Door::Calls.write(&*dest, at as u64, &vec![5; len]));
    dest.make_durable().unwrap();
    assert_eq!(cached_pages(&file), 0, "written");
    assert!(fs::read(&place.path).unwrap() == vec![5; BYTES]);
}

//! Measures the effect of reading a disk on the rest of the system.
use crate::support::{LoopDevice, haul_path, scratch};
use haul::measure::{RunningSystem, SystemUnderTest, Way};
use haul::sys::page_cache::cachestat;
use std::fs::File;
use std::os::fd::AsFd;
use std::time::Duration;

const SIZE: u64 = 64 << 20;

#[test]
fn buffered_reads_of_a_device_are_cached_and_direct_reads_are_not() {
    let dir = scratch();
    let backing = dir.path().join("disk.img");
    File::create(&backing).unwrap().set_len(SIZE).unwrap();
    let Some(device) = LoopDevice::over(&backing) else { return };
    let disk = File::open(device.path()).unwrap();
    let cached = || cachestat(disk.as_fd(), 0, SIZE).map(|stat| stat.nr_cache * rustix::param::page_size() as u64);
    if cached().is_err() {
        eprintln!("skipped: this kernel does not report what is in the page cache");
        return;
    }
    let mut around = RunningSystem::new(&haul_path(), device.path(), SIZE).unwrap();
    for (way, least, most) in [(Way::Direct, 0, SIZE / 8), (Way::Buffered, SIZE / 2, SIZE)] {
        around.begin(way).unwrap();
        while around.is_reading().unwrap() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let cached = cached().unwrap();
        assert!((least..=most).contains(&cached), "{way:?}: {cached} bytes of it are cached");
        assert_eq!(around.end().unwrap(), SIZE * 3 / 4, "{way:?}");
    }
}

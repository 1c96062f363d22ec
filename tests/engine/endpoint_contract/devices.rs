//! Checks for block devices, and for endless devices.
use super::moving::Door;
use super::places::{loop_device, side};
use haul::core::{Cache, EndpointChange, EndpointKind, Existing, Facts, Kind, Op};
use haul::disks::{open_dest, open_source};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;

#[test]
fn the_probe_of_a_device_finds_its_size_blocks_and_alignment() {
    let Some(place) = loop_device(&[0; 1 << 20]) else { return };
    let facts = place.facts();
    assert_eq!((facts.size, facts.logical_block_bytes), (Some(1 << 20), 512));
    assert_eq!(facts.direct.map(|direct| direct.offset_bytes), Some(512));
    assert!(facts.queue.max_request_bytes >= 4096 && facts.queue.requests_max > 0, "{:?}", facts.queue);
    assert!(!facts.sparse);
}

#[test]
fn a_device_in_use_is_refused_with_advice() {
    let Some(place) = loop_device(&[0; 1 << 20]) else { return };
    let (facts, plan) = (place.facts(), place.side(Cache::Direct));
    let claim = OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(&place.path).unwrap();
    let error = open_dest(&plan, &facts).err().expect("the device is claimed");
    assert_eq!(error.kind, Kind::Refused);
    assert!(!error.advice.is_empty());
    drop(claim);
    let ours = super::places::open_dest(&plan, &facts).unwrap();
    assert!(open_dest(&plan, &facts).is_err(), "we hold a claim of our own");
    drop(ours);
}

#[test]
fn a_device_whose_size_changed_since_the_probe_is_refused() {
    let Some(place) = loop_device(&[0; 1 << 20]) else { return };
    let mut facts = place.facts();
    facts.size = Some(2 << 20);
    let error = open_dest(&place.side(Cache::Direct), &facts).err().unwrap();
    assert_eq!(error.kind, Kind::Refused);
    assert!(error.to_string().contains("1048576"), "{error}");
}

#[test]
fn a_device_without_size_is_removed_and_one_at_its_end_is_full() {
    let Some(place) = loop_device(&[0; 1 << 20]) else { return };
    let dest = open_dest(&place.side(Cache::Direct), &place.facts()).unwrap();
    let full = io::Error::from_raw_os_error(libc::ENOSPC);
    let broken = io::Error::from_raw_os_error(libc::EIO);
    assert_eq!(dest.diagnose(Op::Write, 1 << 20, &full), Kind::NoSpace);
    assert_eq!(dest.diagnose(Op::Write, 4096, &broken), Kind::Io);
    assert_eq!(dest.diagnose(Op::Write, 4096, &io::Error::from_raw_os_error(libc::ENODEV)), Kind::Disconnected);

    let file = OpenOptions::new().write(true).open(place.dir.path().join("x")).unwrap();
    file.set_len(0).unwrap();
    assert!(Command::new("losetup").arg("-c").arg(&place.path).status().unwrap().success());
    assert_eq!(dest.diagnose(Op::Write, 4096, &full), Kind::Disconnected);
    assert_eq!(dest.diagnose(Op::Write, 4096, &broken), Kind::Disconnected);
    assert_eq!(dest.diagnose(Op::Read, 4096, &io::Error::from(io::ErrorKind::UnexpectedEof)), Kind::Disconnected);
    assert_eq!(dest.change(), Some(EndpointChange::Shrank(1 << 20)));
}

#[test]
fn a_large_run_of_a_device_is_zeroed_in_several_calls() {
    let Some(place) = loop_device(&[0xff; 4 << 20]) else { return };
    let dest = open_dest(&place.side(Cache::Direct), &place.facts()).unwrap();
    Door::Calls.zero(&*dest, 100, (4 << 20) - 200);
    dest.make_durable().unwrap();
    let bytes = std::fs::read(&place.path).unwrap();
    assert!(bytes[..100].iter().chain(&bytes[(4 << 20) - 100..]).all(|&byte| byte == 0xff));
    assert!(bytes[100..(4 << 20) - 100].iter().all(|&byte| byte == 0));
}

fn endless(path: &str, kind: EndpointKind) -> (haul::core::PlanSide, Facts) {
    let mut facts = Facts::new(path, kind);
    haul::disks::null::probe(Path::new(path), &mut facts).unwrap();
    (side(Path::new(path), &facts, Cache::Keep, Existing::Keep), facts)
}

#[test]
fn dev_zero_never_ends_and_dev_null_ends_at_once() {
    let (plan, facts) = endless("/dev/zero", EndpointKind::Endless);
    let zero = open_source(&plan, &facts).unwrap();
    assert_eq!(Door::Calls.read(&*zero, 12_345, 100_000), vec![0; 100_000]);
    let (plan, facts) = endless("/dev/urandom", EndpointKind::Endless);
    let random = open_source(&plan, &facts).unwrap();
    assert_ne!(Door::Calls.read(&*random, 0, 4096), vec![0; 4096]);
    let (plan, facts) = endless("/dev/null", EndpointKind::Null);
    let null = open_source(&plan, &facts).unwrap();
    assert_eq!(Door::Calls.read(&*null, 0, 100), b"");
    let null = open_dest(&plan, &facts).unwrap();
    Door::Calls.write(&*null, 77, &[1; 5000]);
    Door::Calls.zero(&*null, 77, 5000);
    null.make_durable().unwrap();
}

#[test]
fn dev_full_is_full() {
    let (plan, facts) = endless("/dev/full", EndpointKind::Endless);
    let full = open_dest(&plan, &facts).unwrap();
    let error = Door::Calls.carry(&*full, &mut super::moving::request(Op::Write, 0, 10)).unwrap_err();
    assert_eq!(full.diagnose(Op::Write, 0, &error), Kind::NoSpace);
}

//! Tests of resolving addresses.
use super::address::ResolvedAddress;
use super::tree::Tree;
use super::{address, character, dest, source};
use crate::core::{EndpointKind, FileId, Kind, Order, Result, Side};
use rustix::fs::makedev;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

fn find(address: &str, side: Side) -> Result<ResolvedAddress> {
    address::find(address, side, &super::Snapshot::take())
}

#[test]
fn character_devices_are_recognized_by_number_under_any_name() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("x");
    symlink("/dev/zero", &link).unwrap();
    let table = [
        ("/dev/null", EndpointKind::Null),
        ("/dev/urandom", EndpointKind::Endless),
        ("/dev/full", EndpointKind::Endless),
        (link.to_str().unwrap(), EndpointKind::Endless),
    ];
    for (address, kind) in table {
        let facts = dest(address).unwrap();
        assert_eq!((facts.kind, facts.size, facts.id, facts.writable), (kind, None, None, true), "{address}");
    }
    assert_eq!(source("/dev/zero").unwrap().kind, EndpointKind::Endless);
}

#[test]
fn streams_are_pipes_under_any_name() {
    let dir = tempfile::tempdir().unwrap();
    let (fifo, socket) = (dir.path().join("fifo"), dir.path().join("socket"));
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let _listener = UnixListener::bind(&socket).unwrap();
    let (reader, _writer) = std::io::pipe().unwrap();
    // A path without any other name, as a shell passes for `<(command)`.
    let inherited = format!("/dev/fd/{}", reader.as_raw_fd());
    for address in [fifo.to_str().unwrap(), &inherited] {
        let facts = source(address).unwrap();
        assert_eq!((facts.kind, facts.order, facts.size), (EndpointKind::Pipe, Order::Ascending, None), "{address}");
        assert!(rustix::fs::stat(&facts.path).is_ok(), "{:?} can be opened", facts.path);
    }
    // The kernel does not open sockets by path, for either side.
    let error = source(socket.to_str().unwrap()).unwrap_err();
    assert_eq!(error.kind, Kind::Usage, "{error}");
    let facts = source("-").unwrap();
    // The standard input of the test process may be anything.
    assert!(facts.kind.is_stream(), "{:?}", facts.kind);
    assert_eq!(facts.path.to_str(), Some("-"));
}

#[test]
fn a_generated_file_of_proc_is_a_stream() {
    assert_eq!(source("/proc/self/status").unwrap().kind, EndpointKind::FileStream);
}

#[test]
fn unsupported_file_types_are_refused_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let file = format!("{path}/file");
    fs::write(&file, b"x").unwrap();
    symlink(format!("{path}/loop"), format!("{path}/loop")).unwrap();
    symlink("/dev/haul-no-such-device", format!("{path}/to-dev")).unwrap();
    let (s, d) = (Side::Source, Side::Dest);
    let table = [
        (path.to_owned(), s, Kind::Usage, "is a directory"),
        (path.to_owned(), d, Kind::Usage, "is a directory"),
        (format!("{path}/new/"), d, Kind::Usage, "does not exist"),
        (String::new(), s, Kind::Usage, "empty name"),
        (format!("{path}/none"), s, Kind::Open, "cannot open source"),
        (format!("{path}/none/none"), d, Kind::Open, "directory"),
        (format!("{file}/none"), d, Kind::Open, "cannot open destination"),
        (format!("{path}/loop"), s, Kind::Open, "cannot open source"),
        ("/dev/haul-no-such-device".to_owned(), d, Kind::Refused, "no such device"),
        ("/dev/../dev/haul-no-such-device".to_owned(), d, Kind::Refused, "no such device"),
        (format!("{path}/to-dev"), d, Kind::Refused, "no such device"),
        ("/dev/ptmx".to_owned(), d, Kind::Usage, "character device"),
    ];
    for (address, side, kind, words) in table {
        let error = find(&address, side).expect_err(&address);
        assert_eq!((error.kind, error.side), (kind, Some(side)), "{address}: {error}");
        assert!(error.what.contains(words), "{address}: {error}");
        assert!(!error.advice.is_empty(), "{address}");
    }
    assert!(fs::read_dir(path).unwrap().count() == 3 && !fs::exists("/dev/haul-no-such-device").unwrap());
}

#[test]
fn a_file_to_create_has_a_resolved_path_and_may_be_in_dev_shm() {
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let real = dir.path().join("real");
    fs::create_dir(&real).unwrap();
    symlink(&real, dir.path().join("dir")).unwrap();
    symlink("dir/new", dir.path().join("dangling")).unwrap();
    for name in ["dir/new", "dangling"] {
        let facts = dest(dir.path().join(name).to_str().unwrap()).unwrap();
        assert_eq!((facts.path, facts.kind), (real.join("new"), EndpointKind::File), "{name}");
        assert!(!facts.exists && facts.writable && facts.id.is_none() && facts.size == Some(0));
        assert_eq!(facts.filesystem.as_deref(), Some("tmpfs"));
        assert!(facts.free_bytes.is_some_and(|bytes| bytes > 0) && facts.ground.is_empty());
    }
    assert_eq!(fs::read_dir(&real).unwrap().count(), 0, "probing makes nothing");
}

#[test]
fn a_hard_link_has_the_id_of_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    fs::write(&one, b"x").unwrap();
    fs::hard_link(&one, &two).unwrap();
    let (one, two) = (source(one.to_str().unwrap()).unwrap(), dest(two.to_str().unwrap()).unwrap());
    assert!(matches!(one.id, Some(FileId::File(..))));
    assert_eq!((one.id, one.ground[0].id), (two.id, two.ground[0].id));
}

#[test]
fn a_pass_through_node_is_refused_and_its_block_device_named() {
    let tree = Tree::new();
    tree.write("dev/char/21:1/device/block/sdb/x", "");
    tree.write("nodes/ng0n2/x", "");
    tree.write("class/block/nvme0n2/x", "");
    tree.link("dev/char/240:2", "nodes/ng0n2");
    let sysfs = tree.snapshot("").sysfs;
    let advice = |major, minor| character::kind("x", makedev(major, minor), Side::Dest, &sysfs).unwrap_err().advice;
    assert!(advice(21, 1).contains("/dev/sdb."), "{}", advice(21, 1));
    assert!(advice(240, 2).contains("/dev/nvme0n2."));
    assert!(advice(10, 1).contains("haul list"));
}

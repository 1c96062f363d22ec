//! One device under many names, and the location of its bytes.
use super::guards::{Image, Loop, Mapped};
use haul::core::{EndpointKind, Facts, FileId};
use haul::disks::probe;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

fn offset_on(facts: &Facts, id: Option<FileId>) -> Option<Option<u64>> {
    facts.ground.iter().find(|ground| Some(ground.id) == id).map(|ground| ground.offset)
}

#[test]
fn a_device_and_a_link_to_it_are_the_same() {
    let image = Image::new(4);
    let Some(device) = Loop::over(&image.path, &[]) else { return };
    let link = image.beside("by-id");
    symlink(&device.path, &link).unwrap();
    let (facts, linked) = (probe::dest(&device.path).unwrap(), probe::dest(&link).unwrap());
    assert_eq!((linked.path.as_path(), linked.kind), (Path::new(&device.path), EndpointKind::Block));
    assert_eq!((linked.address.as_str(), linked.id), (link.as_str(), facts.id));
    assert!(matches!(facts.id, Some(FileId::Device(_))));
    assert_eq!((facts.size, facts.identity.transport.as_deref()), (Some(4 << 20), Some("loop")));
    assert!(facts.writable && facts.exists && facts.in_use.is_empty(), "{:?}", facts.in_use);
}

#[test]
fn a_read_only_device_is_not_writable() {
    let image = Image::new(4);
    let Some(device) = Loop::over(&image.path, &["--read-only"]) else { return };
    assert!(!probe::dest(&device.path).unwrap().writable);
}

#[test]
fn a_loop_device_lies_on_its_file_under_every_name() {
    let image = Image::new(4);
    let Some(device) = Loop::over(&image.path, &["--offset", "1048576"]) else { return };
    let hard = image.beside("hard");
    fs::hard_link(&image.path, &hard).unwrap();
    let (upper, lower) = (probe::source(&device.path).unwrap(), probe::source(&hard).unwrap());
    assert_eq!(lower.id, probe::source(&image.path).unwrap().id);
    assert_eq!(offset_on(&upper, lower.id), Some(Some(1 << 20)), "{:?}", upper.ground);
    assert_eq!(offset_on(&lower, lower.id), Some(Some(0)));
    fs::remove_file(&image.path).unwrap();
    let upper = probe::source(&device.path).unwrap();
    assert_eq!(offset_on(&upper, lower.id), Some(Some(1 << 20)), "deleted, {:?}", upper.ground);
}

#[test]
fn a_partition_lies_at_its_offset_of_the_disk_and_of_the_file_beneath() {
    let image = Image::new(16);
    let Some(device) = Loop::partitioned(&image.path) else { return };
    let (disk, part) = (probe::dest(&device.path).unwrap(), probe::dest(&format!("{}p2", device.path)).unwrap());
    let places: Vec<_> = disk.partitions.iter().map(|part| (part.name.clone(), part.offset, part.len)).collect();
    let expected = [("p1", 1u64 << 20), ("p2", 8 << 20)].map(|(n, at)| (device.name().to_owned() + n, at, 4 << 20));
    assert_eq!(places, expected);
    assert!(part.partitions.is_empty());
    assert_eq!(part.size, Some(4 << 20));
    for beneath in [disk.id, probe::source(&image.path).unwrap().id] {
        assert_eq!(offset_on(&part, beneath), Some(Some(8 << 20)), "{:?}", part.ground);
    }
}

#[test]
fn a_mapped_device_lies_on_its_parts_at_unknown_offsets() {
    let image = Image::new(4);
    let Some(device) = Loop::over(&image.path, &[]) else { return };
    let Some(mapped) = Mapped::linear(&device.path) else { return };
    let (facts, beneath) = (probe::dest(&mapped.node).unwrap(), probe::source(&device.path).unwrap());
    assert_eq!(offset_on(&facts, beneath.id), Some(None), "{:?}", facts.ground);
    assert_eq!(facts.identity.transport.as_deref(), Some("dm"));
    assert!(facts.identity.model.is_some_and(|name| name.starts_with("haul-test")));
}

#[test]
fn a_file_lies_on_the_disk_of_its_file_system() {
    let image = Image::new(16);
    let Some(device) = Loop::over(&image.path, &[]) else { return };
    let Some(mounted) = super::guards::Mounted::new(&device.path, &image.beside("at")) else { return };
    let path = mounted.at.join("x");
    let new = probe::dest(path.to_str().unwrap()).unwrap();
    fs::write(&path, b"x").unwrap();
    let old = probe::dest(path.to_str().unwrap()).unwrap();
    let disk = probe::source(&device.path).unwrap();
    for facts in [&new, &old] {
        assert_eq!(offset_on(facts, disk.id), Some(None), "{:?}", facts.ground);
        assert_eq!(facts.filesystem.as_deref(), Some("ext4"));
        assert!(facts.free_bytes.is_some_and(|bytes| bytes > 1 << 20 && bytes < 16 << 20));
    }
    assert!(new.id.is_none() && !new.exists && old.exists);
    assert_eq!(old.ground[0].offset, Some(0));
}

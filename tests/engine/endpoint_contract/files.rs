//! Checks for regular files.
use super::moving::{Door, pattern};
use super::places::{Place, file_in, side};
use haul::core::{Cache, EndpointChange, EndpointKind, Existing, Extent, Facts, Kind, OffloadSource, Op, RunKind};
use haul::disks::{self, open_dest, open_source};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

fn files(bytes: &[u8]) -> [Place; 2] {
    [file_in("ext4 or what /var/tmp is", "/var/tmp", bytes), file_in("tmpfs", "/dev/shm", bytes)]
}

fn new_facts(path: &Path) -> Facts {
    let mut facts = Facts::new(&path.to_string_lossy(), EndpointKind::File);
    facts.exists = false;
    disks::file::probe_new(path.parent().unwrap(), &mut facts).unwrap();
    facts
}

#[test]
fn the_runs_of_a_sparse_file_cover_it_and_its_holes_are_zero_runs() {
    for place in files(b"") {
        let file = OpenOptions::new().write(true).open(&place.path).unwrap();
        file.set_len(1 << 20).unwrap();
        file.write_all_at(&[7; 65_536], 262_144).unwrap();
        file.sync_all().unwrap();
        let source = open_source(&place.side(Cache::Keep), &place.facts()).unwrap();
        let (mut at, mut runs) = (0, Vec::new());
        while at < 1 << 20 {
            let run = source.run_at(Extent::new(at, (1 << 20) - at)).unwrap();
            assert_eq!(run.extent.offset, at);
            runs.push((run.kind, run.extent.len));
            at = run.extent.end();
        }
        let expected = [(RunKind::Zero, 262_144), (RunKind::Data, 65_536), (RunKind::Zero, 720_896)];
        assert_eq!(runs, expected, "{}", place.name);
        let cut = source.run_at(Extent::new(1000, 5000)).unwrap();
        assert_eq!((cut.kind, cut.extent), (RunKind::Zero, Extent::new(1000, 5000)));
    }
}

#[test]
fn the_missing_end_of_a_shrunk_file_counts_as_data() {
    for place in files(b"") {
        let file = OpenOptions::new().write(true).open(&place.path).unwrap();
        file.set_len(1 << 20).unwrap();
        let source = open_source(&place.side(Cache::Keep), &place.facts()).unwrap();
        file.set_len(10_000).unwrap();
        let last = source.run_at(Extent::new(8192, 100_000)).unwrap();
        assert_eq!((last.kind, last.extent.end()), (RunKind::Zero, 10_000), "{}", place.name);
        assert_eq!(source.run_at(Extent::new(10_000, 100_000)).unwrap().kind, RunKind::Data);
        assert_eq!(source.run_at(Extent::new(500_000, 100_000)).unwrap().kind, RunKind::Data);
        assert_eq!(source.change(), Some(EndpointChange::Shrank((1 << 20) - 10_000)));
        let end = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert_eq!(source.diagnose(Op::Read, 10_000, &end), Kind::EndedEarly);
    }
}

#[test]
fn a_source_written_during_the_copy_is_grown_or_modified() {
    for place in files(&pattern(10_000)) {
        let facts = place.facts();
        let source = open_source(&place.side(Cache::Keep), &facts).unwrap();
        let file = OpenOptions::new().write(true).open(&place.path).unwrap();
        file.set_times(fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH)).unwrap();
        assert_eq!(source.change(), Some(EndpointChange::Modified), "{}", place.name);
        file.write_all_at(b"more", 10_000).unwrap();
        assert_eq!(source.change(), Some(EndpointChange::Grew(4)));
        let late = open_source(&place.side(Cache::Keep), &facts).unwrap();
        assert_eq!(late.change(), Some(EndpointChange::Grew(4)), "what came between probing and opening counts");
    }
}

#[test]
fn a_dest_is_set_to_its_planned_length() {
    for place in files(&pattern(100_000)) {
        for cache in place.caches() {
            fs::write(&place.path, pattern(100_000)).unwrap();
            let dest = open_dest(&place.side(cache), &place.facts()).unwrap();
            dest.end_at(33_333).unwrap();
            dest.make_durable().unwrap();
            assert!(fs::read(&place.path).unwrap() == pattern(100_000)[..33_333]);
            dest.end_at(40_000).unwrap();
            assert_eq!(fs::metadata(&place.path).unwrap().len(), 40_000);
        }
    }
}

#[test]
fn a_new_file_is_created_once_with_default_permissions() {
    for place in files(b"") {
        for cache in place.caches() {
            let path = place.dir.path().join(format!("new-{cache:?}"));
            let facts = new_facts(&path);
            let plan = side(&path, &facts, cache, Existing::Create);
            let dest = open_dest(&plan, &facts).unwrap();
            dest.prepare(Extent::new(0, 70_000)).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().len(), 70_000, "the size is set ahead");
            Door::Calls.write(&*dest, 0, &pattern(70_000));
            dest.make_durable().unwrap();
            assert!(fs::read(&path).unwrap() == pattern(70_000));
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o111, 0);
            assert_eq!(open_dest(&plan, &facts).err().unwrap().kind, Kind::Refused, "it is there by now");
            assert_eq!(fs::metadata(&path).unwrap().len(), 70_000);
        }
    }
}

#[test]
fn a_replaced_file_is_truncated_at_open_unless_it_is_another_file() {
    for place in files(&pattern(5000)) {
        let mut facts = place.facts();
        let plan = side(&place.path, &facts, Cache::Drop, Existing::Truncate);
        facts.id = Some(haul::core::FileId::File(1, 2));
        assert!(open_dest(&plan, &facts).is_err());
        assert_eq!(fs::metadata(&place.path).unwrap().len(), 5000);
        open_dest(&plan, &place.facts()).unwrap();
        assert_eq!(fs::metadata(&place.path).unwrap().len(), 0);
    }
}

#[test]
fn no_regular_file_is_created_in_dev() {
    let path = Path::new("/dev/haul-test-no-such-device");
    let facts = Facts { exists: false, ..Facts::new("/dev/haul-test-no-such-device", EndpointKind::File) };
    let error = open_dest(&side(path, &facts, Cache::Keep, Existing::Create), &facts).err().unwrap();
    assert_eq!(error.kind, Kind::Refused);
    assert!(!path.exists());
}

#[test]
fn missing_files_and_directories_have_their_own_errors() {
    let dir = crate::support::ScratchDir::below(std::env::temp_dir()).unwrap();
    let facts = Facts::new("x", EndpointKind::File);
    let missing = dir.path().join("missing");
    let error = open_source(&side(&missing, &facts, Cache::Keep, Existing::Keep), &facts).err().unwrap();
    assert_eq!((error.kind, error.advice.as_str()), (Kind::Open, "Check the path."));
    assert!(error.to_string().starts_with("cannot open source /"), "{error}");
    let error = open_dest(&side(dir.path(), &facts, Cache::Keep, Existing::Keep), &facts).err().unwrap();
    assert_eq!(error.kind, Kind::Open);
    let error = open_source(&side(dir.path(), &facts, Cache::Keep, Existing::Keep), &facts).err().unwrap();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

#[test]
fn a_punched_run_is_a_hole_and_a_prepared_one_is_allocated() {
    let place = file_in("/var/tmp", "/var/tmp", &pattern(1 << 20));
    let blocks = || fs::metadata(&place.path).unwrap().blocks();
    let full = blocks();
    let dest = open_dest(&place.side(Cache::Keep), &place.facts()).unwrap();
    Door::Calls.zero(&*dest, 0, 1 << 19);
    assert!(blocks() < full, "half of it is a hole now");
    dest.prepare(Extent::new(0, 1 << 20)).unwrap();
    assert!(blocks() >= full, "all of it has room again");
    assert!(fs::read(&place.path).unwrap()[..1 << 19].iter().all(|&byte| byte == 0));
}

#[test]
fn sharing_extents_either_works_or_is_refused_without_a_change() {
    let (from, to) = (file_in("a", "/var/tmp", &pattern(65_536)), file_in("b", "/var/tmp", &[1; 65_536]));
    let source = open_source(&from.side(Cache::Keep), &from.facts()).unwrap();
    let dest = open_dest(&to.side(Cache::Keep), &to.facts()).unwrap();
    match dest.offload(OffloadSource::File(source.descriptor().unwrap()), Extent::new(0, 65_536), 0) {
        Ok(_) => assert!(fs::read(&to.path).unwrap() == pattern(65_536)),
        Err(error) => {
            let expected = [libc::EOPNOTSUPP, libc::EXDEV, libc::EINVAL, libc::ENOTTY];
            assert!(expected.contains(&error.raw_os_error().unwrap()), "{error}");
            assert!(fs::read(&to.path).unwrap() == [1; 65_536]);
        }
    }
}

#[test]
fn prepare_reports_a_full_file_system_as_no_space() {
    let place = file_in("/dev/shm", "/dev/shm", b"x");
    let dest = open_dest(&place.side(Cache::Keep), &place.facts()).unwrap();
    let free = rustix::fs::statvfs(place.dir.path()).unwrap();
    let too_much = free.f_blocks * free.f_frsize + (1 << 30);
    let error = dest.prepare(Extent::new(0, too_much)).unwrap_err();
    assert_eq!(dest.diagnose(Op::Write, 0, &error), Kind::NoSpace);
    assert_eq!(File::open(&place.path).unwrap().metadata().unwrap().len(), 1);
}

//! Keeping and putting back on disks that fail, in memory.
use super::keep::{UndoTask, keep};
use super::put_back::put_back;
use crate::core::{Endpoint, Extent, Kind, Op, Stop};
use crate::disks::memory::{Fault, Memory};
use crate::ledger::undo::{Content, Undo};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;
const PLACES: [Extent; 2] = [Extent { offset: MIB, len: 8 * MIB }, Extent { offset: 16 * MIB, len: 4 * MIB }];
const LEN: u64 = 24 * MIB;

/// A disk of numbers of which two places were kept, and written over.
struct Scene {
    dir: TempDir,
    before: Vec<u8>,
    written: Vec<u8>,
}

fn bytes() -> Vec<u8> {
    (0..LEN / 4).flat_map(|number| (number as u32).to_le_bytes()).collect()
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let before = bytes();
        let disk: Arc<dyn Endpoint> = Arc::new(Memory::disk(before.clone(), &[]));
        let asked = UndoTask { facts: disk.facts(), end: &disk, places: &PLACES, time: Duration::from_secs(60) };
        let kept = keep(&dir.path().join("undo"), &asked, &Stop::default()).unwrap().expect("nobody stopped it");
        assert_eq!((kept.extents.as_slice(), kept.bad.len()), (&PLACES[..], 0));
        let content = Content::of(&kept.undo.head().session);
        let mut written = before.clone();
        for place in PLACES {
            let bytes = &mut written[place.offset as usize..place.end() as usize];
            bytes.chunks_mut(content.bytes().len()).for_each(|piece| piece.copy_from_slice(content.bytes()));
        }
        Scene { dir, before, written }
    }

    fn journal(&self) -> PathBuf {
        self.dir.path().join("undo")
    }

    /// Puts back on a disk with these faults: what is on it then, what is not back, and what is said.
    fn put_back(&self, faults: &[Fault]) -> (Vec<u8>, Vec<Extent>, String) {
        let disk = Arc::new(Memory::disk(self.written.clone(), faults));
        let end: Arc<dyn Endpoint> = disk.clone();
        let undo = Undo::open(&self.journal()).unwrap().expect("it is there");
        let (left, said) = match put_back(undo, &end) {
            Ok(_) => (Vec::new(), String::new()),
            Err(not_back) => {
                assert_eq!(not_back.left.journal, self.journal());
                (not_back.left.places, format!("{}: {}", not_back.error, not_back.error.advice))
            }
        };
        assert_eq!(self.journal().exists(), !left.is_empty(), "it is gone once all is back, and not before");
        (disk.bytes(), left, said)
    }

    /// All is as it was, but for these places.
    #[track_caller]
    fn is_back_but_for(&self, now: &[u8], places: &[Extent]) {
        let wrong = (0..LEN).step_by(512).find(|&at| {
            let sector = at as usize..at as usize + 512;
            let here = Extent::new(at, 512);
            let then = if places.iter().any(|place| place.overlaps(&here)) { &self.written } else { &self.before };
            now[sector.clone()] != then[sector]
        });
        assert_eq!(wrong, None);
    }
}

#[test]
fn a_place_that_cannot_be_written_keeps_no_other_from_being_put_back() {
    let scene = Scene::new();
    let bad = Extent::new(3 * MIB + 1024, 1024);
    let (now, left, said) = scene.put_back(&[Fault::BadSectors { op: Op::Write, extent: bad, errno: libc::EIO }]);
    assert_eq!(left, [bad]);
    scene.is_back_but_for(&now, &left);
    let journal = scene.journal();
    for words in
        ["cannot write destination memory at byte 3146752", "Not restored: 1024 bytes at byte 3146752;", "--restore"]
    {
        assert!(said.contains(words) && said.contains(journal.to_str().unwrap()), "{words}: {said}");
    }
    let (now, ..) = scene.put_back(&[]);
    scene.is_back_but_for(&now, &[]);
}

#[test]
fn what_cannot_be_read_any_more_has_its_original_again() {
    let scene = Scene::new();
    let bad = Extent::new(17 * MIB + 512, 512);
    let (now, ..) = scene.put_back(&[Fault::BadSectors { op: Op::Read, extent: bad, errno: libc::EIO }]);
    scene.is_back_but_for(&now, &[]);
}

#[test]
fn a_disk_that_fails_everywhere_is_not_asked_for_each_of_its_sectors() {
    let scene = Scene::new();
    let extent = Extent::new(0, LEN);
    for op in [Op::Read, Op::Write] {
        let fault = Fault::BadSectors { op, extent, errno: libc::EIO };
        let disk = Arc::new(Memory::disk(scene.written.clone(), &[fault]));
        let end: Arc<dyn Endpoint> = disk.clone();
        let not_back = put_back(Undo::open(&scene.journal()).unwrap().unwrap(), &end).unwrap_err();
        assert_eq!(not_back.left.places, PLACES);
        let asked = disk.asked();
        assert!(asked.len() < 2 * 80, "{} requests", asked.len());
        // They are kept in turn, and the last piece is not tried after two that were in vain.
        assert!(asked.iter().all(|asked| !asked.extent.overlaps(&Extent::new(5 * MIB, 4 * MIB))), "{op:?}");
    }
}

#[test]
fn a_disk_that_is_gone_has_nothing_back() {
    let scene = Scene::new();
    let (_, left, said) = scene.put_back(&[Fault::BadAt { op: Op::Read, offset: 2 * MIB, errno: libc::ENODEV }]);
    assert_eq!(left, PLACES);
    assert!(said.contains("has disappeared") && said.contains("Attach the device again"), "{said}");
}

#[test]
fn originals_that_are_damaged_keep_no_others_from_being_put_back() {
    let scene = Scene::new();
    let file = OpenOptions::new().write(true).open(scene.journal()).unwrap();
    // Into the first piece of the second place; they are kept in turn.
    file.write_all_at(b"damaged", 5 * MIB + 100).unwrap();
    let (now, left, said) = scene.put_back(&[]);
    assert_eq!(left, [PLACES[1]]);
    scene.is_back_but_for(&now, &left);
    assert!(said.contains("damaged") && said.contains("Not restored: 4194304 bytes at byte 16777216;"), "{said}");
}

#[test]
fn somebody_elses_bytes_stay_beside_what_fails() {
    let mut scene = Scene::new();
    scene.written[2 * MIB as usize..][..4].copy_from_slice(b"mine");
    let bad = Extent::new(3 * MIB, 512);
    let (now, left, said) = scene.put_back(&[Fault::BadSectors { op: Op::Write, extent: bad, errno: libc::EIO }]);
    assert_eq!(left, [Extent::new(2 * MIB, 512), bad]);
    scene.is_back_but_for(&now, &left);
    assert!(said.contains("Another program wrote there: 512 bytes at byte 2097152 are neither"), "{said}");
}

#[test]
fn a_place_that_cannot_be_read_may_be_of_whoever_wrote_elsewhere() {
    let mut scene = Scene::new();
    scene.written[2 * MIB as usize..][..4].copy_from_slice(b"mine");
    let bad = Extent::new(3 * MIB, 512);
    let (now, left, said) = scene.put_back(&[Fault::BadSectors { op: Op::Read, extent: bad, errno: libc::EIO }]);
    assert_eq!(left, [Extent::new(2 * MIB, 512), bad]);
    scene.is_back_but_for(&now, &left);
    assert!(said.contains("512 bytes at byte 3145728 cannot be read and may also be from another program"), "{said}");
}

#[test]
fn what_cannot_be_read_is_not_kept_and_not_to_be_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let bad = Extent::new(6 * MIB, 512);
    let faults = [Fault::BadSectors { op: Op::Read, extent: bad, errno: libc::EIO }];
    let disk: Arc<dyn Endpoint> = Arc::new(Memory::disk(bytes(), &faults));
    let asked = UndoTask { facts: disk.facts(), end: &disk, places: &PLACES, time: Duration::from_secs(60) };
    let kept = keep(&dir.path().join("undo"), &asked, &Stop::default()).unwrap().unwrap();
    assert_eq!(kept.extents, [Extent::new(MIB, 4 * MIB), PLACES[1]]);
    let of_journal: Vec<Extent> = kept.undo.kept().iter().map(|kept| kept.extent).collect();
    assert_eq!(of_journal, kept.extents);
    assert!(kept.bad.len() == 1 && kept.bad[0].offset == 5 * MIB, "{:?}", kept.bad);
    let everywhere = [Fault::BadSectors { op: Op::Read, extent: Extent::new(0, LEN), errno: libc::EIO }];
    let disk: Arc<dyn Endpoint> = Arc::new(Memory::disk(bytes(), &everywhere));
    let path = dir.path().join("other");
    let error = keep(&path, &UndoTask { end: &disk, ..asked }, &Stop::default()).err().expect("nothing can be kept");
    assert!(error.kind == Kind::Io && error.what.contains("cannot read memory at any"), "{error:?}");
    assert!(!path.exists() && std::fs::read_dir(dir.path()).unwrap().count() == 1, "nothing is left");
}

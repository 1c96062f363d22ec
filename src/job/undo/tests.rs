//! Saving and restoring on failing disks, in memory.
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

/// A disk of numbered bytes with two extents that were saved and overwritten.
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
        let kept = keep(&dir.path().join("undo"), &asked, &Stop::default()).unwrap().expect("it was not stopped");
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

    /// Restores on a disk with these faults; returns its contents, the extents that were not restored, and the
    /// message.
    fn put_back(&self, faults: &[Fault]) -> (Vec<u8>, Vec<Extent>, String) {
        let disk = Arc::new(Memory::disk(self.written.clone(), faults));
        let end: Arc<dyn Endpoint> = disk.clone();
        let undo = Undo::open(&self.journal()).unwrap().expect("it exists");
        let (left, messages) = match put_back(undo, &end) {
            Ok(_) => (Vec::new(), String::new()),
            Err(not_back) => {
                assert_eq!(not_back.left.journal, self.journal());
                (not_back.left.places, format!("{}: {}", not_back.error, not_back.error.advice))
            }
        };
        assert_eq!(self.journal().exists(), !left.is_empty(), "it is gone once all is back, and not before");
        (disk.bytes(), left, messages)
    }

    /// Checks that everything except these extents was restored.
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
fn an_unwritable_extent_does_not_prevent_restoring_the_others() {
    let scene = Scene::new();
    let bad = Extent::new(3 * MIB + 1024, 1024);
    let (now, left, messages) = scene.put_back(&[Fault::BadSectors { op: Op::Write, extent: bad, errno: libc::EIO }]);
    assert_eq!(left, [bad]);
    scene.is_back_but_for(&now, &left);
    let journal = scene.journal();
    for words in
        ["cannot write destination memory at byte 3146752", "Not restored: 1024 bytes at byte 3146752;", "--restore"]
    {
        assert!(messages.contains(words) && messages.contains(journal.to_str().unwrap()), "{words}: {messages}");
    }
    let (now, ..) = scene.put_back(&[]);
    scene.is_back_but_for(&now, &[]);
}

#[test]
fn an_extent_that_became_unreadable_is_restored() {
    let scene = Scene::new();
    let bad = Extent::new(17 * MIB + 512, 512);
    let (now, ..) = scene.put_back(&[Fault::BadSectors { op: Op::Read, extent: bad, errno: libc::EIO }]);
    scene.is_back_but_for(&now, &[]);
}

#[test]
fn a_disk_that_fails_everywhere_is_not_read_sector_by_sector() {
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
        // They are restored in order, and the last piece is not tried after two have failed.
        assert!(asked.iter().all(|asked| !asked.extent.overlaps(&Extent::new(5 * MIB, 4 * MIB))), "{op:?}");
    }
}

#[test]
fn a_removed_disk_has_nothing_restored() {
    let scene = Scene::new();
    let (_, left, messages) = scene.put_back(&[Fault::BadAt { op: Op::Read, offset: 2 * MIB, errno: libc::ENODEV }]);
    assert_eq!(left, PLACES);
    assert!(messages.contains("has disappeared") && messages.contains("Attach the device again"), "{messages}");
}

#[test]
fn damaged_originals_do_not_prevent_restoring_the_others() {
    let scene = Scene::new();
    let file = OpenOptions::new().write(true).open(scene.journal()).unwrap();
    // Into the first piece of the second extent; both are saved in turn.
    file.write_all_at(b"damaged", 5 * MIB + 100).unwrap();
    let (now, left, messages) = scene.put_back(&[]);
    assert_eq!(left, [PLACES[1]]);
    scene.is_back_but_for(&now, &left);
    assert!(
        messages.contains("damaged") && messages.contains("Not restored: 4194304 bytes at byte 16777216;"),
        "{messages}"
    );
}

#[test]
fn bytes_of_other_writers_are_kept_beside_failing_extents() {
    let mut scene = Scene::new();
    scene.written[2 * MIB as usize..][..4].copy_from_slice(b"mine");
    let bad = Extent::new(3 * MIB, 512);
    let (now, left, messages) = scene.put_back(&[Fault::BadSectors { op: Op::Write, extent: bad, errno: libc::EIO }]);
    assert_eq!(left, [Extent::new(2 * MIB, 512), bad]);
    scene.is_back_but_for(&now, &left);
    assert!(messages.contains("Another program wrote there: 512 bytes at byte 2097152 are neither"), "{messages}");
}

#[test]
fn an_unreadable_extent_counts_as_foreign_if_another_writer_was_active() {
    let mut scene = Scene::new();
    scene.written[2 * MIB as usize..][..4].copy_from_slice(b"mine");
    let bad = Extent::new(3 * MIB, 512);
    let (now, left, messages) = scene.put_back(&[Fault::BadSectors { op: Op::Read, extent: bad, errno: libc::EIO }]);
    assert_eq!(left, [Extent::new(2 * MIB, 512), bad]);
    scene.is_back_but_for(&now, &left);
    assert!(
        messages.contains("512 bytes at byte 3145728 cannot be read and may also be from another program"),
        "{messages}"
    );
}

#[test]
fn unreadable_extents_are_neither_saved_nor_overwritten() {
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
    let error =
        keep(&path, &UndoTask { end: &disk, ..asked }, &Stop::default()).err().expect("a journal cannot be kept");
    assert!(error.kind == Kind::Io && error.what.contains("cannot read memory at any"), "{error:?}");
    assert!(!path.exists() && std::fs::read_dir(dir.path()).unwrap().count() == 1, "nothing is left");
}

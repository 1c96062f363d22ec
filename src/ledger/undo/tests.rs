//! The file of an undo journal: complete, truncated and damaged.
use super::*;
use crate::core::{BlockDigest, EndpointKind, Extent, Facts};
use crate::ledger::{FaultKind, SideIdentity};
use std::fs;
use std::path::Path;

fn head() -> Head {
    let facts = Facts::new("/dev/sdz", EndpointKind::Block);
    Head {
        version: "0.1.0".to_owned(),
        created: "2026-11-22T01:00:00Z".to_owned(),
        device: SideIdentity::of(&facts, 0),
        session: BlockDigest::from([7; 32]),
    }
}

fn made(path: &Path) -> Undo {
    let mut making = UndoMaking::begin(path, head()).unwrap();
    making.keep(1 << 20, &[1; 4096]).unwrap();
    making.keep(8 << 20, &[2; 512]).unwrap();
    making.finish().unwrap()
}

#[test]
fn originals_are_read_back_and_the_undo_journal_is_removed_after_use() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.undo");
    assert!(Undo::open(&path).unwrap().is_none());
    drop(made(&path));
    let undo = Undo::open(&path).unwrap().unwrap();
    assert_eq!(undo.head(), &head());
    let extents: Vec<Extent> = undo.kept().iter().map(|kept| kept.extent).collect();
    assert_eq!(extents, [Extent::new(1 << 20, 4096), Extent::new(8 << 20, 512)]);
    let mut bytes = vec![0; 4096];
    undo.original(&undo.kept()[0], &mut bytes).unwrap();
    assert!(bytes == [1; 4096]);
    undo.remove().unwrap();
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn an_undo_journal_is_named_only_when_it_is_complete() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.undo");
    let mut making = UndoMaking::begin(&path, head()).unwrap();
    making.keep(0, &[1; 512]).unwrap();
    assert!(!path.exists() && Undo::open(&path).unwrap().is_none());
    drop(making);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "what was not finished is nothing");
    let undo = made(&path);
    assert_eq!(fs::metadata(undo.path()).unwrap().len(), (1 << 20) + 4096 + 512);
}

#[test]
fn an_existing_undo_journal_is_neither_replaced_nor_shared() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.undo");
    let undo = made(&path);
    assert!(matches!(Undo::open(&path).unwrap_err().kind, FaultKind::Busy));
    drop(undo);
    assert!(matches!(UndoMaking::begin(&path, head()).err().unwrap().kind, FaultKind::Exists));
    assert!(Undo::open(&path).unwrap().is_some(), "it is still whole");
}

#[test]
fn every_changed_byte_of_an_undo_journal_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.undo");
    drop(made(&path));
    let whole = fs::read(&path).unwrap();
    let lines = whole.iter().position(|&byte| byte == 0).unwrap();
    for at in (0..lines).step_by(7).chain([1 << 20, (1 << 20) + 4096]) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        let read = |undo: Undo| {
            undo.kept().iter().all(|kept| undo.original(kept, &mut vec![0; kept.extent.len as usize]).is_ok())
        };
        assert!(!Undo::open(&path).is_ok_and(|undo| undo.is_some_and(read)), "byte {at}");
    }
    fs::write(&path, &whole[..lines - 20]).unwrap();
    assert!(Undo::open(&path).is_err());
}

#[test]
fn a_session_recognizes_only_its_own_pieces() {
    let [ours, other] = [7, 8].map(|byte| Content::of(&BlockDigest::from([byte; 32])));
    let bytes = ours.bytes();
    assert!(ours.has_written(bytes) && ours.has_written(&bytes[5 * 512..9 * 512]) && !other.has_written(&bytes[..512]));
    for bit in (0..4096).step_by(5) {
        let mut piece = bytes[1024..1536].to_vec();
        piece[bit / 8] ^= 1 << (bit % 8);
        assert!(!ours.has_written(&piece), "bit {bit}");
    }
    // Two halves of two pieces, as a torn write leaves them if sectors are not written atomically.
    let torn = [&bytes[..256], &bytes[768..1024]].concat();
    assert!(!ours.has_written(&torn) && !ours.has_written(&[0; 512]) && !ours.has_written(&bytes[..511]));
}

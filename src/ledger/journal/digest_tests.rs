//! Digests of blocks in a journal.
use super::file::Journal;
use super::record::Record;
use super::tests::{LEN, digest, extents, head};
use crate::core::{BlockDigests, BlockHash, DigestedBlock, Extent};
use crate::ledger::FaultKind;

#[test]
fn digests_of_blocks_survive_reopening_and_compacting() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("journal");
    let how = |block_bytes| BlockDigests { hash: BlockHash::Blake3Tree, block_bytes, from_bytes: 0 };
    let block = |offset, len, digest| DigestedBlock { extent: Extent::new(offset, len), digest };
    let blocks = [block(0, 64, Some(digest(1))), block(64, 128, None), block(960, 40, Some(digest(2)))];
    let mut journal = Journal::create(&path, head()).unwrap();
    journal.append(&extents(&[(0, 192)]), &[]).unwrap();
    journal.add_digests(how(64), &blocks[1..]).unwrap();
    journal.add_digests(how(64), &blocks[..1]).unwrap();
    journal.compact().unwrap();
    drop(journal);
    let (mut journal, torn) = Journal::open(&path).unwrap().unwrap();
    assert_eq!(torn, None);
    let digests = journal.state().digests.clone().unwrap();
    assert_eq!((digests.how, digests.blocks.into_values().collect::<Vec<_>>()), (how(64), blocks.to_vec()));
    assert_eq!(journal.state().durable.total_bytes(), 192);
    journal.add_digests(how(128), &[block(128, 128, None)]).unwrap();
    drop(journal);
    let digests = Journal::look(&path).unwrap().state.digests.unwrap();
    assert_eq!((digests.how, digests.blocks.len()), (how(128), 1), "those of other blocks are of no use");
}

#[test]
fn digests_of_impossible_blocks_are_refused() {
    for wrong in ["[[0,65,null],[8,64,null]]", "[[960,41,null]]", "[[0,0,null]]", "[[18446744073709551552,64,null]]"] {
        let line =
            format!(r#"{{"durable":[],"digests":{{"algorithm":"blake3-tree","block_bytes":64,"blocks":{wrong}}}}}"#);
        assert!(matches!(Record::parse(line.as_bytes(), LEN), Err(FaultKind::Invalid(_))), "{wrong}");
    }
    let line = r#"{"durable":[],"digests":{"algorithm":"blake3-tree","block_bytes":0,"blocks":[]}}"#;
    assert!(matches!(Record::parse(line.as_bytes(), LEN), Err(FaultKind::Invalid(_))));
}

use super::*;
use crate::core::{Arena, Side};

#[test]
fn memory_of_abandoned_commands_is_never_freed() {
    let arena = Arena::map(1 << 20).unwrap();
    let senses: Senses = (0..2).map(|_| [const { AtomicU8::new(0) }; SENSE_BYTES]).collect();
    let (blocks, room) = (Arc::downgrade(&arena), Arc::downgrade(&senses));
    let flight = |buffer| {
        let request = Request {
            slot: 0,
            ticket: 0,
            side: Side::Source,
            op: Op::Read,
            offset: 0,
            len: 4096,
            done: 0,
            until: 4096,
            buffer,
        };
        let place = crate::disks::scsi::verdict::CommandRange { lba: 0, blocks: 8, block_bytes: 512, start: 0 };
        let waiting = PendingRequest { request, patience: RetryPolicy::default() };
        CommandInFlight { waiting, len: 4096, place, senses: senses.clone() }
    };
    let mut flying: Vec<Option<CommandInFlight>> =
        arena.carve(4096, 2).into_iter().map(|buffer| Some(flight(buffer))).collect();
    abandon(&mut flying);
    drop((flying, senses, arena));
    assert!(blocks.upgrade().is_some(), "the arena was unmapped");
    assert!(room.upgrade().is_some(), "the room for sense data was freed");
}

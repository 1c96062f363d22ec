use super::*;
use crate::core::{Arena, Side};
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;

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

#[test]
fn commands_not_yet_submitted_are_withdrawn_and_never_sent() {
    // Simulates the driver: stores the headers that are written to it, and sends completions.
    let (node, driver) = UnixDatagram::pair().unwrap();
    node.set_nonblocking(true).unwrap();
    driver.set_nonblocking(true).unwrap();
    let mut queue = SgQueue::open(Arc::new(Disk::silent(node.into())), 6).unwrap();
    queue.most = 2;
    let arena = Arena::map(1 << 20).unwrap();
    let mut requests = (0..6).zip(arena.carve(4096, 6)).map(|(slot, buffer)| {
        let (offset, len) = (u64::from(slot) * 4096, 4096);
        Request {
            slot,
            ticket: slot.into(),
            side: Side::Source,
            op: Op::Read,
            offset,
            len,
            done: 0,
            until: len,
            buffer,
        }
    });
    requests.by_ref().take(5).for_each(|request| queue.submit(request));
    queue.flush().unwrap();
    let waiting = PendingRequest { request: requests.next().unwrap(), patience: RetryPolicy::default() };
    queue.later.push((Instant::now(), waiting));

    let mut back = Vec::new();
    queue.withdraw(&|request| request.ticket < 3, &mut back);
    let mut tickets: Vec<u64> = back.iter().map(|request| request.ticket).collect();
    tickets.sort_unstable();
    assert_eq!(tickets, [3, 4, 5]);

    let mut done = Vec::new();
    let mut received = Vec::new();
    while let Ok(header) = sg::receive(driver.as_fd()) {
        received.push(header.pack_id);
        // SAFETY: the socket copies the header.
        unsafe { sg::submit(driver.as_fd(), &header) }.unwrap();
        queue.reap(&mut done).unwrap();
        queue.flush().unwrap();
    }
    assert_eq!(received, [0, 1, 2]);
    assert_eq!(done.len(), 3);
    assert_eq!(queue.ready(), Ready::Idle);
}

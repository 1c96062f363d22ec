//! Tests of the endpoint on a simulated drive.
use super::device::{NamespaceRange, NvmeNamespace};
use super::drive::identify;
use super::fake::{FakeDrive, NSID, Reply};
use super::*;
use crate::core::{Arena, DeviceError, EndpointKind, Extent, OffloadSource, OnRing, Op, Request, Side};
use proptest::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

const BLOCKS: usize = 64;

fn noise(len: usize) -> Vec<u8> {
    (0..len as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

pub(super) fn drive(shift: u8, bad: &[u64]) -> Arc<FakeDrive> {
    Arc::new(FakeDrive::new(noise(BLOCKS << shift), shift, bad))
}

/// Opens all blocks from `first` on.
pub(super) fn opened(drive: &Arc<FakeDrive>, first: u64, command_blocks_max: u32) -> NvmeNamespace {
    let (controller, namespace) = identify(drive, NSID).unwrap();
    let start = first << namespace.block_shift;
    let command_bytes_max = command_blocks_max << namespace.block_shift;
    let place = NamespaceRange { nsid: NSID, start, size: namespace.bytes() - start, command_bytes_max };
    let facts = Facts::new("/dev/ng0n1", EndpointKind::Block);
    let options = CommandOptions::default();
    NvmeNamespace::new(facts, Box::new(drive.clone()), place, (&controller, namespace), options).without_waits()
}

pub(super) fn request(op: Op, offset: u64, len: u32) -> Request {
    let buffer = Arena::map(1 << 20).unwrap().carve(len.max(1), 1).pop().unwrap();
    let side = if op == Op::Read { Side::Source } else { Side::Dest };
    Request { slot: 0, ticket: 0, side, op, offset, len, done: 0, until: len, buffer }
}

/// Executes a request completely.
pub(super) fn carry(device: &NvmeNamespace, request: &mut Request) -> io::Result<()> {
    while request.done < request.len {
        let moved = device.perform(request)?;
        assert!(moved > 0 && moved <= request.left());
        request.done += moved;
    }
    Ok(())
}

fn device_failure(error: &io::Error) -> &DeviceError {
    DeviceError::of(error).unwrap_or_else(|| panic!("it has no words of the drive: {error}"))
}

#[test]
fn a_partition_is_read_at_its_offset_and_never_beyond_its_end() {
    let drive = drive(9, &[]);
    let device = opened(&drive, 8, 64);
    let mut read = request(Op::Read, 512, 1024);
    carry(&device, &mut read).unwrap();
    assert_eq!(read.rest().len(), 0);
    assert_eq!(read.buffer.bytes(), &noise(BLOCKS << 9)[9 * 512..11 * 512]);
    for (op, errno) in [(Op::Read, libc::EINVAL), (Op::Write, libc::ENOSPC)] {
        let mut beyond = request(op, 55 * 512, 1024);
        assert!(!device.takes(&beyond), "nor on a ring");
        assert_eq!(device.perform(&mut beyond).unwrap_err().raw_os_error(), Some(errno));
    }
}

#[test]
fn a_request_longer_than_a_command_is_split() {
    let drive = drive(12, &[]);
    let device = opened(&drive, 0, 8);
    let mut read = request(Op::Read, 4096, 20 * 4096);
    carry(&device, &mut read).unwrap();
    assert_eq!(read.buffer.bytes(), &noise(BLOCKS << 12)[4096..21 * 4096]);
    assert_eq!(drive.take_executed(), [(2, 1, 8), (2, 9, 8), (2, 17, 4)]);
}

#[test]
fn fragmented_memory_makes_commands_shorter() {
    let mut made = FakeDrive::new(noise(BLOCKS << 9), 9, &[]);
    made.transfer_bytes_max = 3 * 512;
    let device = opened(&Arc::new(made), 0, 64);
    let mut read = request(Op::Read, 0, 64 * 512);
    carry(&device, &mut read).unwrap();
    assert_eq!(read.buffer.bytes(), noise(BLOCKS << 9));
}

#[test]
fn a_bad_block_is_named_exactly_and_all_before_it_is_read() {
    for shift in [9, 12] {
        for bad in [0, 1, 13, 31] {
            for op in [Op::Read, Op::Write] {
                let drive = drive(shift, &[bad + 8, 60]);
                let device = opened(&drive, 8, 64);
                let block = 1u64 << shift;
                let mut whole = request(op, 0, 32 << shift);
                whole.buffer.bytes_mut().fill(7);
                let error = carry(&device, &mut whole).unwrap_err();
                let words = if op == Op::Read {
                    "unrecovered read error (NVMe status 2/81)"
                } else {
                    "write fault (NVMe status 2/80)"
                };
                assert_eq!(device_failure(&error).words, format!("{words}, LBA {}", bad + 8));
                assert_eq!((device_failure(&error).offset, device_failure(&error).kind), (Some(bad * block), Kind::Io));
                assert_eq!(u64::from(whole.done), bad * block, "{op:?}");
                let mut expected = noise(BLOCKS << shift);
                let good = (8 << shift)..(8 + bad as usize) << shift;
                if op == Op::Write {
                    expected[good].fill(7);
                    assert!(*drive.bytes.lock().unwrap() == expected, "{bad}");
                } else {
                    assert!(whole.buffer.bytes()[..good.len()] == expected[good]);
                }
                // Each failure may take a bad drive seconds. The limit is the number of bisection steps, with each bad
                // command executed twice.
                assert!(drive.take_executed().len() <= 24);
            }
        }
    }
}

#[test]
fn parts_of_blocks_are_read_and_written_without_a_change_to_the_rest() {
    let drive = drive(12, &[]);
    let device = opened(&drive, 1, 64);
    let (offset, len) = (1000, 10_000);
    let mut read = request(Op::Read, offset, len);
    carry(&device, &mut read).unwrap();
    let mut expected = noise(BLOCKS << 12);
    let place = 4096 + 1000..4096 + 11_000;
    assert_eq!(read.buffer.bytes(), &expected[place.clone()]);
    let mut write = request(Op::Write, offset, len);
    write.buffer.bytes_mut().fill(9);
    carry(&device, &mut write).unwrap();
    expected[place.clone()].fill(9);
    assert!(*drive.bytes.lock().unwrap() == expected);
    carry(&device, &mut request(Op::Zero, offset, len)).unwrap();
    expected[place].fill(0);
    assert!(*drive.bytes.lock().unwrap() == expected);
}

#[test]
fn concurrent_writes_of_two_parts_of_one_block_are_both_kept() {
    let drive = drive(12, &[]);
    drive.lingers.store(true, Relaxed);
    let device = &opened(&drive, 0, 64);
    std::thread::scope(|scope| {
        for quarter in 0..4u8 {
            scope.spawn(move || {
                let mut write = request(Op::Write, u64::from(quarter) * 1024, 1024);
                write.buffer.bytes_mut().fill(quarter);
                carry(device, &mut write).unwrap();
            });
        }
    });
    let expected: Vec<u8> = (0..4096).map(|at| (at / 1024) as u8).collect();
    assert!(drive.bytes.lock().unwrap()[..4096] == expected);
}

#[test]
fn the_drive_writes_zeros_and_deallocates_only_if_blocks_then_read_as_zeros() {
    for (dlfeat, deallocates) in [(0, false), (0b1000, false), (0b0001, false), (0b1010, false), (0b1001, true)] {
        let drive = drive(9, &[]);
        drive.identify.lock().unwrap()[33] = dlfeat;
        carry(&opened(&drive, 0, 64), &mut request(Op::Zero, 512, 4 * 512)).unwrap();
        assert_eq!(drive.take_executed(), [(8, 1, 4)]);
        assert_eq!(drive.deallocated.load(Relaxed), deallocates, "{dlfeat:#b}");
        let mut expected = noise(BLOCKS << 9);
        expected[512..5 * 512].fill(0);
        assert!(*drive.bytes.lock().unwrap() == expected);
    }
}

#[test]
fn a_copy_within_the_drive_respects_its_limits_and_transfers_no_bytes() {
    let drive = drive(9, &[]);
    {
        let mut answer = drive.identify.lock().unwrap();
        // Ranges of 8 blocks, 4 of them, 20 blocks in total.
        (answer[74], answer[76], answer[80]) = (8, 20, 3);
    }
    let device = opened(&drive, 32, 64);
    let copied = device.offload(OffloadSource::SameDevice, Extent::new(512, 30 * 512), 1024).unwrap();
    assert_eq!(copied, 20 * 512);
    assert_eq!(
        device.offload(OffloadSource::SameDevice, Extent::new(21 * 512, 10 * 512), 1024 + 20 * 512).unwrap(),
        10 * 512
    );
    let mut expected = noise(BLOCKS << 9);
    expected.copy_within(512..31 * 512, 34 * 512);
    assert!(*drive.bytes.lock().unwrap() == expected);
    assert_eq!(drive.take_executed(), [(0x19, 34, 3), (0x19, 54, 2)]);
    for refusal in [0x4001, 0x4002, 0x4183] {
        drive.next.lock().unwrap().push(Reply::Status(refusal));
        let error = device.offload(OffloadSource::SameDevice, Extent::new(0, 512), 1024).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EOPNOTSUPP), "{refusal:#x}");
    }
    drive.next.lock().unwrap().push(Reply::Status(0x4281));
    let error = device.offload(OffloadSource::SameDevice, Extent::new(0, 512), 1024).unwrap_err();
    assert_eq!((device_failure(&error).offset, error.raw_os_error()), (Some(1024), None));
    assert_eq!(
        device.offload(OffloadSource::SameDevice, Extent::new(0, 2 * 512), 31 * 512).unwrap_err().raw_os_error(),
        Some(libc::ENOSPC)
    );
    assert_eq!(
        device.offload(OffloadSource::SameDevice, Extent::new(1, 512), 0).unwrap_err().raw_os_error(),
        Some(libc::EOPNOTSUPP)
    );
}

#[test]
fn a_transient_failure_is_retried_and_reported() {
    for next in [Reply::Status(0x0006), Reply::Status(0x0082), Reply::Status(0x0281), Reply::Errno(libc::EINTR)] {
        let drive = drive(9, &[]);
        let device = opened(&drive, 0, 64);
        drive.next.lock().unwrap().push(next);
        carry(&device, &mut request(Op::Read, 0, 512)).unwrap();
        assert_eq!(drive.take_executed().len(), 2);
        assert_eq!(device.closing().notes, ["/dev/ng0n1: commands retried after a failure: 1"]);
    }
}

#[test]
fn a_status_with_do_not_retry_is_not_retried() {
    for (raw, words, kind) in [
        (0x4006, "internal error (NVMe status 0/06), LBA 0", Kind::Io),
        (0x4020, "namespace is write protected (NVMe status 0/20), LBA 0", Kind::Io),
        (0x4081, "capacity exceeded (NVMe status 0/81), LBA 0", Kind::NoSpace),
        (0x400b, "invalid namespace or format (NVMe status 0/0b), LBA 0", Kind::Disconnected),
    ] {
        let drive = drive(9, &[]);
        let device = opened(&drive, 0, 64);
        drive.next.lock().unwrap().push(Reply::Status(raw));
        let error = device.perform(&mut request(Op::Write, 0, 512)).unwrap_err();
        assert_eq!((device_failure(&error).words.as_str(), drive.take_executed().len()), (words, 1));
        assert_eq!(device.diagnose(Op::Write, 0, &error), kind);
    }
}

#[test]
fn retries_are_bounded_for_every_status() {
    for (next, executed) in [(Reply::Status(0x0006), 6), (Reply::Status(0x0082), 21), (Reply::Errno(libc::EINTR), 6)] {
        let drive = drive(9, &[]);
        let device = opened(&drive, 0, 64);
        drive.next.lock().unwrap().extend([next; 1000]);
        let error = device.perform(&mut request(Op::Write, 0, 512)).unwrap_err();
        // Nor an errno that the pump would retry forever.
        assert!(!matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN)));
        assert_eq!(drive.take_executed().len(), executed);
    }
}

#[test]
fn a_removed_drive_is_reported_as_removed_for_every_error() {
    let drive = drive(9, &[]);
    let device = opened(&drive, 0, 64);
    let eio = io::Error::from_raw_os_error(libc::EIO);
    assert_eq!(device.diagnose(Op::Read, 0, &eio), Kind::Io);
    drive.removed.store(true, Relaxed);
    assert_eq!(device.diagnose(Op::Read, 0, &eio), Kind::Disconnected);
    let error = device.perform(&mut request(Op::Read, 0, 512)).unwrap_err();
    assert_eq!(device.diagnose(Op::Read, 0, &error), Kind::Disconnected);
}

#[test]
fn a_copy_is_durable_after_a_flush_and_a_failed_flush_is_reported() {
    let drive = drive(9, &[]);
    let device = opened(&drive, 0, 64);
    device.make_durable().unwrap();
    assert!(drive.flushed.load(Relaxed));
    drive.next.lock().unwrap().push(Reply::Status(0x4006));
    assert_eq!(device_failure(&device.make_durable().unwrap_err()).words, "Flush: internal error (NVMe status 0/06)");
}

#[test]
fn a_failure_on_the_ring_is_repeated_by_a_call_for_its_status() {
    let drive = drive(9, &[]);
    let device = opened(&drive, 0, 64);
    let mut read = request(Op::Read, 512, 1024);
    assert!(device.takes(&read));
    assert_eq!(device.decode(&read, 0, [0; 2]).unwrap(), Some(1024));
    assert_eq!(device.decode(&read, 0x4006, [0; 2]).unwrap(), None);
    assert!(!device.takes(&read) && device.takes(&request(Op::Read, 2048, 1024)));
    let error = device.perform(&mut read).unwrap_err();
    assert_eq!(device_failure(&error).words, "internal error (NVMe status 0/06), LBA 1");
    assert!(drive.take_executed().is_empty(), "what is final is not given again");
    assert!(device.takes(&read), "it is forgotten afterwards");
}

#[test]
fn a_kernel_without_passthrough_on_the_ring_falls_back_with_a_note() {
    let device = opened(&drive(9, &[]), 0, 64);
    let read = request(Op::Read, 512, 1024);
    assert_eq!(device.decode(&read, -libc::EOPNOTSUPP, [0; 2]).unwrap(), None);
    assert!(!device.takes(&read));
    assert!(device.on_ring().is_some(), "the others in flight come back by it");
    let fallbacks = device.closing().fallbacks;
    assert!(fallbacks[0].contains("does not support NVMe commands in io_uring"), "{fallbacks:?}");
    assert!(device.closing().detail.unwrap().ends_with("(ioctl)"));
}

#[test]
fn a_kernel_without_registered_passthrough_memory_gets_plain_addresses() {
    let device = opened(&drive(9, &[]), 0, 64);
    let arena = Arena::map(1 << 20).unwrap();
    let buffers = arena.carve(512, 3);
    arena.set_registered(Some(0));
    let mut requests: Vec<Request> = Vec::new();
    for (slot, buffer) in buffers.into_iter().enumerate() {
        let (slot, offset) = (slot as u32, slot as u64 * 512);
        requests.push(Request { slot, offset, buffer, ..request(Op::Read, 0, 512) });
    }
    let encode = |request: &mut Request| {
        device.encode_wide(request, io_uring::types::Fixed(0));
    };
    requests.iter_mut().for_each(encode);
    assert_eq!(device.decode(&requests[0], 0, [0; 2]).unwrap(), Some(512));
    assert!(device.closing().detail.unwrap().ends_with("(uring_cmd, fixed buffers)"), "{:?}", device.closing().detail);
    for request in &mut requests[1..] {
        assert_eq!(device.decode(request, -libc::EINVAL, [0; 2]).unwrap(), None);
        assert!(device.takes(request), "it goes on the ring again");
        encode(request);
        assert_eq!(device.decode(request, 0, [0; 2]).unwrap(), Some(512));
    }
    assert!(device.closing().detail.unwrap().contains("without fixed buffers"), "{:?}", device.closing().detail);
    // A refusal without registered memory has another cause, which a call determines.
    encode(&mut requests[1]);
    assert_eq!(device.decode(&requests[1], -libc::EINVAL, [0; 2]).unwrap(), None);
    assert!(!device.takes(&requests[1]));
}

#[test]
fn metadata_formats_and_inactive_namespaces_are_refused() {
    let drive = drive(9, &[]);
    drive.identify.lock().unwrap()[132] = 8;
    let error = identify(&drive, NSID).unwrap_err();
    assert_eq!(device_failure(&error).kind, Kind::Unsupported);
    assert!(error.to_string().contains("8 bytes of metadata"));
    *drive.identify.lock().unwrap() = [0; 4096];
    assert!(identify(&drive, NSID).unwrap_err().to_string().contains("inactive"));
}

#[test]
fn the_longest_command_is_a_power_of_two_within_every_limit() {
    let table = [
        ((None, None, 512), 128 << 10),
        ((Some(127 * 4096), None, 512), 256 << 10),
        ((Some(127 * 4096), Some(64 << 10), 512), 64 << 10),
        ((Some(4 << 20), Some(1 << 40), 4096), 4 << 20),
        ((Some(1 << 40), None, 4096), 8 << 20),
        ((Some(2048), None, 4096), 4096),
    ];
    for ((of_kernel, of_drive, block), bytes) in table {
        assert_eq!(command_bytes_max(of_kernel, of_drive, block), bytes, "{of_kernel:?} {of_drive:?}");
    }
}

#[test]
fn facts_are_replaced_by_those_of_the_passthrough_path() {
    let drive = drive(12, &[]);
    {
        let mut answer = drive.identify.lock().unwrap();
        (answer[24], answer[64], answer[72], answer[99]) = (1 << 4, 3, 31, 1);
    }
    let (controller, namespace) = identify(&drive, NSID).unwrap();
    let mut facts = Facts::new("/dev/ng0n1", EndpointKind::Block);
    let commands = crate::core::CommandSet::Nvme;
    let node = Passthrough { commands, node: "/dev/ng0n1".into(), number: 0, named: true, start: 0, block: None };
    describe(&mut facts, &node, &controller, &namespace);
    assert_eq!((facts.size, facts.logical_block_bytes), (Some((BLOCKS as u64) << 12), 4096));
    assert_eq!((facts.physical_block_bytes, facts.queue.optimal_io_bytes), (16 << 10, 128 << 10));
    assert_eq!((facts.queue.max_request_bytes, facts.queue.write_zeroes_max_bytes), (64 << 10, 64 << 10));
    assert_eq!((facts.identity.model.as_deref(), facts.writable), (Some("A drive"), false));
}

proptest! {
    /// After writes of any lengths at any offsets, the drive has the same content as an array.
    #[test]
    fn random_writes_match_an_array(
        shift in prop::sample::select(vec![9u8, 12]),
        first in 0u64..8,
        most in 1u32..5,
        writes in prop::collection::vec((0.0..1.0f64, 1u32..20_000, any::<u8>(), any::<bool>()), 1..6),
    ) {
        let drive = drive(shift, &[]);
        let device = opened(&drive, first, most);
        let mut array = noise(BLOCKS << shift);
        let start = (first as usize) << shift;
        for (place, len, byte, zero) in writes {
            let size = array.len() - start;
            let at = (place * size as f64) as usize;
            let len = (len as usize).min(size - at);
            let mut write = request(if zero { Op::Zero } else { Op::Write }, at as u64, len as u32);
            write.buffer.bytes_mut().fill(byte);
            carry(&device, &mut write).unwrap();
            array[start + at..start + at + len].fill(if zero { 0 } else { byte });
        }
        prop_assert!(*drive.bytes.lock().unwrap() == array);
    }
}

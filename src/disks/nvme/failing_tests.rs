//! Reads of a failing drive: each command is given once, and its failure is reported as that of its blocks.
use super::fake::Reply;
use super::tests::{carry, drive, opened, request};
use crate::core::{DeviceError, Endpoint, OnRing, Op, Transferred};
use std::io;
use std::time::Duration;

/// Whether the schedule of a rescue hears about the failure, instead of the rescue ending by it.
fn is_of_blocks(device: &dyn Endpoint, error: io::Error) -> bool {
    match Transferred::of(Err(error), |error| device.diagnose(Op::Read, 0, error)) {
        Transferred::Failed(error) => error.depends_on_offset(),
        Transferred::Moved(_) | Transferred::Retry => false,
    }
}

#[test]
fn a_failed_read_of_a_failing_drive_is_one_command() {
    // A bad block; an internal error; an abort after a timeout; a reset of the controller after a timeout.
    let replies = [None, Some(Reply::Status(0x0006)), Some(Reply::Status(0x0007)), Some(Reply::Errno(libc::EINTR))];
    for reply in replies {
        let drive = drive(9, &[21]);
        let mut device = opened(&drive, 0, 64);
        device.options.failing = true;
        drive.next.lock().unwrap().extend(reply);
        let error = carry(&device, &mut request(Op::Read, 16 * 512, 8 * 512)).unwrap_err();
        assert_eq!(drive.take_executed(), [(2, 16, 8)], "{error}");
        assert!(is_of_blocks(&device, error));
    }
    let drive = drive(9, &[]);
    let mut device = opened(&drive, 0, 64);
    device.options.failing = true;
    drive.next.lock().unwrap().push(Reply::Errno(libc::ENODEV));
    let error = carry(&device, &mut request(Op::Read, 0, 512)).unwrap_err();
    assert!(!is_of_blocks(&device, error), "a drive that has disappeared is no bad block");
}

#[test]
fn a_timeout_on_the_ring_is_not_repeated_by_a_call() {
    let drive = drive(9, &[]);
    let mut device = opened(&drive, 0, 64);
    device.options.failing = true;
    let read = request(Op::Read, 0, 512);
    let error = device.decode(&read, -libc::EINTR, [0; 2]).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ETIMEDOUT));
    assert!(is_of_blocks(&device, error));
    // The status of a failure needs no second command either.
    assert!(device.decode(&read, 0x0281, [0; 2]).unwrap().is_none());
    let mut read = request(Op::Read, 0, 512);
    let error = device.perform(&mut read).unwrap_err();
    assert!(DeviceError::of(&error).is_some_and(|failed| failed.of_medium), "{error}");
    assert!(drive.take_executed().is_empty());
}

#[test]
fn reads_are_limited_to_the_time_that_was_set_last() {
    let drive = drive(9, &[]);
    let device = opened(&drive, 0, 64);
    for seconds in [3, 10] {
        assert!(device.limit_reads(Duration::from_secs(seconds)));
        assert_eq!(*drive.limit.lock().unwrap(), Some(Duration::from_secs(seconds)));
    }
}

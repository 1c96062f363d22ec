//! What a loop device lies on, from `linux/loop.h`.
use rustix::ioctl::{Getter, Opcode, ioctl};
use std::io;
use std::os::fd::BorrowedFd;

/// `LOOP_GET_STATUS64`, since 2.6; older than the scheme that puts sizes into numbers.
const LOOP_GET_STATUS64: Opcode = 0x4c05;

/// `struct loop_info64`.
#[repr(C)]
struct LoopInfo64 {
    lo_device: u64,
    lo_inode: u64,
    lo_rdevice: u64,
    lo_offset: u64,
    lo_sizelimit: u64,
    lo_number: u32,
    lo_encrypt_type: u32,
    lo_encrypt_key_size: u32,
    lo_flags: u32,
    lo_file_name: [u8; 64],
    lo_crypt_name: [u8; 64],
    lo_encrypt_key: [u8; 32],
    lo_init: [u64; 2],
}

const _: () = assert!(size_of::<LoopInfo64>() == 232);

/// What is beneath an attached loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopStatus {
    /// `st_dev` of the file beneath, or of the node of the block device beneath.
    pub device: u64,
    /// Its `st_ino`.
    pub inode: u64,
    /// Its `st_rdev`: not 0 where a block device is beneath.
    pub rdevice: u64,
    /// Where the loop device's byte 0 is on it.
    pub offset: u64,
}

/// Asks the loop device for what is beneath it; also right when that has been deleted or lies in another namespace.
///
/// # Errors
/// ENXIO when nothing is attached, ENOTTY for what is no loop device.
pub fn status(fd: BorrowedFd<'_>) -> io::Result<LoopStatus> {
    // SAFETY: LOOP_GET_STATUS64 stores one struct loop_info64, whose size is asserted above, and reads nothing.
    let info = unsafe { ioctl(fd, Getter::<LOOP_GET_STATUS64, LoopInfo64>::new()) }?;
    // The kernel's encoding of a device number in 32 bits is the C library's too.
    Ok(LoopStatus { device: info.lo_device, inode: info.lo_inode, rdevice: info.lo_rdevice, offset: info.lo_offset })
}

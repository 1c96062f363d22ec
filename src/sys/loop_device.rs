//! The status of a loop device, from `linux/loop.h`.
use rustix::ioctl::{Getter, Opcode, ioctl};
use std::io;
use std::os::fd::BorrowedFd;

/// `LOOP_GET_STATUS64`, since 2.6; its number does not encode the size.
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

/// The backing file of an attached loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopStatus {
    /// `st_dev` of the backing file, or of the node of a backing block device.
    pub device: u64,
    /// Its `st_ino`.
    pub inode: u64,
    /// `st_rdev` of the backing file; not 0 for a block device.
    pub rdevice: u64,
    /// Offset of the loop device in the backing file.
    pub offset: u64,
}

/// Queries the backing file of a loop device, even if it was deleted or is in another namespace.
///
/// # Errors
/// ENXIO if the loop device is not attached, ENOTTY if it is not a loop device.
pub fn status(fd: BorrowedFd<'_>) -> io::Result<LoopStatus> {
    // SAFETY: LOOP_GET_STATUS64 stores one struct loop_info64, whose size is asserted above, and reads nothing.
    let info = unsafe { ioctl(fd, Getter::<LOOP_GET_STATUS64, LoopInfo64>::new()) }?;
    // The kernel and the C library encode device numbers of 32 bits in the same way.
    Ok(LoopStatus { device: info.lo_device, inode: info.lo_inode, rdevice: info.lo_rdevice, offset: info.lo_offset })
}

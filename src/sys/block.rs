//! Ioctls of block devices, from `linux/fs.h`.
use rustix::ioctl::{Getter, NoArg, Opcode, Setter, ioctl, opcode};
use std::io;
use std::os::fd::BorrowedFd;

/// `BLKGETSIZE64`, declared with `size_t` although it returns a `u64` on all architectures.
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);
/// `BLKFLSBUF`.
const BLKFLSBUF: Opcode = opcode::none(0x12, 97);
/// `BLKZEROOUT`, since 3.7.
const BLKZEROOUT: Opcode = opcode::none(0x12, 127);
/// `BLKGETDISKSEQ`, since 5.15.
const BLKGETDISKSEQ: Opcode = opcode::read::<u64>(0x12, 128);

#[cfg(target_arch = "x86_64")]
const _: () = assert!(BLKGETSIZE64 == 0x8008_1272 && BLKZEROOUT == 0x127f && BLKFLSBUF == 0x1261);
#[cfg(target_arch = "x86_64")]
const _: () = assert!(BLKGETDISKSEQ == 0x8008_1280);

/// Size of the device in bytes; 0 after it was removed.
///
/// # Errors
/// ENOTTY if it is not a block device.
pub fn size_bytes(fd: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: BLKGETSIZE64 stores one u64, despite its declared type.
    Ok(unsafe { ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }?)
}

/// The sequence number of the disk, which changes with the disk or medium even if the name and device number do not.
///
/// # Errors
/// ENOTTY if it is not a block device, and before 5.15.
pub fn disk_sequence(fd: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: BLKGETDISKSEQ stores one u64.
    Ok(unsafe { ioctl(fd, Getter::<BLKGETDISKSEQ, u64>::new()) }?)
}

/// Writes back and drops the cached pages of the device.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN, or the error of the writeback.
pub fn flush_buffers(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: BLKFLSBUF has no argument.
    Ok(unsafe { ioctl(fd, NoArg::<BLKFLSBUF>::new()) }?)
}

/// Zeroes `len` bytes from `offset`, both multiples of the logical block size. If the device does not support that, the
/// kernel writes zeros, which may take as long as writing data.
///
/// # Errors
/// EINVAL if not aligned or past the end, EIO from the device.
pub fn zero_out(fd: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<()> {
    // SAFETY: BLKZEROOUT reads two u64, offset and length, and stores nothing.
    Ok(unsafe { ioctl(fd, Setter::<BLKZEROOUT, [u64; 2]>::new([offset, len])) }?)
}

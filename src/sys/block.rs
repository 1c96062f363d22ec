//! ioctls of block devices, from `linux/fs.h`.
use rustix::ioctl::{Getter, NoArg, Opcode, Setter, ioctl, opcode};
use std::io;
use std::os::fd::BorrowedFd;

/// `BLKGETSIZE64`, declared with `size_t` though it returns a `u64` everywhere.
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

/// Bytes in the device; 0 once it has been pulled out.
///
/// # Errors
/// ENOTTY for what is no block device.
pub fn size_bytes(fd: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: BLKGETSIZE64 stores one u64, whatever its number says.
    Ok(unsafe { ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }?)
}

/// The sequence number of the disk: another disk or medium under the same name and device number has another one.
///
/// # Errors
/// ENOTTY for what is no block device, and before 5.15.
pub fn disk_sequence(fd: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: BLKGETDISKSEQ stores one u64.
    Ok(unsafe { ioctl(fd, Getter::<BLKGETDISKSEQ, u64>::new()) }?)
}

/// Writes back what the page cache holds of the device and drops it.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN; what could not be written.
pub fn flush_buffers(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: BLKFLSBUF has no argument.
    Ok(unsafe { ioctl(fd, NoArg::<BLKFLSBUF>::new()) }?)
}

/// Makes `len` bytes from `offset` read as zeros; both are multiples of the logical block size. The kernel writes
/// zeros itself where the device cannot, so this may take as long as writing.
///
/// # Errors
/// EINVAL when not aligned or beyond the end, EIO from the device.
pub fn zero_out(fd: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<()> {
    // SAFETY: BLKZEROOUT reads two u64, offset and length, and stores nothing.
    Ok(unsafe { ioctl(fd, Setter::<BLKZEROOUT, [u64; 2]>::new([offset, len])) }?)
}

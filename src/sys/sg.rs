//! SCSI generic nodes: version 3 of their interface, from `scsi/sg.h`.
use rustix::ioctl::{Getter, Opcode, Setter, Updater, ioctl};
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// `SG_GET_VERSION_NUM`; older than the scheme that puts sizes into numbers, like the rest.
const SG_GET_VERSION_NUM: Opcode = 0x2282;
/// `SG_IO`.
const SG_IO: Opcode = 0x2285;

/// `SG_SET_RESERVED_SIZE`.
const SG_SET_RESERVED_SIZE: Opcode = 0x2275;
/// `SG_GET_RESERVED_SIZE`.
const SG_GET_RESERVED_SIZE: Opcode = 0x2272;

/// No bytes are moved.
pub const DXFER_NONE: i32 = -1;
/// Bytes go to the device.
pub const DXFER_TO_DEV: i32 = -2;
/// Bytes come from the device.
pub const DXFER_FROM_DEV: i32 = -3;

/// Ask for no copy between the driver's memory and haul's.
pub const FLAG_DIRECT_IO: u32 = 1;
/// The bytes are in the buffer that the descriptor reserves, which is mapped.
pub const FLAG_MMAP_IO: u32 = 4;
/// Move no bytes between the driver's memory and haul's.
pub const FLAG_NO_DXFER: u32 = 0x1_0000;
/// Of `info`: how bytes were moved.
pub const INFO_DIRECT_IO_MASK: u32 = 6;
/// They were moved without a copy.
pub const INFO_DIRECT_IO: u32 = 2;

/// `struct sg_io_hdr`: a command on its way to the driver, and the answer on its way back.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SgIoHdr {
    interface_id: i32,
    /// `DXFER_…`.
    pub dxfer_direction: i32,
    /// Bytes of the command.
    pub cmd_len: u8,
    /// Bytes that there are for sense data.
    pub mx_sb_len: u8,
    iovec_count: u16,
    /// Bytes to move.
    pub dxfer_len: u32,
    /// Where they are, or go.
    pub dxferp: *mut c_void,
    /// The command.
    pub cmdp: *const u8,
    /// Where sense data go.
    pub sbp: *mut u8,
    /// Milliseconds until the kernel gives the command up.
    pub timeout: u32,
    /// `FLAG_…`.
    pub flags: u32,
    /// Number of ours, handed back.
    pub pack_id: i32,
    usr_ptr: *mut c_void,
    /// SCSI status.
    pub status: u8,
    masked_status: u8,
    msg_status: u8,
    /// Bytes of sense data that were stored.
    pub sb_len_wr: u8,
    /// The status of the host adapter's driver, `DID_…`.
    pub host_status: u16,
    /// The status of the middle layer.
    pub driver_status: u16,
    /// Bytes of `dxfer_len` that were not moved.
    pub resid: i32,
    /// Milliseconds that it took.
    pub duration: u32,
    /// `INFO_…`.
    pub info: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<SgIoHdr>() == 88);
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<SgIoHdr>() == 64);

impl Default for SgIoHdr {
    /// A command of no bytes that moves none.
    fn default() -> Self {
        SgIoHdr {
            interface_id: 'S' as i32,
            dxfer_direction: DXFER_NONE,
            cmd_len: 0,
            mx_sb_len: 0,
            iovec_count: 0,
            dxfer_len: 0,
            dxferp: ptr::null_mut(),
            cmdp: ptr::null(),
            sbp: ptr::null_mut(),
            timeout: 0,
            flags: 0,
            pack_id: 0,
            usr_ptr: ptr::null_mut(),
            status: 0,
            masked_status: 0,
            msg_status: 0,
            sb_len_wr: 0,
            host_status: 0,
            driver_status: 0,
            resid: 0,
            duration: 0,
            info: 0,
        }
    }
}

/// Version of the driver, as 30_536 for 3.5.36. From 30_000 on it knows this interface.
///
/// # Errors
/// ENOTTY for what is no SCSI generic node.
pub fn version(fd: BorrowedFd<'_>) -> io::Result<i32> {
    // SAFETY: SG_GET_VERSION_NUM stores one int.
    Ok(unsafe { ioctl(fd, Getter::<SG_GET_VERSION_NUM, i32>::new()) }?)
}

/// Lets the driver reserve a buffer of `bytes` for this descriptor, which can be mapped; the bytes that it has then,
/// which may be fewer.
///
/// # Errors
/// EBUSY while it is in use.
pub fn reserve(fd: BorrowedFd<'_>, bytes: u32) -> io::Result<u32> {
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    // SAFETY: SG_SET_RESERVED_SIZE reads one int.
    unsafe { ioctl(fd, Setter::<SG_SET_RESERVED_SIZE, i32>::new(bytes)) }?;
    // SAFETY: SG_GET_RESERVED_SIZE stores one int.
    let bytes = unsafe { ioctl(fd, Getter::<SG_GET_RESERVED_SIZE, i32>::new()) }?;
    Ok(u32::try_from(bytes).unwrap_or(0))
}

/// Gives a command to the driver and returns when it has answered.
///
/// A signal makes the kernel begin again while the first command continues, so the header must not ask for direct I/O:
/// the first one could move bytes when the memory is used for something else already.
///
/// # Errors
/// ENODEV when the device has disappeared, EDOM when too many commands are on their way, EPERM for a command
/// that needs more rights; not what the device says.
///
/// # Safety
/// The header's pointers are to memory of the lengths that it says, to be written where bytes come from the device.
pub unsafe fn command(fd: BorrowedFd<'_>, header: &mut SgIoHdr) -> io::Result<()> {
    debug_assert!(header.flags & FLAG_DIRECT_IO == 0);
    // SAFETY: SG_IO reads and stores one sg_io_hdr; what it points to is the caller's affair.
    Ok(unsafe { ioctl(fd, Updater::<SG_IO, SgIoHdr>::new(header)) }?)
}

/// Gives a command to the driver, which continues it.
///
/// # Errors
/// As for [`command`]; ENOMEM or EINVAL when it is too long for the driver.
///
/// # Safety
/// As for [`command`], until [`take`] has returned the answer with the same `pack_id`. The command itself is copied.
pub unsafe fn give(fd: BorrowedFd<'_>, header: &SgIoHdr) -> io::Result<()> {
    // SAFETY: the header lives through the call.
    let written = unsafe { libc::write(fd.as_raw_fd(), ptr::from_ref(header).cast(), size_of::<SgIoHdr>()) };
    if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes the answer to a command that was given; any that has come. Needs a descriptor that does not block.
///
/// # Errors
/// EAGAIN when there is none.
pub fn take(fd: BorrowedFd<'_>) -> io::Result<SgIoHdr> {
    let mut header = SgIoHdr::default();
    // SAFETY: the header lives through the call; where sense data go was promised when the command was given.
    let read = unsafe { libc::read(fd.as_raw_fd(), ptr::from_mut(&mut header).cast(), size_of::<SgIoHdr>()) };
    if read < 0 { Err(io::Error::last_os_error()) } else { Ok(header) }
}

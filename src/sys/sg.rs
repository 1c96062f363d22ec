//! SCSI generic nodes: version 3 of the interface, from `scsi/sg.h`.
use rustix::ioctl::{Getter, Opcode, Setter, Updater, ioctl};
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// `SG_GET_VERSION_NUM`; like the following ones, its number does not encode the size.
const SG_GET_VERSION_NUM: Opcode = 0x2282;
/// `SG_IO`.
const SG_IO: Opcode = 0x2285;

/// `SG_SET_RESERVED_SIZE`.
const SG_SET_RESERVED_SIZE: Opcode = 0x2275;
/// `SG_GET_RESERVED_SIZE`.
const SG_GET_RESERVED_SIZE: Opcode = 0x2272;

/// No data.
pub const DXFER_NONE: i32 = -1;
/// Data to the device.
pub const DXFER_TO_DEV: i32 = -2;
/// Data from the device.
pub const DXFER_FROM_DEV: i32 = -3;

/// Request direct I/O: no copy between the driver's memory and haul's.
pub const FLAG_DIRECT_IO: u32 = 1;
/// The data is in the reserved buffer of the descriptor, which is mapped.
pub const FLAG_MMAP_IO: u32 = 4;
/// Do not copy the data between the driver's memory and haul's.
pub const FLAG_NO_DXFER: u32 = 0x1_0000;
/// Bits of `info` for how data was transferred.
pub const INFO_DIRECT_IO_MASK: u32 = 6;
/// By direct I/O.
pub const INFO_DIRECT_IO: u32 = 2;

/// `struct sg_io_hdr`: a command for the driver, and its result.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SgIoHdr {
    interface_id: i32,
    /// `DXFER_…`.
    pub dxfer_direction: i32,
    /// Length of the command.
    pub cmd_len: u8,
    /// Size of the sense buffer.
    pub mx_sb_len: u8,
    iovec_count: u16,
    /// Length of the data.
    pub dxfer_len: u32,
    /// Address of the data.
    pub dxferp: *mut c_void,
    /// Address of the command.
    pub cmdp: *const u8,
    /// Address of the sense buffer.
    pub sbp: *mut u8,
    /// Timeout in milliseconds.
    pub timeout: u32,
    /// `FLAG_…`.
    pub flags: u32,
    /// Identifier chosen by haul, returned with the result.
    pub pack_id: i32,
    usr_ptr: *mut c_void,
    /// SCSI status.
    pub status: u8,
    masked_status: u8,
    msg_status: u8,
    /// Number of bytes of sense data that were stored.
    pub sb_len_wr: u8,
    /// Host status (`DID_…`).
    pub host_status: u16,
    /// Driver status.
    pub driver_status: u16,
    /// Number of bytes of `dxfer_len` that were not transferred.
    pub resid: i32,
    /// Duration in milliseconds.
    pub duration: u32,
    /// `INFO_…`.
    pub info: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<SgIoHdr>() == 88);
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<SgIoHdr>() == 64);

impl Default for SgIoHdr {
    /// A command of zero length without data.
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

/// Version of the driver, such as 30_536 for 3.5.36. It has this interface from 30_000 on.
///
/// # Errors
/// ENOTTY if it is not a SCSI generic node.
pub fn version(fd: BorrowedFd<'_>) -> io::Result<i32> {
    // SAFETY: SG_GET_VERSION_NUM stores one int.
    Ok(unsafe { ioctl(fd, Getter::<SG_GET_VERSION_NUM, i32>::new()) }?)
}

/// Makes the driver reserve a buffer of `bytes` for this descriptor, which can be mapped. Returns its size, which may
/// be smaller.
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

/// Executes a command.
///
/// After a signal the kernel restarts it while the first one continues, so the header must not request direct I/O: the
/// first one could access the memory when it is already used for something else.
///
/// # Errors
/// ENODEV if the device has disappeared, EDOM if too many commands are in flight, EPERM if permission is missing.
/// Errors of the device are in the header instead.
///
/// # Safety
/// The pointers in the header must be valid for the lengths in it, and writable for data from the device.
pub unsafe fn command(fd: BorrowedFd<'_>, header: &mut SgIoHdr) -> io::Result<()> {
    debug_assert!(header.flags & FLAG_DIRECT_IO == 0);
    // SAFETY: SG_IO reads and stores one sg_io_hdr; the caller guarantees the validity of its pointers.
    Ok(unsafe { ioctl(fd, Updater::<SG_IO, SgIoHdr>::new(header)) }?)
}

/// Submits a command to the driver.
///
/// # Errors
/// As for [`command`]; ENOMEM or EINVAL if it is too long for the driver.
///
/// # Safety
/// As for [`command`], until [`receive`] has returned the result with the same `pack_id`. The command itself is copied.
pub unsafe fn submit(fd: BorrowedFd<'_>, header: &SgIoHdr) -> io::Result<()> {
    // SAFETY: the header outlives the call.
    let written = unsafe { libc::write(fd.as_raw_fd(), ptr::from_ref(header).cast(), size_of::<SgIoHdr>()) };
    if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Receives the result of any completed command. Requires a non-blocking descriptor.
///
/// # Errors
/// EAGAIN if no command has completed.
pub fn receive(fd: BorrowedFd<'_>) -> io::Result<SgIoHdr> {
    let mut header = SgIoHdr::default();
    // SAFETY: the header outlives the call; the validity of the sense buffer was guaranteed on submission.
    let read = unsafe { libc::read(fd.as_raw_fd(), ptr::from_mut(&mut header).cast(), size_of::<SgIoHdr>()) };
    if read < 0 { Err(io::Error::last_os_error()) } else { Ok(header) }
}

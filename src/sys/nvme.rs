//! NVMe commands from user space, from `linux/nvme_ioctl.h`: by ioctl and, since 5.19, by io_uring.
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// `NVME_IOCTL_ID`: the number of the namespace behind a node.
const NVME_IOCTL_ID: libc::c_ulong = 0x4e40;
/// `NVME_IOCTL_ADMIN64_CMD`, since 5.4.
const NVME_IOCTL_ADMIN64_CMD: libc::c_ulong = numbered::<PassthruCommand64>(0x47);
/// `NVME_IOCTL_IO64_CMD`, since 5.4.
const NVME_IOCTL_IO64_CMD: libc::c_ulong = numbered::<PassthruCommand64>(0x48);
/// `NVME_URING_CMD_IO`, since 5.19, for the character device of a namespace.
pub const NVME_URING_CMD_IO: u32 = numbered::<UringCommand>(0x80) as u32;

/// `_IOWR('N', number, T)`, on the machines where the direction is in the two highest bits.
const fn numbered<T>(number: libc::c_ulong) -> libc::c_ulong {
    3 << 30 | (size_of::<T>() as libc::c_ulong) << 16 | 0x4e << 8 | number
}

#[cfg(target_arch = "x86_64")]
const _: () = assert!(NVME_IOCTL_ADMIN64_CMD == 0xc050_4e47 && NVME_IOCTL_IO64_CMD == 0xc050_4e48);
#[cfg(target_arch = "x86_64")]
const _: () = assert!(NVME_URING_CMD_IO == 0xc048_4e80);

/// What is common to all commands: `struct nvme_uring_cmd`, but for its end.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fields {
    opcode: u8,
    flags: u8,
    rsvd1: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: [u32; 6],
    timeout_ms: u32,
    rsvd2: u32,
}

/// `struct nvme_uring_cmd`.
type UringCommand = Fields;

/// `struct nvme_passthru_cmd64`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PassthruCommand64 {
    fields: Fields,
    result: u64,
}

const _: () = assert!(size_of::<UringCommand>() == 72 && size_of::<PassthruCommand64>() == 80);

/// A command without its data: opcode, namespace, and the double words 10 to 15 in the order of the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// What to do. Its two low bits tell which way data goes.
    pub opcode: u8,
    /// The namespace; 0 for the controller.
    pub nsid: u32,
    /// Double words 10 to 15.
    pub cdw10: [u32; 6],
}

/// Memory that goes with a command.
pub enum Data<'a> {
    /// None.
    None,
    /// To the drive.
    Out(&'a [u8]),
    /// From the drive.
    In(&'a mut [u8]),
}

/// Whose command it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// The controller's: identify and the like.
    Admin,
    /// The namespace's: read, write, flush.
    Io,
}

impl Command {
    fn fields(&self, addr: u64, data_len: u32, timeout: Duration) -> Fields {
        let timeout_ms = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
        let Command { opcode, nsid, cdw10 } = *self;
        Fields { opcode, nsid, cdw10, addr, data_len, timeout_ms, ..Fields::default() }
    }

    /// The 80 bytes of a ring entry, the last 8 of them unused. `addr` has to stay valid for `data_len` bytes until the
    /// completion.
    pub fn for_ring(&self, addr: u64, data_len: u32, timeout: Duration) -> [u8; 80] {
        let mut bytes = [0; 80];
        let fields = self.fields(addr, data_len, timeout);
        // SAFETY: plain data of 72 bytes without padding, which lives through the copy.
        bytes[..72].copy_from_slice(unsafe { &*(&raw const fields).cast::<[u8; 72]>() });
        bytes
    }
}

/// Gives a command and returns when the drive is done with it: the status field of its completion, 0 for success, with
/// the phase bit shifted out. `timeout` 0 is the driver's own.
///
/// # Errors
/// What the driver said: ENODEV when the drive is gone, EACCES for an ordinary user, EINVAL for data that it cannot
/// map in one command, EINTR when the command was given up because the controller was reset.
///
/// # Panics
/// When the opcode says that data goes another way than `data` does: the kernel would believe the opcode.
pub fn give(fd: BorrowedFd<'_>, set: Set, command: &Command, data: Data<'_>, timeout: Duration) -> io::Result<u16> {
    let (way, addr, len) = match data {
        Data::None => (0, 0, 0),
        Data::Out(bytes) => (1, bytes.as_ptr() as u64, bytes.len()),
        Data::In(bytes) => (2, bytes.as_mut_ptr() as u64, bytes.len()),
    };
    // Flush and Write Zeroes have no data, whatever their opcodes say.
    assert!(len == 0 || command.opcode & 3 == way, "opcode {:#x} moves data another way", command.opcode);
    let len = u32::try_from(len).map_err(io::Error::other)?;
    let mut passed = PassthruCommand64 { fields: command.fields(addr, len, timeout), result: 0 };
    let number = match set {
        Set::Admin => NVME_IOCTL_ADMIN64_CMD,
        Set::Io => NVME_IOCTL_IO64_CMD,
    };
    // SAFETY: the structure has the kernel's layout; the memory it points to lives through the call, and is written to
    // only if the opcode says so, which was checked above.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), number as _, &raw mut passed) };
    u16::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// The number of the namespace behind a node.
///
/// # Errors
/// ENOTTY for what is no namespace.
pub fn namespace_id(fd: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: takes no argument and stores nothing.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), NVME_IOCTL_ID as _) };
    u32::try_from(result).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_ring_entry_has_each_field_where_the_kernel_looks_for_it() {
        let command = Command { opcode: 2, nsid: 0x0102_0304, cdw10: [0x10, 0x11, 0x12, 0x13, 0x14, 0x15] };
        let bytes = command.for_ring(0x1122_3344_5566_7788, 0x9900, Duration::from_secs(60));
        let at = |offset: usize| u32::from_ne_bytes(bytes[offset..offset + 4].try_into().unwrap());
        assert_eq!((bytes[0], &bytes[1..4]), (2, [0; 3].as_slice()));
        assert_eq!((at(4), at(8), at(12)), (0x0102_0304, 0, 0));
        assert_eq!(u64::from_ne_bytes(bytes[16..24].try_into().unwrap()), 0, "no metadata");
        assert_eq!(u64::from_ne_bytes(bytes[24..32].try_into().unwrap()), 0x1122_3344_5566_7788);
        assert_eq!((at(32), at(36)), (0, 0x9900));
        assert_eq!([at(40), at(44), at(48), at(52), at(56), at(60)], [0x10, 0x11, 0x12, 0x13, 0x14, 0x15]);
        assert_eq!((at(64), &bytes[68..]), (60_000, [0; 12].as_slice()));
    }

    #[test]
    fn what_takes_no_commands_says_so() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let given = give(null.as_fd(), Set::Io, &Command::default(), Data::None, Duration::ZERO);
        assert_eq!(given.unwrap_err().raw_os_error(), Some(libc::ENOTTY));
        assert_eq!(namespace_id(null.as_fd()).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
    }

    #[test]
    #[should_panic(expected = "another way")]
    fn a_read_into_memory_that_must_not_change_is_never_given() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let read = Command { opcode: 2, ..Command::default() };
        let _ = give(null.as_fd(), Set::Io, &read, Data::Out(&[0; 512]), Duration::ZERO);
    }
}

//! NVMe commands from user space, from `linux/nvme_ioctl.h`: by ioctl and, since 5.19, by io_uring.
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// `NVME_IOCTL_ID`: returns the namespace ID of a node.
const NVME_IOCTL_ID: libc::c_ulong = 0x4e40;
/// `NVME_IOCTL_ADMIN64_CMD`, since 5.4.
const NVME_IOCTL_ADMIN64_CMD: libc::c_ulong = numbered::<PassthruCommand64>(0x47);
/// `NVME_IOCTL_IO64_CMD`, since 5.4.
const NVME_IOCTL_IO64_CMD: libc::c_ulong = numbered::<PassthruCommand64>(0x48);
/// `NVME_URING_CMD_IO`, since 5.19, for the character device of a namespace.
pub const NVME_URING_CMD_IO: u32 = numbered::<UringCommand>(0x80) as u32;

/// `_IOWR('N', number, T)` on architectures with the direction in the two highest bits.
const fn numbered<T>(number: libc::c_ulong) -> libc::c_ulong {
    3 << 30 | (size_of::<T>() as libc::c_ulong) << 16 | 0x4e << 8 | number
}

#[cfg(target_arch = "x86_64")]
const _: () = assert!(NVME_IOCTL_ADMIN64_CMD == 0xc050_4e47 && NVME_IOCTL_IO64_CMD == 0xc050_4e48);
#[cfg(target_arch = "x86_64")]
const _: () = assert!(NVME_URING_CMD_IO == 0xc048_4e80);

/// The fields that all commands have: `struct nvme_uring_cmd` without its end.
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

/// Opcodes of commands whose dword 12 contains the number of blocks to transfer.
const OF_BLOCKS: [u8; 2] = [1, 2];

/// Maximum number of blocks per command: a zero-based field of 16 bits.
pub const BLOCKS_MAX: u32 = 1 << 16;

/// A command without its data: opcode, namespace ID, dwords 10 to 15 in native byte order, and the number of bytes that
/// the drive transfers. The kernel does not compare that number with the buffer, and the drive would write past its
/// end. Therefore a command always has both, and is only accepted with a buffer of exactly that length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    opcode: u8,
    nsid: u32,
    cdw10: [u32; 6],
    data_bytes: u32,
}

/// A range of blocks of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The namespace ID.
    pub nsid: u32,
    /// The first block.
    pub lba: u64,
    /// Number of blocks: 1 to [`BLOCKS_MAX`].
    pub count: u32,
    /// Block size in bytes.
    pub block_bytes: u32,
}

/// The data of a command.
pub enum Data<'a> {
    /// No data.
    None,
    /// To the drive.
    Out(&'a [u8]),
    /// From the drive.
    In(&'a mut [u8]),
}

/// The command set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Admin commands: identify and others.
    Admin,
    /// I/O commands: read, write, flush.
    Io,
}

impl Data<'_> {
    /// The direction as in the two low bits of an opcode, the address, and the length.
    fn parts(&mut self) -> (u8, u64, usize) {
        match self {
            Data::None => (0, 0, 0),
            Data::Out(bytes) => (1, bytes.as_ptr() as u64, bytes.len()),
            Data::In(bytes) => (2, bytes.as_mut_ptr() as u64, bytes.len()),
        }
    }
}

impl Command {
    /// A command on blocks, with `flags` in dword 12 beside the number of blocks. The two low bits of the opcode are
    /// the direction of the data; 0 for no data.
    ///
    /// # Panics
    /// If the number of blocks exceeds the maximum per command.
    pub fn of_blocks(opcode: u8, blocks: Blocks, flags: u32) -> Command {
        let Blocks { nsid, lba, count, block_bytes } = blocks;
        assert!((1..=BLOCKS_MAX).contains(&count), "{count} blocks in one command");
        let moved = count.checked_mul(block_bytes).expect("the bytes of one command fit in 32 bits");
        let data_bytes = if opcode & 3 == 0 { 0 } else { moved };
        Command { opcode, nsid, cdw10: [lba as u32, (lba >> 32) as u32, (count - 1) | flags, 0, 0, 0], data_bytes }
    }

    /// Any other command for the namespace `nsid`, or with 0 for the controller, for which the drive transfers
    /// `data_bytes`.
    ///
    /// # Panics
    /// For reads and writes, whose length depends on their blocks.
    pub fn of_bytes(opcode: u8, nsid: u32, cdw10: [u32; 6], data_bytes: u32) -> Command {
        assert!(!OF_BLOCKS.contains(&opcode), "opcode {opcode:#x} moves blocks");
        Command { opcode, nsid, cdw10, data_bytes }
    }

    /// The opcode.
    #[cfg(test)]
    pub fn opcode(&self) -> u8 {
        self.opcode
    }

    /// The namespace ID; 0 for the controller.
    #[cfg(test)]
    pub fn nsid(&self) -> u32 {
        self.nsid
    }

    /// Dwords 10 to 15.
    #[cfg(test)]
    pub fn cdw10(&self) -> [u32; 6] {
        self.cdw10
    }

    /// Number of bytes that the drive transfers.
    #[cfg(test)]
    pub fn data_bytes(&self) -> u32 {
        self.data_bytes
    }

    /// The command with its data, which must match it in direction and length.
    fn fields(&self, data: &mut Data<'_>, timeout: Duration) -> io::Result<Fields> {
        let Command { opcode, nsid, cdw10, data_bytes } = *self;
        let (way, addr, len) = data.parts();
        if len != data_bytes as usize {
            let what = format!("NVMe opcode {opcode:#x} moves {data_bytes} bytes, and was given memory of {len}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        if len > 0 && opcode & 3 != way {
            let what = format!("NVMe opcode {opcode:#x} moves data another way than its memory may be used");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let timeout_ms = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
        Ok(Fields { opcode, nsid, cdw10, addr, data_len: data_bytes, timeout_ms, ..Fields::default() })
    }

    /// The 80 bytes of a ring entry, the last 8 of which are unused. They reference `data`, which must stay valid until
    /// the completion.
    ///
    /// # Errors
    /// `data` does not match the command in length or direction.
    pub fn for_ring(&self, data: &mut Data<'_>, timeout: Duration) -> io::Result<[u8; 80]> {
        let mut bytes = [0; 80];
        let fields = self.fields(data, timeout)?;
        // SAFETY: plain data of 72 bytes without padding, which outlives the copy.
        bytes[..72].copy_from_slice(unsafe { &*(&raw const fields).cast::<[u8; 72]>() });
        Ok(bytes)
    }
}

/// Executes a command. Returns the status field of its completion without the phase bit, 0 for success. A `timeout` of
/// 0 is the driver's default.
///
/// # Errors
/// The error of the driver: ENODEV if the drive has disappeared, EACCES for an unprivileged user, EINVAL for data that
/// it cannot map in one command, EINTR if the command was aborted by a controller reset. InvalidInput, without
/// executing the command, if `data` does not match the command in length or direction, because the kernel would trust
/// the command.
pub fn execute(
    fd: BorrowedFd<'_>,
    set: Set,
    command: &Command,
    mut data: Data<'_>,
    timeout: Duration,
) -> io::Result<u16> {
    let mut passed = PassthruCommand64 { fields: command.fields(&mut data, timeout)?, result: 0 };
    let number = match set {
        Set::Admin => NVME_IOCTL_ADMIN64_CMD,
        Set::Io => NVME_IOCTL_IO64_CMD,
    };
    // SAFETY: the structure has the kernel's layout. The memory that it references outlives the call, has the length
    // that the drive transfers, and is written only if the opcode has that direction: both were checked above.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), number as _, &raw mut passed) };
    u16::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// The namespace ID of a node.
///
/// # Errors
/// ENOTTY if it is not a namespace.
pub fn namespace_id(fd: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: has no argument and stores nothing.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), NVME_IOCTL_ID as _) };
    u32::try_from(result).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    const TIMEOUT: Duration = Duration::from_secs(60);

    fn blocks(count: u32) -> Blocks {
        Blocks { nsid: 0x0102_0304, lba: 0x1122_3344_5566_7788, count, block_bytes: 512 }
    }

    #[test]
    fn a_ring_entry_has_the_layout_of_the_kernel() {
        let mut data = vec![0; 0x9800];
        let address = data.as_ptr() as u64;
        let command = Command::of_blocks(2, blocks(0x4c), 1 << 30);
        let bytes = command.for_ring(&mut Data::In(&mut data), TIMEOUT).unwrap();
        let at = |offset: usize| u32::from_ne_bytes(bytes[offset..offset + 4].try_into().unwrap());
        assert_eq!((bytes[0], &bytes[1..4]), (2, [0; 3].as_slice()));
        assert_eq!((at(4), at(8), at(12)), (0x0102_0304, 0, 0));
        assert_eq!(u64::from_ne_bytes(bytes[16..24].try_into().unwrap()), 0, "no metadata");
        assert_eq!(u64::from_ne_bytes(bytes[24..32].try_into().unwrap()), address);
        assert_eq!((at(32), at(36)), (0, 0x9800));
        assert_eq!([at(40), at(44), at(48), at(52), at(56), at(60)], [0x5566_7788, 0x1122_3344, 0x4000_004b, 0, 0, 0]);
        assert_eq!((at(64), &bytes[68..]), (60_000, [0; 12].as_slice()));
    }

    #[test]
    fn a_device_without_passthrough_is_reported() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let flush = Command::of_bytes(0, 1, [0; 6], 0);
        let result = execute(null.as_fd(), Set::Io, &flush, Data::None, Duration::ZERO);
        assert_eq!(result.unwrap_err().raw_os_error(), Some(libc::ENOTTY));
        assert_eq!(namespace_id(null.as_fd()).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
    }

    /// The error of a command on /dev/null, which supports none.
    fn execute_error(command: &Command, data: Data<'_>) -> io::Error {
        let null = std::fs::File::open("/dev/null").unwrap();
        execute(null.as_fd(), Set::Io, command, data, Duration::ZERO).unwrap_err()
    }

    #[test]
    fn a_command_is_refused_if_its_length_differs_from_its_buffer() {
        let read = Command::of_blocks(2, blocks(2), 0);
        assert_eq!(
            execute_error(&read, Data::In(&mut [0; 1024])).raw_os_error(),
            Some(libc::ENOTTY),
            "as long as it is"
        );
        for len in [0, 512, 1023, 1025, 2048] {
            let mut data = vec![0; len];
            assert_eq!(execute_error(&read, Data::In(&mut data)).kind(), io::ErrorKind::InvalidInput, "{len} bytes");
            assert_eq!(
                read.for_ring(&mut Data::In(&mut data), TIMEOUT).unwrap_err().kind(),
                io::ErrorKind::InvalidInput
            );
        }
        assert_eq!(execute_error(&read, Data::None).kind(), io::ErrorKind::InvalidInput);
        // Write Zeroes has blocks but transfers no data.
        assert_eq!(execute_error(&Command::of_blocks(8, blocks(2), 0), Data::None).raw_os_error(), Some(libc::ENOTTY));
    }

    #[test]
    fn a_read_into_immutable_memory_is_refused() {
        let read = Command::of_blocks(2, blocks(1), 0);
        assert_eq!(execute_error(&read, Data::Out(&[0; 512])).kind(), io::ErrorKind::InvalidInput);
        assert_eq!(read.for_ring(&mut Data::Out(&[0; 512]), TIMEOUT).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    #[should_panic(expected = "moves blocks")]
    fn a_read_without_blocks_is_refused() {
        Command::of_bytes(2, 1, [0, 0, 7, 0, 0, 0], 512);
    }

    #[test]
    #[should_panic(expected = "65537 blocks")]
    fn too_many_blocks_do_not_overflow_into_the_flags() {
        Command::of_blocks(2, blocks(BLOCKS_MAX + 1), 0);
    }
}

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

/// Opcodes of the commands whose double word 12 says how many blocks the drive moves.
const OF_BLOCKS: [u8; 2] = [1, 2];

/// Most blocks of one command: a field of 16 bits that counts from 0.
pub const BLOCKS_MAX: u32 = 1 << 16;

/// A command without its data: opcode, namespace, the double words 10 to 15 in the order of the processor, and how many
/// bytes the drive moves for it. The kernel does not compare these with the memory that it is given, and the drive
/// would write behind it: so a command can only be made with both, and only given with memory of just that length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    opcode: u8,
    nsid: u32,
    cdw10: [u32; 6],
    data_bytes: u32,
}

/// Blocks of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The namespace.
    pub nsid: u32,
    /// The first block.
    pub lba: u64,
    /// How many: 1 to [`BLOCKS_MAX`].
    pub count: u32,
    /// Bytes of each.
    pub block_bytes: u32,
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

impl Data<'_> {
    /// Which way it goes, as the two low bits of an opcode have it; where it is; and its bytes.
    fn parts(&mut self) -> (u8, u64, usize) {
        match self {
            Data::None => (0, 0, 0),
            Data::Out(bytes) => (1, bytes.as_ptr() as u64, bytes.len()),
            Data::In(bytes) => (2, bytes.as_mut_ptr() as u64, bytes.len()),
        }
    }
}

impl Command {
    /// A command to blocks, with `flags` in double word 12 beside their number. The two low bits of the opcode say
    /// which way their bytes go; 0: they are not moved.
    ///
    /// # Panics
    /// When one command cannot have as many blocks.
    pub fn of_blocks(opcode: u8, blocks: Blocks, flags: u32) -> Command {
        let Blocks { nsid, lba, count, block_bytes } = blocks;
        assert!((1..=BLOCKS_MAX).contains(&count), "{count} blocks in one command");
        let moved = count.checked_mul(block_bytes).expect("the bytes of one command fit in 32 bits");
        let data_bytes = if opcode & 3 == 0 { 0 } else { moved };
        Command { opcode, nsid, cdw10: [lba as u32, (lba >> 32) as u32, (count - 1) | flags, 0, 0, 0], data_bytes }
    }

    /// Any other command, of `nsid` or, with 0, of the controller, for which the drive moves `data_bytes`.
    ///
    /// # Panics
    /// For reads and writes, which say by their blocks how many bytes are moved.
    pub fn of_bytes(opcode: u8, nsid: u32, cdw10: [u32; 6], data_bytes: u32) -> Command {
        assert!(!OF_BLOCKS.contains(&opcode), "opcode {opcode:#x} moves blocks");
        Command { opcode, nsid, cdw10, data_bytes }
    }

    /// What to do.
    #[cfg(test)]
    pub fn opcode(&self) -> u8 {
        self.opcode
    }

    /// The namespace; 0 for the controller.
    #[cfg(test)]
    pub fn nsid(&self) -> u32 {
        self.nsid
    }

    /// Double words 10 to 15.
    #[cfg(test)]
    pub fn cdw10(&self) -> [u32; 6] {
        self.cdw10
    }

    /// Bytes that the drive moves.
    #[cfg(test)]
    pub fn data_bytes(&self) -> u32 {
        self.data_bytes
    }

    /// The command with its data, which go the way of the opcode and are as long as what the drive moves.
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

    /// The 80 bytes of a ring entry, the last 8 of them unused. They name `data`, which has to stay valid until the
    /// completion.
    ///
    /// # Errors
    /// `data` is longer or shorter than what the drive moves, or goes another way.
    pub fn for_ring(&self, data: &mut Data<'_>, timeout: Duration) -> io::Result<[u8; 80]> {
        let mut bytes = [0; 80];
        let fields = self.fields(data, timeout)?;
        // SAFETY: plain data of 72 bytes without padding, which lives through the copy.
        bytes[..72].copy_from_slice(unsafe { &*(&raw const fields).cast::<[u8; 72]>() });
        Ok(bytes)
    }
}

/// Gives a command and returns when the drive is done with it: the status field of its completion, 0 for success, with
/// the phase bit shifted out. `timeout` 0 is the driver's own.
///
/// # Errors
/// The error of the driver: ENODEV when the drive has disappeared, EACCES for an ordinary user, EINVAL for
/// data that it cannot map in one command, EINTR when the command was abandoned because the controller was reset.
/// InvalidInput, and nothing is given, when `data` is not as long as what the drive moves, or goes another way than the
/// opcode says: the kernel would believe the command.
pub fn give(fd: BorrowedFd<'_>, set: Set, command: &Command, mut data: Data<'_>, timeout: Duration) -> io::Result<u16> {
    let mut passed = PassthruCommand64 { fields: command.fields(&mut data, timeout)?, result: 0 };
    let number = match set {
        Set::Admin => NVME_IOCTL_ADMIN64_CMD,
        Set::Io => NVME_IOCTL_IO64_CMD,
    };
    // SAFETY: the structure has the kernel's layout; the memory it points to lives through the call, is as long as what
    // the drive moves, and is written to only if the opcode says so: both were checked above.
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

    const TIMEOUT: Duration = Duration::from_secs(60);

    fn blocks(count: u32) -> Blocks {
        Blocks { nsid: 0x0102_0304, lba: 0x1122_3344_5566_7788, count, block_bytes: 512 }
    }

    #[test]
    fn a_ring_entry_has_each_field_where_the_kernel_looks_for_it() {
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
    fn what_takes_no_commands_says_so() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let flush = Command::of_bytes(0, 1, [0; 6], 0);
        let given = give(null.as_fd(), Set::Io, &flush, Data::None, Duration::ZERO);
        assert_eq!(given.unwrap_err().raw_os_error(), Some(libc::ENOTTY));
        assert_eq!(namespace_id(null.as_fd()).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
    }

    /// What comes of giving a command to /dev/null, which takes none.
    fn given(command: &Command, data: Data<'_>) -> io::Error {
        let null = std::fs::File::open("/dev/null").unwrap();
        give(null.as_fd(), Set::Io, command, data, Duration::ZERO).unwrap_err()
    }

    #[test]
    fn a_command_that_moves_more_or_fewer_bytes_than_its_memory_has_is_never_given() {
        let read = Command::of_blocks(2, blocks(2), 0);
        assert_eq!(given(&read, Data::In(&mut [0; 1024])).raw_os_error(), Some(libc::ENOTTY), "as long as it is");
        for len in [0, 512, 1023, 1025, 2048] {
            let mut data = vec![0; len];
            assert_eq!(given(&read, Data::In(&mut data)).kind(), io::ErrorKind::InvalidInput, "{len} bytes");
            assert_eq!(
                read.for_ring(&mut Data::In(&mut data), TIMEOUT).unwrap_err().kind(),
                io::ErrorKind::InvalidInput
            );
        }
        assert_eq!(given(&read, Data::None).kind(), io::ErrorKind::InvalidInput);
        // Write Zeroes names blocks, and moves none of their bytes.
        assert_eq!(given(&Command::of_blocks(8, blocks(2), 0), Data::None).raw_os_error(), Some(libc::ENOTTY));
    }

    #[test]
    fn a_read_into_memory_that_must_not_change_is_never_given() {
        let read = Command::of_blocks(2, blocks(1), 0);
        assert_eq!(given(&read, Data::Out(&[0; 512])).kind(), io::ErrorKind::InvalidInput);
        assert_eq!(read.for_ring(&mut Data::Out(&[0; 512]), TIMEOUT).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    #[should_panic(expected = "moves blocks")]
    fn a_read_is_not_made_without_its_blocks() {
        Command::of_bytes(2, 1, [0, 0, 7, 0, 0, 0], 512);
    }

    #[test]
    #[should_panic(expected = "65537 blocks")]
    fn more_blocks_than_the_field_can_say_do_not_spill_into_the_flags() {
        Command::of_blocks(2, blocks(BLOCKS_MAX + 1), 0);
    }
}

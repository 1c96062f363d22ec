//! A SCSI disk of 16 MiB in memory that supports READ BUFFER, served by the kernel's target_core_user: `tcmu-disk
//! UIO LOG` serves the commands from the device UIO (/dev/uio0) until it is ended. For each READ BUFFER it writes a
//! line to LOG: mode and length.
//!
//! For the lab: scsi_debug, qemu's disks and the kernel's own target do not support the command.
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::process::ExitCode;

const DISK_BYTES: usize = 16 << 20;
const BLOCK_BYTES: usize = 512;
/// Sizes of its data buffer and its echo buffer. The former is not a power of two and exceeds one transfer.
const BUFFER_BYTES: u32 = 3_434_944;
const ECHO_BYTES: u16 = 252;

const GOOD: u8 = 0;
const CHECK_CONDITION: u8 = 2;
/// Additional sense codes of an illegal request.
const UNKNOWN_COMMAND: u8 = 0x20;
const INVALID_FIELD: u8 = 0x24;

/// `linux/target_core_user.h`, version 2: offsets in the mailbox, and in an entry of its ring.
mod layout {
    pub const RING_AT: usize = 4;
    pub const RING_BYTES: usize = 8;
    pub const HEAD: usize = 12;
    pub const TAIL: usize = 64;
    pub const OP_MASK: u32 = 7;
    pub const OP_COMMAND: u32 = 1;
    pub const PIECES: usize = 8;
    pub const CDB_AT: usize = 24;
    pub const FIRST_PIECE: usize = 48;
    pub const PIECE_BYTES: usize = 16;
    pub const STATUS: usize = 8;
    pub const SENSE: usize = 16;
}

/// The memory that the kernel shares with this process.
struct Shared {
    at: *mut u8,
    len: usize,
}

impl Shared {
    fn map(uio: &File, len: usize) -> io::Result<Shared> {
        let (protection, descriptor) = (libc::PROT_READ | libc::PROT_WRITE, uio.as_raw_fd());
        // SAFETY: a new mapping, at no given address, of a descriptor that lives through the call.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED, descriptor, 0) };
        if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Shared { at: at.cast(), len }) }
    }

    fn read(&self, at: usize, bytes: &mut [u8]) {
        assert!(at + bytes.len() <= self.len);
        // SAFETY: within the mapping, as checked above; the kernel does not write this part at the same time.
        unsafe { self.at.add(at).copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) }
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.len);
        // SAFETY: as above.
        unsafe { self.at.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }

    fn number(&self, at: usize) -> u32 {
        assert!(at + 4 <= self.len && at.is_multiple_of(4));
        // SAFETY: as above, and aligned; the kernel may write it now, hence volatile.
        unsafe { self.at.add(at).cast::<u32>().read_volatile() }
    }

    /// The location of the bytes of the command at `entry`: offset and length of each piece.
    fn pieces(&self, entry: usize) -> Vec<(usize, usize)> {
        let piece = |index| {
            let mut bytes = [0; layout::PIECE_BYTES];
            self.read(entry + layout::FIRST_PIECE + index * layout::PIECE_BYTES, &mut bytes);
            let [at, len] = [0, 8].map(|from| u64::from_ne_bytes(bytes[from..from + 8].try_into().expect("8 bytes")));
            (at as usize, len as usize)
        };
        (0..self.number(entry + layout::PIECES) as usize).map(piece).collect()
    }

    /// Copies `data` to the initiator, as much of it as fits.
    fn give(&self, entry: usize, mut data: &[u8]) {
        for (at, len) in self.pieces(entry) {
            let (now, later) = data.split_at(len.min(data.len()));
            self.write(at, now);
            data = later;
        }
    }
}

/// The data to return, or the additional sense code of an illegal request.
type Answer = Result<Vec<u8>, u8>;

fn inquiry(cdb: &[u8]) -> Answer {
    match (cdb[1] & 1, cdb[2]) {
        (0, _) => Ok([&[0, 0, 6, 2, 31, 0, 0, 0][..], b"haul    ", b"tcmu disk       ", b"1   "].concat()),
        (_, 0) => Ok(vec![0, 0, 0, 2, 0, 0x80]),
        (_, 0x80) => Ok([&[0, 0x80, 0, 6][..], b"tcmu-0"].concat()),
        _ => Err(INVALID_FIELD),
    }
}

fn read_buffer(cdb: &[u8], log: &mut File) -> Answer {
    let len = u32::from_be_bytes([0, cdb[6], cdb[7], cdb[8]]);
    let _ = writeln!(log, "{:#x} {len}", cdb[1] & 0x1f);
    let some = |most: u32| Ok((0..len.min(most)).map(|at| at as u8).collect());
    match cdb[1] & 0x1f {
        0x2 => some(BUFFER_BYTES),
        0x3 => Ok(BUFFER_BYTES.to_be_bytes().to_vec()),
        0xa => some(ECHO_BYTES.into()),
        0xb => Ok([&[0, 0], &ECHO_BYTES.to_be_bytes()[..]].concat()),
        _ => Err(INVALID_FIELD),
    }
}

fn range(cdb: &[u8]) -> Result<std::ops::Range<usize>, u8> {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte)) as usize;
    let (first, count) = match cdb[0] {
        0x88 | 0x8a => (number(&cdb[2..10]), number(&cdb[10..14])),
        _ => (number(&cdb[2..6]), number(&cdb[7..9])),
    };
    let range = first * BLOCK_BYTES..(first + count) * BLOCK_BYTES;
    if range.end <= DISK_BYTES { Ok(range) } else { Err(0x21) }
}

/// Executes a command; bytes to write are taken from the ring.
fn answer(cdb: &[u8], disk: &mut [u8], log: &mut File, shared: &Shared, entry: usize) -> Answer {
    let last = (DISK_BYTES / BLOCK_BYTES - 1) as u32;
    let (block, nothing) = ((BLOCK_BYTES as u32).to_be_bytes(), Ok(Vec::new()));
    match cdb[0] {
        // TEST UNIT READY, SYNCHRONIZE CACHE.
        0x00 | 0x35 | 0x91 => nothing,
        0x12 => inquiry(cdb),
        0x1a => Ok(vec![3, 0, 0, 0]),
        0x5a => Ok(vec![0, 6, 0, 0, 0, 0, 0, 0]),
        0x25 => Ok([last.to_be_bytes(), block].concat()),
        0x9e => Ok([&u64::from(last).to_be_bytes()[..], &block, &[0; 20]].concat()),
        0x28 | 0x88 => range(cdb).map(|range| disk[range].to_vec()),
        0x2a | 0x8a => {
            let range = range(cdb)?;
            let mut to = &mut disk[range];
            for (at, len) in shared.pieces(entry) {
                let (now, later) = to.split_at_mut(len.min(to.len()));
                shared.read(at, now);
                to = later;
            }
            nothing
        }
        0x3c => read_buffer(cdb, log),
        _ => Err(UNKNOWN_COMMAND),
    }
}

fn serve(uio_path: &str, log_path: &str) -> io::Result<()> {
    let name = uio_path.rsplit('/').next().unwrap_or_default();
    let size = fs::read_to_string(format!("/sys/class/uio/{name}/maps/map0/size"))?;
    let size = usize::from_str_radix(size.trim().trim_start_matches("0x"), 16).map_err(io::Error::other)?;
    let mut uio = OpenOptions::new().read(true).write(true).open(uio_path)?;
    let mut log = OpenOptions::new().create(true).append(true).open(log_path)?;
    let (shared, mut disk) = (Shared::map(&uio, size)?, vec![0; DISK_BYTES]);
    let (ring, ring_bytes) = (shared.number(layout::RING_AT) as usize, shared.number(layout::RING_BYTES) as usize);
    loop {
        let mut tail = shared.number(layout::TAIL) as usize;
        while tail != shared.number(layout::HEAD) as usize {
            let entry = ring + tail;
            let word = shared.number(entry);
            if word & layout::OP_MASK == layout::OP_COMMAND {
                let mut at = [0; 8];
                shared.read(entry + layout::CDB_AT, &mut at);
                let mut cdb = [0; 16];
                shared.read(u64::from_ne_bytes(at) as usize, &mut cdb);
                let (status, sense) = match answer(&cdb, &mut disk, &mut log, &shared, entry) {
                    Ok(data) => {
                        shared.give(entry, &data);
                        (GOOD, [0; 18])
                    }
                    Err(code) => (CHECK_CONDITION, [0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, code, 0, 0, 0, 0, 0]),
                };
                shared.write(entry + layout::SENSE, &sense);
                shared.write(entry + layout::STATUS, &[status, 0, 0, 0]);
            }
            tail = (tail + (word & !layout::OP_MASK) as usize) % ring_bytes;
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            shared.write(layout::TAIL, &(tail as u32).to_ne_bytes());
        }
        uio.write_all(&0u32.to_ne_bytes())?;
        uio.read_exact(&mut [0; 4])?;
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [uio, log] = words.as_slice() else {
        eprintln!("usage: tcmu-disk UIO LOG");
        return ExitCode::from(2);
    };
    match serve(uio, log) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tcmu-disk: {uio}: {error}");
            ExitCode::FAILURE
        }
    }
}

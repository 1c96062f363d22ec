//! Records: single transfers with options that only SCSI commands have.
use super::cdb::Cdb;
use super::disk::Disk;
use super::node::is_too_long;
use super::node::{Data, DataTransfer, Node};
use super::verdict::CommandRange;
use crate::core::{Buffer, BufferWay, DeviceCounts, DeviceError, Kind, Op, OwnBuffer, RecordDevice};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// Additional bytes per block that READ LONG requests first: the usual number for disks with 512-byte blocks. Other
/// disks report theirs.
const ADDITIONAL_BYTES: i64 = 8;

/// Mode of READ BUFFER: data of the buffer.
const BUFFER_DATA: u8 = 2;
const BUFFER_DESCRIPTOR: u8 = 3;
const BUFFER_DESCRIPTOR_BYTES: usize = 4;
/// Mode of READ BUFFER: data of the echo buffer.
const ECHO_DATA: u8 = 0x0a;
const ECHO_DESCRIPTOR: u8 = 0x0b;

impl Disk {
    /// The descriptor and transfer method for records in this memory.
    fn way_for(&self, bytes: &[u8]) -> (&Node, DataTransfer) {
        match &self.shared {
            Some(shared) if shared.holds(bytes) => (&shared.node, DataTransfer::Shared),
            _ if self.node.options.direct => (&self.node, DataTransfer::Direct),
            _ => (&self.node, DataTransfer::Copied),
        }
    }

    /// Transfers whole blocks, as many as one command can. `command` determines how many the kernel accepts.
    fn one_command(&self, wanted: usize, mut command: impl FnMut(u32) -> io::Result<u32>) -> io::Result<usize> {
        loop {
            let len = self.command_bytes(u32::try_from(wanted).unwrap_or(u32::MAX));
            match command(len) {
                Err(error) if is_too_long(&error) && self.shorten(len) => {}
                result => return result.map(|moved| moved as usize),
            }
        }
    }
}

impl RecordDevice for Disk {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.one_command(bytes.len(), |len| {
            let bytes = &mut bytes[..len as usize];
            let (cdb, place) = self.command(Op::Read, offset, len)?;
            let (node, how) = self.way_for(bytes);
            node.carry_out_by(how, &cdb, Data::From(bytes), place)
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.one_command(bytes.len(), |len| {
            let bytes = &bytes[..len as usize];
            let (cdb, place) = self.command(Op::Write, offset, len)?;
            let (node, how) = self.way_for(bytes);
            node.carry_out_by(how, &cdb, Data::To(bytes), place)
        })
    }

    fn compare_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            done += self.one_command(bytes.len() - done, |len| {
                let bytes = &bytes[done..done + len as usize];
                let (_, place) = self.command(Op::Write, offset + done as u64, len)?;
                let cdb = Cdb::verify(place.lba, len / self.block_bytes, self.form);
                let (node, how) = self.way_for(bytes);
                node.carry_out_by(how, &cdb, Data::To(bytes), place)
            })?;
        }
        Ok(())
    }

    fn read_long(&self, block: &mut [u8], offset: u64, correct: bool) -> io::Result<()> {
        let (_, place) = self.command(Op::Read, offset, self.block_bytes)?;
        let command = |len| Cdb::read_long(place.lba, len, correct);
        let nowhere = CommandRange::default();
        let bytes = fetch_long(
            self.block_bytes,
            |len, bytes| self.node.carry_out(&command(len), Data::From(bytes), nowhere),
            |len| self.node.wrong_by(&command(len), len),
        )?;
        block.copy_from_slice(&bytes);
        Ok(())
    }

    fn shared_memory(&self, len: u32) -> Option<io::Result<Buffer>> {
        Some(self.shared.as_ref()?.map(len))
    }

    fn read_nothing(&self) -> io::Result<()> {
        let (cdb, _) = self.command(Op::Read, 0, 0)?;
        self.node.carry_out(&cdb, Data::None, CommandRange::default()).map(drop)
    }

    fn buffer_bytes(&self, which: OwnBuffer) -> io::Result<u32> {
        let mut descriptor = [0; BUFFER_DESCRIPTOR_BYTES];
        let mode = if which == OwnBuffer::Echo { ECHO_DESCRIPTOR } else { BUFFER_DESCRIPTOR };
        let cdb = Cdb::read_buffer(mode, 0, BUFFER_DESCRIPTOR_BYTES as u32);
        let moved = self.node.carry_out(&cdb, Data::From(&mut descriptor), CommandRange::default())?;
        buffer_bytes(which, &descriptor[..moved as usize])
    }

    fn read_buffer(&self, which: OwnBuffer, way: BufferWay, bytes: &mut [u8]) -> io::Result<usize> {
        let mode = if which == OwnBuffer::Echo { ECHO_DATA } else { BUFFER_DATA };
        let how = match way {
            BufferWay::NotMoved => DataTransfer::NotMoved,
            BufferWay::Direct => DataTransfer::Direct,
            BufferWay::Indirect => DataTransfer::Copied,
        };
        loop {
            // Any length is valid, because these are not blocks.
            let len = bytes.len().min(self.most_bytes() as usize);
            let cdb = Cdb::read_buffer(mode, 0, len as u32);
            match self.node.carry_out_by(how, &cdb, Data::From(&mut bytes[..len]), CommandRange::default()) {
                Err(error) if is_too_long(&error) && self.shorten(len as u32) => {}
                result => return result.map(|moved| moved as usize),
            }
        }
    }

    fn make_durable(&self) -> io::Result<()> {
        Disk::make_durable(self)
    }

    fn drop_cache(&self) -> io::Result<()> {
        self.claim.drop_cache()
    }

    fn counts(&self) -> DeviceCounts {
        let nodes = [Some(&self.node), self.shared.as_ref().map(|shared| &shared.node)];
        nodes.into_iter().flatten().fold(DeviceCounts::default(), |sum, node| DeviceCounts {
            recovered: sum.recovered + node.counts.recovered.load(Relaxed),
            direct_requested: sum.direct_requested + node.counts.direct_requested.load(Relaxed),
            indirect: sum.indirect + node.counts.indirect.load(Relaxed),
        })
    }
}

/// The capacity in a READ BUFFER descriptor, after one byte for the offset boundary. That of the echo buffer has 13
/// bits.
fn buffer_bytes(which: OwnBuffer, descriptor: &[u8]) -> io::Result<u32> {
    let mut descriptor: [u8; BUFFER_DESCRIPTOR_BYTES] = descriptor.try_into().unwrap_or_default();
    if which == OwnBuffer::Echo {
        (descriptor[1], descriptor[2]) = (0, descriptor[2] & 0x1f);
    }
    match descriptor {
        [_, high, middle, low, ..] if [high, middle, low] != [0; 3] => Ok(u32::from_be_bytes([0, high, middle, low])),
        _ => {
            let (kind, words) = (Kind::Unsupported, "its buffer is empty".to_owned());
            Err(DeviceError { kind, words, offset: None, of_medium: false, advice: "", sense: None }.into())
        }
    }
}

/// Reads a raw block by READ LONG, which `ask` executes with a length. The number of additional bytes depends on the
/// disk: it rejects any other length, and `wrong_by` returns by how much the length was too large.
fn fetch_long(
    block_bytes: u32,
    mut ask: impl FnMut(u16, &mut [u8]) -> io::Result<u32>,
    wrong_by: impl Fn(u16) -> Option<i32>,
) -> io::Result<Vec<u8>> {
    let refused = |words: &str| {
        let (kind, words, advice) = (Kind::Unsupported, words.to_owned(), "Use coe=1 to replace it with zeros.");
        io::Error::from(DeviceError { kind, words, offset: None, of_medium: false, advice, sense: None })
    };
    let in_range = |len: i64| u16::try_from(len).ok().filter(|len| u32::from(*len) >= block_bytes);
    let mut len =
        in_range(i64::from(block_bytes) + ADDITIONAL_BYTES).ok_or_else(|| refused("a block too long for READ LONG"))?;
    let mut corrected = false;
    loop {
        let mut bytes = vec![0; len.into()];
        match ask(len, &mut bytes) {
            Ok(moved) if moved >= block_bytes => {
                bytes.truncate(block_bytes as usize);
                return Ok(bytes);
            }
            Ok(moved) => return Err(refused(&format!("READ LONG returned {moved} of {len} bytes"))),
            Err(error) => {
                let illegal =
                    DeviceError::of(&error).is_some_and(|device_failure| matches!(device_failure.sense, Some([5, ..])));
                let right = wrong_by(len).filter(|_| illegal && !corrected).map(|by| i64::from(len) - i64::from(by));
                len = right.and_then(in_range).ok_or(error)?;
                corrected = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with `additional` additional bytes per block of 512 bytes.
    fn disk(additional: u16) -> impl Fn(u16, &mut [u8]) -> io::Result<u32> {
        move |len, bytes| {
            if len != 512 + additional {
                let words = "illegal request".to_owned();
                let (kind, sense) = (Kind::Unsupported, Some([5, 0x24, 0]));
                return Err(DeviceError { kind, words, offset: None, of_medium: false, advice: "", sense }.into());
            }
            bytes.fill(7);
            Ok(len.into())
        }
    }

    #[test]
    fn read_long_requests_as_many_bytes_as_the_disk_reports() {
        for additional in [0, 8, 52] {
            let wrong_by = |len: u16| Some(i32::from(len) - 512 - i32::from(additional));
            assert_eq!(fetch_long(512, disk(additional), wrong_by).unwrap(), [7; 512], "{additional}");
        }
    }

    #[test]
    fn a_disk_without_a_read_long_length_is_not_queried_again() {
        assert!(fetch_long(512, disk(52), |_| None).is_err());
        // Nor a disk that reports a wrong or invalid length.
        for by in [1, 100, 60_000, -60_000, i32::MIN] {
            assert!(fetch_long(512, disk(52), |_| Some(by)).is_err(), "{by}");
        }
        let short = fetch_long(512, |_, _| Ok(20), |_| None).unwrap_err();
        assert!(short.to_string().contains("returned 20 of 520 bytes"), "{short}");
    }

    #[test]
    fn the_capacity_of_a_buffer_is_parsed_and_zero_is_refused() {
        assert_eq!(buffer_bytes(OwnBuffer::Data, &[9, 0x12, 0x34, 0x56]).unwrap(), 0x12_3456);
        assert_eq!(buffer_bytes(OwnBuffer::Echo, &[1, 0xff, 0xe1, 0x02]).unwrap(), 0x102, "13 bits of it");
        for nothing in [&[0, 0, 0, 0][..], &[1, 2, 3], &[]] {
            let refusal = buffer_bytes(OwnBuffer::Data, nothing).unwrap_err();
            assert_eq!(DeviceError::of(&refusal).unwrap().kind, Kind::Unsupported, "{nothing:?}");
        }
    }

    #[test]
    fn a_block_that_is_too_long_is_refused() {
        assert!(fetch_long(65_536, |_, _| panic!("it is asked for"), |_| None).is_err());
    }
}

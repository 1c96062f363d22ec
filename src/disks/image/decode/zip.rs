//! The one file of a ZIP archive.
use super::gzip::inflate;
use super::part::{Decoder, Next, Step};
use crate::core::ZipMember;
use crate::disks::image::fault::Fault;
use crate::disks::image::input::Input;
use flate2::{Crc, Decompress};

/// The file of the archive; what surrounds it was read before, in the directory.
pub(super) fn next(input: &mut Input, member: Option<ZipMember>, is_first: bool) -> Result<Next, Fault> {
    let Some(member) = member else {
        return Err(Fault::Unsupported("a ZIP archive from a stream, which has its directory at the end".to_owned()));
    };
    if !is_first {
        while let len @ 1.. = input.fill().map_err(Fault::Read)?.len() {
            input.consume(len);
        }
        return Ok(Next::End);
    }
    if !input.skip(member.offset).map_err(Fault::Read)? {
        return Err(Fault::Truncated);
    }
    let inflate = member.is_deflated.then(|| Decompress::new(false));
    Ok(Next::Part(Box::new(Zip { left_bytes: member.stored_bytes, inflate, crc: Crc::new(), member })))
}

struct Zip {
    member: ZipMember,
    /// Bytes of the data that were not used yet.
    left_bytes: u64,
    /// `None`: the data is the content.
    inflate: Option<Decompress>,
    crc: Crc,
}

impl Decoder for Zip {
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
        let len = input.len().min(usize::try_from(self.left_bytes).unwrap_or(usize::MAX));
        let is_last = is_last || len < input.len() || self.left_bytes == 0;
        let mut step = match &mut self.inflate {
            Some(decoder) => inflate(decoder, &input[..len], out, is_last && len == 0),
            None => {
                let len = len.min(out.len());
                out[..len].copy_from_slice(&input[..len]);
                Step { used: len, made: len, is_end: self.left_bytes == len as u64, fault: None }
            }
        };
        self.left_bytes -= step.used as u64;
        self.crc.update(&out[..step.made]);
        if !step.is_end {
            return step.or_truncated(is_last);
        }
        // The directory has the size modulo 4 GiB at least, which is what the checksum counts.
        if self.crc.sum() != self.member.crc32 {
            step.fault = Some(Fault::corrupt("the CRC-32 of the content is wrong"));
        }
        step
    }
}

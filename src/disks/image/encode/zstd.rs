//! zstd: frames, and after them the table of the seekable format, which says where each is.
use super::format::{Encoder, Format, Frame};
use std::io;
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// The magic number of the frame with user data that has the table.
const TABLE_MAGIC: u32 = 0x184d_2a5e;
const SEEKABLE_MAGIC: u32 = 0x8f92_eab1;

/// A frame with user data that is longer than any file that ends here.
const UNFINISHED: [u8; 8] = [0x5e, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff];

/// The window, as a power of two: all of a frame, so that matches at a long distance are found in it.
const WINDOW_LOG: u32 = 23;

/// Levels from this one on search in larger tables.
const LEVEL_OF_LARGE_TABLES: u32 = 13;

pub(super) struct Zstd {
    pub(super) level: u32,
}

impl Format for Zstd {
    fn header(&self) -> &'static [u8] {
        &[]
    }

    fn unfinished(&self) -> &'static [u8] {
        &UNFINISHED
    }

    fn trailer(&self, frames: &[(u32, u32)]) -> Vec<u8> {
        let count = frames.len() as u32;
        let mut table = Vec::with_capacity(17 + 8 * count as usize);
        table.extend_from_slice(&TABLE_MAGIC.to_le_bytes());
        table.extend_from_slice(&(8 * count + 9).to_le_bytes());
        for (listed_bytes, content_bytes) in frames {
            table.extend_from_slice(&listed_bytes.to_le_bytes());
            table.extend_from_slice(&content_bytes.to_le_bytes());
        }
        table.extend_from_slice(&count.to_le_bytes());
        // No checksums in the table: each frame has its own.
        table.push(0);
        table.extend_from_slice(&SEEKABLE_MAGIC.to_le_bytes());
        table
    }

    fn encoder_bytes(&self) -> u64 {
        if self.level < LEVEL_OF_LARGE_TABLES { 48 << 20 } else { 160 << 20 }
    }

    fn encoder(&self) -> io::Result<Box<dyn Encoder>> {
        let mut compressor = Compressor::new(self.level as i32)?;
        compressor.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
        compressor.set_parameter(CParameter::EnableLongDistanceMatching(true))?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Box::new(ZstdEncoder(compressor)))
    }
}

struct ZstdEncoder(Compressor<'static>);

impl Encoder for ZstdEncoder {
    fn encode(&mut self, content: &[u8]) -> io::Result<Frame> {
        let bytes = self.0.compress(content)?;
        Ok(Frame { listed_bytes: bytes.len() as u32, bytes })
    }
}

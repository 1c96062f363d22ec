//! gzip: members, one after another, as pigz and `cat a.gz b.gz` make them.
use super::format::{Encoder, Format, Frame};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// The header of a member.
const UNFINISHED: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

pub(super) struct Gzip {
    pub(super) level: u32,
}

impl Format for Gzip {
    fn header(&self) -> &'static [u8] {
        &[]
    }

    fn unfinished(&self) -> &'static [u8] {
        &UNFINISHED
    }

    fn trailer(&self, _frames: &[(u32, u32)]) -> Vec<u8> {
        Vec::new()
    }

    fn encoder_bytes(&self) -> u64 {
        20 << 20
    }

    fn encoder(&self) -> io::Result<Box<dyn Encoder>> {
        Ok(Box::new(GzipEncoder { level: self.level }))
    }
}

struct GzipEncoder {
    level: u32,
}

impl Encoder for GzipEncoder {
    fn encode(&mut self, content: &[u8]) -> io::Result<Frame> {
        let room = Vec::with_capacity(content.len() / 2);
        let mut encoder = GzEncoder::new(room, Compression::new(self.level));
        encoder.write_all(content)?;
        let bytes = encoder.finish()?;
        Ok(Frame { listed_bytes: bytes.len() as u32, bytes })
    }
}

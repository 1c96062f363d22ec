//! The parts of which a side may consist.
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The part of a side that takes most of its time. Other sides are one device or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SidePart {
    /// The network, which includes the server.
    Network = 1,
    /// What decompresses the source.
    Decoder,
    /// What compresses the dest.
    Encoder,
}

impl SidePart {
    /// The name in JSON and for users.
    pub fn name(self) -> &'static str {
        match self {
            SidePart::Network => "network",
            SidePart::Decoder => "decoder",
            SidePart::Encoder => "encoder",
        }
    }
}

/// `source (decoder)`: the name of a side, and of its slowest part if it has several.
pub fn side_and_part(side: &str, part: Option<SidePart>) -> String {
    part.map_or_else(|| side.to_owned(), |part| format!("{side} ({})", part.name()))
}

/// A part that may be replaced and read at any time.
#[derive(Debug, Default)]
pub struct SharedPart(AtomicU8);

impl SharedPart {
    /// Replaces it.
    pub fn set(&self, part: Option<SidePart>) {
        self.0.store(part.map_or(0, |part| part as u8), Relaxed);
    }

    /// The latest part.
    pub fn get(&self) -> Option<SidePart> {
        let number = self.0.load(Relaxed);
        [SidePart::Network, SidePart::Decoder, SidePart::Encoder].into_iter().find(|part| *part as u8 == number)
    }
}

//! Why a compressed file cannot be decompressed, and the error for it.
use crate::core::{Compression, DeviceError, Kind};
use std::io;

/// Memory that a decoder may need: the largest dictionary or window.
pub(super) const MEMORY_MAX_BYTES: u64 = 256 << 20;

/// Why a compressed file cannot be decompressed.
#[derive(Debug)]
pub(super) enum Fault {
    /// It cannot be read.
    Read(io::Error),
    /// It ends within its data.
    Truncated,
    /// It is damaged, for this reason.
    Corrupt(String),
    /// It needs more memory than [`MEMORY_MAX_BYTES`]: so many bytes, where that is known.
    Memory(Option<u64>),
    /// It uses something that haul does not support.
    Unsupported(String),
}

impl Fault {
    pub(super) fn corrupt(why: impl Into<String>) -> Self {
        Fault::Corrupt(why.into())
    }

    /// The error of a read, for `format`: `stored` bytes of the file were consumed, and `made` bytes of its content
    /// made.
    pub(super) fn into_error(self, format: Compression, stored: u64, made: u64) -> io::Error {
        let name = format.name();
        let place = format!("at byte {stored} of the compressed file, byte {made} of its content");
        let (kind, words, advice) = match self {
            Fault::Read(error) => return error,
            Fault::Truncated => {
                let words = format!("the {name} file ends within its data, {place}");
                (Kind::EndedEarly, words, "The file is incomplete: obtain it again, then copy again.")
            }
            Fault::Corrupt(why) => {
                let words = format!("the {name} data is corrupt ({why}), {place}");
                (Kind::Corrupt, words, "Obtain the file again and compare its checksum, then copy again.")
            }
            Fault::Memory(needed) => {
                let needs = needed
                    .map_or_else(|| "more than 256 MiB".to_owned(), |bytes| format!("{} MiB", bytes.div_ceil(1 << 20)));
                let words = format!("its {name} decoder needs {needs} of memory, and haul allows 256 MiB, {place}");
                let advice = "Decompress it with its own program and copy from a pipe, such as xz -dc FILE | haul copy \
                    - DST, or compress it with a smaller dictionary.";
                (Kind::Unsupported, words, advice)
            }
            Fault::Unsupported(what) => {
                let words = format!("haul does not support {what}, {place}");
                (Kind::Unsupported, words, "Decompress it with its own program and copy from a pipe.")
            }
        };
        DeviceError { kind, words, offset: Some(made), of_medium: false, advice, sense: None }.into()
    }
}

//! The decoders, one file for each format. Each works on bytes in memory: it must not know where they come from.
mod bzip2;
mod gzip;
mod lz4;
mod part;
mod threads;
mod xz;
mod xz_blocks;
mod zip;
mod zstd;
mod zstd_frames;
mod zstd_stream;

use super::fault::Fault;
use super::input::Input;
use crate::core::{Compression, ZipMember};
pub(super) use part::{Decoder, Next};

/// Opens the part of the file at which `input` is. `is_first`: none was before it.
pub(super) fn next(
    format: Compression,
    member: Option<ZipMember>,
    input: &mut Input,
    is_first: bool,
) -> Result<Next, Fault> {
    if is_first && input.peek(1).map_err(Fault::Read)?.is_empty() {
        return Err(Fault::Truncated);
    }
    match format {
        Compression::Xz => xz::next(input, is_first),
        Compression::Zstd => zstd::next(input),
        Compression::Gzip => gzip::next(input, is_first),
        Compression::Bzip2 => bzip2::next(input, is_first),
        Compression::Lz4 => lz4::next(input),
        Compression::Zip => zip::next(input, member, is_first),
    }
}

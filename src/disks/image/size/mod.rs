//! How many bytes a compressed file contains, where its format has them.
mod content_size;
mod lz4;
mod xz;
mod zstd;

use super::read_at::ReadAt;
use crate::core::Compression;
use content_size::ContentSize;
use std::io;

/// What the file of `stored_bytes` reports of its content. That a file is damaged shows when it is read.
///
/// # Errors
/// The error of reading it.
pub(super) fn of_file(file: &impl ReadAt, format: Compression, stored_bytes: u64) -> io::Result<ContentSize> {
    match format {
        Compression::Xz => xz::content_size(file, stored_bytes),
        Compression::Zstd => zstd::content_size(file, stored_bytes),
        Compression::Lz4 => lz4::content_size(file, stored_bytes),
        // gzip has the size of the last member modulo 4 GiB, which is none; bzip2 has none; zip has a directory.
        Compression::Gzip | Compression::Bzip2 | Compression::Zip => Ok(ContentSize::default()),
    }
}

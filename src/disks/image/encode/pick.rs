//! The formats that haul writes.
use super::format::Format;
use super::{gzip, xz, zstd};
use crate::core::{Compression, Encoding, Facts, Result};

/// The format that `encoding` names.
pub(in crate::disks::image) fn format(encoding: Encoding) -> Box<dyn Format> {
    match encoding.format {
        Compression::Xz => Box::new(xz::Xz { level: encoding.level }),
        Compression::Gzip => Box::new(gzip::Gzip { level: encoding.level }),
        _ => Box::new(zstd::Zstd { level: encoding.level }),
    }
}

/// Every encoding is available; a haul without encoders refuses it here.
///
/// # Errors
/// Never.
pub fn check_encoding(_dest: &Facts, _encoding: Encoding) -> Result<()> {
    Ok(())
}

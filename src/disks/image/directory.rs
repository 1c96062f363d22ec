//! The directory of a ZIP archive, which has to contain exactly one file.
use super::read_at::ReadAt;
use crate::core::ZipMember;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipLocator};
use std::io;

/// Entries that are looked at before an archive with directories only is refused.
const ENTRIES_MAX: u32 = 1 << 16;

struct Archive<'a, R>(&'a R);

impl<R: ReadAt> rawzip::ReaderAt for Archive<'_, R> {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(bytes, offset)
    }
}

/// The only file of the archive.
///
/// # Errors
/// A clause that says why it has none that haul reads.
pub(super) fn only_member(file: &impl ReadAt, stored_bytes: u64) -> Result<ZipMember, String> {
    let damaged = |error: rawzip::Error| format!("its directory cannot be read ({error})");
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let located = ZipLocator::new().locate_in_reader(Archive(file), &mut buffer, stored_bytes);
    let archive = located.map_err(|(_, error)| damaged(error))?;
    let mut entries = archive.entries(&mut buffer);
    let mut only = None;
    let mut left = ENTRIES_MAX;
    while let Some(entry) = entries.next_entry().map_err(damaged)? {
        left = left.checked_sub(1).ok_or("it has too many entries")?;
        if entry.is_dir() {
            continue;
        }
        if only.is_some() {
            return Err("it has several files, and haul copies one".to_owned());
        }
        let method = entry.compression_method();
        if entry.flags().is_encrypted() {
            return Err("its file is encrypted".to_owned());
        }
        if method != CompressionMethod::STORE && method != CompressionMethod::DEFLATE {
            return Err(format!("its file is compressed by method {}, not by deflate", method.as_u16()));
        }
        let sizes = (entry.compressed_size_hint(), entry.uncompressed_size_hint());
        only = Some((entry.wayfinder(), sizes, entry.crc32(), method == CompressionMethod::DEFLATE));
    }
    let (wayfinder, (stored, content_bytes), crc32, is_deflated) = only.ok_or("it has no file")?;
    let (offset, end) = archive.get_entry(wayfinder).map_err(damaged)?.compressed_data_range();
    let is_within = end <= stored_bytes && end.checked_sub(offset) == Some(stored);
    let fits = is_deflated || stored == content_bytes;
    if !is_within || !fits || i64::try_from(content_bytes).is_err() {
        return Err("its directory is damaged".to_owned());
    }
    Ok(ZipMember { offset, stored_bytes: stored, content_bytes, crc32, is_deflated })
}

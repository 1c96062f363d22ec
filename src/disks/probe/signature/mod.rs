//! What is on a device or in a file, according to its first bytes: partition tables, file systems, members of volumes,
//! images and compressed data. Nothing here must know devices, mounts or sysfs: bytes come in, a name goes out.
mod compound;
mod file_systems;
mod magics;
mod seen;
mod tables;
mod volumes;

use seen::Seen;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Holds every superblock that is sought at the start; that of btrfs ends last, at 68 KiB.
const START_BYTES: usize = 128 << 10;
/// What is on the block device or in the regular file `path`: `GPT`, `ext4 "root"`, `empty`; `None` for what is not
/// known, not readable, or neither of both. Opens read-only and reads the first 128 KiB, and a few kilobytes elsewhere;
/// a drive is not made to load a medium.
pub fn look(path: &Path) -> Option<String> {
    // Opening some character devices does something: tapes rewind, a watchdog starts.
    let kind = fs::metadata(path).ok()?.file_type();
    if !kind.is_file() && !kind.is_block_device() {
        return None;
    }
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    // Metadata has no size of a block device; its end has.
    let size = file.seek(SeekFrom::End(0)).ok()?;
    // No reading ahead: data that is not used does not belong in the page cache. Where that is refused, it costs a
    // little.
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
    let start = beginning(&file);
    let seen = Seen { start: &start, size: Some(size), file: Some(&file) };
    identify(&seen).or_else(|| seen.looks_empty().then(|| EMPTY.to_owned()))
}

#[cfg(any(test, feature = "internals"))]
/// What begins with the bytes `start` and has `size` bytes in all: as [`look`], without anything beyond `start`. Any
/// bytes of any length are fine.
pub fn name(start: &[u8], size: Option<u64>) -> Option<String> {
    let seen = Seen { start, size, file: None };
    identify(&seen).or_else(|| seen.starts_empty().then(|| EMPTY.to_owned()))
}

const EMPTY: &str = "empty";

/// A partition table covers all that follows, so it is asked for first; a plain MBR last, for a file system may carry
/// the same two bytes in its boot sector. A bootable ISO image has a table besides.
fn identify(seen: &Seen) -> Option<String> {
    let disc = compound::disc(seen);
    if let Some(table) = tables::gpt(seen) {
        return Some(join(table, disc));
    }
    if let Some(content) = magics::content(seen).or_else(|| compound::fat(seen)) {
        return Some(content);
    }
    if let Some(table) = tables::mbr(seen) {
        return Some(join(table, disc));
    }
    disc.or_else(|| volumes::md_at_end(seen)).or_else(|| tables::gpt_damaged(seen))
}

fn join(table: String, disc: Option<String>) -> String {
    match disc {
        Some(disc) => format!("{table}, {disc}"),
        None => table,
    }
}

/// The first bytes, fewer where the file ends or a read fails.
fn beginning(file: &File) -> Vec<u8> {
    let mut bytes = vec![0; START_BYTES];
    let mut got = 0;
    while got < bytes.len() {
        match file.read_at(&mut bytes[got..], got as u64) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    bytes.truncate(got);
    bytes
}

#[cfg(test)]
mod made_tests;
#[cfg(test)]
mod tests;

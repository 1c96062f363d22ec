//! Identifies the content of a device or file by its first bytes: partition tables, file systems, members of volumes,
//! images and compressed data. This room must not know devices, mounts or sysfs: its input is bytes, its output a name.
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

/// Contains all superblocks near the start; that of btrfs ends last, at 68 KiB.
const START_BYTES: usize = 128 << 10;
/// The content of the block device or regular file `path`: `GPT`, `ext4 "root"`, `empty`; `None` if it is unknown or
/// not readable, or for other file types. Opens the path read-only, and reads the first 128 KiB and a few kilobytes
/// elsewhere. Does not make a drive load a medium.
pub fn look(path: &Path) -> Option<String> {
    // Opening some character devices has side effects: a tape rewinds, a watchdog starts.
    let kind = fs::metadata(path).ok()?.file_type();
    if !kind.is_file() && !kind.is_block_device() {
        return None;
    }
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    // The metadata of a block device does not contain its size.
    let size = file.seek(SeekFrom::End(0)).ok()?;
    // Disables read-ahead, to keep unused data out of the page cache. Errors are harmless.
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
    let start = beginning(&file);
    let seen = Seen { start: &start, size: Some(size), file: Some(&file) };
    identify(&seen).or_else(|| seen.looks_empty().then(|| EMPTY.to_owned()))
}

#[cfg(any(test, feature = "internals"))]
/// Like [`look`], for data that begins with `start` and has `size` bytes in total, of which nothing else is available.
/// Accepts any bytes.
pub fn name(start: &[u8], size: Option<u64>) -> Option<String> {
    let seen = Seen { start, size, file: None };
    identify(&seen).or_else(|| seen.starts_empty().then(|| EMPTY.to_owned()))
}

/// The format of a disk image whose first bytes are `start`, such as `qcow2 image`; `None`: it is raw, or another file.
pub fn image_format(start: &[u8]) -> Option<String> {
    let seen = Seen { start, size: None, file: None };
    magics::content(&seen).filter(|name| name.ends_with(magics::IMAGE))
}

const EMPTY: &str = "empty";

/// A partition table describes everything after it, so it is checked first. A plain MBR is checked last, because boot
/// sectors of file systems have the same signature. A bootable ISO image also has a partition table.
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

/// The first bytes; fewer at the end of the file or after a read error.
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

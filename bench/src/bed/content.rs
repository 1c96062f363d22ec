//! The data of a bed: generated, overwritten before each run, compared after it.
use super::Place;
use crate::error::{Doing, Error, Result};
use crate::process::{Interrupt, Line, run};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes processed at a time.
const PIECE_BYTES: usize = 1 << 20;

/// Fills `len` bytes of the file at `path` from `offset` with noise, without zeros or repetitions.
///
/// # Errors
/// It cannot be written.
pub fn noise(path: &Path, offset: u64, len: u64) -> Result<()> {
    let mut random = File::open("/dev/urandom").doing("open /dev/urandom")?;
    let mut piece = vec![0; PIECE_BYTES];
    in_pieces(path, offset, len, |file, at, len| {
        std::io::Read::read_exact(&mut random, &mut piece[..len])?;
        file.write_all_at(&piece[..len], at)
    })
}

/// Bytes of noise, then as many of text, in a disk image.
const MIXED_BYTES: usize = 64 << 10;

/// Creates a file of `len` bytes like a disk image: half of it noise, half of it words without an order.
///
/// # Errors
/// It cannot be written.
pub fn half_compressible(path: &Path, len: u64) -> Result<()> {
    noise(path, 0, len)?;
    let mut random = File::open("/dev/urandom").doing("open /dev/urandom")?;
    let (mut choices, mut text) = (vec![0; MIXED_BYTES / 8], Vec::with_capacity(2 * MIXED_BYTES));
    in_pieces(path, 0, len, |file, at, len| {
        for start in (MIXED_BYTES..len).step_by(2 * MIXED_BYTES) {
            std::io::Read::read_exact(&mut random, &mut choices)?;
            text.clear();
            // One of 256 words each, of 9 or 10 bytes.
            choices
                .iter()
                .for_each(|choice: &u8| write!(text, "word{:x} ", u32::from(*choice).pow(2) + 0xfff).unwrap());
            text.truncate(MIXED_BYTES.min(len - start));
            file.write_all_at(&text, at + start as u64)?;
        }
        Ok(())
    })
}

/// Overwrites `len` bytes at `offset`, so that the data there after a run was written by it.
///
/// # Errors
/// It cannot be written.
pub fn spoil(path: &Path, offset: u64, len: u64) -> Result<()> {
    let piece = vec![0xA5; PIECE_BYTES];
    in_pieces(path, offset, len, |file, at, len| file.write_all_at(&piece[..len], at))
}

/// One of this number of pieces is changed on a nearly equal dest.
const CHANGED_ONE_IN: u64 = 100;

/// Size of a changed piece.
const CHANGED_BYTES: u64 = 64 << 10;

/// Makes `dest` equal to `source`, below both devices.
///
/// # Errors
/// One cannot be read or the other cannot be written.
pub fn same(source: &Place, dest: &Place, bytes: u64) -> Result<()> {
    let from = File::open(&source.store).doing(format_args!("open {}", source.store.display()))?;
    let mut piece = vec![0; PIECE_BYTES];
    in_pieces(&dest.store, dest.store_offset, bytes, |file, at, len| {
        from.read_exact_at(&mut piece[..len], source.store_offset + at - dest.store_offset)?;
        file.write_all_at(&piece[..len], at)
    })
}

/// Makes `dest` equal to `source`, except for one 64 KiB piece in a hundred, spread evenly, including the first.
///
/// # Errors
/// As for [`same`].
pub fn nearly_same(source: &Place, dest: &Place, bytes: u64) -> Result<()> {
    same(source, dest, bytes)?;
    let step = (CHANGED_BYTES * CHANGED_ONE_IN) as usize;
    (0..bytes)
        .step_by(step)
        .try_for_each(|at| spoil(&dest.store, dest.store_offset + at, CHANGED_BYTES.min(bytes - at)))
}

/// Flips one bit of the byte in the middle of the first `bytes` of `place`.
///
/// # Errors
/// It cannot be read or written.
pub fn flip(place: &Place, bytes: u64) -> Result<()> {
    let file = File::options().read(true).write(true).open(&place.store);
    let file = file.doing(format_args!("open {}", place.store.display()))?;
    let (mut byte, at) = ([0], place.store_offset + bytes / 2);
    file.read_exact_at(&mut byte, at)?;
    file.write_all_at(&[byte[0] ^ 1], at).doing(format_args!("write {}", place.store.display()))
}

/// Creates the directory `dir`, or removes its contents.
///
/// # Errors
/// The directory cannot be created or emptied.
pub fn empty(dir: &Path) -> Result<()> {
    if dir.exists() {
        std::fs::remove_dir_all(dir).doing(format_args!("empty {}", dir.display()))?;
    }
    std::fs::create_dir(dir).doing(format_args!("make {}", dir.display()))
}

fn in_pieces(
    path: &Path,
    offset: u64,
    len: u64,
    mut each: impl FnMut(&mut File, u64, usize) -> std::io::Result<()>,
) -> Result<()> {
    let mut file = File::options().write(true).create(true).truncate(false).open(path);
    let file = file.as_mut().map_err(|error| Error(format!("cannot open {}: {error}", path.display())))?;
    for at in (offset..offset + len).step_by(PIECE_BYTES) {
        let len = (offset + len - at).min(PIECE_BYTES as u64) as usize;
        each(file, at, len).doing(format_args!("write {} at byte {at}", path.display()))?;
    }
    file.flush().doing("write")
}

/// A file or directory that is removed with the bed, to free space for the next one.
pub struct Removed(pub PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        if std::fs::remove_file(&self.0).is_err() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// All bytes are equal.
    Equal,
    /// The offset of the first difference, from the start of the copy.
    DiffersFrom(u64),
}

/// Compares `bytes` bytes of both stores.
///
/// # Errors
/// cmp(1) cannot be run or cannot read a side.
pub fn compare(source: &Place, dest: &Place, bytes: u64) -> Result<Comparison> {
    let skip = format!("-i {}:{} -n {bytes}", source.store_offset, dest.store_offset);
    cmp(&skip, &source.store, &dest.store)
}

/// Compares two whole files, including their lengths.
///
/// # Errors
/// As for [`compare`].
pub fn compare_files(source: &Path, dest: &Path) -> Result<Comparison> {
    if !dest.exists() {
        return Ok(Comparison::DiffersFrom(0));
    }
    cmp("", source, dest)
}

/// cmp(1) instead of own code, because it is independent of all contenders.
fn cmp(options: &str, source: &Path, dest: &Path) -> Result<Comparison> {
    let line = Line::words(&format!("cmp {options} {} {}", source.display(), dest.display()));
    let ended = run(&line, None, &Interrupt::default())?;
    match ended.status.code() {
        Some(0) => Ok(Comparison::Equal),
        Some(1) => Ok(Comparison::DiffersFrom(first_difference(&ended.stdout, &ended.stderr))),
        _ => Err(Error(format!("{} failed: {}", line.text(), ended.how()))),
    }
}

/// Parses `a b differ: byte 17, line 1`, or `cmp: EOF on b after byte 16, in line 1`: cmp counts bytes from 1.
fn first_difference(stdout: &str, stderr: &str) -> u64 {
    let after = |text: &str, key: &str| -> Option<u64> {
        let rest = text.split_once(key)?.1;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let differing = after(stdout, "differ: byte ").or_else(|| after(stdout, "differ: char "));
    differing.map(|byte| byte - 1).or_else(|| after(stderr, "after byte ")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &Path, offset: u64) -> Place {
        Place { store: path.into(), store_offset: offset, ..Place::default() }
    }

    #[test]
    fn noise_blocks_differ_and_have_the_requested_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        noise(&path, 4096, PIECE_BYTES as u64 + 100).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 4096 + PIECE_BYTES + 100);
        assert!(bytes[..4096].iter().all(|byte| *byte == 0));
        assert_ne!(bytes[4096..8192], bytes[8192..12288]);
        assert!(bytes[bytes.len() - 100..].iter().any(|byte| *byte != 0));
    }

    #[test]
    fn half_of_an_image_is_noise_and_half_of_it_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        half_compressible(&path, PIECE_BYTES as u64 + 200_000).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), PIECE_BYTES + 200_000);
        let is_text = |piece: &[u8]| piece.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b' ');
        for (index, piece) in bytes.chunks(MIXED_BYTES).enumerate() {
            assert_eq!(is_text(piece), index % 2 == 1, "{index}");
        }
    }

    #[test]
    fn the_first_difference_is_found_at_any_offset() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        noise(&a, 0, 100_000).unwrap();
        let mut bytes = vec![7; 500];
        bytes.extend(std::fs::read(&a).unwrap());
        std::fs::write(&b, &bytes).unwrap();
        assert_eq!(compare(&place(&a, 0), &place(&b, 500), 100_000).unwrap(), Comparison::Equal);
        bytes[500 + 70_000] ^= 1;
        std::fs::write(&b, &bytes).unwrap();
        assert_eq!(compare(&place(&a, 0), &place(&b, 500), 100_000).unwrap(), Comparison::DiffersFrom(70_000));
        assert_eq!(compare(&place(&a, 0), &place(&b, 500), 70_000).unwrap(), Comparison::Equal);
    }

    #[test]
    fn a_file_that_is_too_short_or_missing_differs() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&a, [1; 1000]).unwrap();
        assert_eq!(compare_files(&a, &b).unwrap(), Comparison::DiffersFrom(0));
        std::fs::write(&b, [1; 600]).unwrap();
        assert_eq!(compare_files(&a, &b).unwrap(), Comparison::DiffersFrom(600));
        std::fs::write(&b, [1; 1000]).unwrap();
        assert_eq!(compare_files(&a, &b).unwrap(), Comparison::Equal);
    }

    #[test]
    fn one_piece_in_a_hundred_differs() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        let bytes = 201 * CHANGED_BYTES + 1;
        noise(&a, 0, bytes).unwrap();
        same(&place(&a, 0), &place(&b, 4096), bytes).unwrap();
        assert_eq!(compare(&place(&a, 0), &place(&b, 4096), bytes).unwrap(), Comparison::Equal);
        nearly_same(&place(&a, 0), &place(&b, 4096), bytes).unwrap();
        let (from, to) = (std::fs::read(&a).unwrap(), std::fs::read(&b).unwrap());
        let pieces = from.chunks(CHANGED_BYTES as usize).zip(to[4096..].chunks(CHANGED_BYTES as usize));
        let changed: Vec<usize> =
            pieces.enumerate().filter(|(_, (from, to))| from != to).map(|(index, _)| index).collect();
        assert_eq!(changed, [0, 100, 200]);
        same(&place(&a, 0), &place(&b, 4096), bytes).unwrap();
        flip(&place(&b, 4096), bytes).unwrap();
        let compared = compare(&place(&a, 0), &place(&b, 4096), bytes).unwrap();
        assert_eq!(compared, Comparison::DiffersFrom(bytes / 2));
    }

    #[test]
    fn an_overwritten_file_is_equal_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let a = dir.path().join("a");
        noise(&a, 0, 8192).unwrap();
        let before = std::fs::read(&a).unwrap();
        spoil(&a, 0, 8192).unwrap();
        let after = std::fs::read(&a).unwrap();
        assert_eq!(after.len(), 8192);
        for (piece, spoiled) in before.chunks(512).zip(after.chunks(512)) {
            assert_ne!(piece, spoiled);
        }
    }
}

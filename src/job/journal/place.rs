//! The path of the journal of a copy: the same for the same dest, with any source.
use super::directories;
use crate::core::{EndpointKind, Facts, FileId};
use crate::ledger::Fault;
use crate::ledger::journal::Journal;
use rustix::fs::{Access, AtFlags, CWD};
use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

/// The suffix of the name of a file's journal.
const ENDING: &str = ".haul-journal";
/// Maximum length of a file name on Linux.
const NAME_BYTES_MAX: usize = 255;
/// Hexadecimal digits of the XXH3-128 that replaces the rest of a long name.
const DIGEST_DIGITS: usize = 16;

/// Next to a file, hidden; for a device in the state directory of programs. `None`: there is no such directory,
/// or a journal cannot be about this dest.
pub(crate) fn of(dest: &Facts) -> Option<PathBuf> {
    match dest.kind {
        EndpointKind::File | EndpointKind::CompressedDest => beside(&dest.path),
        EndpointKind::Block | EndpointKind::Nbd | EndpointKind::Object => of_device(dest, "journal"),
        _ => None,
    }
}

/// A record file of this kind about a device, in the state directory of programs. `None`: there is no such
/// directory.
pub(crate) fn of_device(device: &Facts, kind: &str) -> Option<PathBuf> {
    directories::place_of(&format!("{}.{kind}", device_name(device)))
}

/// Every path at which there may be a journal about bytes of `dest`: its own; for a disk those of its
/// partitions, and for a partition that of its disk.
pub(super) fn about(dest: &Facts) -> Vec<PathBuf> {
    let own = of(dest);
    // The directory may have been another one when an earlier copy began.
    let in_state = dest.kind.is_fixed_size() || dest.kind == EndpointKind::Object;
    let name = own.as_ref().filter(|_| in_state).and_then(|own| own.file_name());
    let elsewhere = name.map(|name| directories::all().into_iter().map(|directory| directory.join(name)).collect());
    let elsewhere: Vec<PathBuf> = elsewhere.unwrap_or_default();
    let others = elsewhere.into_iter().filter(|place| Some(place) != own.as_ref());
    own.iter().cloned().chain(others).chain(of_related(dest, "journal")).collect()
}

/// Record files of this kind about devices that share bytes with this one: for a disk those of its partitions,
/// for a partition that of its disk, which may not exist.
pub(crate) fn of_related(device: &Facts, kind: &str) -> Vec<PathBuf> {
    if device.kind != EndpointKind::Block {
        return Vec::new();
    }
    let (name, start) = named(device);
    if start.is_some() {
        return directories::all().into_iter().map(|directory| directory.join(format!("{name}.{kind}"))).collect();
    }
    let of_partition = |file: &str| {
        let number = file.strip_prefix(&name)?.strip_prefix('+')?.strip_suffix(kind)?.strip_suffix('.')?;
        number.parse::<u64>().ok()
    };
    let is_kin = |path: &PathBuf| path.file_name().and_then(OsStr::to_str).and_then(of_partition).is_some();
    directories::files().filter(is_kin).collect()
}

/// The offset of a partition, or of another part of a disk, on the disk; 0 for a whole disk.
pub(crate) fn start_on_disk(device: &Facts) -> u64 {
    named(device).1.unwrap_or(0)
}

/// Whether there may be a journal about `path` at all: examines one directory.
pub(super) fn may_be_about(path: &Path) -> bool {
    let Ok(facts) = path.metadata() else { return false };
    if facts.is_file() {
        return beside(path).is_some_and(|place| place.exists());
    }
    facts.file_type().is_block_device() && directories::files().next().is_some()
}

/// Whether there is any record file of this kind about a device.
pub(crate) fn any_exists(kind: &str) -> bool {
    directories::files().any(|record_file| record_file.extension().is_some_and(|found| found == kind))
}

/// The path of the journal of a file. If the name would be too long, it consists of its beginning and a digest.
pub(super) fn beside(path: &Path) -> Option<PathBuf> {
    let file = path.file_name()?;
    let mut name = OsString::from(".");
    if file.len() + ".".len() + ENDING.len() <= NAME_BYTES_MAX {
        name.push(file);
    } else {
        let digest = format!("{:032x}", XxHash3_128::oneshot(file.as_bytes()));
        let digest = &digest[..DIGEST_DIGITS];
        let most = NAME_BYTES_MAX - "..".len() - DIGEST_DIGITS - ENDING.len();
        name.push(OsStr::from_bytes(beginning(file.as_bytes(), most)));
        name.push(".");
        name.push(digest);
    }
    name.push(ENDING);
    Some(path.with_file_name(name))
}

/// The journals next to the files in `directory`.
pub(super) fn beside_files_in(directory: &Path) -> Vec<PathBuf> {
    let files = directory.read_dir().into_iter().flatten().flatten().map(|file| file.path());
    let is_journal = |path: &PathBuf| {
        let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
        name.starts_with(b".") && name.ends_with(ENDING.as_bytes())
    };
    let mut found: Vec<PathBuf> = files.filter(is_journal).collect();
    found.sort();
    found
}

/// Whether this path is in a directory of record files about devices.
pub(super) fn is_of_devices(path: &Path) -> bool {
    directories::all().iter().any(|directory| path.parent() == Some(directory))
}

/// At most `most` bytes of `name`, without splitting a UTF-8 character.
fn beginning(name: &[u8], most: usize) -> &[u8] {
    let is_inside = |&byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    let mut end = most.min(name.len());
    // A character has at most three such bytes.
    while end > most.saturating_sub(3) && name.get(end).is_some_and(is_inside) {
        end -= 1;
    }
    &name[..end]
}

/// The identity of the device, as a word that can be a file name. It is the same for each node of a disk; that
/// of a partition consists of the disk's and its offset.
fn device_name(dest: &Facts) -> String {
    match named(dest) {
        (name, Some(start)) => format!("{name}+{start}"),
        (name, None) => name,
    }
}

/// The name of the disk, and the offset of a partition.
fn named(dest: &Facts) -> (String, Option<u64>) {
    let identity = &dest.identity;
    let devices = dest.ground.iter().filter(|ground| matches!(ground.id, FileId::Device(_)));
    let on_disk = devices.filter_map(|ground| Some((ground.offset?, ground.name.as_str()))).max();
    let on_disk = on_disk.filter(|&(start, _)| start > 0);
    let who = match (&identity.wwn, &identity.serial, &identity.model) {
        (Some(wwn), ..) => wwn.clone(),
        (None, Some(serial), Some(model)) => format!("{model}-{serial}"),
        (None, Some(serial), None) => serial.clone(),
        (None, None, _) => {
            let node = on_disk.map_or(dest.path.to_string_lossy(), |(_, disk)| disk.into());
            node.trim_start_matches("/dev/").to_owned()
        }
    };
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let mut name: String = who.chars().map(plain).take(100).collect();
    if matches!(dest.kind, EndpointKind::Nbd | EndpointKind::Object) {
        // Addresses contain other characters than this name, so a digest distinguishes exports and objects.
        let digest = format!("{:032x}", XxHash3_128::oneshot(who.as_bytes()));
        name = format!("{name}-{}", &digest[..DIGEST_DIGITS]);
    }
    (name, on_disk.map(|(start, _)| start))
}

/// Creates the directory of devices' journals, accessible only to its owner, if `path` is in it.
pub(crate) fn prepare(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(directory) if is_of_devices(path) && !directory.exists() => {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)
        }
        _ => Ok(()),
    }
}

/// Checks whether a file could be created at `path`, including missing directories above it. Changes nothing.
pub(crate) fn can_be_made(path: &Path) -> io::Result<()> {
    let above = path.ancestors().skip(1).filter(|directory| !directory.as_os_str().is_empty());
    let directory = above.clone().find(|directory| directory.symlink_metadata().is_ok()).unwrap_or(Path::new("."));
    if !directory.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    match rustix::fs::accessat(CWD, directory, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
        // Before Linux 5.8 the kernel checks only the real user.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => Ok(()),
        answer => Ok(answer?),
    }
}

/// Opens a journal; `None`: it does not exist.
pub(super) fn open(path: &Path) -> std::result::Result<Option<Journal>, Fault> {
    Ok(Journal::open(path)?.map(|(journal, _)| journal))
}

//! Where the journal of a copy is: the same place for the same dest, whatever it is copied from.
use super::folders;
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

/// What the name of a file's journal ends in.
const ENDING: &str = ".haul-journal";
/// Most bytes of a name on Linux.
const NAME_BYTES_MAX: usize = 255;
/// Hexadecimal digits of the XXH3-128 that stands for the rest of a long name.
const DIGEST_DIGITS: usize = 16;

/// Beside a file, hidden; for a device in the folder where programs keep their state. `None`: there is no such folder,
/// or the dest is nothing that a journal could be about.
pub(crate) fn of(dest: &Facts) -> Option<PathBuf> {
    match dest.kind {
        EndpointKind::File => beside(&dest.path),
        EndpointKind::Block => of_device(dest, "journal"),
        _ => None,
    }
}

/// A record file of this kind about a device, in the folder where programs keep their state. `None`: there is no such
/// folder.
pub(crate) fn of_device(device: &Facts, kind: &str) -> Option<PathBuf> {
    folders::place_of(&format!("{}.{kind}", device_name(device)))
}

/// Every place where there may be a journal about bytes of `dest`: its own; of a disk those of its partitions, and of a
/// partition that of its disk.
pub(super) fn about(dest: &Facts) -> Vec<PathBuf> {
    let own = of(dest);
    // The folder may have been another one when an earlier copy began.
    let name = own.as_ref().filter(|_| dest.kind == EndpointKind::Block).and_then(|own| own.file_name());
    let elsewhere = name.map(|name| folders::all().into_iter().map(|folder| folder.join(name)).collect());
    let elsewhere: Vec<PathBuf> = elsewhere.unwrap_or_default();
    let others = elsewhere.into_iter().filter(|place| Some(place) != own.as_ref());
    own.iter().cloned().chain(others).chain(of_kin(dest, "journal")).collect()
}

/// Record files of this kind about devices that share bytes with this one: of a disk those of its partitions, of a
/// partition that of its disk. The latter may not be there.
pub(crate) fn of_kin(device: &Facts, kind: &str) -> Vec<PathBuf> {
    if device.kind != EndpointKind::Block {
        return Vec::new();
    }
    let (name, start) = named(device);
    if start.is_some() {
        return folders::all().into_iter().map(|folder| folder.join(format!("{name}.{kind}"))).collect();
    }
    let of_partition = |file: &str| {
        let number = file.strip_prefix(&name)?.strip_prefix('+')?.strip_suffix(kind)?.strip_suffix('.')?;
        number.parse::<u64>().ok()
    };
    let is_kin = |path: &PathBuf| path.file_name().and_then(OsStr::to_str).and_then(of_partition).is_some();
    folders::files().filter(is_kin).collect()
}

/// First byte of a partition, or of what else lies on a part of a disk; 0 of a disk.
pub(crate) fn start_on_disk(device: &Facts) -> u64 {
    named(device).1.unwrap_or(0)
}

/// Whether there may be a journal about `path` at all: a look at one directory.
pub(super) fn may_be_about(path: &Path) -> bool {
    let Ok(facts) = path.metadata() else { return false };
    if facts.is_file() {
        return beside(path).is_some_and(|place| place.exists());
    }
    facts.file_type().is_block_device() && folders::files().next().is_some()
}

/// Whether there is any record file of this kind about a device.
pub(crate) fn are_there(kind: &str) -> bool {
    folders::files().any(|record_file| record_file.extension().is_some_and(|found| found == kind))
}

/// The place of the journal of a file. Where the name would be too long, its beginning and a digest of it stand for it.
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

/// The journals that lie beside the files in `folder`.
pub(super) fn beside_files_in(folder: &Path) -> Vec<PathBuf> {
    let files = folder.read_dir().into_iter().flatten().flatten().map(|file| file.path());
    let is_journal = |path: &PathBuf| {
        let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
        name.starts_with(b".") && name.ends_with(ENDING.as_bytes())
    };
    let mut found: Vec<PathBuf> = files.filter(is_journal).collect();
    found.sort();
    found
}

/// Whether record files about devices lie where this path is.
pub(super) fn is_of_devices(path: &Path) -> bool {
    folders::all().iter().any(|folder| path.parent() == Some(folder))
}

/// At most `most` bytes of `name`, and no half of a UTF-8 character at their end.
fn beginning(name: &[u8], most: usize) -> &[u8] {
    let is_inside = |&byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    let mut end = most.min(name.len());
    // No character has more than three such bytes.
    while end > most.saturating_sub(3) && name.get(end).is_some_and(is_inside) {
        end -= 1;
    }
    &name[..end]
}

/// Who the device is, in a word that can be the name of a file. A disk keeps it under another node; a partition has the
/// disk's, and where it begins.
fn device_name(dest: &Facts) -> String {
    match named(dest) {
        (name, Some(start)) => format!("{name}+{start}"),
        (name, None) => name,
    }
}

/// The name of the disk, and of a partition where it begins.
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
    let name: String = who.chars().map(plain).take(100).collect();
    (name, on_disk.map(|(start, _)| start))
}

/// Makes the folder of devices' journals where `path` is to be in it, for its owner alone.
pub(crate) fn prepare(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if is_of_devices(path) && !folder.exists() => {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)
        }
        _ => Ok(()),
    }
}

/// Looks whether a file could be made at `path`, with the folders above it that do not exist. Changes nothing.
pub(crate) fn can_be_made(path: &Path) -> io::Result<()> {
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let folder = above.clone().find(|folder| folder.symlink_metadata().is_ok()).unwrap_or(Path::new("."));
    if !folder.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    match rustix::fs::accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
        // Before 5.8 the kernel knows the real user only.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => Ok(()),
        answer => Ok(answer?),
    }
}

/// Opens a journal; `None`: there is none.
pub(super) fn open(path: &Path) -> std::result::Result<Option<Journal>, Fault> {
    Ok(Journal::open(path)?.map(|(journal, _)| journal))
}

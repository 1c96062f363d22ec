//! Address → Facts: what an address leads to, what it can do, who it is, who uses it. Changes nothing.
//!
//! This room must not know what is asked for nor what will be done: it reports, and refuses only what cannot be an
//! endpoint at all.
#![forbid(unsafe_code)]
mod address;
mod character;
mod command_node;
pub mod devices;
mod ground;
mod identity;
mod in_use;
mod loops;
mod machine;
mod mounts;
mod passthrough;
pub mod signature;
mod snapshot;
mod sysfs;
mod temperature;

use crate::core::{DeviceError, EndpointKind, Error, Facts, FileId, InUse, Result, Side};
use crate::disks::{self, block, file, null, pipe};
use address::{ResolvedAddress, cannot_open};
pub use machine::machine;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use snapshot::Snapshot;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use sysfs::Sysfs;
pub use temperature::sensor;

/// File systems on which files can share extents, with the right mkfs options or a new enough server; the ioctl
/// decides.
const REFLINKS: [&str; 9] = ["btrfs", "xfs", "bcachefs", "ocfs2", "nfs4", "cifs", "smb3", "zfs", "overlay"];

/// Finds out about both sides of a copy.
///
/// # Errors
/// As for [`source`] and [`dest`].
pub fn both(source: &str, dest: &str) -> Result<(Facts, Facts)> {
    both_through(source, dest, [false, false])
}

/// The same, where a disk may be wanted to be reached by its own commands, by [`Side::index`]. A node named as an
/// address always is.
///
/// # Errors
/// As for [`source`] and [`dest`]; Unsupported or Refused for a disk that cannot be used so.
pub fn both_through(source: &str, dest: &str, through: [bool; 2]) -> Result<(Facts, Facts)> {
    let (source, mut dests) = several_through(source, &[dest], through)?;
    Ok((source, dests.remove(0)))
}

/// The same of a source and several dests.
///
/// # Errors
/// As for [`both_through`], the source's first.
pub fn several_through(source: &str, dests: &[&str], through: [bool; 2]) -> Result<(Facts, Vec<Facts>)> {
    let snapshot = Snapshot::take();
    let look = |address: &str, side: Side| look(address, side, &snapshot, through[side.index()]);
    let source = look(source, Side::Source)?;
    Ok((source, dests.iter().map(|dest| look(dest, Side::Dest)).collect::<Result<_>>()?))
}

/// The same of two sides that are to be compared: both are to be read, and both have to be there.
///
/// # Errors
/// As for [`both_through`].
pub fn both_to_read(source: &str, dest: &str, through: [bool; 2]) -> Result<(Facts, Facts)> {
    let snapshot = Snapshot::take();
    let look = |address, side: Side| look(address, side, &snapshot, through[side.index()]);
    let from = look(source, Side::Source)?;
    readable(dest)?;
    Ok((from, look(dest, Side::Dest)?))
}

/// Finds out about one side, where a disk may be wanted to be reached by its own commands.
///
/// # Errors
/// As for [`both_through`].
pub fn one_through(address: &str, side: Side, through: bool) -> Result<Facts> {
    look(address, side, &Snapshot::take(), through)
}

/// The same of a dest alone.
///
/// # Errors
/// As for [`both_to_read`].
pub fn dest_to_read(dest: &str, through: bool) -> Result<Facts> {
    readable(dest)?;
    look(dest, Side::Dest, &Snapshot::take(), through)
}

/// Whether a dest that is there may be read.
///
/// # Errors
/// Open where it may not.
pub fn readable(dest: &str) -> Result<()> {
    if dest == "-" {
        return Ok(());
    }
    allowed(Path::new(dest), Access::READ_OK).map_err(|errno| cannot_open(Side::Dest, dest, errno.into()))
}

/// Finds out about a source.
///
/// # Errors
/// Usage for a directory or a character device without bytes, Open for what does not exist or may not be read.
pub fn source(address: &str) -> Result<Facts> {
    look(address, Side::Source, &Snapshot::take(), false)
}

/// Finds out about a dest; a file may not be there yet.
///
/// # Errors
/// Usage as for [`source`], Refused for a missing device, Open where the directory of a new file does not
/// exist.
pub fn dest(address: &str) -> Result<Facts> {
    look(address, Side::Dest, &Snapshot::take(), false)
}

/// Finds out about one side that is to be reached by its own commands, if it has any.
///
/// # Errors
/// As for [`both_through`].
pub fn through(address: &str, side: Side) -> Result<Facts> {
    look(address, side, &Snapshot::take(), true)
}

/// Why `name`, the character device of this number, cannot be read or written as a file is: it takes commands only.
/// Refused, with what to do instead.
pub fn takes_commands_only(name: &str, number: u64, side: Side) -> Option<Error> {
    command_node::refusal(name, number, side, &Sysfs::new("/sys"))
}

fn look(address: &str, side: Side, snapshot: &Snapshot, through: bool) -> Result<Facts> {
    let place = address::find(address, side, snapshot)?;
    let mut facts = Facts::new(address, place.kind);
    facts.path = place.path.clone();
    facts.exists = place.exists;
    facts.id = place.id;
    facts.stream = place.stream(&snapshot.sysfs);
    let failed = |cause| cannot_open(side, address, cause);
    if side == Side::Source && address != "-" {
        allowed(&place.path, Access::READ_OK).map_err(|errno| failed(errno.into()))?;
    }
    match place.kind {
        EndpointKind::File if place.exists => {
            file::probe(&place.path, &mut facts).map_err(failed)?;
            if side == Side::Source {
                file::probe_least_read(&place.path, &mut facts);
            }
        }
        EndpointKind::File => file::probe_new(directory(&place.path), &mut facts).map_err(failed)?,
        // A disk without a block device: only its commands can tell.
        EndpointKind::Block if matches!(place.id, Some(FileId::Node(_))) => {}
        EndpointKind::Block => block::probe(&place.path, &mut facts).map_err(failed)?,
        EndpointKind::Pipe
        | EndpointKind::Socket
        | EndpointKind::Terminal
        | EndpointKind::Character
        | EndpointKind::FileStream => {
            pipe::probe(&place.path, &mut facts).map_err(failed)?;
        }
        EndpointKind::Endless
        | EndpointKind::Null
        | EndpointKind::Pattern
        | EndpointKind::Memory
        | EndpointKind::Manifest => {
            null::probe(&place.path, &mut facts).map_err(failed)?;
        }
    }
    match place.kind {
        EndpointKind::File => of_file(&place, snapshot, &mut facts),
        EndpointKind::FileStream => of_file_stream(&place, snapshot, &mut facts),
        EndpointKind::Block => of_device(&place, side, snapshot, &mut facts),
        _ => {}
    }
    if facts.passthrough.as_ref().is_some_and(|node| node.named || through) {
        disks::ask_by_commands(&mut facts).map_err(|cause| not_by_commands(side, address, cause))?;
    }
    Ok(facts)
}

/// A disk that does not answer its own commands, or answers that it is not for copying.
fn not_by_commands(side: Side, address: &str, cause: std::io::Error) -> Error {
    let Some(DeviceError { kind, words, advice, .. }) = DeviceError::of(&cause).cloned() else {
        return cannot_open(side, address, cause);
    };
    Error::new(kind, format!("{} {address} cannot be used: {words}", side.name())).on(side).advise(advice)
}

fn of_file(place: &ResolvedAddress, snapshot: &Snapshot, facts: &mut Facts) {
    let path = place.path.as_path();
    let on = if place.exists { path } else { directory(path) };
    facts.filesystem = snapshot.mount_of(on).map(|mount| mount.filesystem.clone());
    facts.reflinks = facts.filesystem.as_deref().is_some_and(|name| REFLINKS.contains(&name));
    facts.free_bytes = free_bytes(on, facts.filesystem.as_deref());
    let wanted = if place.exists { Access::WRITE_OK } else { Access::WRITE_OK | Access::EXEC_OK };
    facts.writable = allowed(on, wanted).is_ok();
    facts.ground = match facts.id {
        Some(FileId::File(dev, ino)) => ground::of_file(snapshot, dev, ino, path),
        _ => ground::of_new_file(snapshot, place.stat.st_dev, on),
    };
    facts.memory = ground::memory(snapshot, &facts.ground, Some(place.stat.st_dev));
    if let Some(id) = facts.id {
        facts.in_use = in_use::of_file(snapshot, id, path);
    }
}

/// Where its bytes lie; nothing else of the file matters to a stream.
fn of_file_stream(place: &ResolvedAddress, snapshot: &Snapshot, facts: &mut Facts) {
    if let Some(FileId::File(dev, ino)) = facts.id {
        facts.ground = ground::of_file(snapshot, dev, ino, &place.path);
    }
    facts.memory = ground::memory(snapshot, &facts.ground, Some(place.stat.st_dev));
}

fn of_device(place: &ResolvedAddress, side: Side, snapshot: &Snapshot, facts: &mut Facts) {
    let path = place.path.as_path();
    facts.writable = allowed(path, Access::WRITE_OK).is_ok();
    facts.passthrough.clone_from(&place.node);
    if let Some(device) = snapshot.sysfs.device(place.stat.st_rdev) {
        facts.writable &= !device.read_only();
        facts.identity = identity::identity(snapshot, &device);
        facts.partitions = identity::partitions(&device);
        facts.content = signature::look(path);
        for partition in &mut facts.partitions {
            partition.content = signature::look(&Path::new("/dev").join(&partition.name));
        }
        facts.ground = ground::of_device(snapshot, &device);
        facts.memory = ground::memory(snapshot, &facts.ground, None);
        facts.in_use = in_use::of_device(snapshot, &device);
        facts.passthrough = facts.passthrough.take().or_else(|| passthrough::of_device(snapshot, &device));
        // After it was opened: that may be when the kernel notices another medium.
        facts.disk_sequence = device.sequence();
    }
    let claimable = !matches!(place.id, Some(FileId::Node(_)));
    if side == Side::Dest && claimable && facts.in_use.is_empty() && claimed_by_others(path) {
        facts.in_use.push(InUse::Exclusive);
    }
}

/// How long a claim without a visible holder may take to end. The kernel takes down the ring of a program that was
/// killed, and gives its disks back, some milliseconds after the program ended: who resumes at once is not refused.
const CLAIM_ENDS_WITHIN: Duration = Duration::from_secs(2);

/// Between two looks at it.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// Whether the kernel refuses an exclusive open, as it does for what is mounted or held in any namespace, and continues
/// refusing it.
fn claimed_by_others(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let until = Instant::now() + CLAIM_ENDS_WITHIN;
    while matches!(rustix::fs::open(path, flags, Mode::empty()), Err(Errno::BUSY)) {
        if Instant::now() >= until {
            return true;
        }
        thread::sleep(LOOK_AGAIN_AFTER);
    }
    false
}

/// Whether this process, by its effective user, may use `path` so.
fn allowed(path: &Path, access: Access) -> rustix::io::Result<()> {
    match rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS) {
        // Before 5.8 the kernel knows the real user only.
        Err(Errno::NOSYS | Errno::INVAL) => rustix::fs::access(path, access),
        answer => answer,
    }
}

/// Bytes that this user can still write to the file system of `path`; `None`: it has no size, as ramfs.
fn free_bytes(path: &Path, filesystem: Option<&str>) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok().filter(|stat| stat.f_blocks > 0)?;
    // ext keeps blocks back for root alone; elsewhere the difference is not available to other users.
    let reserved_too = rustix::process::geteuid().is_root() && filesystem.is_some_and(|name| name.starts_with("ext"));
    let blocks = if reserved_too { stat.f_bfree } else { stat.f_bavail };
    Some(blocks.saturating_mul(stat.f_frsize))
}

/// The directory of a file that is to be made, whose path has been resolved.
fn directory(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

#[cfg(test)]
mod address_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tree;

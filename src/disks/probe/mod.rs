//! Converts addresses to facts: the kind of an endpoint, its capabilities, its identity and its uses. Changes nothing.
//!
//! This room must not know the options or the plan: it reports facts, and refuses only what cannot be an endpoint at
//! all.
#![forbid(unsafe_code)]
mod address;
mod character;
mod command_node;
pub mod devices;
mod ground;
mod identity;
mod in_use;
mod kernel_timeout;
mod loops;
mod machine;
mod mounts;
mod passthrough;
pub mod signature;
mod snapshot;
mod sysfs;
mod temperature;

use crate::core::{
    Address, DeviceError, EndpointKind, Error, Facts, FileId, HttpAddress, InUse, Kind, NbdAddress, Result, Side,
};
use crate::disks::{self, block, file, nbd, null, pipe};
use address::ResolvedAddress;
pub(in crate::disks) use address::cannot_open;
pub use kernel_timeout::disk_access;
pub use machine::machine;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use snapshot::Snapshot;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use sysfs::Sysfs;
pub use temperature::sensor;

/// File systems that may support shared extents, depending on mkfs options or the server; the ioctl returns whether
/// they do.
const REFLINKS: [&str; 9] = ["btrfs", "xfs", "bcachefs", "ocfs2", "nfs4", "cifs", "smb3", "zfs", "overlay"];

/// Probes both sides of a copy.
///
/// # Errors
/// As for [`source`] and [`dest`].
pub fn both(source: &str, dest: &str) -> Result<(Facts, Facts)> {
    both_through(source, dest, [false, false])
}

/// The same; `through` selects the sides to reach by passthrough commands, by [`Side::index`]. An address that is a
/// node always uses them.
///
/// # Errors
/// As for [`source`] and [`dest`]; Unsupported or Refused for a disk that does not support it.
pub fn both_through(source: &str, dest: &str, through: [bool; 2]) -> Result<(Facts, Facts)> {
    let (source, mut dests) = several_through(source, &[dest], through)?;
    Ok((source, dests.remove(0)))
}

/// The same for a source and several dests.
///
/// # Errors
/// As for [`both_through`], the source's first.
pub fn several_through(source: &str, dests: &[&str], through: [bool; 2]) -> Result<(Facts, Vec<Facts>)> {
    let snapshot = Snapshot::take();
    let look = |address: &str, side: Side| look(address, side, &snapshot, through[side.index()]);
    let source = look(source, Side::Source)?;
    Ok((source, dests.iter().map(|dest| look(dest, Side::Dest)).collect::<Result<_>>()?))
}

/// The same for two sides to be compared: both must exist and be readable.
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

/// Probes one side, by passthrough commands if `through`.
///
/// # Errors
/// As for [`both_through`].
pub fn one_through(address: &str, side: Side, through: bool) -> Result<Facts> {
    look(address, side, &Snapshot::take(), through)
}

/// The same for a dest to be read.
///
/// # Errors
/// As for [`both_to_read`].
pub fn dest_to_read(dest: &str, through: bool) -> Result<Facts> {
    readable(dest)?;
    look(dest, Side::Dest, &Snapshot::take(), through)
}

/// Checks that an existing dest may be read.
///
/// # Errors
/// Open if it may not.
pub fn readable(dest: &str) -> Result<()> {
    if dest == "-" {
        return Ok(());
    }
    let Address::Path(dest) = &Address::parse(dest, Side::Dest)? else { return Ok(()) };
    allowed(Path::new(dest), Access::READ_OK).map_err(|errno| cannot_open(Side::Dest, dest, errno.into()))
}

/// Probes a source.
///
/// # Errors
/// Usage for a directory or an unsupported character device; Open if it does not exist or may not be read.
pub fn source(address: &str) -> Result<Facts> {
    look(address, Side::Source, &Snapshot::take(), false)
}

/// Probes a dest; a file need not exist.
///
/// # Errors
/// Usage as for [`source`]; Refused for a missing device; Open if the directory of a new file does not exist.
pub fn dest(address: &str) -> Result<Facts> {
    look(address, Side::Dest, &Snapshot::take(), false)
}

/// Probes one side that is to be reached by passthrough commands, if possible.
///
/// # Errors
/// As for [`both_through`].
pub fn through(address: &str, side: Side) -> Result<Facts> {
    look(address, side, &Snapshot::take(), true)
}

/// The refusal, with advice, if `name`, the character device with this number, accepts only commands and cannot be read
/// or written as a file.
pub fn takes_commands_only(name: &str, number: u64, side: Side) -> Option<Error> {
    command_node::refusal(name, number, side, &Sysfs::new("/sys"))
}

fn look(address: &str, side: Side, snapshot: &Snapshot, through: bool) -> Result<Facts> {
    let address = &match Address::parse(address, side)? {
        Address::Path(path) => path,
        Address::Nbd(export) => return of_export(address, &export, side),
        Address::Http(resource) => return of_resource(&resource, side),
        Address::Object(object) => return disks::object::probe(&object, side),
    };
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
        // A disk without a block device: its facts come from commands only.
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
        | EndpointKind::Nbd
        | EndpointKind::Http
        | EndpointKind::HttpStream
        | EndpointKind::Object
        | EndpointKind::Null
        | EndpointKind::Pattern
        | EndpointKind::Memory
        | EndpointKind::Compressed
        | EndpointKind::CompressedDest
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
        disks::query_by_commands(&mut facts).map_err(|cause| not_by_commands(side, address, cause))?;
        // haul flushes the disk's cache by a command, regardless of the kernel's setting.
        facts.memory = None;
    }
    Ok(facts)
}

fn of_resource(address: &HttpAddress, side: Side) -> Result<Facts> {
    if side == Side::Dest {
        let what = format!("destination {address} cannot be written: haul only reads from HTTP servers");
        let advice = "Give a file or a device as DST; HTTP(S) addresses can be SRC.";
        return Err(Error::new(Kind::Usage, what).on(side).advise(advice));
    }
    disks::http::probe(address)
}

fn of_export(address: &str, export: &NbdAddress, side: Side) -> Result<Facts> {
    let mut facts = Facts::new(address, EndpointKind::Nbd);
    nbd::probe(export, &mut facts).map_err(|cause| nbd::cannot_open(side, address, export, cause))?;
    Ok(facts)
}

/// The error for a disk that does not respond to commands, or cannot be copied.
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

/// Facts of a file that is used as a stream: only where its bytes are stored matters.
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
        // After opening it, because the kernel may only then notice another medium.
        facts.disk_sequence = device.sequence();
    }
    let claimable = !matches!(place.id, Some(FileId::Node(_)));
    if side == Side::Dest && claimable && facts.in_use.is_empty() && claimed_by_others(path) {
        facts.in_use.push(InUse::Exclusive);
    }
}

/// Maximum time for a claim without a visible holder to end. After a process is killed, the kernel frees its ring and
/// releases its disks a few milliseconds later; resuming the copy immediately must not be refused.
const CLAIM_RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval between checks of the claim.
const CLAIM_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Whether the kernel permanently refuses an exclusive open, as it does for devices that are mounted or held in any
/// namespace.
fn claimed_by_others(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let until = Instant::now() + CLAIM_RELEASE_TIMEOUT;
    while matches!(rustix::fs::open(path, flags, Mode::empty()), Err(Errno::BUSY)) {
        if Instant::now() >= until {
            return true;
        }
        thread::sleep(CLAIM_CHECK_INTERVAL);
    }
    false
}

/// Checks that the effective user of this process may access `path`.
fn allowed(path: &Path, access: Access) -> rustix::io::Result<()> {
    match rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS) {
        // Before 5.8 the kernel checks only the real user.
        Err(Errno::NOSYS | Errno::INVAL) => rustix::fs::access(path, access),
        answer => answer,
    }
}

/// Bytes that this user can still write to the file system of `path`; `None` if it has no size, like ramfs.
fn free_bytes(path: &Path, filesystem: Option<&str>) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok().filter(|stat| stat.f_blocks > 0)?;
    // ext file systems reserve blocks for root. On others the difference is not available to any user.
    let reserved_too = rustix::process::geteuid().is_root() && filesystem.is_some_and(|name| name.starts_with("ext"));
    let blocks = if reserved_too { stat.f_bfree } else { stat.f_bavail };
    Some(blocks.saturating_mul(stat.f_frsize))
}

/// The directory of a file to be created, whose path was resolved.
fn directory(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

#[cfg(test)]
mod address_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tree;

//! Resolves addresses to kinds of endpoints.
use super::character;
use super::passthrough;
use super::snapshot::Snapshot;
use super::sysfs::Sysfs;
use crate::core::{EndpointKind, Error, FileId, Kind, Passthrough, Result, Side};
use crate::files::canonical;
use crate::sys::was_closed;
use rustix::fs::{FileType, Stat, major, minor};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Maximum number of symbolic links followed to a missing file, as in the kernel.
const LINKS_MAX: usize = 40;

/// File systems with generated files, whose sizes are meaningless.
const MADE_AS_READ: [&str; 9] =
    ["proc", "sysfs", "debugfs", "tracefs", "securityfs", "cgroup", "cgroup2", "configfs", "pstore"];

/// The result of resolving an address.
#[derive(Debug)]
pub(super) struct ResolvedAddress {
    /// The path with all symbolic links resolved; `-` unchanged.
    pub(super) path: PathBuf,
    pub(super) kind: EndpointKind,
    /// Status of the file, or, if it is to be created, of its directory.
    pub(super) stat: Stat,
    pub(super) exists: bool,
    /// The identity for comparisons; `None` if it cannot be the same as another endpoint.
    pub(super) id: Option<FileId>,
    /// The node for commands, if the address names one; `path` is then its block device, if there is one.
    pub(super) node: Option<Passthrough>,
}

impl ResolvedAddress {
    /// The identity of the stream, regardless of its name; `None` if it is not a stream.
    pub(super) fn stream(&self, sysfs: &Sysfs) -> Option<FileId> {
        let Stat { st_dev, st_ino, st_rdev, st_mode, .. } = self.stat;
        match FileType::from_raw_mode(st_mode) {
            FileType::CharacterDevice => Some(FileId::Node(character::terminal_behind(st_rdev, sysfs))),
            FileType::Fifo | FileType::Socket => Some(FileId::File(st_dev, st_ino)),
            _ => None,
        }
    }
}

/// Resolves `address`.
pub(super) fn find(address: &str, side: Side, snapshot: &Snapshot) -> Result<ResolvedAddress> {
    if address.is_empty() {
        let error = Error::new(Kind::Usage, format!("{} has an empty name", side.name())).on(side);
        return Err(error.advise("Name a file, a device, or - for a stream."));
    }
    if address == "-" {
        return standard(side, &snapshot.sysfs);
    }
    let path = Path::new(address);
    match rustix::fs::stat(path) {
        Ok(stat) => existing(address, resolved(path, &stat), stat, side, snapshot),
        Err(rustix::io::Errno::NOENT) if side == Side::Dest => missing(address, snapshot),
        Err(errno) => Err(cannot_open(side, address, errno.into())),
    }
}

/// Standard input or output. Anything redirected there is a stream, even a file, because the copy must continue at the
/// current offset, which may be in the middle. A block device is refused: as a stream it would bypass all checks
/// against overwriting a disk in use, and its removal would look like its end.
fn standard(side: Side, sysfs: &Sysfs) -> Result<ResolvedAddress> {
    let descriptor = if side == Side::Source { 0 } else { 1 };
    if was_closed(descriptor) {
        return Err(cannot_open(side, "-", rustix::io::Errno::BADF.into()));
    }
    let stat = match side {
        Side::Source => rustix::fs::fstat(io::stdin().as_fd()),
        Side::Dest => rustix::fs::fstat(io::stdout().as_fd()),
    };
    let stat = stat.map_err(|errno| cannot_open(side, "-", errno.into()))?;
    // The identity is needed to detect a copy of a file onto itself if one side is redirected.
    let (kind, id) = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => (EndpointKind::FileStream, Some(FileId::File(stat.st_dev, stat.st_ino))),
        FileType::BlockDevice => return Err(redirected_device(side)),
        FileType::Directory => return Err(directory("-", side)),
        FileType::Socket => (EndpointKind::Socket, None),
        FileType::CharacterDevice if character::is_terminal(stat.st_rdev, sysfs) => (EndpointKind::Terminal, None),
        FileType::CharacterDevice => (EndpointKind::Character, None),
        _ => (EndpointKind::Pipe, None),
    };
    let path = match kind {
        EndpointKind::FileStream => redirected_file(descriptor, &stat),
        _ => None,
    };
    let path = path.unwrap_or_else(|| PathBuf::from("-"));
    Ok(ResolvedAddress { path, kind, stat, exists: true, id, node: None })
}

/// The path of the redirected file, if it still has one.
fn redirected_file(descriptor: impl std::fmt::Display, stat: &Stat) -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
    let same = |other: Stat| (other.st_dev, other.st_ino) == (stat.st_dev, stat.st_ino);
    rustix::fs::stat(&path).is_ok_and(same).then_some(path)
}

fn existing(address: &str, path: PathBuf, stat: Stat, side: Side, snapshot: &Snapshot) -> Result<ResolvedAddress> {
    let mut id = None;
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => return Err(directory(address, side)),
        FileType::RegularFile => {
            id = Some(FileId::File(stat.st_dev, stat.st_ino));
            let filesystem = snapshot.mount_of(&path).map(|mount| mount.filesystem.as_str());
            let made_as_read = filesystem.is_some_and(|name| MADE_AS_READ.contains(&name));
            if made_as_read && side == Side::Source { EndpointKind::FileStream } else { EndpointKind::File }
        }
        FileType::BlockDevice => {
            id = Some(FileId::Device(stat.st_rdev));
            EndpointKind::Block
        }
        FileType::CharacterDevice => {
            let numbers = (major(stat.st_rdev), minor(stat.st_rdev));
            if let Some((node, device)) = passthrough::of_node(&snapshot.sysfs, &path, numbers) {
                return behind(address, side, node, device.map(|device| device.number), stat);
            }
            character::kind(address, stat.st_rdev, side, &snapshot.sysfs)?
        }
        FileType::Fifo => {
            id = Some(FileId::File(stat.st_dev, stat.st_ino));
            EndpointKind::Pipe
        }
        FileType::Socket => return Err(socket(address, side)),
        _ => EndpointKind::Pipe,
    };
    Ok(ResolvedAddress { path, kind, stat, exists: true, id, node: None })
}

/// The disk of `node`: all facts except for I/O come from its block device `number`.
fn behind(address: &str, side: Side, node: Passthrough, number: Option<u64>, stat: Stat) -> Result<ResolvedAddress> {
    let kind = EndpointKind::Block;
    let (Some(path), Some(number)) = (node.block.clone(), number) else {
        let (path, id) = (node.node.clone(), Some(FileId::Node(stat.st_rdev)));
        return Ok(ResolvedAddress { path, kind, stat, exists: true, id, node: Some(node) });
    };
    let failed = |cause: io::Error| {
        let path = path.display();
        let what = format!("{} {address} belongs to {path}, which cannot be examined", side.name());
        let advice = "Without it haul cannot check whether the disk is in use.";
        Error::new(Kind::Refused, what).on(side).because(cause).advise(advice)
    };
    let stat = rustix::fs::stat(&path).map_err(|errno| failed(errno.into()))?;
    if stat.st_rdev != number {
        return Err(failed(io::Error::other("it is another device")));
    }
    Ok(ResolvedAddress { path, kind, stat, exists: true, id: Some(FileId::Device(number)), node: Some(node) })
}

/// The path without symbolic links, if there is one: pipes and deleted files under /proc/self/fd have none.
fn resolved(path: &Path, stat: &Stat) -> PathBuf {
    let same = |other: &PathBuf| {
        rustix::fs::stat(other).is_ok_and(|other| (other.st_dev, other.st_ino) == (stat.st_dev, stat.st_ino))
    };
    canonical(path).ok().filter(same).unwrap_or_else(|| path.to_owned())
}

/// A missing dest: a file to be created, unless the path looks like that of a device.
fn missing(address: &str, snapshot: &Snapshot) -> Result<ResolvedAddress> {
    let mut path = PathBuf::from(address);
    for _ in 0..LINKS_MAX {
        let Ok(onward) = fs::read_link(&path) else { break };
        path = parent(&path).join(onward);
    }
    let Some(name) = path.file_name().filter(|_| !address.ends_with('/')).map(ToOwned::to_owned) else {
        return Err(absent_directory(address));
    };
    if among_devices(nearest(&path), snapshot) {
        return Err(no_device(address));
    }
    let directory = canonical(parent(&path)).and_then(|path| Ok((rustix::fs::stat(&path)?, path)));
    let (stat, directory) = directory.map_err(|cause| no_directory(address, &path, cause))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(no_directory(address, &path, io::ErrorKind::NotADirectory.into()));
    }
    if among_devices(&directory, snapshot) {
        return Err(no_device(address));
    }
    let path = directory.join(name);
    Ok(ResolvedAddress { path, kind: EndpointKind::File, stat, exists: false, id: None, node: None })
}

/// A missing path under /dev: a typing error, or a device that is not connected.
fn no_device(address: &str) -> Error {
    let what = format!("destination {address}: no such device, and haul creates no regular file under /dev");
    let advice = "Check the name and whether the device is connected; 'haul list' shows the available devices.";
    Error::new(Kind::Refused, what).on(Side::Dest).advise(advice)
}

/// The nearest existing directory above `path`, such as /dev for /dev/disk/by-id/x.
fn nearest(path: &Path) -> &Path {
    path.ancestors().skip(1).find(|above| above.is_dir()).unwrap_or(Path::new("/"))
}

/// Whether a new file in `directory` would be among device nodes: on a devtmpfs, or under /dev unless another file
/// system is mounted there, such as /dev/shm.
fn among_devices(directory: &Path, snapshot: &Snapshot) -> bool {
    let dev = Path::new("/dev");
    let mount = snapshot.mount_of(directory);
    if mount.is_some_and(|mount| mount.filesystem == "devtmpfs") {
        return true;
    }
    let own = mount.is_some_and(|mount| mount.at != dev && mount.at.starts_with(dev));
    directory.starts_with(dev) && !own
}

/// The directory that contains `path`.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    }
}

fn no_directory(address: &str, path: &Path, cause: io::Error) -> Error {
    let what = format!("cannot create destination {address} in directory {}", parent(path).display());
    let advice = match cause.kind() {
        io::ErrorKind::PermissionDenied => "Run the command as root, or as a user with access to that directory.",
        _ => "Check the path, or create the directory first.",
    };
    Error::new(Kind::Open, what).on(Side::Dest).because(cause).advise(advice)
}

fn redirected_device(side: Side) -> Error {
    let (stream, option) = match side {
        Side::Source => ("standard input", "--skip"),
        Side::Dest => ("standard output", "--seek"),
    };
    let what = format!("{stream} is a block device: as a stream it would bypass the safety checks for devices");
    let advice = format!("Name the device instead of -; {option} sets the offset to start at.");
    Error::new(Kind::Refused, what).on(side).advise(advice)
}

fn socket(address: &str, side: Side) -> Error {
    let what = format!("{} {address} is a socket, which cannot be opened by name", side.name());
    let advice = "Let another program connect to it, and copy from or to that program through a pipe.";
    Error::new(Kind::Usage, what).on(side).advise(advice)
}

fn directory(address: &str, side: Side) -> Error {
    let what = format!("{} {address} is a directory", side.name());
    let advice = match side {
        Side::Source => "Name a file in it, or the device it is mounted from; to copy a directory tree, use cp -a.",
        Side::Dest => "Name the file to write.",
    };
    Error::new(Kind::Usage, what).on(side).advise(advice)
}

/// A missing path that can only name a directory.
fn absent_directory(address: &str) -> Error {
    let what = format!("directory {address} does not exist");
    let advice = "Name the file to write; create a new directory first.";
    Error::new(Kind::Usage, what).on(Side::Dest).advise(advice)
}

/// The error of examining `address`.
pub(in crate::disks) fn cannot_open(side: Side, address: &str, cause: io::Error) -> Error {
    let name = match (address, side) {
        ("-", Side::Source) => "(standard input)",
        ("-", Side::Dest) => "(standard output)",
        _ => address,
    };
    let advice = match rustix::io::Errno::from_io_error(&cause) {
        Some(rustix::io::Errno::NOENT) => "Check the path.",
        Some(rustix::io::Errno::BADF) => "It is closed: redirect it, or name a file.",
        Some(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => {
            "Run the command as root, or as a user with permission (for devices often the group 'disk')."
        }
        Some(rustix::io::Errno::NOMEDIUM) => "Insert a medium.",
        Some(rustix::io::Errno::NXIO | rustix::io::Errno::NODEV) => "Check whether the device is still connected.",
        Some(rustix::io::Errno::NOTDIR) => "Check the path: a component of it is not a directory.",
        Some(rustix::io::Errno::LOOP) => "The path contains a loop of symbolic links; name the file itself.",
        _ => "",
    };
    let what = format!("cannot open {} {name}", side.name());
    Error::new(Kind::Open, what).on(side).because(cause).advise(advice)
}

//! Mounts and swap space. The parsers are part of haul because existing crates do not decode the kernel's escapes in
//! paths.
use super::loops::id_of;
use super::sysfs::Sysfs;
use crate::core::FileId;
use rustix::fs::makedev;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// The mount ID, as in statx.
    pub(super) id: u64,
    /// `st_dev` of the file system; an anonymous number for btrfs, NFS and others that are not on a single device.
    pub(super) number: u64,
    /// Mount point.
    pub(super) at: PathBuf,
    /// Type: `ext4`.
    pub(super) filesystem: String,
    /// Mount source: `/dev/sda1`.
    pub(super) source: PathBuf,
    /// The block devices of the file system; empty if there are none, or they cannot be determined.
    pub(super) devices: Vec<u64>,
}

/// A line of `/proc/swaps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Swap {
    /// Its file or device.
    pub(super) path: PathBuf,
    /// The file that the path leads to.
    pub(super) id: FileId,
}

/// Parses a text like `/proc/self/mountinfo`, in its order. Skips invalid lines.
pub(super) fn mounts(text: &[u8], sysfs: &Sysfs) -> Vec<Mount> {
    let mut mounts: Vec<Mount> = text.split(|&byte| byte == b'\n').filter_map(mount).collect();
    for mount in &mut mounts {
        mount.devices = devices(mount, sysfs);
    }
    mounts
}

/// Parses a line such as `36 35 98:0 /root /at rw,noatime shared:1 - ext3 /dev/root rw,errors=continue`, with any
/// number of fields before the dash.
fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let mut words = |nth: usize| fields.nth(nth);
    let id = plain(words(0)?)?.parse().ok()?;
    let (major, minor) = plain(words(1)?)?.split_once(':')?;
    let number = makedev(major.parse().ok()?, minor.parse().ok()?);
    let at = unescaped(words(1)?);
    fields.by_ref().find(|field| *field == b"-")?;
    let filesystem = unescaped(fields.next()?).to_string_lossy().into_owned();
    let source = unescaped(fields.next()?);
    Some(Mount { id, number, at, filesystem, source, devices: Vec::new() })
}

/// The block devices of a mount.
fn devices(mount: &Mount, sysfs: &Sysfs) -> Vec<u64> {
    if sysfs.device(mount.number).is_some() {
        return vec![mount.number];
    }
    // bcachefs separates its members with colons. A source outside /dev is a label or a host.
    let source = mount.source.to_string_lossy();
    let named = source.split(':').filter(|path| path.starts_with("/dev/")).filter_map(|path| id_of(Path::new(path)));
    let mut found = Vec::new();
    for id in named {
        let FileId::Device(number) = id else { continue };
        let members = sysfs.device(number).map(|device| sysfs.btrfs_members(&device)).unwrap_or_default();
        found.push(number);
        found.extend(members.iter().map(|member| member.number).filter(|&member| member != number));
    }
    found
}

/// Parses a text like `/proc/swaps`. Omits paths that do not exist.
pub(super) fn swaps(text: &[u8]) -> Vec<Swap> {
    let lines = text.split(|&byte| byte == b'\n').skip(1);
    let path = |line: &[u8]| line.split(|&byte| byte == b' ' || byte == b'\t').next().map(unescaped);
    lines.filter_map(path).filter_map(|path| Some(Swap { id: id_of(&path)?, path })).collect()
}

fn plain(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok()
}

/// Decodes a path in which the kernel escaped blank, tab, newline and backslash as `\` and three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| first == b'\\').and_then(|digits| plain(digits));
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

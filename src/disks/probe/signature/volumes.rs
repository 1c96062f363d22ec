//! Members of volumes and encrypted containers.
use super::seen::{Seen, labelled};

const MD_MAGIC: [u8; 4] = [0xfc, 0x4e, 0x2b, 0xa9];

pub(super) fn luks(seen: &Seen) -> Option<String> {
    match seen.bytes(6, 2)?.as_ref() {
        [0, 1] => Some("LUKS1".to_owned()),
        [0, 2] => Some(labelled("LUKS2", seen.label(24, 48))),
        _ => None,
    }
}

/// A member of an md array with metadata 1.1, at the start.
pub(super) fn md_first(seen: &Seen) -> Option<String> {
    md_1(seen, 0)
}

/// A member of an md array with metadata 1.2, 4 KiB from the start.
pub(super) fn md_second(seen: &Seen) -> Option<String> {
    md_1(seen, 4096)
}

/// A member of an md array with metadata 1.0 or 0.90 near the end, which leaves the start to the file system.
pub(super) fn md_at_end(seen: &Seen) -> Option<String> {
    let size = seen.size?;
    let recent = (size / 512).checked_sub(16).map(|sectors| (sectors & !7) * 512);
    let old = (size & !0xffff).checked_sub(0x1_0000);
    recent.and_then(|offset| md_1(seen, offset)).or_else(|| {
        let offset = old?;
        let version_0 = seen.has(offset, &MD_MAGIC) && seen.u32(offset + 4)? == 0;
        version_0.then(|| "md member".to_owned())
    })
}

fn md_1(seen: &Seen, offset: u64) -> Option<String> {
    if !seen.has(offset, &MD_MAGIC) || seen.u32(offset.checked_add(4)?)? != 1 {
        return None;
    }
    Some(labelled("md member", seen.label(offset + 32, 32)))
}

/// ZFS: the property list of a label begins with the version; the name of the pool follows.
pub(super) fn zfs(seen: &Seen) -> Option<String> {
    const LIST: u64 = 16 << 10;
    // Length of the key, the key, type of the value (string), and number of values.
    const NAME: &[u8] = b"\0\0\0\x04name\0\0\0\x09\0\0\0\x01";
    let pairs = seen.bytes(LIST, 1024)?;
    let found = pairs.windows(NAME.len()).position(|window| window == NAME);
    let label = found.and_then(|at| {
        let length = LIST + (at + NAME.len()) as u64;
        let bytes = usize::try_from(seen.u32_big(length)?).ok()?;
        if bytes <= 256 { seen.label(length + 4, bytes) } else { None }
    });
    Some(labelled("ZFS member", label))
}

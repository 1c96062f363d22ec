//! Compressed sources: their content in order, decompressed while it is read. Formats are recognized by their first
//! bytes.
//!
//! This room must not know what holds the compressed bytes: it reads them through the endpoint of that.
#![forbid(unsafe_code)]
mod crc32;
#[cfg_attr(not(feature = "images"), allow(dead_code, reason = "what comes after the first bytes is not read"))]
mod detect;
mod read_at;

#[cfg(feature = "images")]
mod content;
#[cfg(feature = "images")]
mod decode;
#[cfg(feature = "images")]
mod directory;
#[cfg(feature = "images")]
mod encode;
#[cfg(feature = "images")]
mod endpoint;
#[cfg(feature = "images")]
mod fault;
#[cfg(all(any(test, feature = "internals"), feature = "images"))]
pub mod fuzzed;
#[cfg(feature = "images")]
mod input;
#[cfg(feature = "images")]
mod probe;
#[cfg(feature = "images")]
mod sequential;
#[cfg(feature = "images")]
mod size;
// Its tests run in each build.
#[cfg(any(test, not(feature = "images")))]
mod without;

#[cfg(feature = "images")]
pub use encode::{check_encoding, check_resumed, compressing};
#[cfg(feature = "images")]
pub use probe::{content, over};
#[cfg(not(feature = "images"))]
pub use without::{check_encoding, check_resumed, compressing, content, over};

use crate::core::{
    AddressMap, CallStyle, Compressed, Compression, Encoding, EndpointKind, Existing, Extent, Facts, Order, PlanSide,
    Result, Side,
};
use crate::disks::probe::cannot_open;
use crate::disks::probe::signature::image_format;
use crate::disks::{http, object};
use read_at::ReadAt;
use rustix::fs::{Mode, OFlags};
use std::os::fd::OwnedFd;

/// The bytes of a web resource that are read to detect its format.
const HEAD_BYTES: usize = 4096;

/// Whether a server has it, which sends it in order.
fn is_remote(facts: &Facts) -> bool {
    matches!(facts.kind, EndpointKind::Http | EndpointKind::HttpStream | EndpointKind::Object)
}

/// What the first bytes of a file show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// It is compressed.
    Compressed(Compression),
    /// It looks like a disk image that is not raw, such as `qcow2 image`.
    Disk(String),
    /// Neither.
    Plain,
}

/// The format of a file or web resource. No other kind is examined: the first bytes of a disk may be those of anything,
/// and those of a stream come when it is read.
///
/// # Errors
/// Open where it cannot be read.
pub fn format(facts: &Facts) -> Result<Format> {
    if facts.kind == EndpointKind::Object {
        let head = object::first_bytes(facts, HEAD_BYTES)?;
        return Ok(recognized(detect::detect(&head), &head));
    }
    if is_remote(facts) {
        let head = http::first_bytes(facts, HEAD_BYTES)?;
        return Ok(recognized(detect::detect(&head), &head));
    }
    let file = open(facts)?;
    let failed = |error| cannot_open(Side::Source, &facts.address, error);
    let compression = detect::detect_at(&file).map_err(failed)?;
    let mut head = vec![0; HEAD_BYTES];
    let filled = file.read_full_at(&mut head, 0).map_err(failed)?;
    Ok(recognized(compression, &head[..filled]))
}

fn recognized(compression: Option<Compression>, head: &[u8]) -> Format {
    match (compression, image_format(head)) {
        (Some(compression), _) => Format::Compressed(compression),
        (None, Some(name)) => Format::Disk(name),
        (None, None) => Format::Plain,
    }
}

fn open(facts: &Facts) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::open(&facts.path, flags, Mode::empty())
        .map_err(|errno| cannot_open(Side::Source, &facts.address, errno.into()))?;
    // A few bytes here and there: what the kernel would read ahead is not needed.
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
    Ok(file)
}

/// How the file or stream itself is opened, of which `side` is the content. A file that is compressed is shortened when
/// its first frame is written.
pub fn stored_side(side: &PlanSide, stored: &Facts) -> PlanSide {
    let lock = side.lock.map(|_| Extent::new(0, u64::MAX));
    let mut access = side.access;
    if access.existing == Existing::Truncate {
        access.existing = Existing::Keep;
    }
    PlanSide { kind: stored.kind, map: AddressMap::from(0), lock, access, ..side.clone() }
}

/// The facts of the content of a dest that is compressed: bytes in order, which become a file or stream.
pub fn compressed(stored: Facts, encoding: Encoding) -> Facts {
    let mut facts = stored.clone();
    facts.make_stream(Order::Ascending, CallStyle::Waits);
    facts.reflinks = false;
    if stored.kind == EndpointKind::File {
        facts.kind = EndpointKind::CompressedDest;
    }
    let (format, encoding, is_required, least_bytes) = (Some(encoding.format), Some(encoding), true, 0);
    let (member, copied_to, digest) = (None, None, None);
    let compressed = Compressed { stored, format, is_required, least_bytes, member, copied_to, digest, encoding };
    Facts { compressed: Some(Box::new(compressed)), ..facts }
}

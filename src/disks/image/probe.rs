//! Facts of the content of a compressed file, and its opening.
use super::endpoint::Decompressed;
use super::{directory, open, size};
use crate::core::{
    CallStyle, Compressed, Compression, Endpoint, EndpointKind, Error, Facts, Kind, Order, Result, Side,
};
use crate::disks::probe::cannot_open;
use std::sync::Arc;

/// The facts of the content of a file that is compressed in this format.
///
/// # Errors
/// Open where it cannot be read; Unsupported for an archive that has not exactly one file.
pub fn content(stored: &Facts, format: Compression) -> Result<Facts> {
    if super::is_remote(stored) {
        return in_order(stored, format);
    }
    let file = open(stored)?;
    let stored_bytes = stored.size.unwrap_or(0);
    let mut member = None;
    if format == Compression::Zip {
        let found = directory::only_member(&file, stored_bytes).map_err(|why| {
            let what = format!("source {} is a ZIP archive that haul cannot decompress: {why}", stored.address);
            let advice = "Nothing was written. Extract the file to copy, or use --as-is to copy the archive itself.";
            Error::new(Kind::Unsupported, what).on(Side::Source).advise(advice)
        })?;
        member = Some(found);
    }
    let found = size::of_file(&file, format, stored_bytes);
    let found = found.map_err(|error| cannot_open(Side::Source, &stored.address, error))?;
    let bytes = member.map_or(found.bytes, |member| Some(member.content_bytes));
    let least_bytes = bytes.unwrap_or(found.least_bytes);
    let mut facts = read_once(stored.clone(), format, bytes);
    (facts.reflinks, facts.free_bytes) = (false, None);
    if let Some(compressed) = &mut facts.compressed {
        (compressed.least_bytes, compressed.member) = (least_bytes, member);
    }
    Ok(facts)
}

/// The content of `stored`, of `bytes` bytes if that is known, read once from its first byte to its last.
fn read_once(stored: Facts, format: Compression, bytes: Option<u64>) -> Facts {
    let mut facts = stored.clone();
    facts.make_stream(Order::Ascending, CallStyle::Waits);
    (facts.kind, facts.size) = (EndpointKind::Compressed, bytes);
    facts.compressed = Some(Box::new(Compressed {
        stored,
        format: Some(format),
        is_required: true,
        least_bytes: 0,
        member: None,
        copied_to: None,
        digest: None,
        encoding: None,
    }));
    facts
}

/// The same for a resource of a server, which is read once from its first byte to its last: the size of its content is
/// at its end in some formats, and unknown.
fn in_order(resource: &Facts, format: Compression) -> Result<Facts> {
    if format == Compression::Zip {
        let what = format!("source {} is a ZIP archive, whose directory is at its end", resource.address);
        let advice = "Nothing was written. Download it first, or use --as-is to copy the archive itself.";
        return Err(Error::new(Kind::Unsupported, what).on(Side::Source).advise(advice));
    }
    let mut stored = resource.clone();
    if stored.kind == EndpointKind::Http {
        stored.kind = EndpointKind::HttpStream;
    }
    Ok(read_once(stored, format, None))
}

/// The content of a file or stream that is open.
///
/// # Errors
/// None: what it is shows when it is read.
pub fn over(facts: &Facts, compressed: &Compressed, stored: Arc<dyn Endpoint>) -> Result<Arc<dyn Endpoint>> {
    Ok(Arc::new(Decompressed::new(facts.clone(), compressed.clone(), stored)))
}

//! Warns about possible mistakes before the copy begins.
use super::Range;
use crate::core::PlanNotes;
use crate::core::{EndpointKind, InUse, Side};
use crate::plan::plan_input::{PlanInput, named};

/// Warns about a source in use, and about a partition table that will not fit the dest.
pub(in crate::plan) fn warnings(asked: &PlanInput, range: &Range, notes: &mut PlanNotes) {
    let (source, dest) = (asked.source, asked.dest);
    if dest.kind == EndpointKind::Pattern {
        // Nothing is copied, so a source in use does no harm.
        return;
    }
    let users: Vec<String> =
        source.in_use.iter().filter(|user| !matches!(user, InUse::Exclusive)).map(super::dest::user).collect();
    if !users.is_empty() {
        notes.warn(format!(
            "{} may change during the copy ({}): the copy would mix old and new data; unmount it, or mount it \
             read-only",
            named(Side::Source, source),
            users.join("; ")
        ));
    }
    image_format(asked, notes);
    if let Some(resource) = &source.http {
        if resource.version().is_none() {
            notes.warn(format!(
                "{} has neither a strong ETag nor Last-Modified: haul cannot detect that it changes during the copy, \
                 unless its length does",
                named(Side::Source, source)
            ));
        }
        if source.size.is_none() && source.kind == EndpointKind::HttpStream {
            notes.warn(format!("{} has no Content-Length", named(Side::Source, source)));
        }
    }
    let whole = range.skip == 0 && range.seek == 0 && asked.options.count_bytes.is_none();
    if !whole || dest.kind != EndpointKind::Block {
        return;
    }
    let gpt = source.content.as_deref().is_some_and(|content| content.starts_with("GPT"));
    let table = gpt || !source.partitions.is_empty();
    let (from, to) = (source.logical_block_bytes, dest.logical_block_bytes);
    if table && source.kind == EndpointKind::Block && from != to {
        notes.warn(format!(
            "the source has sectors of {from} bytes and the destination {to}: the partition table will not be usable \
             there"
        ));
    }
    if gpt && range.len.zip(dest.size).is_some_and(|(len, size)| len < size) {
        notes.warn(
            "the destination is larger: the backup partition table will not be at its end; 'sgdisk -e' moves it there",
        );
    }
}

/// Warns about a disk image that is not raw, where its bytes will be on a device. It is never taken for one without
/// being asked: a guest can write such a header at the start of its disk.
fn image_format(asked: &PlanInput, notes: &mut PlanNotes) {
    let source = asked.source;
    let is_file = matches!(source.kind, EndpointKind::File | EndpointKind::Http | EndpointKind::HttpStream);
    let Some(name) = source.content.as_deref().filter(|_| is_file && asked.dest.kind.is_fixed_size()) else { return };
    let address = &source.address;
    let prefix = match name {
        "qcow2 image" => Some("qcow2"),
        "VMDK image" => Some("vmdk"),
        "VHDX image" => Some("vhdx"),
        _ => None,
    };
    let advice = match prefix {
        Some(prefix) if source.kind == EndpointKind::File => format!("{prefix}:{address} is the disk in it"),
        Some(prefix) => format!("download it, then copy {prefix}:FILE"),
        None if name.starts_with("Android") => "simg2img converts it".to_owned(),
        None => "qemu-img convert -O raw converts it".to_owned(),
    };
    notes.warn(format!(
        "{} looks like a {name}: the destination will have the bytes of this file, not those of the disk in it; \
         {advice}",
        named(Side::Source, source)
    ));
}

//! What is no mistake for certain, and worth knowing before it begins.
use super::Range;
use crate::core::PlanNotes;
use crate::core::{EndpointKind, InUse, Side};
use crate::plan::plan_input::{PlanInput, named};

/// Warns of a source in use, and of a partition table that will not fit the dest.
pub(in crate::plan) fn worries(asked: &PlanInput, range: &Range, notes: &mut PlanNotes) {
    let (source, dest) = (asked.source, asked.dest);
    if dest.kind == EndpointKind::Pattern {
        // Nothing is copied that could be a mixture.
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

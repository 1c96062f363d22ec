//! Whether source and dest are the same data, under whatever names.
use super::Range;
use crate::core::PlanNotes;
use crate::core::{EndpointKind, Error, Facts, FileId, InUse, Kind, Result, Side};
use crate::plan::plan_input::{PlanInput, named};

/// Source and dest share bytes, and both ranges were named: copied so that the dest gets what the source held before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    /// The dest lies behind the source: from the last byte to the first.
    pub(crate) backward: bool,
    /// Both sides are one file or device by its number, so that there is one page cache between them.
    pub(crate) one_cache: bool,
}

/// One name of the bytes of an endpoint: itself, or something beneath.
struct NamedRange<'a> {
    id: FileId,
    name: &'a str,
    offset: Option<u64>,
}

/// The endpoint itself and everything beneath it.
fn levels(facts: &Facts) -> Vec<NamedRange<'_>> {
    let own = facts.id.map(|id| NamedRange { id, name: &facts.address, offset: Some(0) });
    let beneath = facts.ground.iter().filter(|ground| Some(ground.id) != facts.id);
    own.into_iter()
        .chain(beneath.map(|ground| NamedRange { id: ground.id, name: &ground.name, offset: ground.offset }))
        .collect()
}

/// Two ranges of one thing that have bytes in common.
struct Shared<'a> {
    name: &'a str,
    source_at: u64,
    dest_at: u64,
}

/// Refuses a copy onto itself; `Some` where the ranges overlap and both were named.
pub(in crate::plan) fn same(asked: &PlanInput, range: &Range, notes: &mut PlanNotes) -> Result<Option<Overlap>> {
    let (source, dest) = (asked.source, asked.dest);
    stacked(asked, notes)?;
    let one_cache = source.id.is_some() && source.id == dest.id;
    if one_cache && !asked.range_given() {
        return Err(refused(asked, "".to_owned()));
    }
    let shared = shared(source, dest, range);
    let Some(first) = shared.first() else {
        let meant = !is_part_of(source, dest) || asked.options.seek_bytes.is_some();
        return if meant { Ok(None) } else { Err(onto_its_disk(asked)) };
    };
    let beneath = if one_cache {
        String::new()
    } else {
        format!(": both lie on {}, at byte {} and at byte {}", first.name, first.source_at, first.dest_at)
    };
    if first.source_at == first.dest_at && asked.options.seek_bytes.is_some() {
        let what = format!(
            "{} and {} are the same range of bytes{beneath}",
            named(Side::Source, source),
            named(Side::Dest, dest)
        );
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise("There is nothing to copy."));
    }
    let explicit = asked.options.skip_bytes.is_some() && asked.options.seek_bytes.is_some() && range.len.is_some();
    // Both mappings have to tell the same distance, else one of them is not what it seems.
    let agree = shared.iter().all(|one| {
        i128::from(one.dest_at) - i128::from(one.source_at) == i128::from(first.dest_at) - i128::from(first.source_at)
    });
    if !explicit || !agree {
        return Err(refused(asked, beneath));
    }
    if !one_cache && (source.kind, dest.kind) != (EndpointKind::Block, EndpointKind::Block) {
        return Err(refused(asked, beneath).advise(ONE_NAME));
    }
    Ok(Some(Overlap { backward: first.dest_at > first.source_at, one_cache }))
}

/// The source is a partition of the dest, or lies at a known place on it in another way.
fn is_part_of(source: &Facts, dest: &Facts) -> bool {
    let on_it = |id| source.ground.iter().any(|on| on.id == id && on.offset.is_some());
    source.id != dest.id && dest.kind == EndpointKind::Block && dest.id.is_some_and(on_it)
}

/// Even where the bytes themselves do not meet, the beginning of a disk is what tells where its partitions are.
fn onto_its_disk(asked: &PlanInput) -> Error {
    let (source, dest) = (named(Side::Source, asked.source), named(Side::Dest, asked.dest));
    let what = format!("{source} is a part of {dest}: the copy would overwrite the metadata that locates it");
    let advice = "Give another DST; if this is intended, confirm the offset with --seek 0.";
    Error::new(Kind::Refused, what).on(Side::Dest).advise(advice)
}

/// What to do where two names have two caches that could disagree.
pub(crate) const ONE_NAME: &str = "Name source and destination by the same file or device.";

fn refused(asked: &PlanInput, beneath: String) -> Error {
    let (source, dest) = (named(Side::Source, asked.source), named(Side::Dest, asked.dest));
    Error::new(Kind::Refused, format!("{source} and {dest} are the same data{beneath}"))
        .on(Side::Dest)
        .advise("To move bytes within one file or disk, give both --skip and --seek.")
}

/// Every pair of known positions at which both ranges have bytes in common.
fn shared<'a>(source: &'a Facts, dest: &'a Facts, range: &Range) -> Vec<Shared<'a>> {
    let len = range.len.unwrap_or(u64::MAX);
    let mut found = Vec::new();
    let dest_levels = levels(dest);
    for from in levels(source) {
        for to in dest_levels.iter().filter(|to| to.id == from.id) {
            let (Some(source_at), Some(dest_at)) = (from.offset, to.offset) else { continue };
            let (source_at, dest_at) = (source_at.saturating_add(range.skip), dest_at.saturating_add(range.seek));
            if source_at.abs_diff(dest_at) < len {
                // The name that is not the user's own tells more.
                found.push(Shared {
                    name: if from.name == source.address { to.name } else { from.name },
                    source_at,
                    dest_at,
                });
            }
        }
    }
    found
}

/// Refuses, or warns of, one side that lies on the other in a way that cannot be followed byte by byte.
fn stacked(asked: &PlanInput, notes: &mut PlanNotes) -> Result<()> {
    let (source, dest) = (asked.source, asked.dest);
    let lies_on = |upper: &Facts, lower: &Facts| {
        lower
            .id
            .is_some_and(|id| Some(id) != upper.id && upper.ground.iter().any(|on| on.id == id && on.offset.is_none()))
    };
    if lies_on(source, dest) {
        let what = format!("{} lies on {}", named(Side::Source, source), named(Side::Dest, dest));
        let advice = "The copy would destroy its own source. Give another DST.";
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
    }
    let holder = dest.path.file_name().and_then(|name| name.to_str());
    let held = |user: &InUse| matches!(user, InUse::Held { by, .. } if Some(by.as_str()) == holder);
    let on_source = lies_on(dest, source);
    if dest.kind == EndpointKind::Block && (on_source || source.in_use.iter().any(held)) {
        let what = format!("{} lies on {}", named(Side::Dest, dest), named(Side::Source, source));
        let advice = "The copy would change its own source. Give another DST.";
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
    }
    if dest.kind == EndpointKind::File && (on_source || on_mounted_part(source, dest)) {
        notes.warn(format!(
            "{} lies on {}: the copy changes its own source while reading it, and the image will be inconsistent",
            named(Side::Dest, dest),
            named(Side::Source, source)
        ));
    }
    Ok(())
}

/// The dest file is below a mount point of a part of the source, and on the same disk.
fn on_mounted_part(source: &Facts, dest: &Facts) -> bool {
    let below = |user: &InUse| matches!(user, InUse::Mounted { at, .. } if dest.path.starts_with(at));
    // A mount point below another one may be of another disk: the disks have to agree too.
    let dest_levels = levels(dest);
    let one_disk = levels(source).iter().any(|from| dest_levels.iter().any(|to| to.id == from.id));
    one_disk && source.in_use.iter().any(below)
}

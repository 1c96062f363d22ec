//! Checks whether source and dest share bytes, under any names.
use super::Range;
use crate::core::PlanNotes;
use crate::core::{EndpointKind, Error, Extent, ExtentSet, Facts, FileId, InUse, Kind, Result, Side};
use crate::plan::plan_input::{PlanInput, named};

/// Source and dest share bytes, and both ranges were given: the dest receives the original data of the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    /// The dest begins after the source: copy from the last byte to the first.
    pub(crate) backward: bool,
    /// Both sides are the same file or device number, and so share one page cache.
    pub(crate) one_cache: bool,
}

/// A range of bytes of an endpoint: on the endpoint itself, or on a file or device below it.
struct NamedRange<'a> {
    id: FileId,
    name: &'a str,
    offset: Option<u64>,
}

/// The endpoint itself and every layer below it.
fn levels(facts: &Facts) -> Vec<NamedRange<'_>> {
    let own = facts.id.map(|id| NamedRange { id, name: &facts.address, offset: Some(0) });
    let beneath = facts.ground.iter().filter(|ground| Some(ground.id) != facts.id);
    own.into_iter()
        .chain(beneath.map(|ground| NamedRange { id: ground.id, name: &ground.name, offset: ground.offset }))
        .collect()
}

/// Two ranges of one file or device that have bytes in common.
struct Shared<'a> {
    name: &'a str,
    source_at: u64,
    dest_at: u64,
}

/// Refuses a copy onto itself; `Some` if the ranges overlap and both were given.
pub(in crate::plan) fn same(asked: &PlanInput, range: &Range, notes: &mut PlanNotes) -> Result<Option<Overlap>> {
    let (source, dest) = (asked.source, asked.dest);
    stacked(asked, notes)?;
    let one_cache = source.id.is_some() && source.id == dest.id;
    if one_cache && matches!(dest.kind, EndpointKind::Nbd | EndpointKind::Object) {
        let error = refused(asked, "".to_owned());
        return Err(error.advise("haul does not move bytes within an export or an object: name two different ones."));
    }
    if one_cache && (!asked.range_given() || source.kind == EndpointKind::Compressed) {
        return Err(refused(asked, "".to_owned()));
    }
    let shared = shared(source, dest, range);
    if let Some(first) = shared.first().filter(|_| range.is_listed()) {
        let what = format!(
            "{} and {} are the same data, and byte {} of {} is to be read and to be written",
            named(Side::Source, source),
            named(Side::Dest, dest),
            first.source_at,
            first.name
        );
        let advice = "Within one file or disk, the ranges of source and destination must not overlap.";
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
    }
    let Some(first) = shared.first() else {
        let meant = !is_part_of(source, dest) || asked.options.seek_bytes.is_some();
        return if meant { Ok(None) } else { Err(onto_its_disk(asked)) };
    };
    let beneath = if one_cache {
        String::new()
    } else {
        format!(": both are on {}, at byte {} and at byte {}", first.name, first.source_at, first.dest_at)
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
    // All mappings must give the same distance, otherwise one of them is misleading.
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

/// Whether the source is a partition of the dest, or at a known offset of it in another way.
fn is_part_of(source: &Facts, dest: &Facts) -> bool {
    let on_it = |id| source.ground.iter().any(|on| on.id == id && on.offset.is_some());
    source.id != dest.id && dest.kind == EndpointKind::Block && dest.id.is_some_and(on_it)
}

/// Even if the ranges do not overlap, the beginning of a disk locates its partitions.
fn onto_its_disk(asked: &PlanInput) -> Error {
    let (source, dest) = (named(Side::Source, asked.source), named(Side::Dest, asked.dest));
    let what = format!("{source} is a part of {dest}: the copy would overwrite the metadata that locates it");
    let advice = "Give another DST; if this is intended, confirm the offset with --seek 0.";
    Error::new(Kind::Refused, what).on(Side::Dest).advise(advice)
}

/// The advice if two names have separate page caches that could differ.
pub(crate) const ONE_NAME: &str = "Name source and destination by the same file or device.";

fn refused(asked: &PlanInput, beneath: String) -> Error {
    let (source, dest) = (named(Side::Source, asked.source), named(Side::Dest, asked.dest));
    Error::new(Kind::Refused, format!("{source} and {dest} are the same data{beneath}"))
        .on(Side::Dest)
        .advise("Name another destination. To move bytes within one file or disk, give both --skip and --seek.")
}

/// Every pair of known offsets at which both ranges have bytes in common.
fn shared<'a>(source: &'a Facts, dest: &'a Facts, range: &Range) -> Vec<Shared<'a>> {
    let len = range.len.unwrap_or(u64::MAX);
    let mut found = Vec::new();
    let dest_levels = levels(dest);
    for from in levels(source) {
        for to in dest_levels.iter().filter(|to| to.id == from.id) {
            let (Some(source_at), Some(dest_at)) = (from.offset, to.offset) else { continue };
            let meeting = if range.is_listed() {
                meeting(range, [source_at, dest_at])
            } else {
                let at = [source_at.saturating_add(range.skip), dest_at.saturating_add(range.seek)];
                (at[0].abs_diff(at[1]) < len).then_some(at)
            };
            if let Some([source_at, dest_at]) = meeting {
                // The name that the user did not give is more informative.
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

/// The first byte common to ranges of both sides, if the sides begin `at` these offsets of one device.
fn meeting(range: &Range, at: [u64; 2]) -> Option<[u64; 2]> {
    let whole = Extent::new(0, range.len.unwrap_or(0));
    let [source, dest] = Side::BOTH.map(|side| {
        let places = range.maps[side.index()].places(whole);
        let on_it = |place: Extent| Extent::new(at[side.index()].saturating_add(place.offset), place.len);
        places.map(on_it).collect::<ExtentSet>()
    });
    source.intersection(&dest).iter().next().map(|both| [both.offset; 2])
}

/// Refuses, or warns about, a side that is stored on the other in a way that cannot be mapped byte by byte.
fn stacked(asked: &PlanInput, notes: &mut PlanNotes) -> Result<()> {
    let (source, dest) = (asked.source, asked.dest);
    let lies_on = |upper: &Facts, lower: &Facts| {
        lower
            .id
            .is_some_and(|id| Some(id) != upper.id && upper.ground.iter().any(|on| on.id == id && on.offset.is_none()))
    };
    if lies_on(source, dest) {
        let what = format!("{} is on {}", named(Side::Source, source), named(Side::Dest, dest));
        let advice = "The copy would destroy its own source. Give another DST.";
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
    }
    let holder = dest.path.file_name().and_then(|name| name.to_str());
    let held = |user: &InUse| matches!(user, InUse::Held { by, .. } if Some(by.as_str()) == holder);
    let on_source = lies_on(dest, source);
    if dest.kind == EndpointKind::Block && (on_source || source.in_use.iter().any(held)) {
        let what = format!("{} is on {}", named(Side::Dest, dest), named(Side::Source, source));
        let advice = "The copy would change its own source. Give another DST.";
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
    }
    if dest.is_file() && (on_source || on_mounted_part(source, dest)) {
        notes.warn(format!(
            "{} is on {}: the copy changes its own source while reading it, and the image will be inconsistent",
            named(Side::Dest, dest),
            named(Side::Source, source)
        ));
    }
    Ok(())
}

/// Whether the dest file is below a mount point of a part of the source, and on the same disk.
fn on_mounted_part(source: &Facts, dest: &Facts) -> bool {
    let below = |user: &InUse| matches!(user, InUse::Mounted { at, .. } if dest.path.starts_with(at));
    // A mount point below another one may belong to another disk: the disks must match too.
    let dest_levels = levels(dest);
    let one_disk = levels(source).iter().any(|from| dest_levels.iter().any(|to| to.id == from.id));
    one_disk && source.in_use.iter().any(below)
}

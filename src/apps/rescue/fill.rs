//! `haul rescue --fill`: writes data to the areas of a map that were not rescued, so that they can be recognized.
use super::decide::{is_named, map_place, not_a_side};
use super::options::{FillOptions, RescueOptions};
use crate::apps::command::Call;
use crate::apps::console::Console;
use crate::apps::exit::Exit;
use crate::apps::run_report::carry_out;
use crate::core::rescue::{FILL_BYTES, Fill, RescueMap, Status, StatusBlock};
use crate::core::{AddressMap, EndpointKind, Error, Extent, ExtentSet, Facts, Kind, Result, Side};
use crate::disks::{self, computed, probe};
use crate::files::open_to_read;
use crate::job::operator::Operator;
use crate::job::rescue::{domain, is_source_of, read_map};
use crate::job::{host, journal, undo};
use crate::ledger::mapfile::Mapfile;
use crate::plan::{self, Options, RangeLists, When, needs_confirmation};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Fills the areas of the dest that have one of these statuses in the map.
pub(super) fn fill(options: &RescueOptions, how: &FillOptions, call: &Call<'_>) -> Result<Exit> {
    let copy = &options.copy;
    let console = Console::new(copy, "copy", call.words, call.out)?;
    let dest = probe::one_through(&copy.dest, Side::Dest, false)?;
    let place = map_place(options, &dest)?;
    is_named(&place, call.words)?;
    let path = place.path;
    not_a_side("map", &path, &[&dest])?;
    let map = read_map(&path)?;
    may_be_filled(&path, &map, &dest)?;
    let only = options.domain.as_deref().map(domain).transpose()?;
    let areas = areas(&map, &how.statuses, only.as_ref());
    if areas.is_empty() {
        let letters: String = how.statuses.iter().map(|status| status.letter()).collect();
        let what = format!("--fill {letters}: map {} has no area with this status", path.display());
        return Err(Error::new(Kind::Usage, what).advise("Nothing was written. haul map show lists the areas."));
    }
    let (source, asked) = (source(&copy.source, &areas), asked(copy, &path, &areas)?);
    let mut decision = plan::make(&asked, &source, &dest, &host(copy.engine))?;
    assert_eq!(decision.plan.len, asked.count_bytes, "only the areas are written");
    decision.notes.warnings.extend(undo::write_warnings(&dest, false));
    let mut found = journal::look(&asked, &decision.plan, &source, &dest)?;
    decision.notes.warnings.append(&mut found.warnings);
    let made = Fill::new(areas, &data(&copy.source, &dest)?, how.located).ok_or_else(|| empty(&copy.source))?;
    console.warn_of(&decision.notes);
    if needs_confirmation(&decision.plan, &dest) && !copy.yes {
        console.confirm(&decision.plan, &source, &dest)?;
    }
    undo::before_writing(&dest, &mut decision.notes, &*console)?;
    let _held = disks::hold_dest(&decision.plan.dest, &dest)?;
    let made = computed::made(source, Arc::new(made));
    found.begin(&decision.plan, &made, None)?;
    let ends = [made, disks::open_dest(&decision.plan.dest, &dest)?];
    carry_out(&asked, &decision, &ends, call.words, &console)
}

/// Refuses a dest that does not exist, and the failing disk itself.
fn may_be_filled(path: &Path, map: &Mapfile, dest: &Facts) -> Result<()> {
    let (name, address) = (path.display(), &dest.address);
    if !dest.exists || !matches!(dest.kind, EndpointKind::File | EndpointKind::Block) {
        let what = format!("--fill: destination {address} is neither an existing file nor a block device");
        return Err(Error::new(Kind::Usage, what).on(Side::Dest).advise("Name the destination of the rescue."));
    }
    if is_source_of(map, dest) {
        let what = format!("--fill: {address} is the source of map {name}, not its destination");
        let advice = "Nothing was written. Writes to the failing disk would destroy what may still be readable.";
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
    }
    Ok(())
}

/// The areas of these statuses, in their order.
fn areas(map: &Mapfile, statuses: &[Status], only: Option<&ExtentSet>) -> Vec<StatusBlock> {
    let (start, end) = match (map.blocks.first(), map.blocks.last()) {
        (Some(first), Some(last)) => (first.extent.offset, last.extent.end()),
        _ => return Vec::new(),
    };
    // What lies before the first block is not in the map.
    let listed: ExtentSet = [Extent::new(start, end - start)].into_iter().collect();
    let within = only.map_or(listed.clone(), |only| listed.intersection(only));
    let blocks = RescueMap::of_blocks(end, map.blocks.iter().copied());
    let of = |&status: &Status| {
        let extents: Vec<Extent> = blocks.set_of(status).intersection(&within).iter().collect();
        extents.into_iter().map(move |extent| StatusBlock { extent, status })
    };
    let mut areas: Vec<StatusBlock> = statuses.iter().flat_map(of).collect();
    areas.sort_by_key(|area| area.extent.offset);
    areas
}

fn source(address: &str, areas: &[StatusBlock]) -> Facts {
    let size = areas.last().map(|area| area.extent.end());
    Facts { size, ..Facts::new(address, EndpointKind::Fill) }
}

/// The copy of the data to these areas.
fn asked(copy: &Options, path: &Path, areas: &[StatusBlock]) -> Result<Options> {
    let name = path.display().to_string();
    let ranges = areas.iter().map(|area| area.extent).collect();
    let map = AddressMap::listed(&name, ranges, false).map_err(|_| {
        Error::new(Kind::Corrupt, format!("map {name} has areas that overlap")).advise("Nothing was written.")
    })?;
    Ok(Options {
        skip_bytes: Some(map.start()),
        seek_bytes: Some(map.start()),
        count_bytes: map.listed_bytes(),
        ranges: [Some(map.clone()), Some(map)],
        range_lists: RangeLists { both: Some(name), ..RangeLists::default() },
        reflink: When::Never,
        fills: true,
        rescue: false,
        ..copy.clone()
    })
}

/// As much of the data as is repeated.
fn data(address: &str, dest: &Facts) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let failed = |cause: io::Error| {
        let what = format!("--fill: cannot read data from {address}");
        Error::new(Kind::Open, what).on(Side::Source).because(cause).advise("Nothing was written.")
    };
    if address == "-" {
        io::stdin().lock().take(FILL_BYTES as u64).read_to_end(&mut bytes).map_err(failed)?;
        return Ok(bytes);
    }
    let path = Path::new(address);
    not_a_side("the data", path, &[dest])?;
    let file = open_to_read(path).map_err(|error| failed(error.into()))?;
    file.take(FILL_BYTES as u64).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn empty(address: &str) -> Error {
    let what = format!("--fill: {address} has no data");
    Error::new(Kind::Usage, what).on(Side::Source).advise("Nothing was written. Name a file with data, or /dev/zero.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> Mapfile {
        Mapfile::parse(text.as_bytes()).unwrap()
    }

    fn found(map: &Mapfile, statuses: &[Status], only: Option<&ExtentSet>) -> Vec<(u64, u64, char)> {
        let areas = areas(map, statuses, only);
        areas.iter().map(|area| (area.extent.offset, area.extent.len, area.status.letter())).collect()
    }

    #[test]
    fn only_areas_of_the_map_with_these_statuses_are_filled() {
        let map = map("0 ? 1\n100 100 -\n200 100 -\n300 100 +\n400 100 ?\n500 100 *\n");
        assert_eq!(found(&map, &[Status::Bad], None), [(100, 200, '-')]);
        // Bytes before the first block are not in the map.
        assert_eq!(found(&map, &[Status::Untried], None), [(400, 100, '?')]);
        let all = [Status::Untried, Status::Untrimmed, Status::Bad];
        let only = [Extent::new(150, 20), Extent::new(290, 130)].into_iter().collect();
        assert_eq!(found(&map, &all, Some(&only)), [(150, 20, '-'), (290, 10, '-'), (400, 20, '?')]);
    }
}

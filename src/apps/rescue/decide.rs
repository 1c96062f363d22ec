//! What follows from the options, the plan and both sides, and what is refused.
use super::options::RescueOptions;
use crate::core::rescue::{RescuePlan, Status};
use crate::core::{EndpointKind, Error, Extent, Facts, Kind, Plan, Result, Side};
use crate::job::beside;
use crate::job::rescue::domain;
use crate::plan::rescue_sector_bytes;
use std::path::{Path, PathBuf};

/// The path of the map.
pub(super) fn map_path(options: &RescueOptions, dest: &Facts) -> Result<PathBuf> {
    if let Some(path) = &options.map {
        return Ok(path.clone());
    }
    if dest.kind == EndpointKind::File {
        let mut path = dest.path.clone().into_os_string();
        path.push(".map");
        return Ok(path.into());
    }
    let what = format!("no map: destination {} is not a file, so there is no place beside it", dest.address);
    Err(Error::new(Kind::Usage, what).on(Side::Dest).advise("Name the map after the destination, on another disk."))
}

/// Refuses a map or log that is a side of the rescue, or another of them.
pub(super) fn are_separate(map: &PathBuf, options: &RescueOptions, sides: &[&Facts]) -> Result<()> {
    let mut before: Vec<&PathBuf> = Vec::new();
    for (name, path) in std::iter::once(("map", map)).chain(options.logs.iter().map(|(_, path)| ("log", path))) {
        not_a_side(name, path, sides)?;
        if before.contains(&path) {
            let what = format!("{name} {} is named twice", path.display());
            return Err(Error::new(Kind::Usage, what).advise("Nothing was written. Name another file."));
        }
        before.push(path);
    }
    Ok(())
}

pub(super) fn not_a_side(name: &str, path: &Path, sides: &[&Facts]) -> Result<()> {
    let Some(side) = sides.iter().find(|side| beside::leads_to(path, side)) else { return Ok(()) };
    let what = format!("{name} {} is {}, a side of the rescue", path.display(), side.address);
    Err(Error::new(Kind::Refused, what).advise("Nothing was written. Name another file."))
}

/// Refuses to write into a file with data of unknown origin.
pub(super) fn may_overwrite(options: &RescueOptions, map: &Path, dest: &Facts) -> Result<()> {
    let has_data = dest.kind == EndpointKind::File && dest.exists && dest.size != Some(0);
    if !has_data || options.copy.yes {
        return Ok(());
    }
    let what = format!(
        "destination {} exists, and there is no map {} that lists what was rescued into it",
        dest.address,
        map.display()
    );
    let advice = "Nothing was written. Name its map, or another destination; --yes overwrites it.";
    Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice))
}

/// The decisions about the rescue.
pub(super) fn rescue_plan(options: &RescueOptions, plan: &Plan, source: &Facts) -> Result<RescuePlan> {
    let (len, sector_bytes) = (plan.len.unwrap_or(0), rescue_sector_bytes(plan, source));
    let whole = [Extent::new(0, len)].into_iter().collect();
    let within = options.domain.as_deref().map(domain).transpose()?.map(|listed| listed.intersection(&whole));
    let [first, most] = options.skip_bytes;
    let first = first.unwrap_or((len / 100_000).max(64 << 10)).next_multiple_of(sector_bytes);
    let most = most.unwrap_or(len / 100).max(first).next_multiple_of(sector_bytes);
    Ok(RescuePlan {
        sector_bytes,
        cluster_bytes: plan.tuning.limits.block_bytes.into(),
        domain: within,
        reverse: options.reverse,
        trim: options.trim,
        scrape: options.scrape,
        retries: options.retries,
        skip_bytes: [first, most],
        slow_bytes_per_s: options.slow_bytes_per_s,
        stop_after: options.stop_after,
        error_bytes_per_s_max: options.error_bytes_per_s_max,
    })
}

/// The statuses that options change before the rescue.
pub(super) fn changes(options: &RescueOptions) -> Vec<(Status, Status)> {
    let again = [(Status::Untrimmed, Status::Untried), (Status::Unscraped, Status::Untried)];
    let retrim = [(Status::Unscraped, Status::Untrimmed), (Status::Bad, Status::Untrimmed)];
    let again = again.into_iter().filter(|_| options.try_again);
    again.chain(retrim.into_iter().filter(|_| options.retrim)).collect()
}

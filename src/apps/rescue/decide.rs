//! What follows from the options, the plan and both sides, and what is refused.
use super::options::RescueOptions;
use crate::core::rescue::{RescuePlan, Status};
use crate::core::{EndpointKind, Error, Extent, ExtentSet, Facts, Kind, Plan, Result, Side, byte_count};
use crate::files::{FileIdentity, find};
use crate::job::rescue::domain;
use crate::job::{beside, journal};
use crate::plan::rescue_sector_bytes;
use crate::report::json;
use crate::report::printable::shell_line;
use std::path::{Path, PathBuf};

/// Where the map is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MapPlace {
    pub(super) path: PathBuf,
    /// The command line does not name it: it is that of the disk with the identity of the dest.
    pub(super) of_disk: bool,
}

/// The place of the map: as named, beside a file, or for a disk by its identity.
pub(super) fn map_place(options: &RescueOptions, dest: &Facts) -> Result<MapPlace> {
    if let Some(path) = &options.map {
        return Ok(MapPlace { path: path.clone(), of_disk: false });
    }
    if dest.kind == EndpointKind::File {
        let mut path = dest.path.clone().into_os_string();
        path.push(".map");
        return Ok(MapPlace { path: path.into(), of_disk: false });
    }
    // The name of a device without an identity may be that of another disk tomorrow.
    let is_known = dest.kind == EndpointKind::Block && (dest.identity.wwn.is_some() || dest.identity.serial.is_some());
    if let Some(path) = is_known.then(|| journal::of_device(dest, "map")).flatten() {
        return Ok(MapPlace { path, of_disk: true });
    }
    let what = format!("no map: destination {} is neither a file nor a disk with a serial number", dest.address);
    Err(Error::new(Kind::Usage, what).on(Side::Dest).advise("Name the map after the destination, on another disk."))
}

/// Refuses to continue with a map that the command line does not name: the disk may have been used for something else
/// since, and what the map lists as rescued would silently be missing.
pub(super) fn is_named(place: &MapPlace, words: &[String]) -> Result<()> {
    if !place.of_disk {
        return Ok(());
    }
    let path = place.path.to_string_lossy();
    let line = shell_line(json::command_line(words).into_iter().chain([&*path]));
    let what = format!("an earlier rescue to this disk has left its map {path}");
    let advice = format!(
        "Nothing was written. If the disk still has the data of that rescue, '{line}' continues it. Otherwise remove \
         the map and begin again."
    );
    Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice))
}

/// Refuses a map, log or domain that is a side of the rescue, or another of these files, under any name.
pub(super) fn are_separate(map: &PathBuf, options: &RescueOptions, sides: &[&Facts]) -> Result<()> {
    let logs = options.logs.iter().map(|(_, path)| ("log", path));
    let domain = options.domain.iter().map(|path| ("domain", path));
    let report = options.copy.report.iter().map(|path| ("report", path));
    let mut before: Vec<(&PathBuf, Option<FileIdentity>)> = Vec::new();
    for (name, path) in std::iter::once(("map", map)).chain(logs).chain(domain).chain(report) {
        not_a_side(name, path, sides)?;
        let place = find(path).ok();
        let is_same = |(other, found): &(&PathBuf, Option<FileIdentity>)| {
            *other == path || place.as_ref().is_some_and(|place| found.as_ref() == Some(place))
        };
        if let Some((other, _)) = before.iter().find(|other| is_same(other)) {
            let also = if *other == path { String::new() } else { format!(", also as {}", other.display()) };
            let what = format!("{name} {} is named twice{also}", path.display());
            return Err(Error::new(Kind::Usage, what).advise("Nothing was written. Name another file."));
        }
        before.push((path, place));
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
    let within = options.domain.as_deref().map(|path| domain_within(path, len)).transpose()?;
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

/// What the map at `path` lists as finished, in a source of `len` bytes.
fn domain_within(path: &Path, len: u64) -> Result<ExtentSet> {
    let listed = domain(path)?;
    let within = listed.intersection(&[Extent::new(0, len)].into_iter().collect());
    if within == listed && !listed.is_empty() {
        return Ok(listed);
    }
    let what = match listed.is_empty() {
        true => format!("domain {} lists nothing as finished", path.display()),
        false => format!("domain {} is of a larger source: this one has {}", path.display(), byte_count(len)),
    };
    Err(Error::new(Kind::Refused, what).advise("Nothing was written. Name a map of this source."))
}

/// The statuses that options change before the rescue.
pub(super) fn changes(options: &RescueOptions) -> Vec<(Status, Status)> {
    let again = [(Status::Untrimmed, Status::Untried), (Status::Unscraped, Status::Untried)];
    let retrim = [(Status::Unscraped, Status::Untrimmed), (Status::Bad, Status::Untrimmed)];
    let again = again.into_iter().filter(|_| options.try_again);
    again.chain(retrim.into_iter().filter(|_| options.retrim)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::command::Words;
    use crate::apps::rescue::words::RescueArguments;
    use clap::Parser;

    #[test]
    fn the_map_is_beside_a_file_and_named_by_the_identity_of_a_disk() {
        let options = |words: &[&str]| {
            let words = ["rescue", "source", "dest"].iter().chain(words);
            RescueArguments::try_parse_from(words).unwrap().into_options().unwrap()
        };
        let facts = |path: &str, kind| Facts { exists: true, ..Facts::new(path, kind) };
        let place = |dest: &Facts, words: &[&str]| map_place(&options(words), dest);
        let at = |path: &str| MapPlace { path: path.into(), of_disk: false };
        let [file, mut disk] = [facts("/x/dest", EndpointKind::File), facts("/dev/sdz", EndpointKind::Block)];
        assert_eq!(place(&file, &[]).unwrap(), at("/x/dest.map"));
        assert_eq!(place(&disk, &["map"]).unwrap(), at("map"));
        let unknown = place(&disk, &[]).unwrap_err();
        assert!(unknown.to_string().contains("no map"), "{unknown}");
        disk.identity.serial = Some("S3RIAL 1".into());
        let Some(path) = journal::of_device(&disk, "map") else { return };
        assert!(path.ends_with("haul/S3RIAL_1.map"), "{}", path.display());
        let expected = MapPlace { path, of_disk: true };
        assert_eq!(place(&disk, &[]).unwrap(), expected);
        // Under another name it has the same map.
        disk.path = "/dev/sdy".into();
        assert_eq!(place(&disk, &[]).unwrap(), expected);
    }

    #[test]
    fn the_map_of_a_disk_is_continued_only_by_name() {
        let place = |of_disk| MapPlace { path: "/state/S1.map".into(), of_disk };
        let words = ["rescue", "/dev/sdb", "/dev/sdc"].map(str::to_owned);
        is_named(&place(false), &words).unwrap();
        let refused = is_named(&place(true), &words).unwrap_err();
        assert_eq!(refused.kind, Kind::Refused);
        assert!(refused.advice.contains("'haul rescue /dev/sdb /dev/sdc /state/S1.map'"), "{}", refused.advice);
    }
}

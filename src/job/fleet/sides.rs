//! Which sides many workers can share.
use super::host;
use crate::core::{
    Address, EndpointKind, Error, Facts, HttpAddress, Kind, NbdAddress, NbdServer, Plan, Result, Side, part_bytes,
};
use crate::ledger::SideIdentity;
use crate::ledger::fleet::{FleetPlan, FleetSide};
use crate::plan::Options;
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Smallest unit of a shard, in bytes: no page of any machine is in two shards.
const BLOCK_BYTES: u64 = 64 << 10;

/// The address by which every worker opens this side.
///
/// # Errors
/// Usage if it is something of this process, this directory or this user alone.
pub(super) fn lasting_address(side: Side, facts: &Facts) -> Result<String> {
    let name = side.name();
    let refused = |why: &str| Err(Error::new(Kind::Usage, format!("{name} {}: {why}", facts.address)).on(side));
    match (facts.kind, Address::parse(&facts.address, side)?) {
        (_, Address::Nbd(NbdAddress { server: NbdServer::Program(_), .. })) => {
            refused("a server that haul starts ends with it; start one that all workers reach")
        }
        (EndpointKind::File | EndpointKind::Block, Address::Path(path)) if path.starts_with('/') => Ok(path),
        (EndpointKind::File | EndpointKind::Block, _) => match facts.path.to_str() {
            Some(path) => Ok(path.to_owned()),
            None => refused("its path is not UTF-8, which a plan cannot contain"),
        },
        (EndpointKind::Http, _) if HttpAddress::redacted(&facts.address) != facts.address => {
            refused("its user name, password or query would be in the plan, which contains no secrets")
        }
        (EndpointKind::Http, _) if facts.address.contains("...") => {
            refused("its user name, password or query would be in the plan, which contains no secrets")
        }
        (EndpointKind::Nbd | EndpointKind::Http | EndpointKind::Object, _) => Ok(facts.address.clone()),
        _ => refused("many workers cannot share it: use files, block devices, NBD exports or objects"),
    }
}

/// Refuses what cannot be divided among workers.
///
/// # Errors
/// Usage, with what to change; Refused for a dest file that exists.
pub(super) fn check(options: &Options, plan: &Plan, source: &Facts, dest: &Facts) -> Result<()> {
    let usage = |what: String| Err(Error::new(Kind::Usage, what).advise("Nothing was written."));
    for (side, facts) in [(Side::Source, source), (Side::Dest, dest)] {
        let way = plan.side(side);
        if facts.compressed.is_some() || way.through.is_some() || way.map.file().is_some() {
            let what = "is compressed, reached by passthrough or a list of ranges";
            return usage(format!("{} {} {what}: haul plan divides one run of bytes", side.name(), facts.address));
        }
    }
    if let Ok(Address::Object(address)) = Address::parse(&dest.address, Side::Dest)
        && address.store.scheme() == "az"
    {
        return usage(
            "Azure Blob Storage has no list of parts with tags, which workers need. Use haul copy".to_owned(),
        );
    }
    if dest.kind == EndpointKind::Http {
        return usage(format!("destination {} cannot be written", dest.address));
    }
    if plan.overlaps || (source.id.is_some() && source.id == dest.id) {
        return usage("source and destination are one disk or file: the order of shards would matter".to_owned());
    }
    if dest.kind == EndpointKind::File && dest.exists {
        let what = format!("destination {} exists, and haul finish would replace it", dest.address);
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise("Remove it first, or name another file."));
    }
    if dest.kind == EndpointKind::Object && options.verify.is_some() {
        return usage(
            "--verify: the parts of an object cannot be read before it is complete. Omit --verify, and use \
             haul verify after haul finish"
                .to_owned(),
        );
    }
    Ok(())
}

/// What the offset and length of each shard are a multiple of.
///
/// # Errors
/// Usage if the blocks of both sides have no small common multiple, or the copy begins within a block of the dest: two
/// hosts that each write a part of a page would overwrite the part of the other.
pub(super) fn block_bytes(len: u64, source: &Facts, dest: &Facts, dest_offset: u64) -> Result<u64> {
    let parts = if dest.kind == EndpointKind::Object { part_bytes(len).unwrap_or(u64::MAX) } else { 1 };
    let logical = [source, dest].map(|facts| u64::from(facts.logical_block_bytes.max(1)));
    let block = logical.into_iter().chain([parts, BLOCK_BYTES]).max().unwrap_or(BLOCK_BYTES);
    if logical.iter().any(|bytes| block % bytes != 0) {
        let what = format!("blocks of {} and {} bytes have no common multiple that suits", logical[0], logical[1]);
        return Err(Error::new(Kind::Usage, what).advise("Copy without haul plan."));
    }
    if !dest_offset.is_multiple_of(block) {
        let what = format!("--seek {dest_offset} is no multiple of {block} bytes, of which each shard is a multiple");
        return Err(Error::new(Kind::Usage, what).on(Side::Dest).advise("Nothing was written."));
    }
    Ok(block)
}

/// When a source file was modified, in seconds of the Unix epoch; `None`: it is no file.
///
/// # Errors
/// Open if it cannot be examined.
pub(super) fn modified(source: &FleetSide) -> Result<Option<String>> {
    if !source.identity.is_file() {
        return Ok(None);
    }
    let cannot = |error| Error::new(Kind::Open, format!("cannot examine {}", source.address)).because(error);
    let found = fs::metadata(&source.address).map_err(|error| cannot(error).on(Side::Source))?;
    Ok(Some(format!("{}.{:09}", found.mtime(), found.mtime_nsec())))
}

/// The kernel's random name for the run of this host, of a dest device that reports nothing that identifies it.
pub(super) fn boot_id(dest: &SideIdentity) -> Option<String> {
    let is_unknown = dest.kind == EndpointKind::Block.name() && dest.serial.is_none() && dest.wwn.is_none();
    is_unknown.then(host::boot_id)
}

/// How the sides differ from those of the plan, as clauses.
///
/// # Errors
/// Open if the source file cannot be examined.
pub(super) fn differences(plan: &FleetPlan, source: &Facts, dest: &Facts) -> Result<Vec<String>> {
    let now = |facts, side: &SideIdentity| SideIdentity::of(facts, side.offset_bytes);
    let (from, to) = (now(source, &plan.source.identity), now(dest, &plan.dest.identity));
    let mut found = plan.source.identity.mismatches(Side::Source, &from);
    if plan.upload.is_none() {
        found.extend(plan.dest.identity.mismatches(Side::Dest, &to));
    }
    let mut words: Vec<String> = found.iter().map(ToString::to_string).collect();
    for (side, then, now) in [(Side::Source, &plan.source, &from), (Side::Dest, &plan.dest, &to)] {
        let (name, address) = (side.name(), &then.address);
        if side == Side::Dest && plan.final_path.is_some() && !dest.exists {
            words.push(format!("{name} {address} does not exist any more"));
        } else if then.identity.size_bytes != now.size_bytes && (side == Side::Source || plan.upload.is_none()) {
            let [then, now] = [then.identity.size_bytes, now.size_bytes]
                .map(|size| size.map_or("unknown".to_owned(), |size| size.to_string()));
            words.push(format!("size in bytes of {name} {address} was {then} and is {now}"));
        }
    }
    if modified(&plan.source)? != plan.source.modified {
        words.push(format!("source {} was modified", plan.source.address));
    }
    if plan.dest.boot_id.is_some() && plan.dest.boot_id != boot_id(&to) {
        let why = "reports no serial number by which another host, or this one after a restart, could recognize it";
        words.push(format!("destination {} {why}", plan.dest.address));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::fleet::example_plan;

    fn facts(path: &str, kind: EndpointKind) -> Facts {
        Facts { size: Some(1 << 30), ..Facts::new(path, kind) }
    }

    #[test]
    fn shards_of_a_destination_begin_and_end_at_a_page_of_every_host() {
        let (source, dest) = (facts("/a", EndpointKind::File), facts("/b", EndpointKind::File));
        assert_eq!(block_bytes(1 << 20, &source, &dest, 0).unwrap(), 65536);
        assert_eq!(block_bytes(1 << 20, &source, &dest, 131_072).unwrap(), 65536);
        let error = block_bytes(1 << 20, &source, &dest, 4096).unwrap_err();
        assert!(error.kind == Kind::Usage && error.what.contains("--seek 4096"), "{error}");
        let odd = Facts { logical_block_bytes: 520, ..facts("/dev/a", EndpointKind::Block) };
        assert!(block_bytes(1 << 20, &odd, &dest, 0).is_err());
    }

    #[test]
    fn a_device_without_serial_number_is_that_of_one_run_of_one_host() {
        let (source, dest) = (facts("https://a/b", EndpointKind::Http), facts("/dev/b", EndpointKind::Block));
        let mut plan = example_plan(95, 30);
        plan.source = FleetSide::new("https://a/b".to_owned(), SideIdentity::of(&source, 0));
        plan.dest = FleetSide::new("/dev/b".to_owned(), SideIdentity::of(&dest, 0));
        plan.dest.boot_id = boot_id(&plan.dest.identity);
        assert!(plan.dest.boot_id.is_some());
        assert!(differences(&plan, &source, &dest).unwrap().is_empty());
        plan.dest.boot_id = Some("another".to_owned());
        let found = differences(&plan, &source, &dest).unwrap();
        assert!(found.len() == 1 && found[0].contains("/dev/b reports no serial number"), "{found:?}");
        let mut known = dest;
        known.identity.serial = Some("S1".to_owned());
        assert_eq!(boot_id(&SideIdentity::of(&known, 0)), None);
        assert!(!differences(&plan, &source, &known).unwrap().is_empty());
    }

    #[test]
    fn a_source_file_that_was_modified_is_another() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let (source, dest) = (Facts::new(path, EndpointKind::File), facts("/b", EndpointKind::File));
        let mut plan = example_plan(95, 30);
        plan.source = FleetSide::new(path.to_owned(), SideIdentity::of(&source, 0));
        plan.dest = FleetSide::new("/b".to_owned(), SideIdentity::of(&dest, 0));
        plan.source.modified = modified(&plan.source).unwrap();
        assert!(differences(&plan, &source, &dest).unwrap().is_empty());
        let then = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(1);
        file.as_file().set_modified(then).unwrap();
        assert_eq!(differences(&plan, &source, &dest).unwrap(), [format!("source {path} was modified")]);
    }
}

//! Which sides many workers can share.
use crate::core::{
    Address, EndpointKind, Error, Facts, HttpAddress, Kind, NbdAddress, NbdServer, Plan, Result, Side, part_bytes,
};
use crate::plan::Options;

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
/// Usage if the blocks of both sides have no small common multiple.
pub(super) fn block_bytes(len: u64, source: &Facts, dest: &Facts) -> Result<u64> {
    let parts = if dest.kind == EndpointKind::Object { part_bytes(len).unwrap_or(u64::MAX) } else { 1 };
    let logical = [source, dest].map(|facts| u64::from(facts.logical_block_bytes.max(1)));
    let block = logical.into_iter().chain([parts, BLOCK_BYTES]).max().unwrap_or(BLOCK_BYTES);
    if logical.iter().any(|bytes| block % bytes != 0) {
        let what = format!("blocks of {} and {} bytes have no common multiple that suits", logical[0], logical[1]);
        return Err(Error::new(Kind::Usage, what).advise("Copy without haul plan."));
    }
    Ok(block)
}

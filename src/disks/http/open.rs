//! Finding out about a resource, and opening it.
use super::body::OrderedBody;
use super::client::Client;
use super::failure::{Again, Failure};
use super::resource::OpenResource;
use super::runtime;
use super::stream::OpenStream;
use crate::core::{
    CallStyle, Endpoint, EndpointKind, Error, Facts, FileId, HttpAddress, HttpResource, Kind, Order, Result, Side,
};
use crate::disks::opening::Opening;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

/// Request size and alignment that suit servers: long enough for the latency of a request not to matter.
const REQUEST_BYTES: u32 = 2 << 20;

/// Requests at a time: more would be more connections, which servers limit.
const REQUESTS_MAX: u32 = 8;

/// Facts of a resource: asks the server for its first byte.
///
/// # Errors
/// Open for what cannot be reached.
pub(in crate::disks) fn probe(address: &HttpAddress) -> Result<Facts> {
    let client = connect(address)?;
    Ok(facts(&client, address))
}

/// Opens a resource that was probed, which has to be the same still.
pub(in crate::disks) fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    let client = client_of(&opening.plan.address, opening.facts)?;
    let facts = opening.facts.clone();
    if facts.kind == EndpointKind::Http {
        return Ok(Arc::new(OpenResource::new(facts, client)));
    }
    let opened = OpenStream::open(facts, client);
    Ok(Arc::new(opened.map_err(|cause| opening.error(Kind::Open, "").because(cause))?))
}

/// The first bytes of a probed resource, at most `len`.
///
/// # Errors
/// As for [`open_ordered`]; Open where the connection is lost.
pub(in crate::disks) fn first_bytes(facts: &Facts, len: usize) -> Result<Vec<u8>> {
    let mut head = Vec::with_capacity(len);
    match open_ordered(facts)?.take(len as u64).read_to_end(&mut head) {
        Ok(_) => Ok(head),
        Err(cause) => {
            let what = format!("cannot read source {}", facts.address);
            let advice = "Check the server, then try again.";
            Err(Error::new(Kind::Open, what).on(Side::Source).because(cause).advise(advice))
        }
    }
}

/// The bytes of a probed resource in order, from the first on. If the server has ranges, a lost connection is made
/// again.
///
/// # Errors
/// Open where the server cannot be reached; Refused where it has another content now.
pub(super) fn open_ordered(facts: &Facts) -> Result<OrderedBody> {
    let client = client_of(&facts.address, facts)?;
    OrderedBody::open(client).map_err(|cause| {
        let what = format!("cannot open source {}", facts.address);
        Error::new(Kind::Open, what).on(Side::Source).because(cause)
    })
}

/// A client of a probed resource, which has to be the same still.
fn client_of(address: &str, known: &Facts) -> Result<Arc<Client>> {
    let parsed = HttpAddress::parse(address);
    let parsed = parsed.map_err(|why| Error::new(Kind::Open, format!("cannot open source {address}: {why}")))?;
    let client = connect(&parsed)?;
    let now = facts(&client, &parsed);
    // What is read in order needs no ranges, and does not care whether the server has them.
    let lacks_ranges = known.kind == EndpointKind::Http && now.kind != known.kind;
    if lacks_ranges || (now.size, &now.identity.version) != (known.size, &known.identity.version) {
        let what = format!("cannot open source {address}: it changed on the server after haul examined it");
        return Err(Error::new(Kind::Refused, what)
            .on(Side::Source)
            .advise("Run the command again to examine it again."));
    }
    Ok(client)
}

pub(super) fn connect(address: &HttpAddress) -> Result<Arc<Client>> {
    let what = format!("cannot open source {address}");
    let made = runtime::wait(Client::open(address.clone()))
        .map_err(|cause| Error::new(Kind::Open, what.clone()).on(Side::Source).because(cause))?;
    let client = made.map_err(|Failure { words, advice, again, .. }| {
        let usual = if again == Again::Never { "" } else { "Check the address and whether the server can be reached." };
        let advice = if advice.is_empty() { usual } else { advice };
        Error::new(Kind::Open, what).on(Side::Source).because(io::Error::other(words)).advise(advice)
    })?;
    Ok(Arc::new(client))
}

fn facts(client: &Client, address: &HttpAddress) -> Facts {
    let found = client.found();
    let kind = if found.resource.ranges { EndpointKind::Http } else { EndpointKind::HttpStream };
    let mut facts = Facts::new(&address.to_string(), kind);
    let mut hasher = DefaultHasher::new();
    address.hash(&mut hasher);
    facts.id = Some(FileId::Export(hasher.finish()));
    facts.path = PathBuf::from(address.to_string());
    facts.writable = false;
    facts.calls = CallStyle::Waits;
    facts.size = found.length;
    match kind {
        EndpointKind::Http => {
            facts.queue.optimal_io_bytes = REQUEST_BYTES;
            facts.queue.requests_max = REQUESTS_MAX;
        }
        _ => facts.order = Order::Ascending,
    }
    facts.identity.transport = Some("http".to_owned());
    facts.identity.version = found.resource.version().map(str::to_owned);
    facts.http = Some(HttpResource { proxy: client.proxy_name(), ..found.resource.clone() });
    facts
}

//! Finding out about an object, and opening it.
use super::dest::ObjectDest;
use super::source::OpenObject;
use super::store::{Content, Store};
use crate::core::{
    CallStyle, Endpoint, EndpointKind, Error, Facts, FileId, HttpResource, Kind, ObjectAddress, Result, Side, locked,
};
use crate::disks::http::failure::{Again, Failure};
use crate::disks::http::queue;
use crate::disks::http::queue::Ranges;
use crate::disks::http::runtime;
use crate::disks::opening::Opening;
use object_store::ObjectMeta;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Request size that suits servers: long enough for the latency of a request not to matter.
const REQUEST_BYTES: u32 = 2 << 20;

/// Requests at a time: more would be more connections.
const REQUESTS_MAX: u32 = 8;

/// What to do where a server does not answer.
const UNREACHED: &str = "Check the variables that name the server and its region, and whether it can be reached.";

/// Facts of an object.
///
/// # Errors
/// Open where the store cannot be reached or refuses, and for a source that does not exist.
pub(in crate::disks) fn probe(address: &ObjectAddress, side: Side) -> Result<Facts> {
    let (store, found) = find(address, side)?;
    if found.is_none() {
        let missing = || Failure::last("the bucket has no such object", "Check the address.");
        match side {
            Side::Source => Err(cannot_open(side, address, missing())),
            Side::Dest => wait(side, address, async move { store.check_bucket().await.map(|()| store) })
                .map(|store| facts(&store, side, None)),
        }
    } else {
        Ok(facts(&store, side, found))
    }
}

/// Opens an object that was probed: for reading it has to be the same still.
///
/// # Errors
/// Open where the store cannot be reached or refuses; Refused for another object than the one that was probed.
pub(in crate::disks) fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    let address = address_of(&opening.plan.address, opening.side)?;
    let (store, found) = find(&address, opening.side)?;
    let known = &opening.facts.identity.version;
    let now = found.as_ref().and_then(|meta| meta.e_tag.clone());
    if opening.writes {
        if (opening.facts.exists, known) != (found.is_some(), &now) {
            return Err(opening.changed(": another program wrote or removed the object"));
        }
        return Ok(Arc::new(ObjectDest::new(opening.facts.clone(), Arc::new(store), found)));
    }
    // A dest is opened before the copy, and what the copy wrote is read back.
    let is_source = opening.side == Side::Source;
    let size = found.as_ref().map(|meta| meta.size);
    if is_source && (known, opening.facts.size) != (&now, size) {
        return Err(opening.changed(" on the server"));
    }
    Ok(Arc::new(OpenObject::new(opening.facts.clone(), store, found.filter(|_| is_source))))
}

/// The first bytes of a source that was probed, at most `len`.
///
/// # Errors
/// As for [`open`].
pub(in crate::disks) fn first_bytes(facts: &Facts, len: usize) -> Result<Vec<u8>> {
    let address = address_of(&facts.address, Side::Source)?;
    let (store, found) = find(&address, Side::Source)?;
    let gone = || cannot_open(Side::Source, &address, Failure::last("the bucket has no such object", ""));
    let content = Arc::new(Content { store: Arc::new(store), meta: found.ok_or_else(gone)? });
    let len = content.len().min(len as u64) as usize;
    queue::read(&content, 0, len).map_err(|cause| {
        let what = format!("cannot read source {address}");
        Error::new(Kind::Open, what).on(Side::Source).because(cause).advise("Check the server, then try again.")
    })
}

/// The address that was parsed before.
pub(super) fn address_of(address: &str, side: Side) -> Result<ObjectAddress> {
    ObjectAddress::parse(address)
        .map_err(|why| Error::new(Kind::Usage, format!("{} {address} cannot be used: {why}", side.name())).on(side))
}

fn find(address: &ObjectAddress, side: Side) -> Result<(Store, Option<ObjectMeta>)> {
    let store = Store::new(address).map_err(|failure| cannot_open(side, address, failure))?;
    wait(side, address, async move { store.head().await.map(|found| (store, found)) })
}

/// Does `work` on the thread of connections, and waits for it.
pub(super) fn wait<T: Send + 'static>(
    side: Side,
    address: &ObjectAddress,
    work: impl Future<Output = std::result::Result<T, Failure>> + Send + 'static,
) -> Result<T> {
    let done = runtime::wait(work).map_err(|cause| {
        Error::new(Kind::Open, format!("cannot open {} {address}", side.name())).on(side).because(cause)
    })?;
    done.map_err(|failure| cannot_open(side, address, failure))
}

fn cannot_open(side: Side, address: &ObjectAddress, failure: Failure) -> Error {
    let advice = match failure.advice {
        "" if failure.again != Again::Never => UNREACHED,
        advice => advice,
    };
    let what = format!("cannot open {} {address}", side.name());
    Error::new(Kind::Open, what).on(side).because(io::Error::other(failure.words)).advise(advice)
}

fn facts(store: &Store, side: Side, found: Option<ObjectMeta>) -> Facts {
    let address = store.address.to_string();
    let mut facts = Facts::new(&address, EndpointKind::Object);
    let mut hasher = DefaultHasher::new();
    address.hash(&mut hasher);
    facts.id = Some(FileId::Export(hasher.finish()));
    facts.path = PathBuf::from(address);
    facts.exists = found.is_some();
    facts.writable = side == Side::Dest;
    facts.calls = CallStyle::Waits;
    facts.size = found.as_ref().map(|meta| meta.size);
    if side == Side::Source {
        facts.queue.optimal_io_bytes = REQUEST_BYTES;
        facts.queue.requests_max = REQUESTS_MAX;
    }
    facts.identity.transport = Some("http".to_owned());
    let etag = found.as_ref().and_then(|meta| meta.e_tag.clone());
    facts.identity.version.clone_from(&etag);
    let seen = locked(&store.service.shared.seen).clone();
    let server = match seen.server {
        Some(server) => format!("{} ({server})", seen.place),
        None => seen.place,
    };
    facts.http = Some(HttpResource {
        is_weak: etag.as_ref().is_some_and(|etag| etag.starts_with("W/")),
        etag,
        last_modified: found.map(|meta| meta.last_modified.to_rfc2822()),
        ranges: true,
        protocol: store.protocol(),
        server: Some(server),
        redirected_to: None,
        proxy: seen.proxy,
    });
    facts
}

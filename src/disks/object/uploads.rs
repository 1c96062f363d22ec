//! Uploads that are not complete: which exist, which parts they have, and ending them.
use super::failure;
use super::open::{address_of, wait};
use super::store::Store;
use crate::core::{Error, Extent, Kind, ObjectAddress, PendingUpload, Result, Side, StoreKind, Upload};
use crate::disks::http::failure::{Again, Failure};
use hyper::{Method, Request};
use object_store::client::{HttpRequestBody, HttpService};
use object_store::path::Path;
use object_store::signer::SignedUrlOptions;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::time::Duration;

/// How long a signed request is valid.
const VALID_FOR: Duration = Duration::from_secs(300);

/// What to do about an upload that no longer exists.
const ABORTED: &str = "It was completed or aborted: examine the object, and copy from the start with --restart.";

/// The parts of `upload` that the store still has, by number from 0.
///
/// # Errors
/// Open where the store cannot be reached, or has no such upload.
pub fn present(address: &str, upload: &Upload) -> Result<Vec<u32>> {
    let address = address_of(address, Side::Dest)?;
    let known: HashMap<u32, String> = upload.parts.iter().cloned().collect();
    if address.store == StoreKind::Azure {
        // Its parts have no tags, and joining them fails where one is missing.
        return Ok(known.into_keys().collect());
    }
    let part_bytes = upload.part_bytes;
    let listed = listed(&address, &upload.id, 0, u32::MAX)?;
    let is_known = |part: &ListedPart| {
        let tag = known.get(&part.number.checked_sub(1)?)?;
        // The last part of a copy that failed at its end may be shorter.
        let is_same = unquoted(tag) == unquoted(&part.etag) && part.size <= part_bytes;
        is_same.then_some(part.number - 1)
    };
    Ok(listed.iter().filter_map(is_known).collect())
}

/// The parts that an upload has of the bytes of `shard`, with their tags; all but the last of the object, which ends at
/// `end`, have `part_bytes`.
///
/// # Errors
/// Open where the store cannot be reached; Refused where it has no such upload.
pub fn stored(
    address: &ObjectAddress,
    id: &str,
    part_bytes: u64,
    shard: Extent,
    end: u64,
) -> Result<Vec<(u32, String)>> {
    let bytes = part_bytes.max(1);
    let number = |at: u64| u32::try_from(at).unwrap_or(u32::MAX);
    let (first, behind) = (number(shard.offset / bytes), number(shard.end().div_ceil(bytes)));
    let is_whole = |part: &ListedPart| {
        let start = u64::from(part.number.saturating_sub(1)) * bytes;
        part.number > first && part.number <= behind && part.size == bytes.min(end.saturating_sub(start))
    };
    let listed = listed(address, id, first, behind)?;
    Ok(listed.into_iter().filter(is_whole).map(|part| (part.number - 1, part.etag)).collect())
}

/// The parts of an upload whose numbers, from 1, are above `after`, up to `last` or more.
fn listed(address: &ObjectAddress, id: &str, after: u32, last: u32) -> Result<Vec<ListedPart>> {
    let (store, id) = (opened(address)?, id.to_owned());
    let found = wait(Side::Dest, address, async move {
        let (mut all, mut marker) = (Vec::new(), after.to_string());
        loop {
            let query = [("uploadId", id.as_str()), ("part-number-marker", &marker), ("max-parts", "1000")];
            let page: PartsPage = store.page(&store.path, &query).await?;
            all.extend(page.parts);
            match page.next.filter(|_| page.is_truncated) {
                Some(next) if next != marker && next.parse::<u32>().is_ok_and(|next| next < last) => marker = next,
                _ => return Ok(all),
            }
        }
    });
    found.map_err(|error| match error.source.as_ref().map(ToString::to_string) {
        Some(words) if words.contains("NoSuchUpload") || words.contains(" 404 ") => {
            let what = format!("cannot resume: the upload to {address} does not exist any more");
            Error::new(Kind::Refused, what).on(Side::Dest).advise(ABORTED)
        }
        _ => error,
    })
}

/// The incomplete uploads of objects whose keys begin with that of `address`.
///
/// # Errors
/// Open where the store cannot be reached; Unsupported where it has no such list.
pub fn list(address: &ObjectAddress) -> Result<Vec<PendingUpload>> {
    if address.store == StoreKind::Azure {
        let what = "Azure Blob Storage has no list of incomplete uploads";
        return Err(Error::new(Kind::Unsupported, what).advise("It removes their parts after a week."));
    }
    let whole = ObjectAddress { key: "haul".to_owned(), ..address.clone() };
    let (store, prefix) = (opened(&whole)?, address.key.clone());
    let listed = wait(Side::Dest, address, async move {
        let mut all: Vec<ListedUpload> = Vec::new();
        let mut markers = [String::new(), String::new()];
        loop {
            let mut query = vec![("uploads", ""), ("prefix", prefix.as_str())];
            let [key, id] = &markers;
            if !key.is_empty() {
                query.extend([("key-marker", key.as_str()), ("upload-id-marker", id.as_str())]);
            }
            let page: UploadsPage = store.page(&Path::default(), &query).await?;
            all.extend(page.uploads);
            let next = [page.next_key, page.next_id].map(Option::unwrap_or_default);
            if !page.is_truncated || next == markers {
                return Ok(all);
            }
            markers = next;
        }
    })?;
    let pending = |upload: ListedUpload| PendingUpload {
        address: ObjectAddress { key: upload.key, ..address.clone() }.to_string(),
        id: upload.id,
        began: upload.began,
    };
    Ok(listed.into_iter().map(pending).collect())
}

/// Ends an upload: the store removes its parts.
///
/// # Errors
/// Open where the store cannot be reached, or has no such upload.
pub fn abort(address: &ObjectAddress, id: &str) -> Result<()> {
    let (store, id) = (opened(address)?, id.to_owned());
    wait(Side::Dest, address, async move {
        store.uploads.abort_multipart(&store.path, &id).await.map_err(|error| failure::of(&error))
    })
}

/// Begins an upload, and returns the store's name for it.
///
/// # Errors
/// Open where the store cannot be reached, or refuses.
pub fn begin(address: &ObjectAddress) -> Result<String> {
    let store = opened(address)?;
    wait(Side::Dest, address, async move {
        store.uploads.create_multipart(&store.path).await.map_err(|error| failure::of(&error))
    })
}

fn opened(address: &ObjectAddress) -> Result<Store> {
    Store::new(address).map_err(|Failure { words, advice, .. }| {
        let what = format!("cannot use {address}");
        Error::new(Kind::Open, what).because(std::io::Error::other(words)).advise(advice)
    })
}

impl Store {
    /// One page of a list that the crate does not know, by an address that it signs.
    async fn page<T: DeserializeOwned>(&self, path: &Path, query: &[(&str, &str)]) -> std::result::Result<T, Failure> {
        let query = query.iter().filter(|(name, value)| *name == "uploads" || !value.is_empty());
        let options = SignedUrlOptions::default().with_query(query.map(|(name, value)| (*name, *value)));
        let mut attempts = 0;
        loop {
            let url = self.signer.signed_url_opts(Method::GET, path, VALID_FOR, &options).await;
            let url = url.map_err(|error| failure::of(&error))?;
            let request = Request::get(url.as_str()).body(HttpRequestBody::empty());
            // The error could name the signature.
            let request = request.map_err(|_| Failure::last("the address is none that a request can have", ""))?;
            let failed = match self.answer(request).await {
                Ok(body) => {
                    let parsed = quick_xml::de::from_str(&body);
                    return parsed.map_err(|error| Failure::last(format!("the server sends no list: {error}"), ""));
                }
                Err(failed) => failed,
            };
            attempts += 1;
            let again = failed.again;
            let pause = self.service.shared.connections.retries.pause(attempts, None);
            match (again, pause) {
                (Again::Never, _) | (_, None) => return Err(failed),
                (_, Some(pause)) => tokio::time::sleep(pause).await,
            }
        }
    }

    async fn answer(&self, request: Request<HttpRequestBody>) -> std::result::Result<String, Failure> {
        let answer = self.service.call(request).await.map_err(|error| failure::of_connection(&error))?;
        let status = answer.status();
        let body = answer.into_body().bytes().await.map_err(|error| failure::of_connection(&error))?;
        let body = String::from_utf8_lossy(&body).into_owned();
        if status.is_success() { Ok(body) } else { Err(failure::of_answer(status, &body)) }
    }
}

fn unquoted(tag: &str) -> &str {
    tag.trim_matches('"')
}

/// Of ListParts.
#[derive(Debug, Deserialize)]
struct PartsPage {
    #[serde(rename = "IsTruncated", default)]
    is_truncated: bool,
    #[serde(rename = "NextPartNumberMarker")]
    next: Option<String>,
    #[serde(rename = "Part", default)]
    parts: Vec<ListedPart>,
}

#[derive(Debug, Deserialize)]
struct ListedPart {
    #[serde(rename = "PartNumber")]
    number: u32,
    #[serde(rename = "ETag")]
    etag: String,
    #[serde(rename = "Size")]
    size: u64,
}

/// Of ListMultipartUploads.
#[derive(Debug, Deserialize)]
struct UploadsPage {
    #[serde(rename = "IsTruncated", default)]
    is_truncated: bool,
    #[serde(rename = "NextKeyMarker")]
    next_key: Option<String>,
    #[serde(rename = "NextUploadIdMarker")]
    next_id: Option<String>,
    #[serde(rename = "Upload", default)]
    uploads: Vec<ListedUpload>,
}

#[derive(Debug, Deserialize)]
struct ListedUpload {
    #[serde(rename = "Key")]
    key: String,
    #[serde(rename = "UploadId")]
    id: String,
    #[serde(rename = "Initiated", default)]
    began: String,
}

//! Completing an upload to which several processes added parts.
use super::open::wait;
use super::parts::{Parts, Sizing};
use super::sending::{Sending, State};
use super::store::Store;
use crate::core::{Error, Kind, ObjectAddress, Result, Side};
use crate::disks::http::failure::Failure;
use md5::{Digest, Md5};
use std::sync::Arc;

/// Joins the parts with these tags, in order, to an object of `size` bytes. `existing` is the tag of the object that it
/// replaces. Does nothing if that was done before.
///
/// # Errors
/// Open where the store cannot be reached; Io where it refuses, or another program wrote the object.
pub fn complete(address: &ObjectAddress, id: &str, tags: Vec<String>, size: u64, existing: Option<&str>) -> Result<()> {
    let failed = |cause| {
        let what = format!("cannot complete destination {address}");
        Error::new(Kind::Io, what).on(Side::Dest).because(cause).advise("Run haul finish again.")
    };
    let opened = |Failure { words, .. }| failed(std::io::Error::other(words));
    let store = Arc::new(Store::new(address).map_err(opened)?);
    let asked = store.clone();
    let found = wait(Side::Dest, address, async move { asked.head().await })?;
    let now = found.as_ref().and_then(|meta| meta.e_tag.as_deref());
    if now != existing {
        let is_ours = found.as_ref().is_some_and(|meta| meta.size == size) && now.is_some_and(|now| is_of(now, &tags));
        if is_ours {
            return Ok(());
        }
        let what = format!("another program wrote or removed {address}: it is not replaced");
        let advice = "Examine the object. Move it away and run haul finish again, or give up with haul finish --abort.";
        return Err(Error::new(Kind::Io, what).on(Side::Dest).advise(advice));
    }
    let sending = Sending::new(store, found, State::new(Parts::new(Sizing::Growing), Some(id.to_owned())));
    sending.complete(id.to_owned(), tags, size).map_err(failed)
}

/// Whether a store gives this tag to an object with these parts: the MD5 of theirs, and their number.
fn is_of(tag: &str, parts: &[String]) -> bool {
    let mut hasher = Md5::new();
    for part in parts {
        let hex = part.trim_matches('"');
        let bytes: Option<Vec<u8>> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect();
        let Some(bytes) = bytes.filter(|bytes| bytes.len() == 16) else { return false };
        hasher.update(&bytes);
    }
    let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    tag.trim_matches('"') == format!("{digest}-{}", parts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_of_an_object_is_that_of_its_parts() {
        let parts = ["\"0123456789abcdef0123456789abcdef\"".to_owned()];
        assert!(!is_of("\"x-1\"", &parts) && !is_of("\"x-1\"", &["tag".to_owned()]));
        let digest: String = Md5::digest(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef_u128.to_be_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert!(is_of(&format!("\"{digest}-1\""), &parts) && !is_of(&format!("\"{digest}-2\""), &parts));
    }
}

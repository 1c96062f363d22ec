//! Checksums that a source has to match: of `--checksum`, or found in a list beside it.
mod beside;
mod list;

use crate::core::{Ended, Error, Facts, Kind, Outcome, Result, Side};
use crate::files;
use crate::plan::{Checksum, Options};
pub(super) use beside::{forget, look_beside};
use list::find;
use std::path::Path;

/// The same options with the digest that the file of `--checksum` has for the source.
///
/// # Errors
/// Open where the file cannot be read; Usage where it has no digest of the source.
pub(super) fn with_checksum(options: Options) -> Result<Options> {
    let Some(Checksum { given, digest: None, .. }) = &options.checksum else { return Ok(options) };
    let list = files::read_text(Path::new(given)).map_err(|cause| {
        let advice = "Nothing was written. Check the path, or give the digest itself, such as sha256:HEX.";
        Error::new(Kind::Open, format!("cannot read --checksum {given}")).because(cause).advise(advice)
    })?;
    let Some(digest) = find(&list, &options.source) else {
        let what = format!("--checksum {given} has no SHA-256, SHA-512 or MD5 digest of {}", options.source);
        let advice = "Nothing was written. Name the list that has the source, or give the digest itself, such as \
            sha256:HEX.";
        return Err(Error::new(Kind::Usage, what).advise(advice));
    };
    let checksum = Some(Checksum { given: given.clone(), digest: Some(digest), is_found: false });
    Ok(Options { checksum, ..options })
}

/// Has the digest of a compressed source computed of the file, as it is stored.
pub(super) fn digest_stored(options: &Options, source: &mut Facts) {
    let digest = options.checksum.as_ref().and_then(|checksum| checksum.digest.as_ref());
    if let (Some(compressed), Some(digest)) = (&mut source.compressed, digest) {
        compressed.digest = Some(digest.kind);
    }
}

/// Where the checksum is from, for messages.
fn origin(checksum: Option<&Checksum>) -> String {
    checksum.map_or_else(String::new, |checksum| match checksum.is_found {
        true => checksum.given.clone(),
        false => format!("--checksum {}", checksum.given),
    })
}

/// Compares the digest of the source with that of `--checksum`, after a copy of all of it: the copy fails where they
/// differ.
pub(super) fn compare(checksum: Option<&Checksum>, source: &str, outcome: &mut Outcome) {
    let Some(expected) = checksum.and_then(|checksum| checksum.digest.as_ref()) else { return };
    if !matches!(outcome.ended, Ended::Complete) {
        outcome.notes.push("the checksum was not compared: the copy is incomplete".to_owned());
        return;
    }
    let found = outcome.stored_digest.iter().chain(&outcome.digests).find(|digest| digest.kind == expected.kind);
    let name = expected.kind.name();
    let found = match found {
        Some(found) if found.hex == expected.hex => {
            outcome.notes.push(format!("source {source} matches its {name} checksum ({})", origin(checksum)));
            return;
        }
        Some(found) => found.hex.as_str(),
        None => "unknown",
    };
    let what = format!(
        "source {source} does not match its checksum: its {name} digest is {found}, but {} expects {}",
        origin(checksum),
        expected.hex
    );
    let advice = match checksum.is_some_and(|checksum| checksum.is_found) {
        true => {
            "The destination holds unverified data: do not use it. Obtain the source again, then copy again. If the \
             source was changed on purpose, --no-checksum ignores the list."
        }
        false => "The destination holds unverified data: do not use it. Obtain the source again, then copy again.",
    };
    outcome.ended = Ended::Failed(Box::new(Error::new(Kind::Corrupt, what).on(Side::Source).advise(advice)));
}

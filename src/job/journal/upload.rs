//! The upload that a journal of a copy to an object describes, or the frames of a compressed file.
use crate::core::{Address, EndpointKind, Error, Facts, Kind, Result, Side, Upload};
use crate::disks::{image, object};
use crate::ledger::journal::Journal;

/// The upload, with those of its parts that the store still has: the others are copied again.
///
/// # Errors
/// Refused if the journal has none, or the store has not; Open if the store cannot be reached.
pub(super) fn present(journal: &Journal, dest: &Facts) -> Result<Upload> {
    if let (Some(encoding), None, true) = (dest.encoding(), &journal.state().upload, journal.state().durable.is_empty())
    {
        // It was interrupted within its first frame.
        let (id, part_bytes, parts) = (encoding.format.name().to_owned(), encoding.frame_bytes().into(), Vec::new());
        return Ok(Upload { id, part_bytes, parts });
    }
    let Some(upload) = &journal.state().upload else {
        let missing = if dest.kind == EndpointKind::Object { "upload" } else { "list of compressed frames" };
        let what = format!("cannot resume: journal {} has no {missing}", journal.path().display());
        let advice = "Copy from the start with haul copy --restart.";
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
    };
    if dest.kind != EndpointKind::Object {
        image::check_resumed(dest, upload)?;
        return Ok(upload.clone());
    }
    let present = object::present(&dest.address, upload)?;
    let parts = upload.parts.iter().filter(|(number, _)| present.contains(number)).cloned().collect();
    Ok(Upload { parts, ..upload.clone() })
}

/// Has the store discard the upload of a copy that begins again, if there is one. Where that fails, the upload stays in
/// the list of 'haul journal uploads'.
pub(super) fn discard(journal: &Journal) {
    let Some(upload) = &journal.state().upload else { return };
    if let Ok(Address::Object(address)) = Address::parse(&journal.head().dest.path, Side::Dest) {
        let _ = object::abort(&address, &upload.id);
    }
}

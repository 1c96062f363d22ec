//! The upload that a journal of a copy to an object describes.
use crate::core::{Address, Error, Facts, Kind, Result, Side, Upload};
use crate::disks::object;
use crate::ledger::journal::Journal;

/// The upload, with those of its parts that the store still has: the others are copied again.
///
/// # Errors
/// Refused if the journal has none, or the store has not; Open if the store cannot be reached.
pub(super) fn present(journal: &Journal, dest: &Facts) -> Result<Upload> {
    let Some(upload) = &journal.state().upload else {
        let what = format!("cannot resume: journal {} has no upload", journal.path().display());
        let advice = "Copy from the start with haul copy --restart.";
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
    };
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

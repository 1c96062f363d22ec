//! The upload that a journal of a copy to an object describes, or the frames of a compressed file.
use crate::core::{Address, EndpointKind, Error, ExtentSet, Facts, Kind, Result, Side, Upload};
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
        let upload = durable_frames(upload, &journal.state().durable);
        image::check_resumed(dest, &upload)?;
        return Ok(upload);
    }
    let present = object::present(&dest.address, upload)?;
    let parts = upload.parts.iter().filter(|(number, _)| present.contains(number)).cloned().collect();
    Ok(Upload { parts, ..upload.clone() })
}

/// The frames that are durable as a whole. A journal lists frames before it claims their bytes, and may end between the
/// two lines: what comes after the last durable frame is compressed again.
fn durable_frames(upload: &Upload, durable: &ExtentSet) -> Upload {
    let end = durable.iter().next().filter(|first| first.offset == 0).map_or(0, |first| first.end());
    let is_durable = |number: u32| (u64::from(number) + 1).saturating_mul(upload.part_bytes) <= end;
    let parts = upload.parts.iter().filter(|(number, _)| is_durable(*number)).cloned().collect();
    Upload { parts, ..upload.clone() }
}

/// Has the store discard the upload of a copy that begins again, if there is one. Where that fails, the upload stays in
/// the list of 'haul journal uploads'.
pub(super) fn discard(journal: &Journal) {
    let Some(upload) = &journal.state().upload else { return };
    if let Ok(Address::Object(address)) = Address::parse(&journal.head().dest.path, Side::Dest) {
        let _ = object::abort(&address, &upload.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Extent;

    #[test]
    fn a_frame_that_is_listed_and_not_durable_is_compressed_again() {
        let parts: Vec<_> = (0..4).map(|number| (number, format!("{number}0"))).collect();
        let upload = Upload { id: "zstd".to_owned(), part_bytes: 100, parts };
        let kept = |extents: &[Extent]| durable_frames(&upload, &extents.iter().copied().collect()).parts.len();
        assert_eq!(kept(&[Extent::new(0, 400)]), 4);
        assert_eq!(kept(&[Extent::new(0, 299)]), 2, "the journal ended before its bytes were claimed");
        assert_eq!(kept(&[Extent::new(0, 100), Extent::new(200, 200)]), 1, "only what has nothing missing before it");
        assert_eq!((kept(&[]), kept(&[Extent::new(100, 300)])), (0, 0));
    }
}

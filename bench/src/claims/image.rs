//! Compressed images: claims about the decoder, the device, and bmaptool.
use super::certain::{Asked, faster};
use super::{Bound, limit};
use crate::numbers::HAUL;

/// At most this many times the slower of the decoder alone and the device alone.
const LIMIT_MAX: f64 = 1.03;
/// A decoder may use this much memory beside that of the copy, in MiB.
pub(super) const DECODER_MAX_MIB: f64 = 256.0;

const VERIFY: &str = "haul --verify";
const BMAPTOOL: &str = "bmaptool";

/// The claims about the bed called `name`; none if it is not about images.
pub(super) fn asked_of(name: &str) -> Vec<Asked> {
    if !name.starts_with(crate::bed::image::PREFIX) {
        return Vec::new();
    }
    vec![
        ("within 3 % of the slower of decoder and device", Bound::AtMost, LIMIT_MAX, "x", limit),
        ("not slower than bmaptool", Bound::AtLeast, 1.0, "x", |seen, claim| faster(seen, claim, HAUL, BMAPTOOL)),
        ("--verify is not slower than bmaptool without", Bound::AtLeast, 1.0, "x", |seen, claim| {
            faster(seen, claim, VERIFY, BMAPTOOL);
        }),
    ]
}

//! Devices without an end or without content: /dev/zero, /dev/urandom, /dev/full, and /dev/null.
//!
//! This room must not know how their bytes are used.
#![forbid(unsafe_code)]
mod endless;
mod nothing;
mod probe;

use super::opening::Opening;
use crate::core::{CallStyle, Endpoint, EndpointKind, Facts, Result};
pub use probe::probe;
use std::sync::Arc;

/// A placeholder for the side that a plan lacks, such as the source of reading back: empty, and discards writes.
pub fn missing_side() -> Arc<dyn Endpoint> {
    let facts = Facts { size: Some(0), calls: CallStyle::AtOnce, ..Facts::new("nothing", EndpointKind::Null) };
    Arc::new(nothing::Nothing::new(facts))
}

/// Opens an endless device; /dev/null is not opened.
pub(super) fn open(opening: Opening<'_>) -> Result<Arc<dyn Endpoint>> {
    if opening.plan.kind == EndpointKind::Null {
        return Ok(Arc::new(nothing::Nothing::new(opening.facts.clone())));
    }
    Ok(Arc::new(endless::Endless::open(opening)?))
}

//! Facts of an endless device or of /dev/null.
use crate::core::{CallStyle, EndpointKind, Facts, Order};
use std::io;
use std::path::Path;

/// Fills in the I/O properties for the kind in `facts`. Opens nothing.
///
/// # Errors
/// None; it returns a Result so that all probes have the same signature.
pub fn probe(_path: &Path, facts: &mut Facts) -> io::Result<()> {
    // /dev/urandom generates bytes no faster than a disk reads them, so several helpers increase its rate.
    let calls = if facts.kind == EndpointKind::Null { CallStyle::AtOnce } else { CallStyle::Waits };
    facts.make_stream(Order::Any, calls);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_instant_calls_are_made_inline() {
        for (kind, calls) in [(EndpointKind::Null, CallStyle::AtOnce), (EndpointKind::Endless, CallStyle::Waits)] {
            let mut facts = Facts::new("x", kind);
            probe(Path::new("x"), &mut facts).unwrap();
            assert_eq!(facts.calls, calls, "{kind:?}");
        }
    }
}

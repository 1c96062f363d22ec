//! Facts of an endless device or of /dev/null.
use crate::core::{CallStyle, EndpointKind, Facts, Order};
use std::io;
use std::path::Path;

/// Fills in what concerns the I/O, by the kind that `facts` has already. Opens nothing.
///
/// # Errors
/// None; the result is there so that all probes look alike.
pub fn probe(_path: &Path, facts: &mut Facts) -> io::Result<()> {
    // /dev/urandom makes bytes no faster than a disk reads them, so several helpers pay there.
    let calls = if facts.kind == EndpointKind::Null { CallStyle::AtOnce } else { CallStyle::Waits };
    facts.make_stream(Order::Any, calls);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_cost_nothing_are_made_on_the_spot() {
        for (kind, calls) in [(EndpointKind::Null, CallStyle::AtOnce), (EndpointKind::Endless, CallStyle::Waits)] {
            let mut facts = Facts::new("x", kind);
            probe(Path::new("x"), &mut facts).unwrap();
            assert_eq!(facts.calls, calls, "{kind:?}");
        }
    }
}

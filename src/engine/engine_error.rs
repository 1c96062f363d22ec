//! Errors of engines, with advice.
use crate::core::{EngineKind, Error, Kind};
use std::io;

/// The error of `engine`, which may differ from the plan's if that was not available.
pub(super) fn engine_error(engine: EngineKind, source: io::Error) -> Error {
    let what = format!("the {} engine failed", engine.name());
    Error::new(Kind::Io, what).because(source).advise(match engine {
        EngineKind::Ring => "Try --engine threads.",
        EngineKind::Threads => "Try --engine sync, which needs no additional threads.",
        EngineKind::Sync | EngineKind::Reflink | EngineKind::Offload => {
            "Copy again; if it fails again, see the kernel log (dmesg)."
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failed_engine_is_not_advised() {
        for engine in [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync] {
            let error = engine_error(engine, io::Error::other("no"));
            assert!(!error.advice.is_empty() && !error.advice.contains(&format!("--engine {}", engine.name())));
        }
    }
}

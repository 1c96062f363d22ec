//! Computed sides: a source whose bytes are generated, and a dest whose bytes are checked and not stored.
//!
//! This room must not know how bytes are generated or checked: it calls functions that do.
#![forbid(unsafe_code)]
use crate::core::{ClosingReport, Endpoint, Facts, Maker, Op, PatternChecker, Request};
use std::io;
use std::sync::Arc;

/// A source whose bytes `maker` generates.
pub fn made(facts: Facts, maker: Arc<dyn Maker>) -> Arc<dyn Endpoint> {
    Arc::new(Computed { facts, by: By::Maker(maker) })
}

/// A dest whose bytes `judge` checks.
pub fn judged(facts: Facts, judge: Arc<dyn PatternChecker>) -> Arc<dyn Endpoint> {
    Arc::new(Computed { facts, by: By::Judge(judge) })
}

/// A computed side. Helpers use all available processors.
struct Computed {
    facts: Facts,
    by: By,
}

enum By {
    Maker(Arc<dyn Maker>),
    Judge(Arc<dyn PatternChecker>),
}

impl Endpoint for Computed {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let offset = request.at();
        match (&self.by, request.op) {
            (By::Maker(maker), Op::Read) => maker.make(request.rest_mut(), offset),
            // Zeros must be sent as data: the plan ensures that.
            (By::Judge(judge), Op::Write) => judge.judge(request.rest(), offset),
            _ => return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        }
        Ok(request.left())
    }

    fn closing(&self) -> ClosingReport {
        let damage = if let By::Judge(judge) = &self.by { Some(judge.damage()) } else { None };
        ClosingReport { damage, ..ClosingReport::default() }
    }
}

//! Sides that lie nowhere: a source whose bytes are made as they are read, a dest whose bytes are judged and not kept.
//!
//! This room must not know what is made, nor what makes it right: it is given something that does.
#![forbid(unsafe_code)]
use crate::core::{ClosingReport, Endpoint, Facts, Maker, Op, PatternChecker, Request};
use std::io;
use std::sync::Arc;

/// A source whose bytes `maker` makes.
pub fn made(facts: Facts, maker: Arc<dyn Maker>) -> Arc<dyn Endpoint> {
    Arc::new(Computed { facts, by: By::Maker(maker) })
}

/// A dest whose bytes `judge` looks at.
pub fn judged(facts: Facts, judge: Arc<dyn PatternChecker>) -> Arc<dyn Endpoint> {
    Arc::new(Computed { facts, by: By::Judge(judge) })
}

/// A side whose bytes are computed where they are read or come: by helpers, on as many processors as there are.
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
            // Zeros have to come as bytes: the plan has them written.
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

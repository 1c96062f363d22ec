use super::cannot;
use crate::core::{Closing, Endpoint, Facts, Kind, Op, PatternChecker, Request};
use std::io;
use std::sync::Arc;

/// A dest whose bytes are judged where they come: by helpers, on as many processors as there are.
pub(super) struct Judged {
    facts: Facts,
    judge: Arc<dyn PatternChecker>,
}

impl Judged {
    pub(super) fn new(facts: Facts, judge: Arc<dyn PatternChecker>) -> Self {
        Judged { facts, judge }
    }
}

impl Endpoint for Judged {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        // Zeros have to come as bytes: the plan has them written.
        if request.op != Op::Write {
            return Err(cannot());
        }
        self.judge.judge(request.rest(), request.at());
        Ok(request.left())
    }

    fn diagnose(&self, _op: Op, _offset: u64, _error: &io::Error) -> Kind {
        Kind::Io
    }

    fn closing(&self) -> Closing {
        Closing { damage: Some(self.judge.damage()), ..Closing::default() }
    }
}

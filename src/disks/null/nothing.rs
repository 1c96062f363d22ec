//! /dev/null without system calls, so that a copy measures only the overhead of haul.
use crate::core::{Endpoint, Facts, Op, Request};
use std::io;

/// Reads as empty and discards writes.
#[derive(Debug)]
pub(super) struct Nothing {
    facts: Facts,
}

impl Nothing {
    pub(super) fn new(facts: Facts) -> Self {
        Nothing { facts }
    }
}

impl Endpoint for Nothing {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        Ok(if request.op == Op::Read { 0 } else { request.left() })
    }
}

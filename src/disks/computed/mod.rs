//! Sides that lie nowhere: a source whose bytes are made as they are read, a dest whose bytes are judged and not kept.
//!
//! This room must not know what is made, nor what makes it right: it is given something that does.
#![forbid(unsafe_code)]
mod judged;
mod made;

use crate::core::{Endpoint, Facts, Maker, PatternChecker};
use std::sync::Arc;

/// A source whose bytes `maker` makes.
pub fn made(facts: Facts, maker: Arc<dyn Maker>) -> Arc<dyn Endpoint> {
    Arc::new(made::Made::new(facts, maker))
}

/// A dest whose bytes `judge` looks at.
pub fn judged(facts: Facts, judge: Arc<dyn PatternChecker>) -> Arc<dyn Endpoint> {
    Arc::new(judged::Judged::new(facts, judge))
}

/// What a side that lies nowhere says to what it cannot do.
fn cannot() -> std::io::Error {
    std::io::Error::from_raw_os_error(libc::EOPNOTSUPP)
}

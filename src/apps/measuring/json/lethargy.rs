//! The effect of reading a disk on the rest of the system, for programs.
use crate::measure::{Effect, Memory, Profiled, Way};
use serde::Serialize;

/// Effect on the rest of the system.
#[derive(Clone, Debug, Serialize)]
pub struct LethargyReport {
    /// Why it is not known; then the rest is `null` or empty.
    pub left_out: Option<String>,
    /// `group`: a memory control group; `machine`: all memory that was to be had.
    pub memory: Option<&'static str>,
    /// Bytes of that memory.
    pub memory_bytes: Option<u64>,
    /// Why there was no group.
    pub no_group: Option<String>,
    /// Bytes of the witness file.
    pub witness_bytes: Option<u64>,
    /// Nothing, then each way of reading.
    pub reads: Vec<EffectReport>,
}

/// What was seen around one read.
#[derive(Clone, Debug, Serialize)]
pub struct EffectReport {
    /// `buffered` or `direct`; `nothing`: the disk was left alone, to compare with.
    pub way: &'static str,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// How long that took.
    pub seconds: f64,
    /// Share of the witness that the page cache had before.
    pub witness_before: f64,
    /// Share of that which it had at its least.
    pub witness_kept_least: f64,
    /// Share of it which it had afterwards.
    pub witness_kept: f64,
    /// Median time of a start of `haul --version` before.
    pub start_before_s: f64,
    /// Meanwhile.
    pub start_during_s: f64,
    /// Starts meanwhile.
    pub starts: usize,
    /// Afterwards.
    pub start_after_s: f64,
}

/// What is told of it; `None` where it was not looked at.
pub(crate) fn lethargy(found: &Profiled) -> Option<LethargyReport> {
    let empty = LethargyReport {
        left_out: None,
        memory: None,
        memory_bytes: None,
        no_group: None,
        witness_bytes: None,
        reads: Vec::new(),
    };
    let lethargy = match found.lethargy.as_ref()? {
        Err(why) => return Some(LethargyReport { left_out: Some(why.clone()), ..empty }),
        Ok(lethargy) => lethargy,
    };
    let (memory, bytes, no_group) = match &lethargy.memory {
        Memory::Group(bytes) => ("group", *bytes, None),
        Memory::Machine { available_bytes, why } => ("machine", *available_bytes, Some(why.clone())),
    };
    Some(LethargyReport {
        memory: Some(memory),
        memory_bytes: Some(bytes),
        no_group,
        witness_bytes: Some(lethargy.witness_bytes),
        reads: lethargy.effects.iter().map(effect).collect(),
        ..empty
    })
}

fn effect(effect: &Effect) -> EffectReport {
    EffectReport {
        way: effect.way.map_or("nothing", Way::name),
        read_bytes: effect.read_bytes,
        seconds: effect.seconds,
        witness_before: effect.cached_before,
        witness_kept_least: effect.kept_least,
        witness_kept: effect.kept,
        start_before_s: effect.start_before_s,
        start_during_s: effect.start_during_s,
        starts: effect.starts,
        start_after_s: effect.start_after_s,
    }
}

//! The system impact of reading a disk as JSON.
use crate::measure::{Effect, Memory, Profiled, Way};
use crate::report::json::object;
use serde::Serialize;

/// The system impact; `None` if it was not measured.
pub(super) fn system_impact(found: &Profiled) -> Option<impl Serialize> {
    let looked = found.system_impact.as_ref()?;
    let known = looked.as_ref().ok();
    let memory = known.map(|system_impact| match &system_impact.memory {
        Memory::Group(bytes) => ("group", *bytes, None),
        Memory::Machine { available_bytes, why } => ("machine", *available_bytes, Some(why)),
    });
    Some(object! {
        left_out: looked.as_ref().err(),
        memory: memory.map(|(name, ..)| name),
        memory_bytes: memory.map(|(_, bytes, _)| bytes),
        no_group: memory.and_then(|(.., why)| why),
        test_file_bytes: known.map(|system_impact| system_impact.test_file_bytes),
        reads: known.iter().flat_map(|system_impact| &system_impact.effects).map(effect).collect::<Vec<_>>(),
    })
}

fn effect(effect: &Effect) -> impl Serialize + use<> {
    object! {
        way: effect.way.map_or("nothing", Way::name),
        read_bytes: effect.read_bytes,
        seconds: effect.seconds,
        cached_before: effect.cached_before,
        cached_least: effect.kept_least,
        cached_after: effect.kept,
        start_before_s: effect.start_before_s,
        start_during_s: effect.start_during_s,
        starts: effect.starts,
        start_after_s: effect.start_after_s,
    }
}

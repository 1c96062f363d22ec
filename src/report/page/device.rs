//! Names and values about a side, or the machine.
use crate::core::{EndpointKind, Facts, Machine};
use crate::report::units;

/// Names and values; empty values are omitted.
pub(crate) type Rows = Vec<(String, String)>;

fn without_empty(rows: Vec<(&str, String)>) -> Rows {
    rows.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Properties of the machine.
pub(crate) fn machine(machine: &Machine) -> Rows {
    let memory = if machine.memory_bytes > 0 { units::size(machine.memory_bytes) } else { String::new() };
    let processors = units::count(machine.processors as u64, "processor", "processors");
    let processor = if machine.processor.is_empty() { String::new() } else { format!(", {}", machine.processor) };
    without_empty(vec![
        ("Name", machine.name.clone()),
        ("Kernel", format!("Linux {} {}", machine.kernel, machine.architecture)),
        ("Processors", processors + &processor),
        ("Memory", memory),
    ])
}

/// Properties of a side before the run.
pub(crate) fn side(facts: &Facts) -> Rows {
    let block = facts.kind == EndpointKind::Block;
    let path = facts.path.to_string_lossy();
    let queue = &facts.queue;
    let identity = &facts.identity;
    let size = match facts.size {
        Some(size) if block => units::capacity(size),
        Some(size) if facts.exists => units::bytes(size),
        _ => String::new(),
    };
    let blocks = format!("{} logical, {} physical", facts.logical_block_bytes, facts.physical_block_bytes);
    let turns = queue.rotational.map_or("", |yes| if yes { "yes" } else { "no" });
    without_empty(vec![
        ("Address", facts.address.clone()),
        ("Path", if path == facts.address { String::new() } else { path.into_owned() }),
        ("Kind", if facts.exists { facts.kind.name().to_owned() } else { format!("new {}", facts.kind.name()) }),
        ("Size", size),
        ("Block sizes", if block { blocks + " bytes" } else { String::new() }),
        ("File system", facts.filesystem.clone().unwrap_or_default()),
        ("Model", identity.model.clone().unwrap_or_default()),
        ("Serial", identity.serial.clone().unwrap_or_default()),
        ("World wide name", identity.wwn.clone().unwrap_or_default()),
        ("Transport", identity.transport.clone().unwrap_or_default()),
        ("Rotational", if block { turns.to_owned() } else { String::new() }),
        ("Previous content", facts.content.clone().unwrap_or_default()),
    ])
}

//! One side of a copy in words, for the plan and for the question before a device is overwritten.
use crate::core::{EndpointKind, Extent, Facts, Partition};
use crate::report::columns::{columns, pad, whole};
use crate::report::printable::printable;
use crate::report::style::{DANGER, paint};
use crate::report::units;

/// More partitions than these are counted, not listed: the question must stay on the screen.
const PARTITIONS_SHOWN: usize = 16;

/// Lines about a side: its names, what it is, who it is, and what is on it. `erased` is what will be overwritten.
pub(crate) fn describe(facts: &Facts, erased: Option<Extent>) -> String {
    let mut lines = vec![name(facts), nature(facts)];
    lines.extend(identity(facts));
    if let Some(content) = &facts.content {
        lines.push(format!("contains: {}", printable(content)));
    }
    lines.extend(partitions(&facts.partitions, erased));
    lines.join("\n")
}

/// Lines about something that is measured: its names, what it is, and who it is.
pub(crate) fn described(facts: &Facts) -> String {
    let lines: Vec<String> = [name(facts), nature(facts)].into_iter().chain(identity(facts)).collect();
    lines.join("\n")
}

/// The address, and the path where that is another.
pub(super) fn name(facts: &Facts) -> String {
    let (address, path) = (printable(&facts.address), printable(&facts.path.to_string_lossy()));
    if address == path { address } else { format!("{address} → {path}") }
}

/// Model and serial number in one clause, where there are any.
pub(crate) fn identity(facts: &Facts) -> Option<String> {
    let identity = &facts.identity;
    let mut words: Vec<String> = identity.model.iter().map(|model| printable(model)).collect();
    words.extend(identity.serial.iter().map(|serial| format!("serial {}", whole(&printable(serial)))));
    words.extend(identity.transport.iter().map(|transport| printable(transport)));
    if facts.kind == EndpointKind::Block {
        words.extend(facts.queue.rotational.map(|yes| whole(if yes { "rotating" } else { "SSD" })));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

fn nature(facts: &Facts) -> String {
    let kind = facts.kind.name();
    let mut words = vec![if facts.exists { kind.to_owned() } else { format!("new {kind}") }];
    if let Some(filesystem) = &facts.filesystem {
        words[0] += &format!(" on {}", printable(filesystem));
    }
    if facts.sparse {
        words.push(if facts.kind == EndpointKind::Block { "thinly provisioned" } else { "sparse" }.to_owned());
    }
    match facts.size {
        Some(size) if facts.kind == EndpointKind::Block => words.push(units::capacity(size)),
        Some(size) if facts.exists && facts.kind == EndpointKind::File => words.push(units::bytes(size)),
        _ => {}
    }
    if facts.kind == EndpointKind::Block {
        words.push(whole(&format!("{}-byte blocks", facts.logical_block_bytes)));
    }
    if let Some(free) = facts.free_bytes {
        words.push(whole(&format!("{} free there", units::size(free))));
    }
    words.join(", ")
}

fn partitions(partitions: &[Partition], erased: Option<Extent>) -> Vec<String> {
    let shown = &partitions[..partitions.len().min(PARTITIONS_SHOWN)];
    let names = shown.iter().map(|part| part.name.chars().count()).max().unwrap_or(0);
    let content = |part: &Partition| part.content.as_deref().map_or_else(|| "unknown".to_owned(), printable);
    let contents = shown.iter().map(|part| columns(&content(part))).max().unwrap_or(0);
    let row = |part: &Partition| {
        let name = pad(&printable(&part.name), names);
        let content = pad(&content(part), if erased.is_some() { contents } else { 0 });
        let mut row = whole(&format!("  {name}  {:>10}  {content}", units::size(part.len)));
        if let Some(erased) = erased {
            row += "\u{fdd0}\u{fdd0}";
            row += &fate(Extent::new(part.offset, part.len), erased);
        }
        row
    };
    let mut rows: Vec<String> = shown.iter().map(row).collect();
    let rest = &partitions[shown.len()..];
    if !rest.is_empty() {
        let hit = |part: &&Partition| erased.is_some_and(|erased| erased.overlaps(&Extent::new(part.offset, part.len)));
        let lost = rest.iter().filter(hit).count();
        let more = units::count(rest.len() as u64, "more partition", "more partitions");
        let erased = if lost > 0 { format!(", {lost} of them {}", paint(DANGER, "ERASED")) } else { String::new() };
        rows.push(whole(&format!("  and {more}{erased}")));
    }
    rows
}

fn fate(partition: Extent, erased: Extent) -> String {
    match partition.intersection(&erased) {
        None => "untouched".to_owned(),
        Some(common) if common == partition => paint(DANGER, "ERASED"),
        Some(_) => paint(DANGER, "ERASED\u{fdd0}in\u{fdd0}part"),
    }
}

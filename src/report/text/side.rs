//! A description of one side of a copy, for the plan and for the question before a device is overwritten.
use crate::core::{EndpointKind, Export, Extent, Facts, HttpResource, Partition};
use crate::report::columns::{TIE, columns, pad, whole};
use crate::report::printable::printable;
use crate::report::style::{DANGER, paint};
use crate::report::units;

/// If there are more partitions than these, they are counted instead of listed: the question must fit the
/// screen.
const PARTITIONS_SHOWN: usize = 16;

/// Lines about a side: its names, kind, identity, and contents. `erased` is the part that will be overwritten.
pub(crate) fn describe(facts: &Facts, erased: Option<Extent>) -> String {
    let mut lines = vec![name(facts), nature(facts)];
    lines.extend(identity(facts));
    lines.extend(facts.export.as_ref().map(export));
    lines.extend(facts.http.as_ref().map(|http| resource(http, facts.exists)));
    if let Some(content) = &facts.content {
        lines.push(format!("contains: {}", printable(content)));
    }
    lines.extend(partitions(&facts.partitions, erased));
    lines.join("\n")
}

/// Lines about a measured disk or file: its names, kind, and identity.
pub(crate) fn described(facts: &Facts) -> String {
    let lines: Vec<String> = [name(facts), nature(facts)].into_iter().chain(identity(facts)).collect();
    lines.join("\n")
}

/// The address, and the path if it differs.
pub(super) fn name(facts: &Facts) -> String {
    let (address, path) = (printable(&facts.address), printable(&facts.path.to_string_lossy()));
    if address == path { address } else { format!("{address} → {path}") }
}

/// Model and serial number in one clause, if there are any.
pub(crate) fn identity(facts: &Facts) -> Option<String> {
    let identity = &facts.identity;
    let mut words: Vec<String> = identity.model.iter().map(|model| printable(model)).collect();
    words.extend(identity.serial.iter().map(|serial| format!("serial {}", whole(&printable(serial)))));
    let is_remote = facts.export.is_some() || facts.http.is_some();
    let transport = identity.transport.iter().filter(|_| !is_remote);
    words.extend(transport.map(|transport| printable(transport)));
    if facts.kind == EndpointKind::Block {
        words.extend(facts.queue.rotational.map(|yes| whole(if yes { "rotational" } else { "SSD" })));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// The export of a server, in one clause.
fn export(export: &Export) -> String {
    let Export { block_min_bytes, block_preferred_bytes, block_max_bytes, .. } = export;
    let mut words = vec![whole(&format!(
        "requests from {} to {}",
        units::block((*block_min_bytes).into()),
        units::block((*block_max_bytes).into())
    ))];
    words.extend(block_preferred_bytes.map(|bytes| whole(&format!("preferred {}", units::block(bytes.into())))));
    let offers = [
        (export.read_only, "read-only"),
        (export.flush, "flush"),
        (export.fua, "FUA"),
        (export.trim, "trim"),
        (export.write_zeroes, "write zeroes"),
        (export.fast_zero, "fast zeroes"),
        (export.multi_conn, "several connections"),
        (export.structured_replies, "structured replies"),
        (export.base_allocation, "base:allocation"),
    ];
    words.extend(export.tls.as_deref().map(whole));
    words.extend(offers.into_iter().filter(|(has, _)| *has).map(|(_, name)| whole(name)));
    let described = export.description.as_ref().map(|text| format!("\"{}\"; ", printable(text))).unwrap_or_default();
    format!("{described}{}", words.join(", "))
}

/// What a web server reported, in one clause.
fn resource(resource: &HttpResource, exists: bool) -> String {
    let HttpResource { etag, is_weak, last_modified, .. } = resource;
    let mut words = vec![whole(&printable(&resource.protocol))];
    words.extend(resource.server.iter().map(|server| printable(server)));
    if !exists {
        return words.join(", ");
    }
    words.push(if resource.ranges { "ranges" } else { "no ranges: an interrupted copy cannot be resumed" }.to_owned());
    words.push(match (etag, last_modified) {
        (Some(etag), _) if !is_weak => format!("ETag {}", printable(etag)),
        (etag, Some(date)) => {
            let etag = if etag.is_some() { "a weak ETag" } else { "no ETag" };
            format!("{etag}: identified by length and Last-Modified {}", printable(date))
        }
        _ => "neither a strong ETag nor Last-Modified: identified by length".to_owned(),
    });
    words.extend(resource.redirected_to.iter().map(|to| format!("redirected to {}", printable(to))));
    words.extend(resource.proxy.iter().map(|proxy| format!("by proxy {}", printable(proxy))));
    words.join(", ")
}

fn nature(facts: &Facts) -> String {
    let kind = facts.kind.name();
    let mut words = vec![if facts.exists { kind.to_owned() } else { format!("new {kind}") }];
    if let Some(filesystem) = &facts.filesystem {
        words[0] += &format!(" on {}", printable(filesystem));
    }
    if facts.sparse && facts.kind != EndpointKind::Nbd {
        words.push(if facts.kind == EndpointKind::Block { "thinly provisioned" } else { "sparse" }.to_owned());
    }
    match facts.size {
        Some(size) if facts.kind.is_fixed_size() => words.push(units::capacity(size)),
        Some(size) if facts.exists && (facts.kind == EndpointKind::File || facts.http.is_some()) => {
            words.push(units::bytes(size))
        }
        _ => {}
    }
    if let Some(encoding) = facts.encoding() {
        words.push(whole(&format!("{}, level {}", encoding.format.name(), encoding.level)));
    } else if let (EndpointKind::Compressed, Some(compressed)) = (facts.kind, &facts.compressed) {
        words.extend(compressed.format.map(|format| format.name().to_owned()));
        words.extend(compressed.stored.size.map(|size| whole(&format!("file size {}", units::size(size)))));
        words.extend(facts.size.map(|size| whole(&format!("content size {}", units::size(size)))));
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
            row.extend([TIE; 2]);
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
        Some(_) => paint(DANGER, &whole("ERASED in part")),
    }
}

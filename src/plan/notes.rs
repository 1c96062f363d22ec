//! Collects the notes of a plan while it is made.
use super::check::Range;
use super::plan_input::PlanInput;
use super::{BlockMapChoice, Decompress, words};
use crate::core::{BlockMap, EndpointKind, OnError, PlanNotes, Reason, Side, count};

impl PlanNotes {
    /// Notes with the label of the run and the identity of both sides, without choices.
    pub(super) fn of(asked: &PlanInput) -> PlanNotes {
        let mut notes = PlanNotes {
            label: asked.options.label.clone(),
            source: asked.source.identity.clone(),
            dests: vec![asked.dest.identity.clone()],
            ..PlanNotes::default()
        };
        notes.compressed(asked);
        notes.compressing(asked);
        notes.checksum(asked);
        notes.block_map(asked);
        notes
    }

    /// Notes on the content of the source that is compared.
    pub(super) fn compared(asked: &PlanInput) -> PlanNotes {
        let mut notes = PlanNotes::default();
        notes.compressed(asked);
        notes.compared_dest(asked);
        if let Some(map) = &asked.options.block_map {
            let parts = parts(map.ranges.len());
            notes.chose_of(Side::Source, "block map", format!("only its {parts}"), because_of_map(asked, map));
            notes.remarks.push(format!(
                "block map {} (version {}): comparing {} of an image of {} in {parts}. --no-bmap compares everything",
                map.address,
                map.version,
                words::size(map.mapped_bytes()),
                words::size(map.image_bytes)
            ));
        }
        notes
    }

    /// Adds the choice about `topic`, and its reason.
    pub(super) fn chose(&mut self, topic: &'static str, choice: impl Into<String>, because: impl Into<String>) {
        self.why.push(Reason::new(topic, choice, because));
    }

    /// The same for a choice about one side.
    pub(super) fn chose_of(
        &mut self,
        side: Side,
        topic: &'static str,
        choice: impl Into<String>,
        because: impl Into<String>,
    ) {
        self.why.push(Reason { side: Some(side), ..Reason::new(topic, choice, because) });
    }

    /// Adds a warning to print before the copy begins.
    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Appends `others`.
    pub(super) fn append(&mut self, others: PlanNotes) {
        self.why.extend(others.why);
        self.warnings.extend(others.warnings);
        self.engine_because = others.engine_because;
    }

    /// Notes that the content of the source is copied, where it is compressed.
    fn compressed(&mut self, asked: &PlanInput) {
        let Some(compressed) = asked.source.compressed.as_deref() else { return };
        let because = match asked.options.decompress {
            Decompress::Always => "--decompress",
            _ => "the destination is a device",
        };
        let Some(format) = compressed.format else {
            let choice = if compressed.is_required { "decompressed" } else { "decompressed if it is compressed" };
            self.chose_of(Side::Source, "content", choice, format!("{because}; the first bytes show the format"));
            return;
        };
        let content = match asked.source.size {
            Some(bytes) => words::size(bytes),
            None => "unknown".to_owned(),
        };
        let stored = compressed.stored.size.map_or_else(|| "unknown".to_owned(), words::size);
        self.chose_of(Side::Source, "content", format!("decompressed ({})", format.name()), because);
        self.remarks.push(format!(
            "decompressing source {} ({}): file size {stored}, content size {content}; --as-is copies the file itself",
            asked.source.address,
            format.name()
        ));
    }

    /// Notes that the content of the dest is compared, where it is compressed.
    fn compared_dest(&mut self, asked: &PlanInput) {
        let Some(format) = asked.dest.compressed.as_deref().and_then(|compressed| compressed.format) else { return };
        let (address, format) = (&asked.dest.address, format.name());
        let because = "its name and its format";
        self.chose_of(Side::Dest, "destination content", format!("decompressed ({format})"), because);
        self.remarks.push(format!(
            "decompressing destination {address} ({format}) because of its name; --as-is compares the file itself"
        ));
    }

    /// Notes that the dest is compressed.
    fn compressing(&mut self, asked: &PlanInput) {
        let Some(encoding) = asked.dest.encoding() else { return };
        let (name, level) = (encoding.format.name(), encoding.level);
        let because = if encoding.is_by_name { "its name; --as-is writes the bytes themselves" } else { "--compress" };
        let frames = words::block(encoding.frame_bytes().into());
        let choice = format!("compressed ({name}, level {level}), in frames of {frames}");
        self.chose_of(Side::Dest, "destination content", choice, because);
        if encoding.is_by_name {
            self.remarks.push(format!(
                "compressing destination {} ({name}, level {level}) because of its name; --as-is writes the bytes \
                 themselves",
                asked.dest.address
            ));
        }
    }

    /// Notes that the source is compared with a checksum.
    fn checksum(&mut self, asked: &PlanInput) {
        let Some(checksum) = &asked.options.checksum else { return };
        let Some(digest) = &checksum.digest else { return };
        let (name, given) = (digest.kind.name(), &checksum.given);
        let because = match checksum.is_found {
            true => format!("{given} lists it; --no-checksum ignores that"),
            false => format!("--checksum {given}"),
        };
        self.chose_of(Side::Source, "checksum", format!("compared with its {name} checksum"), because);
        if checksum.is_found {
            self.remarks.push(format!(
                "comparing source {} with its {name} checksum in {given}; --no-checksum ignores that list",
                asked.source.address
            ));
        }
    }

    /// Notes that only the ranges of a block map are copied.
    fn block_map(&mut self, asked: &PlanInput) {
        let Some(map) = &asked.options.block_map else { return };
        let (ranges, digested) = (map.ranges.len(), map.digested_ranges());
        let checked = match map.algorithm {
            Some(algorithm) if digested == ranges => format!("compared with their {} checksums", algorithm.name()),
            Some(algorithm) => format!("{digested} of them compared with their {} checksums", algorithm.name()),
            None => "without checksums".to_owned(),
        };
        let parts = parts(ranges);
        self.chose_of(Side::Source, "block map", format!("{parts}, {checked}"), because_of_map(asked, map));
        self.remarks.push(format!(
            "block map {} (version {}): copying {} of an image of {} in {parts}, {checked}; the rest of the \
             destination keeps its content. --no-bmap copies everything",
            map.address,
            map.version,
            words::size(map.mapped_bytes()),
            words::size(map.image_bytes)
        ));
    }

    /// Adds a note on how unreadable sectors are handled, if the copy does not end there.
    pub(super) fn on_error(&mut self, asked: &PlanInput) {
        let OnError { skip, retries } = asked.options.on_error;
        let tries = if retries > 0 { format!("{}, then ", count(retries, "retry", "retries")) } else { String::new() };
        let choice = match (skip, retries) {
            (false, 0) => return,
            (false, _) => format!("{tries}stop"),
            (true, _) => format!("{tries}skip"),
        };
        let because = match skip {
            true => "--on-error: read the rest down to the logical block; exit status 1 if any sector is unreadable",
            false => "--on-error",
        };
        self.chose("unreadable sectors", choice, because);
    }

    /// Adds a note on how much is copied.
    pub(super) fn range(&mut self, asked: &PlanInput, range: &Range) {
        if range.is_listed() {
            self.range = Some(Reason::new("length", words::exact(range.len.unwrap_or(0)), only(range)));
            return;
        }
        let because = match (asked.options.count_bytes, asked.source.kind) {
            (Some(_), _) => "--count",
            (None, EndpointKind::Endless) => "the size of the destination: the source never ends",
            (None, EndpointKind::Pattern) => "the size of the destination",
            (None, _) if range.len.is_none() => "the size of the source is unknown until end of stream",
            (None, _) if range.skip > 0 => "the source from --skip to its end",
            (None, _) => "the whole source",
        };
        let choice = range.len.map_or_else(|| "to the end of the stream".to_owned(), words::exact);
        self.range = Some(Reason::new("length", choice, because));
    }
}

/// Why only the ranges of a map are read.
fn because_of_map(asked: &PlanInput, map: &BlockMap) -> String {
    match asked.options.bmap {
        BlockMapChoice::At(_) => format!("--bmap {}", map.address),
        _ => format!("{} exists; --no-bmap ignores it", map.address),
    }
}

fn parts(ranges: usize) -> String {
    count(ranges, "range", "ranges")
}

/// The position of listed ranges: `only the 3 ranges of list, from byte 0 to byte 8191`.
fn only(range: &Range) -> String {
    let of_side = |side: Side| {
        let hull = range.hull(side);
        let (first, last) = (hull.offset, hull.end().saturating_sub(1));
        range.maps[side.index()].name().map(|name| format!("the {name}, from byte {first} to byte {last}"))
    };
    match Side::BOTH.map(of_side) {
        [Some(source), _] if range.maps[0] == range.maps[1] => format!("only {source}"),
        [Some(source), Some(dest)] => format!("only {source} of the source, to {dest} of the destination"),
        [Some(source), None] => format!("only {source} of the source"),
        [None, dest] => format!("to {} of the destination", dest.unwrap_or_default()),
    }
}

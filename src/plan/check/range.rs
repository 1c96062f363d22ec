//! Determines which bytes are copied, and checks that they exist.
use crate::core::{AddressMap, EndpointKind, Error, Extent, Facts, Kind, Piece, Result, Side, pieces};
use crate::plan::numbers::OFFSET_MAX;
use crate::plan::plan_input::{PlanInput, named};
use crate::plan::words::{self, offset_option};

/// The bytes to copy. Neither `skip + len` nor `seek + len` exceeds the largest offset of Linux.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    /// Offset on the source.
    pub(crate) skip: u64,
    /// Offset on the dest.
    pub(crate) seek: u64,
    /// Length in bytes; `None`: to the end of a stream.
    pub(crate) len: Option<u64>,
    /// The address maps, by [`Side::index`].
    pub(crate) maps: [AddressMap; 2],
}

impl Range {
    /// From the lowest to the highest byte on `side`: to the largest offset if the length is unknown.
    pub(crate) fn hull(&self, side: Side) -> Extent {
        self.maps[side.index()].hull(self.len.unwrap_or(u64::MAX - self.offset(side)))
    }

    /// The offset after the highest byte on the dest, if the length is known.
    pub(crate) fn dest_end(&self) -> Option<u64> {
        self.len.map(|len| self.maps[Side::Dest.index()].end(len))
    }

    /// Whether a side has a list of ranges.
    pub(crate) fn is_listed(&self) -> bool {
        self.maps.iter().any(|map| map.file().is_some())
    }

    /// The pieces into which lists divide a copy of known length.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        pieces(self.maps.each_ref(), Extent::new(0, self.len.unwrap_or(0)))
    }

    /// The offset of the first byte on `side`.
    pub(crate) fn offset(&self, side: Side) -> u64 {
        match side {
            Side::Source => self.skip,
            Side::Dest => self.seek,
        }
    }
}

fn usage(side: Side, what: String, advice: impl Into<String>) -> Error {
    Error::new(Kind::Usage, what).on(side).advise(advice)
}

/// The requested range, checked against the source and the largest offset.
pub(crate) fn range(asked: &PlanInput) -> Result<Range> {
    let options = asked.options;
    let given = [options.skip_bytes, options.seek_bytes].map(|bytes| bytes.unwrap_or(0));
    let mapped = |side: Side| options.ranges[side.index()].clone();
    let maps = Side::BOTH.map(|side| mapped(side).unwrap_or_else(|| AddressMap::from(given[side.index()])));
    let [skip, seek] = maps.each_ref().map(AddressMap::start);
    for side in Side::BOTH {
        let (facts, offset) = (asked.facts(side), if side == Side::Source { skip } else { seek });
        if facts.kind.is_stream() && offset > 0 {
            let (option, name, kind) = (offset_option(side), named(side, facts), facts.kind.name());
            let what = format!("{option}: {name} is a {kind}, and a stream has no offsets");
            let advice = match side {
                _ if facts.kind == EndpointKind::FileStream && facts.address == "-" => "Name the file instead of -.",
                Side::Source => "Drop the first bytes before haul, for example with tail -c +N.",
                Side::Dest => "Omit --seek.",
            };
            return Err(usage(side, what, advice));
        }
    }
    let len = match source_len(asked.source) {
        Some(_) if options.ranges[Side::Source.index()].is_some() => options.count_bytes,
        Some(size) => Some(within(asked, size, skip)?),
        None if asked.source.kind == EndpointKind::Endless => Some(endless(asked, seek)?),
        None => options.count_bytes,
    };
    for (side, offset) in [(Side::Source, skip), (Side::Dest, seek)] {
        if options.ranges[side.index()].is_some() {
            continue;
        }
        if offset.checked_add(len.unwrap_or(0)).is_none_or(|end| end > OFFSET_MAX) {
            let option = offset_option(side);
            let what = format!(
                "{option} {offset} with {} to copy ends beyond the largest possible offset, {OFFSET_MAX}",
                words::exact(len.unwrap_or(0))
            );
            return Err(usage(side, what, format!("Give a smaller {option} or --count.")));
        }
    }
    Ok(Range { skip, seek, len, maps })
}

/// Size of the source, if it can be known in advance.
fn source_len(source: &Facts) -> Option<u64> {
    // Files in these file systems report 0 or 4096 bytes regardless of their contents, whose length only
    // reading shows.
    let made_up = matches!(
        source.filesystem.as_deref(),
        Some("proc" | "sysfs" | "debugfs" | "tracefs" | "cgroup" | "cgroup2" | "configfs" | "securityfs")
    );
    match source.kind {
        EndpointKind::Null => Some(0),
        EndpointKind::Pipe | EndpointKind::Socket | EndpointKind::Terminal | EndpointKind::Character => None,
        EndpointKind::FileStream | EndpointKind::Endless => None,
        EndpointKind::File if made_up => None,
        EndpointKind::File
        | EndpointKind::Block
        | EndpointKind::Nbd
        | EndpointKind::Http
        | EndpointKind::HttpStream
        | EndpointKind::Object
        | EndpointKind::Pattern
        | EndpointKind::Memory
        | EndpointKind::Compressed
        | EndpointKind::CompressedDest
        | EndpointKind::Manifest => source.size,
    }
}

/// Number of bytes to copy from a source of `size` bytes.
fn within(asked: &PlanInput, size: u64, skip: u64) -> Result<u64> {
    let name = named(Side::Source, asked.source);
    let has = words::exact(size);
    let Some(left) = size.checked_sub(skip) else {
        let what = format!("--skip {skip} is beyond the end: {name} has {has}");
        return Err(usage(Side::Source, what, "Give a smaller --skip."));
    };
    match asked.options.count_bytes {
        Some(count) if count > left => {
            let behind = if skip > 0 { format!(", {} after --skip {skip}", words::exact(left)) } else { String::new() };
            let more = words::exact(count - left);
            if let Some(map) = &asked.options.ranges[Side::Dest.index()] {
                let list = map.file().unwrap_or_default();
                let what = format!("--destination-ranges {list} has {more} more than {name}, which has {has}{behind}");
                return Err(usage(Side::Source, what, "Nothing was written. Correct the list."));
            }
            let what = format!("--count {count} is {more} too many: {name} has {has}{behind}");
            Err(usage(Side::Source, what, "Omit --count to copy to the end."))
        }
        Some(count) => Ok(count),
        None => Ok(left),
    }
}

/// Number of bytes to copy from an endless source.
fn endless(asked: &PlanInput, seek: u64) -> Result<u64> {
    if let Some(count) = asked.options.count_bytes {
        return Ok(count);
    }
    match (asked.dest.kind, asked.dest.size) {
        (EndpointKind::Block | EndpointKind::Nbd, Some(size)) => size.checked_sub(seek).ok_or_else(|| {
            let name = named(Side::Dest, asked.dest);
            let what = format!("--seek {seek} is beyond the end: {name} has {}", words::exact(size));
            Error::new(Kind::Refused, what).on(Side::Dest).advise("Give a smaller --seek.")
        }),
        _ => {
            let what = format!(
                "{} never ends, and {} accepts unlimited data",
                named(Side::Source, asked.source),
                named(Side::Dest, asked.dest)
            );
            Err(usage(Side::Source, what, "Limit the copy with --count."))
        }
    }
}

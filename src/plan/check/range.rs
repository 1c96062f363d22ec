//! Which bytes are copied, and whether there are as many.
use crate::core::{EndpointKind, Error, Extent, Facts, Kind, Result, Side};
use crate::plan::numbers::OFFSET_MAX;
use crate::plan::plan_input::{PlanInput, named};
use crate::plan::words::{self, offset_option};

/// Which bytes are copied. Neither `skip + len` nor `seek + len` is beyond the largest offset of Linux.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    /// First byte on the source.
    pub(crate) skip: u64,
    /// First byte on the dest.
    pub(crate) seek: u64,
    /// Bytes; `None`: to the end of a stream.
    pub(crate) len: Option<u64>,
}

impl Range {
    /// The bytes on `side`: to the largest offset where the number is unknown.
    pub(crate) fn extent(&self, side: Side) -> Extent {
        let offset = self.offset(side);
        Extent::new(offset, self.len.unwrap_or(u64::MAX - offset))
    }

    /// First byte on `side`.
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

/// The range asked for, checked against the source and the numbers that offsets can be.
pub(crate) fn range(asked: &PlanInput) -> Result<Range> {
    let options = asked.options;
    let (skip, seek) = (options.skip_bytes.unwrap_or(0), options.seek_bytes.unwrap_or(0));
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
        Some(size) => Some(within(asked, size, skip)?),
        None if asked.source.kind == EndpointKind::Endless => Some(endless(asked, seek)?),
        None => options.count_bytes,
    };
    for (side, offset) in [(Side::Source, skip), (Side::Dest, seek)] {
        if offset.checked_add(len.unwrap_or(0)).is_none_or(|end| end > OFFSET_MAX) {
            let option = offset_option(side);
            let what = format!(
                "{option} {offset} with {} to copy ends beyond the largest possible offset, {OFFSET_MAX}",
                words::exact(len.unwrap_or(0))
            );
            return Err(usage(side, what, format!("Give a smaller {option} or --count.")));
        }
    }
    Ok(Range { skip, seek, len })
}

/// Bytes in the source, where they can be known before its end.
fn source_len(source: &Facts) -> Option<u64> {
    // Files of these say 0 or 4096 bytes and are longer or shorter; only reading shows.
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
        | EndpointKind::Pattern
        | EndpointKind::Memory
        | EndpointKind::Manifest => source.size,
    }
}

/// Bytes to copy of a source of `size` bytes.
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
            let what = format!("--count {count} is {} too many: {name} has {has}{behind}", words::exact(count - left));
            Err(usage(Side::Source, what, "Omit --count to copy to the end."))
        }
        Some(count) => Ok(count),
        None => Ok(left),
    }
}

/// Bytes to copy of a source that never ends.
fn endless(asked: &PlanInput, seek: u64) -> Result<u64> {
    if let Some(count) = asked.options.count_bytes {
        return Ok(count);
    }
    match (asked.dest.kind, asked.dest.size) {
        (EndpointKind::Block, Some(size)) => size.checked_sub(seek).ok_or_else(|| {
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

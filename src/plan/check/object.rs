//! Checks whether a copy can be written as an object.
use super::Range;
use crate::core::{EndpointKind, Error, Kind, PART_BYTES_MAX, PARTS_MAX, Result, Side, part_bytes};
use crate::plan::plan_input::{PlanInput, named};
use crate::plan::words;

/// Refuses to write a part of an object, or one that is longer than a store accepts.
pub(crate) fn object(asked: &PlanInput, range: &Range) -> Result<()> {
    if asked.dest.kind != EndpointKind::Object {
        return Ok(());
    }
    let options = asked.options;
    let option = if options.ranges[Side::Dest.index()].is_some() {
        Some("--destination-ranges")
    } else if range.seek > 0 && !options.is_shard {
        Some("--seek")
    } else if options.delta.is_some() {
        Some("--delta")
    } else {
        None
    };
    let name = named(Side::Dest, asked.dest);
    if let Some(option) = option {
        let what = format!("{option}: {name} is an object, which stores replace only as a whole");
        return Err(Error::new(Kind::Usage, what).on(Side::Dest).advise(format!("Omit {option}.")));
    }
    match range.len {
        Some(len) if part_bytes(len).is_none() => {
            let most = words::exact(PARTS_MAX * PART_BYTES_MAX);
            let what = format!("{name} would have {}, and an object has at most {most}", words::exact(len));
            Err(Error::new(Kind::NoSpace, what).on(Side::Dest).advise("Copy it in parts with --skip and --count."))
        }
        _ => Ok(()),
    }
}

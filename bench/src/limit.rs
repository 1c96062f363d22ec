//! How fast a bed can be: fio reads the source alone and writes the dest alone, each with a few block sizes and depths.
//!
//! Must not know: any contender.
use crate::bed::{Bed, Shape, Task};
use crate::error::{Doing, Error, Result};
use crate::process::{Interrupt, Line, run};
use crate::result::Limit;
use serde::Deserialize;
use std::path::Path;

/// Block sizes in KiB with depths: a small one with a deep queue, large ones with shallow ones.
const TRIES: [(u64, u32); 4] = [(128, 16), (256, 8), (1024, 4), (1024, 16)];

/// Measures the limits of `bed`; those it knows by arithmetic come first and bind instead of the measured ones.
///
/// # Errors
/// When fio fails, or the bench is interrupted. That there is no fio is no error: then only arithmetic is left.
pub fn measure(bed: &Bed, interrupt: &Interrupt) -> Result<Vec<Limit>> {
    let mut limits = bed.known_limits.clone();
    // Writing would spoil a dest that is to be equal.
    if bed.task != Task::Copy || !crate::contender::in_path("fio") {
        return Ok(limits);
    }
    let known = !limits.is_empty();
    let source = match bed.shape {
        Shape::PipeToDevice => None,
        // Of the image, one would read holes; of what was just written beside it, data.
        Shape::SparseToFile => Some(&bed.dest.path),
        _ => Some(&bed.source.path),
    };
    let dest = if bed.shape == Shape::DeviceToPipe { None } else { Some(&bed.dest.path) };
    let sides = [(dest, "write"), (source, "read")];
    let mut best = Vec::new();
    for (path, what) in sides.iter().filter_map(|(path, what)| Some(((*path)?, *what))) {
        let mut tries = Vec::new();
        // So few MiB are over before any try differs from another.
        let worth_trying = if bed.data_bytes < (129 << 20) { 1 } else { TRIES.len() };
        for (kib, depth) in TRIES.into_iter().take(worth_trying) {
            tries.push(one(bed, path, what, kib, depth, interrupt)?);
        }
        tries.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        best.push(tries.swap_remove(0));
    }
    if bed.one_head {
        let seconds = best.iter().map(|limit| limit.seconds).sum();
        best = vec![Limit { what: "fio: reads alone, then writes alone".into(), seconds, binding: false }];
    }
    limits.extend(best.into_iter().map(|limit| Limit { binding: !known, ..limit }));
    Ok(limits)
}

/// One try. What a sparse source has no data of, nobody has to read or write: the bed's data is what counts.
fn one(bed: &Bed, path: &Path, what: &str, kib: u64, depth: u32, interrupt: &Interrupt) -> Result<Limit> {
    let bytes = bed.data_bytes;
    let size = format!("--rw={what} --bs={kib}k --iodepth={depth} --size={bytes} --filename={}", path.display());
    let line = Line::words(&format!(
        "fio --name=limit --ioengine=io_uring --direct=1 --end_fsync=1 --output-format=json {size}"
    ));
    bed.forget_source()?;
    let ended = run(&line, None, interrupt)?;
    if !ended.status.success() {
        return Err(Error(format!("{} failed: {}", line.text(), ended.how())));
    }
    let milliseconds = parse(&ended.stdout, what)?;
    let verb = if what == "read" { "reads" } else { "writes" };
    let seconds = milliseconds / 1000.0;
    Ok(Limit { what: format!("fio {verb} alone, io_uring, {kib} KiB x {depth}"), seconds, binding: true })
}

/// The part of fio's JSON that is used.
#[derive(Deserialize)]
struct Output {
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    read: Direction,
    write: Direction,
}

#[derive(Deserialize)]
struct Direction {
    /// In milliseconds.
    runtime: f64,
    io_bytes: u64,
}

/// Milliseconds that the direction `what` took. fio may say something before its JSON.
fn parse(text: &str, what: &str) -> Result<f64> {
    let json = text.find('{').map_or("", |start| &text[start..]);
    let output: Output = serde_json::from_str(json).doing("read what fio found")?;
    let job = output.jobs.into_iter().next().ok_or_else(|| Error("fio ran no job".into()))?;
    let direction = if what == "read" { job.read } else { job.write };
    if direction.io_bytes == 0 { Err(Error(format!("fio did not {what} anything"))) } else { Ok(direction.runtime) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_right_direction_is_taken() {
        let text = "note: both\n{\"jobs\":[{\"read\":{\"runtime\":12,\"io_bytes\":5},\
                    \"write\":{\"runtime\":34,\"io_bytes\":6}}]}";
        assert_eq!(parse(text, "read").unwrap(), 12.0);
        assert_eq!(parse(text, "write").unwrap(), 34.0);
        assert!(parse(&text.replace(":6", ":0"), "write").is_err());
        assert!(parse("fio: no such device", "read").is_err());
    }
}

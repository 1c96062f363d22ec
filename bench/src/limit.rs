//! The speed limit of a bed: fio only reads the source and only writes the dest, each with several block sizes and
//! depths.
//!
//! Independent of the contenders.
use crate::bed::{Bed, Shape, Task};
use crate::error::{Doing, Error, Result};
use crate::process::{Interrupt, Line, run};
use crate::result::Limit;
use serde::Deserialize;
use std::path::Path;

/// Block sizes in KiB with depths: a small one with a deep queue, large ones with shallow queues.
const TRIES: [(u64, u32); 4] = [(128, 16), (256, 8), (1024, 4), (1024, 16)];

/// Measures the limits of `bed`; calculated ones come first and replace measured ones.
///
/// # Errors
/// fio fails, or the bench is interrupted. Without fio only calculated limits remain, which is not an error.
pub fn measure(bed: &Bed, interrupt: &Interrupt) -> Result<Vec<Limit>> {
    let mut limits = bed.known_limits.clone();
    // Writing would change a dest that must be equal.
    if !matches!(bed.task, Task::Copy | Task::Unpack) || !crate::contender::in_path("fio") {
        return Ok(limits);
    }
    // Of an unpacked image only the decoder is known.
    let known = !limits.is_empty() && bed.task == Task::Copy;
    let source = match bed.shape {
        Shape::PipeToDevice | Shape::ImageToDevice => None,
        // Reading the image would read holes; the file that was just written has data.
        Shape::SparseToFile => Some(&bed.dest.path),
        _ => Some(&bed.source.path),
    };
    let dest = if bed.shape == Shape::DeviceToPipe { None } else { Some(&bed.dest.path) };
    let sides = [(dest, "write"), (source, "read")];
    let mut best = Vec::new();
    for (path, what) in sides.iter().filter_map(|(path, what)| Some(((*path)?, *what))) {
        let mut tries = Vec::new();
        // A copy of so few MiB ends before the trials differ.
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

/// One trial. Holes of a sparse source need no reads or writes: only data counts.
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

/// The required part of fio's JSON.
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

/// The milliseconds of the direction `what`. fio may print a message before its JSON.
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
    fn a_limit_uses_the_time_of_its_direction() {
        let text = "note: both\n{\"jobs\":[{\"read\":{\"runtime\":12,\"io_bytes\":5},\
                    \"write\":{\"runtime\":34,\"io_bytes\":6}}]}";
        assert_eq!(parse(text, "read").unwrap(), 12.0);
        assert_eq!(parse(text, "write").unwrap(), 34.0);
        assert!(parse(&text.replace(":6", ":0"), "write").is_err());
        assert!(parse("fio: no such device", "read").is_err());
    }
}

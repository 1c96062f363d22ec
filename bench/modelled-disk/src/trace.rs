//! The trace of a disk: every read, when it ended, and how.
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::parameters::Extent;

/// A read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedRead {
    /// Nanoseconds from the first read to the completion of this one.
    pub at_ns: u64,
    /// What was read.
    pub extent: Extent,
    /// It failed.
    pub failed: bool,
}

/// The reads so far.
#[derive(Debug, Default)]
pub struct Trace {
    reads: Mutex<(u64, Vec<TracedRead>)>,
}

impl Trace {
    /// Adds a read that arrived and ends at these times.
    pub fn add(&self, arrived_ns: u64, at_ns: u64, extent: Extent, failed: bool) {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        if reads.1.is_empty() {
            reads.0 = arrived_ns;
        }
        let at_ns = at_ns.saturating_sub(reads.0);
        reads.1.push(TracedRead { at_ns, extent, failed });
    }

    /// Writes it to a new file at `path`: a line for each read, in the order of their ends.
    ///
    /// # Errors
    /// Those of writing a file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        reads.sort_by_key(|read| read.at_ns);
        let mut out = BufWriter::new(File::create(path)?);
        for TracedRead { at_ns, extent, failed } in reads {
            let ended = if failed { '-' } else { '+' };
            writeln!(out, "{} {} {} {ended}", at_ns / 1000, extent.offset, extent.len)?;
        }
        out.flush()
    }
}

/// Reads the trace at `path`.
///
/// # Errors
/// It cannot be read, or is not a trace.
pub fn read(path: &Path) -> io::Result<Vec<TracedRead>> {
    let read = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [at, offset, len, ended] = fields.as_slice() else { return None };
        let number = |text: &str| text.parse::<u64>().ok();
        let extent = Extent { offset: number(offset)?, len: number(len)? };
        Some(TracedRead { at_ns: number(at)?.checked_mul(1000)?, extent, failed: *ended == "-" })
    };
    let lines = BufReader::new(File::open(path)?).lines();
    lines.map(|line| line.and_then(|line| read(&line).ok_or_else(|| io::Error::other("not a trace")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_trace_is_read_in_the_order_of_the_ends() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace");
        let trace = Trace::default();
        let extent = |offset, len| Extent { offset, len };
        trace.add(5_000, 905_000, extent(0, 4096), false);
        trace.add(6_000, 405_000, extent(4096, 512), true);
        trace.write(&path).unwrap();
        let of = |at_ns, extent, failed| TracedRead { at_ns, extent, failed };
        assert_eq!(read(&path).unwrap(), [of(400_000, extent(4096, 512), true), of(900_000, extent(0, 4096), false)]);
        std::fs::write(&path, "1 2 3\n").unwrap();
        assert!(read(&path).is_err());
    }
}

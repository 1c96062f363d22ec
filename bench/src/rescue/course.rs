//! The course of a rescue: the bytes that were read by each moment, from the trace of the disk.
use modelled_disk::trace::TracedRead;
use std::collections::BTreeMap;

/// Points of a curve at most.
const POINTS_MAX: usize = 400;

/// The bytes read for the first time, over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    /// Nanoseconds and bytes, both ascending.
    moments: Vec<(u64, u64)>,
    failed_reads: u64,
    end_ns: u64,
}

impl Course {
    /// Of these reads, in the order of their ends, from the first of `cluster` bytes on, or else the first larger one.
    /// Those before are of the kernel, which looks for partitions, and of programs that find out what the disk is.
    pub(super) fn of(reads: &[TracedRead], cluster: u64) -> Self {
        let of_cluster = reads.iter().position(|read| read.extent.len == cluster);
        let first = of_cluster.or_else(|| reads.iter().position(|read| read.extent.len > cluster)).unwrap_or(0);
        let reads = &reads[first..];
        let from_ns = reads.first().map_or(0, |read| read.at_ns);
        let (mut read, mut bytes) = (Covered::default(), 0);
        let mut course = Course { end_ns: reads.last().map_or(0, |last| last.at_ns - from_ns), ..Course::default() };
        for one in reads {
            if one.failed {
                course.failed_reads += 1;
                continue;
            }
            let new = read.add(one.extent.offset, one.extent.end());
            if new > 0 {
                bytes += new;
                course.moments.push((one.at_ns - from_ns, bytes));
            }
        }
        course
    }

    pub(super) fn failed_reads(&self) -> u64 {
        self.failed_reads
    }

    pub(super) fn end_s(&self) -> f64 {
        self.end_ns as f64 / 1e9
    }

    /// The bytes read by this moment.
    pub(super) fn bytes_at(&self, at_ns: u64) -> u64 {
        let before = self.moments.partition_point(|(ns, _)| *ns <= at_ns);
        before.checked_sub(1).map_or(0, |last| self.moments[last].1)
    }

    /// The time by which this number of bytes was read, in seconds.
    pub(super) fn reaches(&self, bytes: u64) -> Option<f64> {
        let first = self.moments.partition_point(|(_, read)| *read < bytes);
        self.moments.get(first).map(|(ns, _)| *ns as f64 / 1e9)
    }

    /// How many bytes `other` was ahead at most.
    pub(super) fn behind_bytes(&self, other: &Course) -> u64 {
        other.moments.iter().map(|(ns, bytes)| bytes.saturating_sub(self.bytes_at(*ns))).max().unwrap_or(0)
    }

    /// Some points of the curve: seconds and bytes.
    pub(super) fn points(&self) -> Vec<(f64, f64)> {
        let at = |index: usize| {
            let ns = (self.end_ns as f64 * index as f64 / POINTS_MAX as f64) as u64;
            (ns as f64 / 1e9, self.bytes_at(ns) as f64)
        };
        (0..=POINTS_MAX).map(at).collect()
    }
}

/// Bytes as disjoint ranges: start and end.
#[derive(Default)]
struct Covered(BTreeMap<u64, u64>);

impl Covered {
    /// Adds a range, and returns how many of its bytes are new.
    fn add(&mut self, start: u64, end: u64) -> u64 {
        let (mut from, mut to, mut known) = (start, end, 0);
        let touching: Vec<(u64, u64)> =
            self.0.range(..=end).rev().take_while(|range| *range.1 >= start).map(|(from, to)| (*from, *to)).collect();
        for (other, other_end) in touching {
            known += other_end.min(end).saturating_sub(other.max(start));
            (from, to) = (from.min(other), to.max(other_end));
            self.0.remove(&other);
        }
        self.0.insert(from, to);
        end - start - known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modelled_disk::parameters::Extent;

    fn read(at_ms: u64, offset: u64, len: u64, failed: bool) -> TracedRead {
        TracedRead { at_ns: at_ms * 1_000_000, extent: Extent { offset, len }, failed }
    }

    #[test]
    fn only_bytes_that_were_not_read_before_count() {
        let reads = [
            read(1, 0, 100, false),
            read(2, 100, 50, true),
            read(3, 50, 100, false),
            read(4, 300, 50, false),
            read(5, 0, 400, false),
            read(9, 0, 400, true),
        ];
        let course = Course::of(&reads, 0);
        let at = |ms: u64| course.bytes_at(ms * 1_000_000);
        assert_eq!([at(0), at(1), at(2), at(3), at(4)], [100, 100, 150, 200, 400]);
        assert_eq!(Course::of(&reads, 100).points(), course.points());
        assert_eq!(Course::of(&reads, 400).end_s(), 0.004);
        assert_eq!((course.failed_reads(), course.end_s()), (2, 0.008));
        assert_eq!([course.reaches(100), course.reaches(101), course.reaches(401)], [Some(0.0), Some(0.002), None]);
    }

    #[test]
    fn behind_is_the_largest_lead_of_the_other() {
        let [slow, quick] = [[(2, 0), (4, 100)], [(1, 0), (9, 100)]].map(|reads| {
            let begun = std::iter::once(read(0, 900, 1, false));
            let reads = begun.chain(reads.map(|(at_ms, offset)| read(at_ms, offset, 100, false)));
            Course::of(&reads.collect::<Vec<_>>(), 0)
        });
        assert_eq!((slow.behind_bytes(&quick), quick.behind_bytes(&slow)), (100, 100));
        assert_eq!(quick.behind_bytes(&quick), 0);
    }
}

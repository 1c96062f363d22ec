//! One point of a sweep: operands, and a suitable number of bytes.
use super::ground::{From, Ground, To};
use crate::bed::Size;
use crate::process::Line;

/// The block sizes of a sweep: from one sector to 64 MiB.
pub(super) const BLOCK_SHIFTS: std::ops::RangeInclusive<u32> = 9..=26;

/// One block size, or one conversion with one record size.
pub(super) struct Point {
    /// Its name in the table: `bs=512`, `conv=swab bs=4K`.
    pub name: String,
    /// Operands of both programs besides `if=` and `of=`.
    pub operands: String,
    /// Bytes that are read.
    pub bytes: u64,
    /// Required speed relative to GNU dd.
    pub wanted: f64,
}

/// The approximate cost of a copy by GNU dd: precise enough to choose sizes that take a fraction of a second.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    pub record_us: f64,
    pub bytes_per_us: f64,
}

impl Cost {
    /// Bytes that GNU dd copies in a measurable time, in records of `record_bytes`; a power of two, so that few
    /// sources are needed.
    pub(super) fn bytes(self, record_bytes: u64, size: Size) -> u64 {
        let (target_us, least, most) = match size {
            // The pump begins at 8 MiB: smaller copies would only measure that records are used.
            Size::Full => (250_000.0, 8 << 20, 256 << 20),
            Size::Quick => (25_000.0, 8 << 20, 64 << 20),
            Size::Tiny => (0.0, 1 << 20, 2 << 20),
        };
        let record_us = self.record_us + record_bytes as f64 / self.bytes_per_us;
        let bytes = (target_us / record_us * record_bytes as f64) as u64;
        let floor = 1 << bytes.clamp(least, most).ilog2();
        record_bytes.max(floor)
    }
}

/// The block sizes that are measured: all of them, every third, or one small and one large.
pub(super) fn block_sizes(size: Size) -> Vec<u64> {
    let step = match size {
        Size::Full => 1,
        Size::Quick => 3,
        Size::Tiny => 11,
    };
    BLOCK_SHIFTS.step_by(step).map(|shift| 1 << shift).collect()
}

/// `512`, `4K`, `64M`: in dd's format.
pub(super) fn short(bytes: u64) -> String {
    let units = [(1u64 << 20, "M"), (1 << 10, "K")];
    let unit = units.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(unit, name)| format!("{}{name}", bytes / unit))
}

impl Point {
    /// A point of each block size, with `more` operands.
    pub(super) fn of_block_sizes(cost: Cost, more: &str, size: Size) -> Vec<Point> {
        let point = |bs| {
            let operands = format!("bs={} {more}", short(bs));
            Point { name: format!("bs={}", short(bs)), operands, bytes: cost.bytes(bs, size), wanted: 1.0 }
        };
        block_sizes(size).into_iter().map(point).collect()
    }

    /// Limits the copy to the first part of a larger source.
    pub(super) fn counted(mut self, record_bytes: u64) -> Point {
        self.operands = format!("{} count={}", self.operands, self.bytes / record_bytes);
        self
    }

    /// The command line of `program`, with dd's operands.
    pub(super) fn line(&self, program: &str, ground: &Ground) -> Line {
        let source = ground.source(self.bytes);
        let source = source.display();
        let mut words = program.to_owned();
        let mut shell = false;
        match &ground.from {
            From::Pipe => (words, shell) = (format!("cat {source} | {program}"), true),
            From::Device(_) | From::Files { .. } => words += &format!(" if={source}"),
        }
        match &ground.to {
            To::Device(place) => words += &format!(" of={}", place.path.display()),
            To::File { path, .. } => words += &format!(" of={}", path.display()),
            To::Pipe => shell = true,
        }
        words += &format!(" {}", self.operands.trim());
        if matches!(ground.to, To::Pipe) {
            words += &format!(" | cmp - {source}");
        }
        if shell { Line::shell(words) } else { Line::words(&words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_printed_in_the_units_of_dd() {
        assert_eq!([512, 1024, 4096, 1 << 20, 64 << 20, 1000].map(short), ["512", "1K", "4K", "1M", "64M", "1000"]);
    }

    #[test]
    fn small_records_copy_few_bytes_and_at_least_one_record() {
        let cost = Cost { record_us: 10.0, bytes_per_us: 1000.0 };
        let bytes: Vec<u64> = block_sizes(Size::Full).iter().map(|bs| cost.bytes(*bs, Size::Full)).collect();
        assert_eq!(bytes.len(), 18);
        assert!(bytes.windows(2).all(|pair| pair[0] <= pair[1]), "{bytes:?}");
        assert_eq!((bytes[0], bytes[17]), (8 << 20, 128 << 20));
        assert_eq!(cost.bytes(64 << 20, Size::Tiny), 64 << 20);
    }

    #[test]
    fn each_size_sweeps_from_a_sector_on() {
        assert_eq!(block_sizes(Size::Tiny), [512, 1 << 20]);
        assert_eq!(block_sizes(Size::Quick), [512, 4096, 32 << 10, 256 << 10, 2 << 20, 16 << 20]);
    }
}

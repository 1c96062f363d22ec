//! The columns of a bed's table, for terminal and page.
use super::words::{mib, number, percent, rate};
use crate::numbers::Summary;
use crate::result::BedResult;

/// One column.
pub(super) struct Column {
    /// First line of its heading.
    pub heading: &'static str,
    /// Second line: its unit.
    pub unit: &'static str,
    /// Its meaning, for the legend.
    pub means: &'static str,
    /// Whether it is shown on a narrow terminal.
    pub stays: bool,
    /// Its cell for one contender.
    pub cell: fn(&Summary, &Scale) -> String,
}

/// Values for cells besides the summary.
pub(super) struct Scale {
    /// Bytes of one run.
    pub bytes: u64,
    /// The smallest resident memory that can be measured, in bytes.
    pub resident_floor_bytes: u64,
}

impl Scale {
    pub(super) fn of(bed: &BedResult, resident_floor_bytes: u64) -> Scale {
        Scale { bytes: bed.bytes, resident_floor_bytes }
    }
}

/// All columns after the contender's name.
pub(super) const COLUMNS: [Column; 11] = [
    column("median", "s", "median of the wall time, flush included", true, |one, _| number(one.median_s)),
    column("min", "s", "shortest wall time", false, |one, _| number(one.min_s)),
    column("spread", "%", "longest less shortest wall time, as a share of the median", true, |one, _| {
        format!("{:.1}", one.spread * 100.0)
    }),
    column("x haul", "", "median over the rounds of its time by haul's time in the same round", true, |one, _| {
        one.ratio_to_haul.map_or("–".into(), ratio)
    }),
    column("x limit", "", "median wall time by the limit of the bed", true, |one, _| {
        one.ratio_to_limit.map_or("–".into(), ratio)
    }),
    column("rate", "MB/s", "bytes by the median wall time; MB count in 1000", true, |one, scale| {
        rate(scale.bytes, one.median_s)
    }),
    column("CPU", "s/GiB", "processor time of the whole machine, kernel threads included", true, |one, _| {
        number(one.machine_cpu_s_per_gib)
    }),
    column("own", "s/GiB", "processor time of its own processes", false, |one, _| number(one.process_cpu_s_per_gib)),
    column("memory", "MiB", "peak RSS of its largest process", true, |one, scale| {
        mib(one.resident_bytes, scale.resident_floor_bytes)
    }),
    column("cache", "MiB", "bytes of source and dest left in the page cache", false, |one, _| {
        format!("{:.0}", one.cache_left_bytes as f64 / f64::from(1 << 20))
    }),
    column(
        "kept",
        "%",
        "share of another program's file that a copy with little memory left cached",
        true,
        |one, _| one.test_file_left.map_or("–".into(), percent),
    ),
];

const fn column(
    heading: &'static str,
    unit: &'static str,
    means: &'static str,
    stays: bool,
    cell: fn(&Summary, &Scale) -> String,
) -> Column {
    Column { heading, unit, means, stays, cell }
}

fn ratio(ratio: f64) -> String {
    if ratio < 99.95 { format!("{ratio:.2}") } else { number(ratio) }
}

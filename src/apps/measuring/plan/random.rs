//! What `haul profile --random` reads: pure.
use super::requests::RandomOptions;
use crate::apps::measuring::plan::measuring::Measuring;
use crate::core::{Cache, Error, Extent, Facts, Kind, Result};
use crate::measure::{Point, RandomReads, Way};
use crate::plan::words;
use std::time::Duration;

/// Default size of a read, in bytes: a page, as most programs read.
const BLOCK_BYTES: u32 = 4096;

/// Default duration.
const TIME: Duration = Duration::from_secs(10);

/// Limit with a number of reads but no time: a day.
const TIME_MAX: Duration = Duration::from_secs(86_400);

/// The reads for the disk or file that is opened by `plan`, with memory for `memory_bytes`; `seed` is used if
/// none was given.
///
/// # Errors
/// Usage for a block size or range that the disk does not have.
pub fn random_reads(
    options: &RandomOptions,
    facts: &Facts,
    plan: &Measuring,
    memory_bytes: u64,
    time: Option<Duration>,
    seed: u64,
) -> Result<RandomReads> {
    let usage = |what: String, advice: String| Err(Error::new(Kind::Usage, what).advise(advice));
    let (cache, side) = &plan.ways[0];
    let way = if *cache == Cache::Direct { Way::Direct } else { Way::Buffered };
    let align = side.access.offset_align_bytes.max(1);
    let block_bytes = options.block_bytes.unwrap_or(BLOCK_BYTES.next_multiple_of(align));
    if !block_bytes.is_multiple_of(align) {
        let what = format!("--block-size {block_bytes}: reads of {} must be multiples of {align} bytes", facts.address);
        return usage(what, format!("Give {} or a multiple of {align}.", block_bytes.next_multiple_of(align)));
    }
    let depth = options.depth.unwrap_or(1);
    let in_flight = u64::from(block_bytes) * u64::from(depth);
    if in_flight > memory_bytes {
        let (asked, most) = (words::size(in_flight), words::size(memory_bytes));
        return usage(
            format!("--block-size times --depth is {asked}, more than {most}"),
            "Reduce one of them.".to_owned(),
        );
    }
    let range = options.range.unwrap_or(Extent::new(0, plan.size));
    let end = range.offset.checked_add(range.len);
    if end.is_none_or(|end| end > plan.size) {
        let (first, len) = (range.offset, range.len);
        let what = format!("--range {first}+{len}: {} has {}", facts.address, words::exact(plan.size));
        return usage(what, "Give a range that ends before that.".to_owned());
    }
    if range.len < block_bytes.into() || !range.offset.is_multiple_of(align.into()) {
        let what = format!("--range {}+{}: too small for a block of {block_bytes} bytes", range.offset, range.len);
        return usage(what, format!("Start at a multiple of {align} bytes, and include at least one block."));
    }
    Ok(RandomReads {
        point: Point { way, block_bytes, depth },
        range,
        seed: options.seed.unwrap_or(seed),
        requests: options.requests,
        time: time.unwrap_or(if options.requests.is_some() { TIME_MAX } else { TIME }),
        slower_than: options.slower_than,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::measuring::plan::measure;
    use crate::core::{DirectAlignment, EndpointKind, Host};

    fn planned(options: &RandomOptions, time: Option<Duration>) -> Result<RandomReads> {
        let mut facts = Facts::new("/dev/sdz", EndpointKind::Block);
        (facts.size, facts.logical_block_bytes) = (Some(1 << 30), 512);
        facts.direct = Some(DirectAlignment { memory_bytes: 512, offset_bytes: 512 });
        let plan = measure(&facts, None, &Host { ring_refused: None }).unwrap();
        random_reads(options, &facts, &plan, 1 << 20, time, 42)
    }

    #[test]
    fn the_default_is_single_4_kib_reads_anywhere_for_10_s() {
        let found = planned(&RandomOptions::default(), None).unwrap();
        assert_eq!(found.point, Point { way: Way::Direct, block_bytes: 4096, depth: 1 });
        assert_eq!((found.range, found.seed, found.time), (Extent::new(0, 1 << 30), 42, TIME));
        let counted = RandomOptions { requests: Some(9), seed: Some(7), ..RandomOptions::default() };
        let found = planned(&counted, None).unwrap();
        assert_eq!((found.requests, found.seed, found.time), (Some(9), 7, TIME_MAX));
        assert_eq!(planned(&counted, Some(TIME)).unwrap().time, TIME);
    }

    #[test]
    fn ranges_beyond_the_disk_are_refused() {
        let options = RandomOptions::default;
        let range = |offset, len| RandomOptions { range: Some(Extent { offset, len }), ..options() };
        let table = [
            (RandomOptions { block_bytes: Some(1000), ..options() }, "multiples of 512"),
            (RandomOptions { block_bytes: Some(64 << 10), depth: Some(17), ..options() }, "--depth"),
            (range(1 << 30, 4096), "has 1073741824"),
            (range(u64::MAX, 4096), "has 1073741824"),
            (range(0, 4095), "too small for a block of 4096"),
            (range(100, 8192), "too small for a block of 4096"),
        ];
        for (options, words) in table {
            let error = planned(&options, None).unwrap_err();
            assert!(error.kind == Kind::Usage && error.what.contains(words), "{options:?}: {error}");
        }
        assert_eq!(planned(&range(1 << 29, 1 << 29), None).unwrap().range.offset, 1 << 29);
    }
}

//! Options of `haul profile --random`.
use crate::apps::measuring::plan::RandomOptions;
use crate::cli::words;
use crate::core::Extent;
use clap::Args;
use std::time::Duration;

/// Reads at random offsets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Random reads")]
pub(crate) struct RandomArguments {
    /// Only random reads: latency and IOPS
    ///
    /// Read blocks at random offsets, with direct I/O where supported, for --time (10 s) or --requests, and report IOPS
    /// and the latency distribution; with --slower-than also each slow read with its offset.
    #[arg(long, conflicts_with_all = ["timing", "positions", "write", "sustained", "read_buffer"])]
    random: bool,

    /// With --random: bytes per read; default 4K
    #[arg(long, value_name = "SIZE", value_parser = words::block, requires = "random")]
    block_size: Option<u32>,

    /// With --random: reads in flight; default 1
    #[arg(long, value_name = "N", value_parser = words::depth, requires = "random")]
    depth: Option<u32>,

    /// With --random: only in the range FIRST+LENGTH
    ///
    /// With --random: only in this range of bytes: --range 10G+512M.
    #[arg(long, value_name = "RANGE", value_parser = words::range, requires = "random")]
    range: Option<Extent>,

    /// With --random: seed for the same offsets as another run
    ///
    /// With --random: a number; the same seed, range and block size give the same offsets in the same order. The report
    /// shows the seed.
    #[arg(long, value_name = "N", requires = "random")]
    seed: Option<u64>,

    /// With --random: number of reads
    ///
    /// With --random: number of reads, or fewer if --time ends first.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "random")]
    requests: Option<u64>,

    /// With --random: list reads that take longer
    ///
    /// With --random: count the reads that take longer than this, and list the first 64 with their offsets: 10ms,
    /// 500us.
    #[arg(long, value_name = "TIME", value_parser = words::latency, requires = "random")]
    slower_than: Option<Duration>,
}

impl RandomArguments {
    /// `None`: another measurement was requested.
    pub(crate) fn into_options(self) -> Option<RandomOptions> {
        let RandomArguments { random, block_size, depth, range, seed, requests, slower_than } = self;
        random.then_some(RandomOptions { block_bytes: block_size, depth, range, seed, requests, slower_than })
    }
}

//! The parameters of a disk: numbers from a command line from which the model is built.
use serde::Serialize;
use std::path::PathBuf;

use crate::damage::SWAPPED_BYTES;
use crate::failing::Failing;
use crate::words::{duration_ns, list, pair, percent, size_bytes, truth};

/// A run of bytes `offset..offset + len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

impl Extent {
    /// The offset after the last byte.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// Whether both have a byte in common.
    pub fn overlaps(&self, other: &Extent) -> bool {
        self.offset < other.end() && other.offset < self.end()
    }
}

/// A position on the disk and the rate of the medium there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RateAt {
    /// Offset on the disk.
    pub offset: u64,
    /// Media rate for reading there.
    pub bytes_per_s: u64,
}

/// Everything about one disk. Zero, or an empty list, disables a behaviour.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameters {
    /// Size of the disk in bytes.
    pub size_bytes: u64,
    /// The file with the data; created, or extended, if necessary.
    pub store: Option<PathBuf>,
    /// The file for the counters, written on unload.
    pub log: Option<PathBuf>,
    /// The file for the trace of reads, written on unload.
    pub trace: Option<PathBuf>,
    /// Factor by which all durations are divided, and all rates multiplied.
    pub time_scale: f64,
    /// Time for each command besides the transfer.
    pub overhead_ns: u64,
    /// Added to each command without delaying the next one, as solid-state disks process commands in parallel.
    pub latency_ns: u64,
    /// Rate of the interface: the rate at which the disk's caches are read and filled.
    pub interface_bytes_per_s: u64,
    /// Media rates, by ascending offset; the first at offset 0. A single one is the same everywhere.
    pub rates: Vec<RateAt>,
    /// The disk size to which the offsets in `rates` refer; they are scaled to this disk. 0: this disk.
    pub rates_over_bytes: u64,
    /// Number of zones over which the rates are interpolated linearly; 0: each point begins a zone.
    pub zones: u64,
    /// Write rate as a percentage of the read rate.
    pub write_percent: u64,
    /// Revolutions per minute; 0: no rotation and no seeks.
    pub rpm: u64,
    /// Initial angle of the platter, in percent of a revolution.
    pub angle_percent: u64,
    /// Maximum delay of a sequential command that does not miss its rotation.
    pub grace_ns: u64,
    /// Shortest seek, including settling.
    pub seek_ns: u64,
    /// Seek across the whole disk, including settling.
    pub seek_full_ns: u64,
    /// Number of commands that the disk accepts and may reorder; 1: in order of arrival.
    pub queue_depth: u64,
    /// The elevator only ascends, at once, among the commands that have arrived; see [`crate::model::Disk`].
    pub one_way: bool,
    /// Maximum transfer size: larger commands are split into pieces, each a command to the disk; 0: unlimited.
    pub transfer_max_bytes: u64,
    /// Round-trip time to the disk: one half before it receives a command, the other after it has completed it.
    pub distance_ns: u64,
    /// Number of commands processed in parallel, each on a separate channel; 0: one after the other.
    pub channels: u64,
    /// Rate of one channel; all of them together do not exceed the rate of the medium.
    pub channel_bytes_per_s: u64,
    /// Whether the disk reports itself as rotational, correctly or not; `None`: if it has `rpm`.
    pub reported_rotational: Option<bool>,
    /// Size of the read-ahead cache, for sequential readers.
    pub read_ahead_bytes: u64,
    /// Size of the volatile write cache.
    pub write_cache_bytes: u64,
    /// Written bytes after which writing becomes slower.
    pub slow_after_bytes: u64,
    /// Write rate from then on.
    pub slow_bytes_per_s: u64,
    /// Idle time after which the disk is fast again; 0: never.
    pub recover_ns: u64,
    /// Written bytes that warm the disk by 1 °C; 0: writing does not.
    pub heat_bytes_per_c: u64,
    /// Time in which an idle disk cools to 1/e of its temperature above rest.
    pub heat_leak_ns: u64,
    /// Temperature at rest, in °C.
    pub heat_rest_c: u64,
    /// Temperature at which writing becomes slower.
    pub heat_limit_c: u64,
    /// Write rate from then on.
    pub heat_bytes_per_s: u64,
    /// Temperature at which it is fast again.
    pub heat_back_c: u64,
    /// Size of an erase block.
    pub erase_block_bytes: u64,
    /// Erase blocks that can be open at once.
    pub erase_blocks_open: u64,
    /// Number of waiting commands beyond which each one costs `choke_ns` more.
    pub choke_depth: u64,
    /// See `choke_depth`.
    pub choke_ns: u64,
    /// Written bytes between two stalls.
    pub stall_every_bytes: u64,
    /// Length of those stalls.
    pub stall_ns: u64,
    /// Single stalls: the first time that this byte is touched, for this number of nanoseconds.
    pub stall_at: Vec<(u64, u64)>,
    /// Ranges that cannot be read.
    pub bad_read: Vec<Extent>,
    /// Ranges that cannot be written.
    pub bad_write: Vec<Extent>,
    /// How long the disk retries before it reports a bad range.
    pub bad_ns: u64,
    /// Percentage of written sectors that only a flush makes durable.
    pub volatile_percent: u64,
    /// The seed that selects them.
    pub volatile_seed: u64,
    /// Writes that are acknowledged and lost: the old data remains.
    pub drop: Vec<Extent>,
    /// Bytes of which one bit is written wrongly.
    pub flip: Vec<u64>,
    /// Bytes of which one bit is read wrongly.
    pub misread: Vec<u64>,
    /// Pairs of offsets: writes to one are stored at the other.
    pub swap: Vec<(u64, u64)>,
    /// Number of requests that are damaged at each position in `drop`, `flip` and `misread`; 0: all.
    pub damage_times: u64,
    /// Trim is supported.
    pub trim: bool,
    /// How the disk fails.
    pub failing: Failing,
}

impl Default for Parameters {
    /// A disk of 1 GiB and 200 MB/s everywhere, without any other behaviour.
    fn default() -> Self {
        Parameters {
            size_bytes: 1 << 30,
            store: None,
            log: None,
            trace: None,
            time_scale: 1.0,
            overhead_ns: 0,
            latency_ns: 0,
            interface_bytes_per_s: 600_000_000,
            rates: vec![RateAt { offset: 0, bytes_per_s: 200_000_000 }],
            rates_over_bytes: 0,
            zones: 0,
            write_percent: 100,
            rpm: 0,
            angle_percent: 0,
            grace_ns: 0,
            seek_ns: 0,
            seek_full_ns: 0,
            queue_depth: 1,
            one_way: false,
            transfer_max_bytes: 0,
            distance_ns: 0,
            channels: 0,
            channel_bytes_per_s: 0,
            reported_rotational: None,
            read_ahead_bytes: 0,
            write_cache_bytes: 0,
            slow_after_bytes: 0,
            slow_bytes_per_s: 0,
            recover_ns: 0,
            heat_bytes_per_c: 0,
            heat_leak_ns: 0,
            heat_rest_c: 0,
            heat_limit_c: 0,
            heat_bytes_per_s: 0,
            heat_back_c: 0,
            erase_block_bytes: 0,
            erase_blocks_open: 1,
            choke_depth: 0,
            choke_ns: 0,
            stall_every_bytes: 0,
            stall_ns: 0,
            stall_at: Vec::new(),
            bad_read: Vec::new(),
            bad_write: Vec::new(),
            bad_ns: 0,
            volatile_percent: 0,
            volatile_seed: 1,
            drop: Vec::new(),
            flip: Vec::new(),
            misread: Vec::new(),
            swap: Vec::new(),
            damage_times: 0,
            trim: false,
            failing: Failing::default(),
        }
    }
}

impl Parameters {
    /// Sets one parameter from a command line, any except `preset`.
    ///
    /// # Errors
    /// An unknown key, or a value that does not have the form in the table of keys; the text states the expected
    /// form.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        self.try_set(key, value).map_err(|wrong| format!("{key}={value}: {wrong}"))
    }

    fn try_set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "size" => self.size_bytes = size_bytes(value)?,
            "store" => self.store = Some(absolute(value)?),
            "log" => self.log = Some(absolute(value)?),
            "trace" => self.trace = Some(absolute(value)?),
            "time_scale" => self.time_scale = value.parse().map_err(|_| "expected a number such as 8 or 0.5")?,
            "overhead_us" => self.overhead_ns = duration_ns(value, 1e3)?,
            "latency_us" => self.latency_ns = duration_ns(value, 1e3)?,
            "interface_rate" => self.interface_bytes_per_s = size_bytes(value)?,
            "rate" => self.rates = vec![RateAt { offset: 0, bytes_per_s: size_bytes(value)? }],
            "rates" => {
                let point = |word: &str| pair(word, size_bytes);
                let rates = list(value, point)?;
                self.rates = rates.into_iter().map(|(offset, bytes_per_s)| RateAt { offset, bytes_per_s }).collect();
            }
            "rates_over" => self.rates_over_bytes = size_bytes(value)?,
            "zones" => self.zones = size_bytes(value)?,
            "write_percent" => self.write_percent = percent(value)?,
            "rpm" => self.rpm = size_bytes(value)?,
            "angle_percent" => self.angle_percent = percent(value)?,
            "grace_us" => self.grace_ns = duration_ns(value, 1e3)?,
            "seek_us" => self.seek_ns = duration_ns(value, 1e3)?,
            "seek_full_us" => self.seek_full_ns = duration_ns(value, 1e3)?,
            "queue_depth" => self.queue_depth = size_bytes(value)?,
            "one_way" => self.one_way = truth(value)?,
            "transfer_max" => self.transfer_max_bytes = size_bytes(value)?,
            "distance_us" => self.distance_ns = duration_ns(value, 1e3)?,
            "channels" => self.channels = size_bytes(value)?,
            "channel_rate" => self.channel_bytes_per_s = size_bytes(value)?,
            "rotational" => self.reported_rotational = Some(truth(value)?),
            "read_ahead_bytes" => self.read_ahead_bytes = size_bytes(value)?,
            "write_cache_bytes" => self.write_cache_bytes = size_bytes(value)?,
            _ => return self.try_set_fault(key, value),
        }
        Ok(())
    }

    fn try_set_fault(&mut self, key: &str, value: &str) -> Result<(), String> {
        let extents = |value: &str| -> Result<Vec<Extent>, String> {
            let pairs = list(value, |word| pair(word, size_bytes))?;
            Ok(pairs.into_iter().map(|(offset, len)| Extent { offset, len }).collect())
        };
        match key {
            "slow_after_bytes" => self.slow_after_bytes = size_bytes(value)?,
            "slow_rate" => self.slow_bytes_per_s = size_bytes(value)?,
            "recover_ms" => self.recover_ns = duration_ns(value, 1e6)?,
            "heat_per_c" => self.heat_bytes_per_c = size_bytes(value)?,
            "heat_leak_ms" => self.heat_leak_ns = duration_ns(value, 1e6)?,
            "heat_rest_c" => self.heat_rest_c = size_bytes(value)?,
            "heat_limit_c" => self.heat_limit_c = size_bytes(value)?,
            "heat_rate" => self.heat_bytes_per_s = size_bytes(value)?,
            "heat_back_c" => self.heat_back_c = size_bytes(value)?,
            "erase_block_bytes" => self.erase_block_bytes = size_bytes(value)?,
            "erase_blocks_open" => self.erase_blocks_open = size_bytes(value)?,
            "choke_depth" => self.choke_depth = size_bytes(value)?,
            "choke_us" => self.choke_ns = duration_ns(value, 1e3)?,
            "stall_every_bytes" => self.stall_every_bytes = size_bytes(value)?,
            "stall_ms" => self.stall_ns = duration_ns(value, 1e6)?,
            "stall_at" => self.stall_at = list(value, |word| pair(word, |ms| duration_ns(ms, 1e6)))?,
            "bad_read" => self.bad_read = extents(value)?,
            "bad_write" => self.bad_write = extents(value)?,
            "bad_ms" => self.bad_ns = duration_ns(value, 1e6)?,
            "volatile_percent" => self.volatile_percent = percent(value)?,
            "volatile_seed" => self.volatile_seed = value.parse().map_err(|_| "expected a whole number")?,
            "drop" => self.drop = extents(value)?,
            "flip" => self.flip = list(value, size_bytes)?,
            "misread" => self.misread = list(value, size_bytes)?,
            "swap" => self.swap = list(value, |word| pair(word, size_bytes))?,
            "damage_times" => self.damage_times = size_bytes(value)?,
            "trim" => self.trim = truth(value)?,
            _ => {
                let unknown = || Err("no such parameter; nbdkit --help with this plugin lists them".into());
                return self.failing.set(key, value).unwrap_or_else(unknown);
            }
        }
        Ok(())
    }

    /// Checks that depend on several parameters.
    ///
    /// # Errors
    /// Contradictory or invalid numbers; the text names the parameter to change.
    pub fn check(&self) -> Result<(), String> {
        let rising = self.rates.windows(2).all(|pair| pair[0].offset < pair[1].offset);
        let warm = self.heat_bytes_per_c > 0;
        let between = self.heat_rest_c < self.heat_back_c && self.heat_back_c < self.heat_limit_c;
        let wrong = [
            (self.size_bytes == 0 || self.size_bytes > i64::MAX as u64, "size: must be from 1 byte to 8 EiB"),
            (!(self.time_scale.is_finite() && self.time_scale > 0.0), "time_scale: must be more than 0"),
            (self.rates.first().is_none_or(|rate| rate.offset != 0) || !rising, "rates: must begin at 0 and rise"),
            (self.rates.iter().any(|rate| rate.bytes_per_s == 0), "rates: a rate must be more than 0"),
            (
                self.rates_over_bytes > 0 && self.rates.iter().any(|rate| rate.offset > self.rates_over_bytes),
                "rates_over: must not be less than the places in rates",
            ),
            (self.zones > 10_000, "zones: at most 10000"),
            (self.interface_bytes_per_s == 0, "interface_rate: must be more than 0"),
            (self.write_percent == 0, "write_percent: must be more than 0"),
            (self.rpm > 0 && self.write_percent != 100, "write_percent: a disk that turns writes as it reads"),
            (self.seek_full_ns < self.seek_ns, "seek_full_us: must not be less than seek_us"),
            (self.volatile_percent > 100, "volatile_percent: at most 100"),
            (
                self.swap.iter().any(|(one, other)| {
                    one.abs_diff(*other) < SWAPPED_BYTES
                        || one.max(other).saturating_add(SWAPPED_BYTES) > self.size_bytes
                }),
                "swap: both places must be on the disk, and apart",
            ),
            (self.queue_depth == 0, "queue_depth: must be at least 1"),
            (self.one_way && self.queue_depth == 1, "one_way: needs a queue_depth of more than 1"),
            (!self.transfer_max_bytes.is_multiple_of(512), "transfer_max: must be a multiple of 512"),
            ((self.channels == 0) != (self.channel_bytes_per_s == 0), "channel_rate: must go with channels"),
            (self.channels > 4096, "channels: at most 4096"),
            (
                self.channels > 0
                    && (self.rpm, self.queue_depth, self.read_ahead_bytes, self.write_cache_bytes) != (0, 1, 0, 0),
                "channels: not with rpm, queue_depth, read_ahead_bytes or write_cache_bytes",
            ),
            (self.erase_blocks_open == 0, "erase_blocks_open: must be at least 1"),
            (self.slow_after_bytes > 0 && self.slow_bytes_per_s == 0, "slow_rate: must go with slow_after_bytes"),
            (warm && self.heat_bytes_per_s == 0, "heat_rate: must go with heat_per_c"),
            (warm && self.heat_leak_ns == 0, "heat_leak_ms: must go with heat_per_c"),
            (warm && !between, "heat_back_c: must lie between heat_rest_c and heat_limit_c"),
        ];
        let wrong = wrong.iter().find(|(is_wrong, _)| *is_wrong).map(|(_, why)| *why).or(self.failing.wrong());
        wrong.map_or(Ok(()), |why| Err(why.to_string()))
    }

    /// Whether the disk reports itself as rotational.
    pub fn rotational(&self) -> bool {
        self.reported_rotational.unwrap_or(self.rpm > 0)
    }

    /// The same disk with `time_scale` applied to every duration and rate; its `time_scale` is 1.
    pub fn scaled(&self) -> Parameters {
        let mut disk = self.clone();
        let factor = std::mem::replace(&mut disk.time_scale, 1.0);
        disk.failing.scale(factor);
        let durations = [
            &mut disk.overhead_ns,
            &mut disk.latency_ns,
            &mut disk.distance_ns,
            &mut disk.grace_ns,
            &mut disk.seek_ns,
            &mut disk.seek_full_ns,
            &mut disk.recover_ns,
            &mut disk.heat_leak_ns,
            &mut disk.choke_ns,
            &mut disk.stall_ns,
            &mut disk.bad_ns,
        ];
        durations.into_iter().chain(disk.stall_at.iter_mut().map(|(_, ns)| ns)).for_each(|ns| {
            *ns = (*ns as f64 / factor).round() as u64;
        });
        let rates = [
            &mut disk.interface_bytes_per_s,
            &mut disk.channel_bytes_per_s,
            &mut disk.slow_bytes_per_s,
            &mut disk.heat_bytes_per_s,
            &mut disk.rpm,
        ];
        rates.into_iter().chain(disk.rates.iter_mut().map(|rate| &mut rate.bytes_per_s)).for_each(|rate| {
            *rate = (*rate as f64 * factor).round() as u64;
        });
        disk
    }
}

/// The server changes its directory when it becomes a daemon, so a path must not depend on it.
fn absolute(path: &str) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| error.to_string())
}

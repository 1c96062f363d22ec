//! The rate of the medium by position.
use crate::parameters::{Parameters, RateAt};

struct Zone {
    offset: u64,
    /// Time to pass everything before this zone.
    before_ns: u64,
    bytes_per_s: u64,
}

/// Media time as a function of the byte: for rate and for angle.
pub struct Zones {
    zones: Vec<Zone>,
}

impl Zones {
    /// The zones of `disk`, at `percent` of the given rates.
    pub fn new(disk: &Parameters, percent: u64) -> Zones {
        let rates = stretched(disk);
        let starts: Vec<u64> = match disk.zones {
            0 => rates.iter().map(|rate| rate.offset).collect(),
            count => (0..count).map(|zone| share(disk.size_bytes, zone, count)).collect(),
        };
        let mut zones: Vec<Zone> = Vec::with_capacity(starts.len());
        for (index, offset) in starts.iter().copied().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(disk.size_bytes);
            // The rate of a zone is that of its middle, so that the whole disk takes as long as with linear
            // interpolation.
            let bytes_per_s = match disk.zones {
                0 => rates[index].bytes_per_s,
                _ => rate_between(&rates, offset / 2 + end / 2),
            };
            let bytes_per_s = u64::max(1, share(bytes_per_s, percent, 100));
            let before_ns =
                zones.last().map_or(0, |zone| zone.before_ns + span_ns(offset - zone.offset, zone.bytes_per_s));
            zones.push(Zone { offset, before_ns, bytes_per_s });
        }
        Zones { zones }
    }

    /// Time to pass the medium from byte 0 to `offset` without interruption.
    pub fn media_ns(&self, offset: u64) -> u64 {
        let zone = self.zone(offset);
        zone.before_ns + span_ns(offset - zone.offset, zone.bytes_per_s)
    }

    /// Time to pass `len` bytes from `offset`.
    pub fn passing_ns(&self, offset: u64, len: u64) -> u64 {
        self.media_ns(offset + len) - self.media_ns(offset)
    }

    /// Media rate at `offset`.
    pub fn bytes_per_s(&self, offset: u64) -> u64 {
        self.zone(offset).bytes_per_s
    }

    fn zone(&self, offset: u64) -> &Zone {
        &self.zones[self.zones.partition_point(|zone| zone.offset <= offset) - 1]
    }
}

/// Time for `len` bytes at a rate.
pub fn span_ns(len: u64, bytes_per_s: u64) -> u64 {
    share(len, 1_000_000_000, bytes_per_s)
}

/// `whole * part / of` without overflow in between.
pub fn share(whole: u64, part: u64, of: u64) -> u64 {
    (u128::from(whole) * u128::from(part) / u128::from(of)) as u64
}

/// The rates of `disk`, at positions scaled to its size.
fn stretched(disk: &Parameters) -> Vec<RateAt> {
    let place = |offset| match disk.rates_over_bytes {
        0 => offset,
        over => share(offset, disk.size_bytes, over),
    };
    disk.rates.iter().map(|rate| RateAt { offset: place(rate.offset), ..*rate }).collect()
}

/// The rate at `offset`, interpolated linearly between two points; beyond the last, that of the last.
fn rate_between(rates: &[RateAt], offset: u64) -> u64 {
    let after = rates.partition_point(|rate| rate.offset <= offset);
    let (left, Some(right)) = (rates[after - 1], rates.get(after)) else {
        return rates[after - 1].bytes_per_s;
    };
    let part = (offset - left.offset) as f64 / (right.offset - left.offset) as f64;
    (left.bytes_per_s as f64 + part * (right.bytes_per_s as f64 - left.bytes_per_s as f64)).round() as u64
}

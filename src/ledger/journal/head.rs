//! The first line of a journal, and whether it still fits.
use super::State;
use crate::core::{BlockDigest, Extent, ExtentSet, Side};
use crate::ledger::first_line::FirstLine;
use crate::ledger::{FaultKind, Mismatch, SideIdentity};
use serde::{Deserialize, Serialize};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// Most samples that a head may have, so that it stays one line.
const SAMPLES_MAX: usize = 256;

/// What some bytes of the source were when the copy began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// First byte, counted from the first of the copy.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
    /// Their BLAKE3 digest.
    pub digest: BlockDigest,
}

/// Which copy a journal is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Version of the haul that wrote it.
    pub version: String,
    /// When the copy began, RFC 3339 in UTC.
    pub created: String,
    /// Bytes of the copy; `None` where that was not known when it began.
    pub len_bytes: Option<u64>,
    /// The digest of the list of ranges that it is made of; `None`: it is one run of bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<BlockDigest>,
    /// Where the bytes come from.
    pub source: SideIdentity,
    /// Where they go.
    pub dest: SideIdentity,
    /// Some of the source's bytes, in the places that [`sample_places`] chose. At most 256.
    pub samples: Vec<Sample>,
}

/// What was found out about both sides before a copy is continued.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Bytes of the copy as it was asked for now.
    pub len_bytes: Option<u64>,
    /// The digest of the list of its ranges.
    pub ranges: Option<BlockDigest>,
    /// Who the source is.
    pub source: &'a SideIdentity,
    /// Who the dest is.
    pub dest: &'a SideIdentity,
    /// What the bytes of [`Head::samples`] are now, in the same order; `None` where they cannot be read.
    pub samples: &'a [Option<BlockDigest>],
    /// Durable bytes that were compared and are not the same on both sides; offsets count from the first byte of the
    /// copy. [`sample_places`] says where to look.
    pub dest_differs: &'a [Extent],
}

impl FirstLine for Head {
    const KEY: &'static str = "haul_journal";
    const FORMAT_VERSION: u64 = FORMAT_VERSION;

    fn check(&self) -> Result<(), FaultKind> {
        if self.samples.len() > SAMPLES_MAX {
            return Err(FaultKind::Senseless(format!("more than {SAMPLES_MAX} samples")));
        }
        let Some(end) = self.end() else {
            return Err(FaultKind::Senseless("a copy beyond the last possible byte".into()));
        };
        let beyond = |offset: u64, len: u64| offset.checked_add(len).is_none_or(|sum| sum > end);
        if self.samples.iter().any(|sample| beyond(sample.offset_bytes, sample.len_bytes)) {
            return Err(FaultKind::Senseless("a sample from beyond the end of the copy".into()));
        }
        Ok(())
    }
}

impl Head {
    /// The end of the copy, or where it must end at the latest, so that every byte of it has a place on both sides: the
    /// kernel counts offsets below 2⁶³. `None` where it ends beyond that.
    fn end(&self) -> Option<u64> {
        let last = (i64::MAX as u64).checked_sub(self.source.offset_bytes.max(self.dest.offset_bytes))?;
        self.len_bytes.map_or(Some(last), |len| (len <= last).then_some(len))
    }

    /// The same, of a head that was checked.
    pub(super) fn end_max(&self) -> u64 {
        self.end().unwrap_or(0)
    }

    /// Everything that forbids going on with the copy whose journal says `state`; empty where it may be continued.
    pub fn mismatches(&self, state: &State, now: &Now<'_>) -> Vec<Mismatch> {
        let mut found = self.source.mismatches(Side::Source, now.source);
        found.extend(self.dest.mismatches(Side::Dest, now.dest));
        if self.len_bytes != now.len_bytes {
            found.push(Mismatch::Len { then: self.len_bytes, now: now.len_bytes });
        }
        if self.ranges != now.ranges {
            found.push(Mismatch::Ranges);
        }
        if self.source.size_bytes != now.source.size_bytes {
            let (then, now) = (self.source.size_bytes, now.source.size_bytes);
            found.push(Mismatch::Size { side: Side::Source, then, now });
        }
        if !self.dest_size_fits(state, now.dest.size_bytes) {
            // What a file had before the copy is nothing to be compared with.
            let then = self.dest.size_bytes.filter(|_| !self.dest.is_file());
            let now = now.dest.size_bytes;
            found.push(Mismatch::Size { side: Side::Dest, then, now });
        }
        for (at, sample) in self.samples.iter().enumerate() {
            let digest = now.samples.get(at).copied().flatten();
            if digest != Some(sample.digest) {
                let offset = self.source.offset_bytes.saturating_add(sample.offset_bytes);
                let len = sample.len_bytes.min(u64::MAX - offset);
                let (side, extent) = (Side::Source, Extent::new(offset, len));
                let read = digest.is_some();
                found.push(if read {
                    Mismatch::Content { side, extent }
                } else {
                    Mismatch::Unreadable { side, extent }
                });
            }
        }
        let on_dest =
            |extent: &Extent| Extent { offset: self.dest.offset_bytes.saturating_add(extent.offset), ..*extent };
        let differs = now.dest_differs.iter().map(on_dest);
        found.extend(differs.map(|extent| Mismatch::Content { side: Side::Dest, extent }));
        found
    }

    /// A file grows while it is copied to, so it is only too short that it may not be. A device keeps its size.
    fn dest_size_fits(&self, state: &State, now: Option<u64>) -> bool {
        if !self.dest.is_file() {
            return self.dest.size_bytes == now;
        }
        let durable_end = match state.durable.end() {
            0 => 0,
            end => self.dest.offset_bytes.saturating_add(end),
        };
        now.unwrap_or(0) >= durable_end
    }
}

/// Where to look at some of the bytes in `of`: at most `count` places of at most `len_bytes`, ascending, spread evenly
/// over all of them, the first and the last among them. Each lies on a multiple of `len_bytes`, cut to what is in `of`.
pub fn sample_places(of: &ExtentSet, count: u64, len_bytes: u64) -> Vec<Extent> {
    let total = of.total_bytes();
    if total == 0 || count == 0 || len_bytes == 0 {
        return Vec::new();
    }
    let mut places: Vec<Extent> = Vec::new();
    let (mut extents, mut before) = (of.iter(), 0);
    let mut extent = extents.next().expect("there are bytes in it");
    for place in 0..count {
        // The byte, of all those in the set, that is this place's; wide, as both factors may be large.
        let wanted = match count {
            1 => 0,
            _ => (u128::from(total - 1) * u128::from(place) / u128::from(count - 1)) as u64,
        };
        while wanted - before >= extent.len {
            before += extent.len;
            extent = extents.next().expect("it is one of the set's bytes");
        }
        let at = extent.offset + (wanted - before);
        let start = at - at % len_bytes;
        let grid = Extent::new(start, len_bytes.min(u64::MAX - start));
        let cut = grid.intersection(&extent).expect("the byte is in both");
        if places.last() != Some(&cut) {
            places.push(cut);
        }
    }
    places
}

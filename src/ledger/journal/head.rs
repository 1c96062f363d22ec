//! The first line of a journal, and whether it still fits.
use super::State;
use crate::core::{AddressMap, BlockDigest, EndpointKind, Extent, ExtentSet, Side};
use crate::ledger::first_line::FirstLine;
use crate::ledger::{FaultKind, Mismatch, SideIdentity};
use serde::{Deserialize, Serialize};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// Maximum number of samples in a head, so that it fits one line.
const SAMPLES_MAX: usize = 256;

/// Digest of some bytes of the source when the copy began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Offset from the start of the copy.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub len_bytes: u64,
    /// Its BLAKE3 digest.
    pub digest: BlockDigest,
}

/// The copy that a journal describes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Version of the haul that wrote it.
    pub version: String,
    /// When the copy began, RFC 3339 in UTC.
    pub created: String,
    /// Length of the copy in bytes; `None` if it was unknown at the start.
    pub len_bytes: Option<u64>,
    /// The digest of its list of ranges; `None`: it is one run of bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<BlockDigest>,
    /// The source.
    pub source: SideIdentity,
    /// The dest.
    pub dest: SideIdentity,
    /// Samples of the source at the positions that [`sample_places`] chose. At most 256.
    pub samples: Vec<Sample>,
    /// The ranges of the source in order, if it is a copy of ranges; written in separate lines. Empty: one run
    /// of bytes.
    #[serde(skip)]
    pub source_ranges: Vec<Extent>,
}

/// The present state of both sides, before a copy is resumed.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Length of the copy as requested now, in bytes.
    pub len_bytes: Option<u64>,
    /// The digest of the list of its ranges.
    pub ranges: Option<BlockDigest>,
    /// The address map of each side, by [`Side::index`].
    pub maps: [&'a AddressMap; 2],
    /// The identity of the source.
    pub source: &'a SideIdentity,
    /// The identity of the dest.
    pub dest: &'a SideIdentity,
    /// The present digests of [`Head::samples`], in the same order; `None` if unreadable.
    pub samples: &'a [Option<BlockDigest>],
    /// Durable extents that were compared and differ between both sides; offsets count from the first byte of
    /// the copy. [`sample_places`] chooses what to compare.
    pub dest_differs: &'a [Extent],
}

impl FirstLine for Head {
    const KEY: &'static str = "haul_journal";
    const FORMAT_VERSION: u64 = FORMAT_VERSION;

    fn check(&self) -> Result<(), FaultKind> {
        if self.samples.len() > SAMPLES_MAX {
            return Err(FaultKind::Invalid(format!("more than {SAMPLES_MAX} samples")));
        }
        let Some(end) = self.end() else {
            return Err(FaultKind::Invalid("a copy beyond the last possible byte".into()));
        };
        let beyond = |offset: u64, len: u64| offset.checked_add(len).is_none_or(|sum| sum > end);
        if self.samples.iter().any(|sample| beyond(sample.offset_bytes, sample.len_bytes)) {
            return Err(FaultKind::Invalid("a sample from beyond the end of the copy".into()));
        }
        Ok(())
    }
}

impl Head {
    /// The end of the copy, or its upper limit, so that every byte has a valid offset on both sides: the
    /// kernel's offsets are below 2⁶³. `None` if it ends beyond that.
    fn end(&self) -> Option<u64> {
        let last = (i64::MAX as u64).checked_sub(self.source.offset_bytes.max(self.dest.offset_bytes))?;
        self.len_bytes.map_or(Some(last), |len| (len <= last).then_some(len))
    }

    /// The address map of the source.
    pub fn on_source(&self) -> AddressMap {
        let listed = AddressMap::listed("the journal", self.source_ranges.clone(), true);
        listed.unwrap_or_else(|_| AddressMap::from(self.source.offset_bytes))
    }

    /// The same for a head that was checked.
    pub(super) fn end_max(&self) -> u64 {
        self.end().unwrap_or(0)
    }

    /// Every reason not to resume the copy whose journal has `state`; empty if it may be resumed.
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
        if !self.dest_size_fits(state, now) {
            // The size of a file before the copy is irrelevant.
            let then = self.dest.size_bytes.filter(|_| !self.dest.is_file());
            found.push(Mismatch::Size { side: Side::Dest, then, now: now.dest.size_bytes });
        }
        for (at, sample) in self.samples.iter().enumerate() {
            let digest = now.samples.get(at).copied().flatten();
            if digest != Some(sample.digest) {
                let offset = now.maps[Side::Source.index()].at(sample.offset_bytes);
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
        let differs = now.dest_differs.iter().map(|&extent| now.maps[Side::Dest.index()].place(extent));
        found.extend(differs.map(|extent| Mismatch::Content { side: Side::Dest, extent }));
        found
    }

    /// A file grows while it is copied to, so it must only not be too short. A device must have the same size.
    fn dest_size_fits(&self, state: &State, now: &Now<'_>) -> bool {
        let size = now.dest.size_bytes;
        if self.dest.kind == EndpointKind::CompressedDest.name() {
            // Bytes of the content are not those of the file, whose frames are compared.
            return true;
        }
        if !self.dest.is_file() {
            return self.dest.size_bytes == size;
        }
        let durable = state.durable.iter().flat_map(|extent| now.maps[Side::Dest.index()].places(extent));
        size.unwrap_or(0) >= durable.map(|place| place.end()).max().unwrap_or(0)
    }
}

/// Chooses samples of `of`: at most `count` extents of at most `len_bytes`, ascending and spread evenly,
/// including the first and the last bytes. Each is aligned to `len_bytes` and trimmed to `of`.
pub fn sample_places(of: &ExtentSet, count: u64, len_bytes: u64) -> Vec<Extent> {
    let total = of.total_bytes();
    if total == 0 || count == 0 || len_bytes == 0 {
        return Vec::new();
    }
    let mut places: Vec<Extent> = Vec::new();
    let (mut extents, mut before) = (of.iter(), 0);
    let mut extent = extents.next().expect("there are bytes in it");
    for place in 0..count {
        // The index, among the bytes of the set, of this sample; 128 bits, because both factors may be large.
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

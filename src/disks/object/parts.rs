//! The parts of an object: which bytes each has, and which the store has acknowledged.
use crate::core::{Extent, ExtentSet, PART_BYTES_MAX, PARTS_MAX, Upload, locked, part_bytes};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};

/// Parts of one size, of an object of unknown length: then the size doubles, so that no length is too long.
const PARTS_OF_ONE_SIZE: u64 = 1000;

/// The size of part `number`, from 0, of an object of unknown length.
fn growing_part_bytes(number: u64) -> u64 {
    let first = part_bytes(0).unwrap_or(PART_BYTES_MAX);
    first.saturating_mul(1 << (number / PARTS_OF_ONE_SIZE).min(30)).min(PART_BYTES_MAX)
}

/// Memory of parts that were sent, for those that follow: as much as is in use at a time, and not in the heap between
/// other memory.
#[derive(Clone, Debug, Default)]
struct Spare(Arc<Mutex<Vec<Vec<u8>>>>);

/// The bytes of a part. Their memory is spare when no request has them any more.
#[derive(Debug, Default)]
pub(super) struct PartBytes {
    bytes: Vec<u8>,
    spare: Spare,
}

impl PartBytes {
    /// No bytes yet, in memory for `capacity`.
    fn with_capacity(capacity: usize, spare: &Spare) -> PartBytes {
        let mut bytes = locked(&spare.0).pop().unwrap_or_default();
        bytes.clear();
        bytes.reserve_exact(capacity);
        PartBytes { bytes, spare: spare.clone() }
    }
}

impl Deref for PartBytes {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}

impl DerefMut for PartBytes {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl AsRef<[u8]> for PartBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for PartBytes {
    fn drop(&mut self) {
        locked(&self.spare.0).push(std::mem::take(&mut self.bytes));
    }
}

/// A part that is collected, or complete.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) number: u32,
    pub(super) offset: u64,
    pub(super) bytes: PartBytes,
}

/// The size of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sizing {
    /// All parts but the last have this many bytes.
    Equal(u64),
    /// The length of the object is unknown: parts grow.
    Growing,
}

/// A part that the store has.
#[derive(Clone, Debug)]
struct Stored {
    extent: Extent,
    tag: String,
}

/// The parts of an object.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) sizing: Sizing,
    pub(super) filling: Option<Part>,
    stored: BTreeMap<u32, Stored>,
    /// Where the next part of growing ones begins.
    next: (u32, u64),
    spare: Spare,
}

impl Parts {
    pub(super) fn new(sizing: Sizing) -> Parts {
        Parts { sizing, filling: None, stored: BTreeMap::new(), next: (0, 0), spare: Spare::default() }
    }

    /// The parts of an earlier run.
    pub(super) fn of_upload(upload: &Upload) -> Parts {
        let mut parts = Parts::new(Sizing::Equal(upload.part_bytes));
        for (number, tag) in &upload.parts {
            let extent = Extent::new(u64::from(*number).saturating_mul(upload.part_bytes), upload.part_bytes);
            parts.stored.insert(*number, Stored { extent, tag: tag.clone() });
        }
        parts
    }

    /// Bytes of part `number`, unless it is the last.
    fn bytes_of(&self, number: u32) -> u64 {
        match self.sizing {
            Sizing::Equal(bytes) => bytes,
            Sizing::Growing => growing_part_bytes(number.into()),
        }
    }

    /// Room for bytes at `offset`, in the part that has them; they come in ascending order.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn room(&mut self, offset: u64) -> Result<(&mut Vec<u8>, usize), String> {
        if self.filling.is_none() {
            let (number, start) = match self.sizing {
                Sizing::Equal(bytes) => (offset / bytes, offset - offset % bytes),
                Sizing::Growing => (self.next.0.into(), self.next.1),
            };
            if number >= PARTS_MAX {
                return Err(format!("the object is longer than {PARTS_MAX} parts, which stores accept, can hold"));
            }
            let number = number as u32;
            let bytes = PartBytes::with_capacity(self.bytes_of(number).min(64 << 20) as usize, &self.spare);
            self.filling = Some(Part { number, offset: start, bytes });
        }
        let number = self.filling.as_ref().map_or(0, |part| part.number);
        let most = self.bytes_of(number) as usize;
        let part = self.filling.get_or_insert_default();
        let position = part.offset + part.bytes.len() as u64;
        if position != offset {
            // A bug in haul: it would be another content.
            return Err(format!("byte {offset} would be written at the position of byte {position}"));
        }
        let room = most - part.bytes.len();
        Ok((&mut part.bytes, room))
    }

    /// The part that is collected, if it is full, or `at_end`.
    pub(super) fn take_full(&mut self, at_end: bool) -> Option<Part> {
        let full_bytes = self.filling.as_ref().map(|part| self.bytes_of(part.number))?;
        let part = self.filling.take_if(|part| at_end || part.bytes.len() as u64 == full_bytes)?;
        self.next = (part.number + 1, part.offset + part.bytes.len() as u64);
        Some(part)
    }

    /// The store has acknowledged a part.
    pub(super) fn on_stored(&mut self, number: u32, extent: Extent, tag: String) {
        self.stored.insert(number, Stored { extent, tag });
    }

    /// The bytes in parts that the store has.
    pub(super) fn bytes(&self) -> ExtentSet {
        self.stored.values().map(|stored| stored.extent).collect()
    }

    /// How many parts the store has.
    pub(super) fn count(&self) -> usize {
        self.stored.len()
    }

    /// The parts with their tags.
    pub(super) fn tags(&self) -> Vec<(u32, String)> {
        self.stored.iter().map(|(number, stored)| (*number, stored.tag.clone())).collect()
    }

    /// The tags of all parts of an object of `size` bytes, in order.
    ///
    /// # Errors
    /// The first byte that is in no part.
    pub(super) fn whole(&self, size: u64) -> Result<Vec<String>, u64> {
        let mut end = 0;
        for (expected, (number, stored)) in self.stored.iter().enumerate() {
            let len = stored.extent.len.min(size.saturating_sub(stored.extent.offset));
            if *number as usize != expected || stored.extent.offset != end || len == 0 {
                return Err(end);
            }
            end += len;
        }
        if end == size { Ok(self.stored.values().map(|stored| stored.tag.clone()).collect()) } else { Err(end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(parts: &mut Parts, mut offset: u64, mut len: usize) -> Vec<(u32, u64, usize)> {
        let mut full = Vec::new();
        while len > 0 {
            let (bytes, room) = parts.room(offset).unwrap();
            let some = room.min(len);
            bytes.resize(bytes.len() + some, 1);
            (offset, len) = (offset + some as u64, len - some);
            full.extend(parts.take_full(false).map(|part| (part.number, part.offset, part.bytes.len())));
        }
        full
    }

    #[test]
    fn blocks_fill_parts_in_order_and_the_last_is_shorter() {
        let mut parts = Parts::new(Sizing::Equal(10));
        assert_eq!(fill(&mut parts, 0, 4), []);
        assert_eq!(fill(&mut parts, 4, 21), [(0, 0, 10), (1, 10, 10)]);
        let last = parts.take_full(true).unwrap();
        assert_eq!((last.number, last.offset, last.bytes.len()), (2, 20, 5));
        assert!(parts.take_full(true).is_none());
    }

    #[test]
    fn bytes_at_another_position_are_refused() {
        let mut parts = Parts::new(Sizing::Equal(10));
        fill(&mut parts, 10, 3);
        assert!(parts.room(12).unwrap_err().contains("byte 12 would be written at the position of byte 13"));
        let mut parts = Parts::new(Sizing::Equal(10));
        assert!(parts.room(7).unwrap_err().contains("position of byte 0"), "a part begins with its first byte");
        assert!(parts.room(10 * PARTS_MAX).is_err());
    }

    #[test]
    fn the_memory_of_a_part_that_was_sent_is_that_of_the_next_one() {
        let mut parts = Parts::new(Sizing::Equal(10));
        fill(&mut parts, 0, 4);
        let place = |parts: &mut Parts, offset| parts.room(offset).unwrap().0.as_ptr();
        let first = place(&mut parts, 4);
        parts.room(4).unwrap().0.extend([1; 6]);
        let sent = parts.take_full(false).unwrap();
        assert_ne!(place(&mut parts, 10), first, "a request still has it");
        drop(sent);
        parts.room(10).unwrap().0.extend([2; 10]);
        let second = parts.take_full(false).unwrap();
        assert_eq!((place(&mut parts, 20), &second.bytes[..]), (first, &[2; 10][..]));
    }

    #[test]
    fn growing_parts_hold_a_stream_of_terabytes() {
        let all: u64 = (0..PARTS_MAX).map(growing_part_bytes).sum();
        assert!(all > 7 << 40 && growing_part_bytes(0) == 8 << 20, "{all}");
    }

    #[test]
    fn an_object_is_whole_only_with_each_of_its_parts() {
        let upload = Upload {
            id: "x".to_owned(),
            part_bytes: 10,
            parts: vec![(0, "a".to_owned()), (2, "c".to_owned())],
            shard: None,
        };
        let mut parts = Parts::of_upload(&upload);
        assert_eq!(parts.whole(25), Err(10));
        parts.on_stored(1, Extent::new(10, 10), "b".to_owned());
        assert_eq!(parts.whole(25), Ok(["a", "b", "c"].map(str::to_owned).to_vec()));
        assert_eq!((parts.whole(31), parts.whole(20)), (Err(30), Err(20)));
        assert_eq!(parts.bytes().iter().collect::<Vec<_>>(), [Extent::new(0, 30)]);
    }
}

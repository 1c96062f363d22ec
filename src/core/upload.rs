//! An upload of a large object in parts, which becomes visible as a whole.
use super::{Extent, ExtentSet};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Most parts of an upload: S3 has the lowest limit.
pub const PARTS_MAX: u64 = 10_000;

/// Largest part that any store accepts, in bytes.
pub const PART_BYTES_MAX: u64 = 5 << 30;

/// Smallest part that haul uses, in bytes: S3 requires 5 MiB.
const PART_BYTES: u64 = 8 << 20;

/// An upload that is not complete, as a journal remembers it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upload {
    /// The store's name for it.
    pub id: String,
    /// Bytes of each part but the last.
    pub part_bytes: u64,
    /// The parts that the store has acknowledged: number from 0, and the entity tag by which the store knows its
    /// content.
    pub parts: Vec<(u32, String)>,
}

/// An upload that is not complete, as a store lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingUpload {
    /// Address of the object that it would become.
    pub address: String,
    /// The store's name for it.
    pub id: String,
    /// When it began, as the store writes it.
    pub began: String,
}

impl Upload {
    /// The bytes of its parts, of which the last may have fewer.
    pub fn bytes(&self) -> ExtentSet {
        let start = |number: u32| u64::from(number).saturating_mul(self.part_bytes);
        self.parts.iter().map(|(number, _)| Extent::new(start(*number), self.part_bytes)).collect()
    }

    /// Adds parts that were acknowledged later; a later part replaces an earlier one of the same number.
    pub fn add(&mut self, more: &Upload) {
        if self.id != more.id {
            self.clone_from(more);
            return;
        }
        // A compressed file has a million parts for each 8 TiB, which are read line by line.
        let last = self.parts.last().map(|(number, _)| *number);
        let is_next = last.is_none_or(|last| more.parts.iter().all(|(number, _)| *number > last));
        if !is_next {
            let replaced: HashSet<u32> = more.parts.iter().map(|(number, _)| *number).collect();
            self.parts.retain(|(number, _)| !replaced.contains(number));
        }
        self.parts.extend(more.parts.iter().cloned());
        self.parts.sort_unstable();
    }
}

/// The size of parts that suits an object of `len` bytes; `None`: more parts than a store accepts would be too small.
pub fn part_bytes(len: u64) -> Option<u64> {
    let least = len.div_ceil(PARTS_MAX).max(PART_BYTES);
    least.checked_next_power_of_two().map(|bytes| bytes.min(PART_BYTES_MAX)).filter(|&bytes| bytes >= least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_parts_hold_every_object() {
        for len in [0, 1, 8 << 20, 80 << 30, 1 << 40, 5 << 40, 48 << 40] {
            let part = part_bytes(len).unwrap();
            let is_accepted = (5 << 20..=PART_BYTES_MAX).contains(&part) && len.div_ceil(part) <= PARTS_MAX;
            assert!(is_accepted, "{len}: {part}");
        }
        assert_eq!((part_bytes(1 << 30), part_bytes(1 << 40)), (Some(8 << 20), Some(128 << 20)));
        assert_eq!(part_bytes(49 << 40), None);
    }

    #[test]
    fn a_part_that_was_sent_again_has_its_last_tag() {
        let upload = |parts: &[(u32, &str)]| Upload {
            id: "x".to_owned(),
            part_bytes: 1,
            parts: parts.iter().map(|(number, tag)| (*number, (*tag).to_owned())).collect(),
        };
        let mut known = upload(&[(0, "a"), (2, "c")]);
        known.add(&upload(&[(1, "b"), (2, "d")]));
        assert_eq!(known, upload(&[(0, "a"), (1, "b"), (2, "d")]));
        known.add(&Upload { id: "y".to_owned(), ..upload(&[]) });
        assert_eq!((known.id.as_str(), known.parts.len()), ("y", 0));
    }
}

//! Buffers of the pipeline.
use crate::core::{Arena, Buffer, PAGE_BYTES};

/// Sizes for which memory is mapped: memory that the heap reuses would be cleared, page by page. The heap
/// itself maps larger blocks.
const MAPPED_BYTES: std::ops::RangeInclusive<usize> = 4 << 20..=64 << 20;

/// Page-aligned memory that becomes resident only when it is used.
#[derive(Debug)]
pub(super) struct Memory {
    place: BufferMemory,
    len: usize,
}

#[derive(Debug)]
enum BufferMemory {
    Mapped(Buffer),
    /// Memory from the heap, and the offset of its first page.
    Heap(Vec<u8>, usize),
}

impl Memory {
    /// `len` bytes; `None` if they cannot be allocated.
    pub(super) fn of(len: usize) -> Option<Self> {
        if MAPPED_BYTES.contains(&len) {
            let buffer = Arena::lone(u32::try_from(len).ok()?).ok()?;
            return Some(Memory { place: BufferMemory::Mapped(buffer), len });
        }
        let padded = len.checked_add(PAGE_BYTES)?;
        // `vec!` aborts the process if there is not enough memory, but only `vec!` leaves zeroed pages
        // untouched.
        Vec::<u8>::new().try_reserve_exact(padded).ok()?;
        let bytes = vec![0; padded];
        let start = bytes.as_ptr().align_offset(PAGE_BYTES);
        Some(Memory { place: BufferMemory::Heap(bytes, start), len })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match &self.place {
            BufferMemory::Mapped(buffer) => &buffer.bytes()[..self.len],
            BufferMemory::Heap(bytes, start) => &bytes[*start..start + self.len],
        }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.place {
            BufferMemory::Mapped(buffer) => &mut buffer.bytes_mut()[..self.len],
            BufferMemory::Heap(bytes, start) => &mut bytes[*start..*start + self.len],
        }
    }
}

/// A record of the source, as the writing side handles it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordMark {
    /// Bytes of output from the records before it: everything before this offset was written after this record
    /// was read.
    pub(super) out_start: u64,
    /// It was a partial record.
    pub(super) partial: bool,
}

/// Bytes in the pipeline, and the records of which they consist.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) memory: Memory,
    /// Bytes in use.
    pub(super) len: usize,
    pub(super) marks: Vec<RecordMark>,
    /// Where lines were truncated, as offsets in the output.
    pub(super) cuts: Vec<u64>,
    /// The last batch: a partial record of the dest is written too.
    pub(super) last: bool,
}

impl Batch {
    /// An empty batch of `capacity` bytes.
    pub(super) fn of(capacity: usize) -> Option<Self> {
        Some(Batch { memory: Memory::of(capacity)?, len: 0, marks: Vec::new(), cuts: Vec::new(), last: false })
    }

    /// An empty batch in this memory.
    pub(super) fn shared(buffer: Buffer) -> Self {
        let memory = Memory { len: buffer.len() as usize, place: BufferMemory::Mapped(buffer) };
        Batch { memory, len: 0, marks: Vec::new(), cuts: Vec::new(), last: false }
    }

    /// Empties the batch, to be used again.
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.marks.clear();
        self.cuts.clear();
        self.last = false;
    }

    /// Free space, in bytes.
    pub(super) fn room(&self) -> usize {
        self.memory.len - self.len
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory.bytes()[..self.len]
    }

    /// Appends as many of `bytes` as fit; returns their number.
    pub(super) fn take(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room());
        let len = self.len;
        self.memory.bytes_mut()[len..len + taken].copy_from_slice(&bytes[..taken]);
        self.len += taken;
        taken
    }
}

//! Buffers on their way through the pipeline.
use crate::core::{Arena, Buffer, PAGE_BYTES};

/// From here on memory is mapped: what the heap gave back once would be cleared, page by page, to be used again. The
/// heap itself maps what is longer.
const MAPPED_BYTES: std::ops::RangeInclusive<usize> = 4 << 20..=64 << 20;

/// Page-aligned memory that is not resident before it is used.
#[derive(Debug)]
pub(super) struct Memory {
    place: BufferMemory,
    len: usize,
}

#[derive(Debug)]
enum BufferMemory {
    Mapped(Buffer),
    /// Memory of the heap, and where its first page begins.
    Heap(Vec<u8>, usize),
}

impl Memory {
    /// `len` bytes; `None` where there is no room for them.
    pub(super) fn of(len: usize) -> Option<Self> {
        if MAPPED_BYTES.contains(&len) {
            let buffer = Arena::lone(u32::try_from(len).ok()?).ok()?;
            return Some(Memory { place: BufferMemory::Mapped(buffer), len });
        }
        let padded = len.checked_add(PAGE_BYTES)?;
        // `vec!` would end the process where there is no room, and is the one that leaves zeroed pages untouched.
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

/// One record of the source, as the writing side needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordMark {
    /// Bytes of output that those before it have made: what is written from there on was not there before it was read.
    pub(super) out_start: u64,
    /// It was short.
    pub(super) partial: bool,
}

/// Bytes on their way, and the records that they are made of.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) memory: Memory,
    /// Bytes in use.
    pub(super) len: usize,
    pub(super) marks: Vec<RecordMark>,
    /// Where lines were cut, in bytes of output made before.
    pub(super) cuts: Vec<u64>,
    /// These are the last: what is no whole record of the dest is written anyway.
    pub(super) last: bool,
}

impl Batch {
    /// An empty one of `capacity` bytes.
    pub(super) fn of(capacity: usize) -> Option<Self> {
        Some(Batch { memory: Memory::of(capacity)?, len: 0, marks: Vec::new(), cuts: Vec::new(), last: false })
    }

    /// An empty one in this memory.
    pub(super) fn shared(buffer: Buffer) -> Self {
        let memory = Memory { len: buffer.len() as usize, place: BufferMemory::Mapped(buffer) };
        Batch { memory, len: 0, marks: Vec::new(), cuts: Vec::new(), last: false }
    }

    /// Empties it for another use.
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.marks.clear();
        self.cuts.clear();
        self.last = false;
    }

    /// Bytes that still fit.
    pub(super) fn room(&self) -> usize {
        self.memory.len - self.len
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory.bytes()[..self.len]
    }

    /// Takes as much of `bytes` as fits; the number taken.
    pub(super) fn take(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room());
        let len = self.len;
        self.memory.bytes_mut()[len..len + taken].copy_from_slice(&bytes[..taken]);
        self.len += taken;
        taken
    }
}

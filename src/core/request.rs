//! One I/O request on one side.
use super::Buffer;

/// One of the two sides of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The side that is read.
    Source,
    /// The side that is written.
    Dest,
}

impl Side {
    /// Both sides, in the order of [`Side::index`].
    pub const BOTH: [Side; 2] = [Side::Source, Side::Dest];

    /// Index into arrays with one entry per side. Further dests would get 2, 3, ….
    pub fn index(self) -> usize {
        match self {
            Side::Source => 0,
            Side::Dest => 1,
        }
    }

    /// The name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Side::Source => "source",
            Side::Dest => "destination",
        }
    }

    /// The name in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Side::Source => "source",
            Side::Dest => "dest",
        }
    }
}

/// The operation on an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Read from the endpoint into the buffer.
    Read,
    /// Write the buffer to the endpoint.
    Write,
    /// Zero the extent without sending data; the buffer is not used.
    Zero,
}

impl Op {
    /// The verb for messages: "cannot {name} …".
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Zero => "zero",
        }
    }
}

/// One I/O request on one side. It owns its buffer, so no other code can access the data while it is in flight.
///
/// A request covers `offset..offset + len`. One transfer moves the bytes `done..until` of it: `done` grows with each
/// transfer, short or not, and `until` is less than `len` only if a block is written in parts of different kinds.
#[derive(Debug)]
pub struct Request {
    /// Slot of the block, unique among requests in flight; less than the depth.
    pub slot: u32,
    /// Sequence number of the block in the order of the schedule, from 0. Queues that preserve order use it.
    pub ticket: u64,
    /// The side.
    pub side: Side,
    /// The operation.
    pub op: Op,
    /// Offset of its first byte on this side.
    pub offset: u64,
    /// Length in bytes: at most that of the buffer for reads and writes, any for zeroing.
    pub len: u32,
    /// Number of bytes already transferred.
    pub done: u32,
    /// End of the current transfer, `done < until <= len`.
    pub until: u32,
    /// The memory of the block.
    pub buffer: Buffer,
}

impl Request {
    /// Offset of the current transfer.
    pub fn at(&self) -> u64 {
        self.offset + u64::from(self.done)
    }

    /// Length of the current transfer, in bytes.
    pub fn left(&self) -> u32 {
        self.until - self.done
    }

    /// The data of the current transfer, for writing.
    pub fn rest(&self) -> &[u8] {
        &self.buffer.bytes()[self.done as usize..self.until as usize]
    }

    /// The buffer of the current transfer, for reading into.
    pub fn rest_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.bytes_mut()[self.done as usize..self.until as usize]
    }
}

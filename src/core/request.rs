//! One I/O on one side.
use super::Buffer;

/// One of the two ends of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Where bytes come from.
    Source,
    /// Where bytes go.
    Dest,
}

impl Side {
    /// Both, in the order of [`Side::index`].
    pub const BOTH: [Side; 2] = [Side::Source, Side::Dest];

    /// Position in arrays of one entry a side. More dests would get 2, 3, ….
    pub fn index(self) -> usize {
        match self {
            Side::Source => 0,
            Side::Dest => 1,
        }
    }

    /// The word for messages.
    pub fn name(self) -> &'static str {
        match self {
            Side::Source => "source",
            Side::Dest => "destination",
        }
    }

    /// The word in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Side::Source => "source",
            Side::Dest => "dest",
        }
    }
}

/// What is asked of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Fill the buffer from the endpoint.
    Read,
    /// Store the buffer on the endpoint.
    Write,
    /// Make the bytes read as zeros without sending any; the buffer is not examined.
    Zero,
}

impl Op {
    /// The word for messages: "cannot {name} …".
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Zero => "zero",
        }
    }
}

/// One I/O on one side. It owns its buffer, so no other code can access the bytes while they are in flight.
///
/// A request covers `offset..offset + len`. One transfer moves the bytes `done..until` of it: `done` grows with each
/// transfer, short or not, and `until` is below `len` only where a block is written in pieces of different kinds.
#[derive(Debug)]
pub struct Request {
    /// Place of the block in flight; below the depth, unique among requests in flight.
    pub slot: u32,
    /// Number of the block in the order the schedule gave them out, from 0. Queues that keep an order keep this one.
    pub ticket: u64,
    /// Which end is asked.
    pub side: Side,
    /// What is asked.
    pub op: Op,
    /// First byte on this side, in bytes.
    pub offset: u64,
    /// Bytes of the whole request. At most the buffer's length for reads and writes; any for zeros.
    pub len: u32,
    /// Bytes of `len` that are already moved.
    pub done: u32,
    /// The present transfer ends here, `done < until <= len`.
    pub until: u32,
    /// Memory of the block.
    pub buffer: Buffer,
}

impl Request {
    /// Offset of the first byte of the present transfer.
    pub fn at(&self) -> u64 {
        self.offset + u64::from(self.done)
    }

    /// Bytes of the present transfer.
    pub fn left(&self) -> u32 {
        self.until - self.done
    }

    /// The bytes of the present transfer, to be written.
    pub fn rest(&self) -> &[u8] {
        &self.buffer.bytes()[self.done as usize..self.until as usize]
    }

    /// The bytes of the present transfer, to be filled.
    pub fn rest_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.bytes_mut()[self.done as usize..self.until as usize]
    }
}

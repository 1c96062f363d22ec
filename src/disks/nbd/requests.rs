//! Converts requests to commands, within the limits of the server.
use super::flights::{Command, Verb};
use super::handshake::Agreed;
use super::protocol::FLAG_FUA;
use super::zeroing::{Way, Zeroing};
use crate::core::{Op, Request};

/// Flags of commands that modify data: if the server cannot flush, every command must be durable on completion.
pub(super) fn write_flags(agreed: &Agreed) -> u16 {
    if !agreed.export.flush && agreed.export.fua { FLAG_FUA } else { 0 }
}

/// The command for the current transfer of a request, or for the part of it that the server accepts at once.
pub(super) fn command_of(agreed: &Agreed, zeroing: &Zeroing, request: &Request) -> Command {
    let most = agreed.export.block_max_bytes;
    let (verb, flags, most) = match request.op {
        Op::Read => (Verb::Read, 0, most),
        Op::Write => (Verb::Write, write_flags(agreed), most),
        Op::Zero => {
            let (flags, most) = zeroing.shape(most, agreed.export.block_min_bytes);
            (Verb::Zero, write_flags(agreed) | flags, most)
        }
    };
    Command { verb, flags, offset: request.at(), len: request.left().min(most) }
}

/// Whether a request can be sent without changes: it consists of whole blocks and is within the export.
pub(super) fn is_whole(agreed: &Agreed, zeroing: &Zeroing, request: &Request) -> bool {
    let block = u64::from(agreed.export.block_min_bytes);
    let end = request.at() + u64::from(request.left());
    let can = request.op != Op::Zero || zeroing.way() != Way::Written;
    can && request.at().is_multiple_of(block) && end.is_multiple_of(block) && end <= agreed.size
}

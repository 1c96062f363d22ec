//! Connections made to examine servers that haul started, kept for the copy: some servers end with their first.
use super::handshake::Agreed;
use super::socket::Socket;
use crate::core::{ServerProgram, Side, locked};
use std::sync::Mutex;

static KEPT: Mutex<Vec<(ServerProgram, Socket, Agreed)>> = Mutex::new(Vec::new());

/// Keeps a connection to `program` for the next time that one is needed.
pub(super) fn keep(program: &ServerProgram, socket: Socket, agreed: Agreed) {
    locked(&KEPT).push((program.clone(), socket, agreed));
}

/// The connection to `program` that was kept. A destination that is read, for an estimate, is the one that is written.
pub(super) fn take(program: &ServerProgram) -> Option<(Socket, Agreed)> {
    let mut kept = locked(&KEPT);
    let is_of = |known: &ServerProgram, side| known.side == side && known.to_string() == program.to_string();
    let sides = [program.side, Side::Dest].into_iter();
    let at = sides.filter_map(|side| kept.iter().position(|(known, ..)| is_of(known, side))).next()?;
    let (_, socket, agreed) = kept.swap_remove(at);
    Some((socket, agreed))
}

/// Closes them: some servers wait for their clients when they are to end.
pub(super) fn close() {
    locked(&KEPT).clear();
}

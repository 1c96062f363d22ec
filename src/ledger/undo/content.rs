//! What is written while measuring: noise that can be known again.
use crate::core::BlockDigest;

/// Each piece of so many bytes can be known again by itself: no disk has smaller sectors, so no crash leaves less.
pub const PIECE_BYTES: usize = 512;

/// Bytes before it begins again. Noise of this length is nothing that a disk compresses.
const CONTENT_BYTES: usize = 1 << 20;

/// A piece begins with this, for people who look at a disk, and its number.
const MARK: &[u8; 12] = b"haul measure";
const NUMBER_END: usize = MARK.len() + 4;

/// What one session writes: pieces that no other session writes and that no other process has.
#[derive(Clone)]
pub struct Content(Vec<u8>);

impl Content {
    /// The content of a session.
    pub fn of(session: &BlockDigest) -> Self {
        let mut bytes = vec![0; CONTENT_BYTES];
        let mut hasher = blake3::Hasher::new_derive_key("haul 2026 content of an undo journal's session");
        hasher.update(session.as_bytes());
        hasher.finalize_xof().fill(&mut bytes);
        for (number, piece) in (0u32..).zip(bytes.chunks_exact_mut(PIECE_BYTES)) {
            piece[..MARK.len()].copy_from_slice(MARK);
            piece[MARK.len()..NUMBER_END].copy_from_slice(&number.to_le_bytes());
        }
        Content(bytes)
    }

    /// Its bytes; what is written begins with them, as often as it takes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether these bytes, a whole number of pieces, are this session's, piece by piece: all of each was compared.
    pub fn has_written(&self, bytes: &[u8]) -> bool {
        bytes.len().is_multiple_of(PIECE_BYTES) && bytes.chunks_exact(PIECE_BYTES).all(|piece| self.is_piece(piece))
    }

    fn is_piece(&self, piece: &[u8]) -> bool {
        let number = piece[MARK.len()..NUMBER_END].first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let at = number.map_or(usize::MAX, |number| number as usize).saturating_mul(PIECE_BYTES);
        self.0.get(at..at.saturating_add(PIECE_BYTES)) == Some(piece)
    }
}

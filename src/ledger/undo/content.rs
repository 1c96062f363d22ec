//! Test data that is written while measuring: noise that can be recognized.
use crate::core::BlockDigest;

/// Size of a piece, each of which can be recognized separately: no disk has smaller sectors, so no crash leaves
/// less.
pub const PIECE_BYTES: usize = 512;

/// Length in bytes after which the content repeats. Disks do not compress noise of this length.
const CONTENT_BYTES: usize = 1 << 20;

/// The start of each piece, for users who examine a disk; the number of the piece follows.
const MARK: &[u8; 12] = b"haul measure";
const NUMBER_END: usize = MARK.len() + 4;

/// The test data of one session: its pieces differ from those of any other session and from any other data.
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

    /// Its bytes, which are written repeatedly from the start.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether these bytes, a whole number of pieces, were written by this session: every byte of each is
    /// compared.
    pub fn has_written(&self, bytes: &[u8]) -> bool {
        bytes.len().is_multiple_of(PIECE_BYTES) && bytes.chunks_exact(PIECE_BYTES).all(|piece| self.is_piece(piece))
    }

    fn is_piece(&self, piece: &[u8]) -> bool {
        let number = piece[MARK.len()..NUMBER_END].first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let at = number.map_or(usize::MAX, |number| number as usize).saturating_mul(PIECE_BYTES);
        self.0.get(at..at.saturating_add(PIECE_BYTES)) == Some(piece)
    }
}

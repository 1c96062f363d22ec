//! Sides that lie nowhere: bytes that are made as they are read, and bytes that are examined instead of kept.
use super::Damage;

/// Makes the bytes of a source. Called from any thread, for any offset, in any order.
pub trait Maker: Send + Sync {
    /// Fills `bytes` with those that belong at byte `offset` and behind. The plan sees to it that both are multiples of
    /// what the maker makes at once; others panic.
    fn make(&self, bytes: &mut [u8], offset: u64);
}

/// Looks at the bytes that come to a dest. Called from any thread, in any order, once for every byte.
pub trait PatternChecker: Send + Sync {
    /// Looks at `bytes`, which were read from byte `offset` on. An end that is no whole block is not judged.
    fn judge(&self, bytes: &[u8], offset: u64);

    /// What was found so far.
    fn damage(&self) -> Damage;
}

//! Computed sides: sources that generate their bytes, and dests that check bytes instead of storing them.
use super::Damage;

/// Generates the bytes of a source. Called from any thread, for any offset, in any order.
pub trait Maker: Send + Sync {
    /// Fills `bytes` with the content at byte `offset`. Panics unless the offset and the length are multiples of the
    /// unit of generation; the plan ensures that they are.
    fn make(&self, bytes: &mut [u8], offset: u64);
}

/// Checks the bytes written to a dest. Called from any thread, in any order, once for every byte.
pub trait PatternChecker: Send + Sync {
    /// Checks `bytes`, which were read at byte `offset`. A partial block at the end is not checked.
    fn judge(&self, bytes: &[u8], offset: u64);

    /// The damage found so far.
    fn damage(&self) -> Damage;
}

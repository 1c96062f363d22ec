//! Compressed dests: what is written is compressed in frames, each by itself, by several threads. This folder must not
//! know what stores the bytes: it writes them through the endpoint of that.
mod append;
mod dest;
mod format;
mod frames;
mod gzip;
mod pick;
mod pool;
mod xz;
mod zstd;

pub use dest::compressing;
pub use frames::{Frames, check_resumed};
pub use pick::check_encoding;
pub(super) use pick::format;

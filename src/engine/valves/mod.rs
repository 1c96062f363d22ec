//! The governor: tunes the block size and the number of requests in flight of each side during the copy.
//!
//! Each side has a separate limit on its requests in flight. A pool of blocks decouples the sides, so that neither
//! waits for single requests of the other. Limits change between rounds of the pump, and nothing is drained for that.
//! The governor starts low, and doubles the limit of a side while that increases the side's rate of completions. Only a
//! side that is at its limit is evaluated; otherwise something else is the bottleneck.
//!
//! The governor does no I/O: it takes the completions and requests in flight of each round, and sometimes returns new
//! limits. It allocates nothing after [`Governor::new`]. `make bench SCENARIO=zoo` measures its costs and gains on 33
//! families of disks (docs/developer/measuring.md).
mod bursts;
mod change;
mod governor;
mod limits;
mod reason;
mod trial;
mod window;

pub use governor::Governor;
#[cfg(any(test, feature = "internals"))]
pub use limits::{Bursts, Limits};
pub use limits::{Round, Start, SteadyRate};
#[cfg(any(test, feature = "internals"))]
pub use trial::{Trial, Verdict};

#[cfg(test)]
mod tests;

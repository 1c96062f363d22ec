//! The governor: finds how many requests each side needs in flight, and of which size, while the copy runs.
//!
//! Each side has a limit of its own for its requests in flight; between the sides lies a pool of blocks, so that
//! neither waits for each request of the other. The limits change from one round of the pump to the next and nothing
//! is ever drained. The governor begins low, and doubles the limit of a side for as long as that side's own
//! completions show a gain. A side is judged only while its limit is reached: where it is not, something else is the
//! limit.
//!
//! Pure: told after each round what came back and what was in flight, it returns other limits at times. It
//! allocates nothing after [`Governor::new`]. What it costs and gains on 33 families of disks is measured by
//! `make bench SCENARIO=zoo` (docs/developer/measuring.md).
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

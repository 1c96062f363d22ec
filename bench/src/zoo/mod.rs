//! The zoo: families of disk pairs drawn at random, and haul's own governor copying between them in simulated time.
//!
//! What a copy takes is held against the best fixed limits on the same pair with the same random numbers: the ratio is
//! the regret. Nothing depends on the machine, and the same seed gives the same figures.
//!
//! Must not know: anything of the bench's beds.
mod devices;
mod disk;
mod families;
mod oracle;
mod pump;
mod random;
mod regret;
mod spec;
mod start;
mod table;

pub use families::{Draw, FAMILIES};
pub use regret::{Regret, Summary, regrets, summary};
pub use table::recipe;

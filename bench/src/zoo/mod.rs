//! The zoo: families of disk pairs drawn at random, between which haul's own governor copies in simulated time.
//!
//! The time of a copy is compared with that of the best fixed limits on the same pair with the same random numbers:
//! the ratio is the regret. Nothing depends on the machine, and the same seed gives the same results.
//!
//! Independent of the bench's beds.
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

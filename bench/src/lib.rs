//! Measures haul against its peers and against the limit of the disks.
//!
//! ```text
//!  cli ──what to measure──▶ bed (made) ◀── contender (command lines)
//!                             │
//!                             ▼
//!                 limit, race (run, measured, compared) ──▶ result ──▶ numbers ──▶ claims ──▶ show
//! ```
//!
//! Everything that a bed needs (mounts, loop devices, servers) is removed when its value is dropped, also when a
//! signal ends the bench; a killed bench leaves a directory, which the next one removes.
pub mod announce;
pub mod bed;
pub mod claims;
pub mod cli;
pub mod contender;
pub mod error;
pub mod known;
pub mod limit;
pub mod machine;
pub mod numbers;
pub mod pressure;
pub mod process;
pub mod race;
pub mod record;
pub mod rescue;
pub mod result;
pub mod seeds;
pub mod session;
pub mod show;
pub mod sweep;
pub mod workplace;
pub mod zoo;

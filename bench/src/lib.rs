//! Measures haul against its peers and against the limit of the disks.
//!
//! ```text
//!  cli ──what to measure──▶ bed (made) ──▶ contender (command lines) ──▶ round (run, measured, compared) ──▶ result
//!                                                                         result ──▶ numbers ──▶ claims ──▶ show
//! ```
pub mod claims;
pub mod numbers;
pub mod result;
pub mod show;

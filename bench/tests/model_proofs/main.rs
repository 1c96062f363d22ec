//! What haul finds out about disks, held against the numbers that the disks are made of. Everything is in virtual time,
//! so that each run gives the same, on any machine under any load.
mod estimated;
mod found;
mod sustained;
mod unlike;
mod world;

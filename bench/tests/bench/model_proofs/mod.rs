//! haul's measurements of disks, compared with the parameters of the disks. Everything is in virtual time, so that
//! each run gives the same results, on any machine under any load.
mod estimated;
mod found;
mod sustained;
mod unlike;
mod world;

//! Tests that need real drivers, in the virtual machine of `lab/vmlab`: `make lab-test`.
#[path = "../support/mod.rs"]
mod support;

mod guest_table;
mod guests;
mod launcher;
mod list;
mod mappings;
mod nvme;
mod on_error;
mod pairings;
mod power;
mod scsi;
mod sg_fronts;
mod timing;
mod transport;

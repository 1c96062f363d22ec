//! Shared by the tests of the binary: running it, test data, disks, and `cmp` to compare them.
//!
//! Nothing here uses the library: the binary is tested, and other programs check its results.
#![allow(dead_code, unused_imports, reason = "each test binary uses a part of it")]
mod abilities;
mod bytes;
mod certificates;
mod directories;
mod disks;
mod failing;
mod http;
mod lab;
mod modelled;
mod nbd;
mod nbd_export;
mod objects;
mod programs;
mod running;
mod terminal;
mod traces;

pub use abilities::{admin, direct_works, engines, has, is_root, skip};
pub use bytes::{cmp, cmp_ranges, filled, first_difference, noise, repeated, write_noise};
pub use certificates::make_certificates;
pub use directories::{ScratchDir, memory_dir, name, scratch};
pub use disks::{LoopDevice, Mount};
pub use failing::{FailingDisk, Fails};
pub use http::{Asked, FaultyServer, Nginx, Reply, web_haul};
pub use lab::{
    Drive, Findings, Slot, example, in_the_lab, lab_is_available, launcher, patient_launcher, release_binary,
    without_io_uring, words_for,
};
pub use modelled::{ModelledDisk, modelled_disks, wait_until};
pub use nbd::{Breaking, NbdServer, Way};
pub use objects::{Fate, ObjectServer, Passing, SECRET, StoreClient, StoreProxy};
pub use programs::{checksum, compressed_forms, gzip};
pub use running::{
    Running, copied_bytes, copy_program, depth_of, haul, haul_limited, haul_path, in_one_line, run_in_shell,
    state_home, stderr, stderr_lines, wait_for_handler, with_haul_in_path,
};
pub use terminal::{Shown, Terminal, copy_on_a_terminal, haul_command, on_a_terminal};
pub use traces::traced_calls;

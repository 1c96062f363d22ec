//! What the tests of the binary share: running it, bytes to copy, disks to copy them to, and `cmp` to judge.
//!
//! Nothing here calls the library: what is tested is the binary, and what judges it is somebody else's program.
#![allow(dead_code, unused_imports, reason = "each test binary uses a part of it")]
mod abilities;
mod bytes;
mod disks;
mod failing;
mod folders;
mod lab;
mod modelled;
mod running;
mod terminal;

pub use abilities::{direct_works, engines, has, is_root, skip};
pub use bytes::{cmp, cmp_ranges, filled, noise, write_noise};
pub use disks::{LoopDevice, Mount};
pub use failing::{FailingDisk, Fails};
pub use folders::{Folder, memory_dir, scratch};
pub use lab::{
    Drive, Findings, Slot, example, in_the_lab, lab_is_there, launcher, patient_launcher, release_binary,
    without_io_uring, words_for,
};
pub use modelled::{ModelledDisk, modelled_disks, wait_until};
pub use running::{
    Running, copied_bytes, depth_of, haul, haul_limited, haul_path, in_one_line, run_in_shell, state_home, stderr,
    stderr_lines, wait_for_handler, with_haul_in_path,
};
pub use terminal::{Shown, Terminal, copy_on_a_terminal, haul_command, on_a_terminal};

//! The binary: arguments to command to exit status.
#![forbid(unsafe_code)]
use haul::apps::{self, Exit};
use std::env;
use std::process;

fn main() {
    let status = match apps::run(env::args_os().collect()) {
        Exit::Status(status) => status,
        Exit::Signal(signal) => {
            apps::die_by(signal);
            128 + signal as u8
        }
    };
    process::exit(status.into());
}

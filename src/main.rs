//! The binary: converts arguments to a command and its result to an exit status.
#![forbid(unsafe_code)]
use haul::Exit;
use std::env;
use std::process;

fn main() {
    let status = match haul::run(env::args_os().collect()) {
        Exit::Status(status) => status,
        Exit::Signal(signal) => {
            haul::die_by(signal);
            128 + signal as u8
        }
    };
    process::exit(status.into());
}

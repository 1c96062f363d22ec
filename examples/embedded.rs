//! haul within another program: `embedded SRC DST` copies SRC to DST as `haul copy` does, then compares them.
//!
//! The library receives a command line and returns how the process should end; it never ends it itself.
use haul::Exit;
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs a command of haul with these operands.
fn haul(command: &str, operands: &[OsString]) -> Exit {
    let words = ["haul".into(), command.into()];
    haul::run(words.into_iter().chain(operands.iter().cloned()).collect())
}

fn main() -> ExitCode {
    let operands: Vec<OsString> = env::args_os().skip(1).collect();
    let exit = match haul("copy", &operands) {
        Exit::Status(0) => haul("verify", &operands),
        other => other,
    };
    match exit {
        Exit::Status(status) => ExitCode::from(status),
        Exit::Signal(signal) => {
            haul::die_by(signal);
            ExitCode::from(128 + signal as u8)
        }
    }
}

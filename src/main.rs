//! The binary: arguments to command to exit status.
fn main() {}

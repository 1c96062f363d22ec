//! The machine a measurement was made on.

/// The machine a measurement was made on; empty or 0 is what it does not report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Its name in the network.
    pub name: String,
    /// Release of the kernel: `6.12.9`.
    pub kernel: String,
    /// Architecture, as uname(1) has it: `x86_64`.
    pub architecture: String,
    /// Model of its first processor.
    pub processor: String,
    /// Processors that this process may use.
    pub processors: usize,
    /// Main memory, in bytes.
    pub memory_bytes: u64,
}

//! The machine that a measurement was made on.

/// The machine that a measurement was made on. Unknown values are empty or 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Host name.
    pub name: String,
    /// Kernel release: `6.12.9`.
    pub kernel: String,
    /// Architecture, as reported by uname(1): `x86_64`.
    pub architecture: String,
    /// Model of the first processor.
    pub processor: String,
    /// Number of processors that this process may use.
    pub processors: usize,
    /// Main memory, in bytes.
    pub memory_bytes: u64,
}

//! What measuring by writing is asked for.
use crate::plan::Expectation;

/// Writing was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteWish {
    /// What is on the device may be lost.
    pub destroy: bool,
    /// Do not ask before a device is written to.
    pub yes: bool,
    /// What the device must be.
    pub expect: Vec<Expectation>,
    /// What is found is to be kept for copies to the device.
    pub save: bool,
}

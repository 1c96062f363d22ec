//! What the command lines of several commands share: ranges, sizes, ways, what is shown, help texts.
//!
//! This room must not know what a device is or what can be done: it refuses words that are invalid, the room `plan`
//! refuses what would be a mistake. It prints nothing; usage errors go back to the caller as [`clap::Error`].
#![forbid(unsafe_code)]
pub(crate) mod certainty;
pub(crate) mod defaults;
pub(crate) mod expect;
pub(crate) mod help;
pub(crate) mod journal;
pub(crate) mod manual;
pub(crate) mod method;
pub(crate) mod on_error;
pub(crate) mod shown;
pub mod size;
pub(crate) mod words;

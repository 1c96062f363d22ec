//! Parts of the command line that several commands share: ranges, sizes, methods, output, help texts.
//!
//! This room must not know devices: it rejects invalid words, and the room `plan` refuses dangerous requests.
//! It prints nothing; usage errors are returned to the caller as [`clap::Error`].
#![forbid(unsafe_code)]
pub(crate) mod certainty;
pub(crate) mod defaults;
pub(crate) mod expect;
pub(crate) mod help;
pub(crate) mod images;
pub(crate) mod journal;
pub(crate) mod manual;
pub(crate) mod method;
pub(crate) mod on_error;
pub(crate) mod ranges;
pub(crate) mod shard;
pub(crate) mod shown;
pub mod size;
pub(crate) mod words;

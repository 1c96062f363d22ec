//! Block maps (`.bmap`), as bmaptool makes them: which parts of an image have data, and their checksums. Versions 1.2
//! to 2.0 are read, 2.0 is written.
mod parse;
#[cfg(test)]
mod tests;
mod text;

pub use parse::{is_bmap, parse};
pub use text::{VERSION, text};

//! `haul-bench`: see `docs/measuring.md`.
fn main() {}

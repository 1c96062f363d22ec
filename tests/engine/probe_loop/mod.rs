//! The room `probe` on real loop devices: names, ground, users. Skipped aloud where there can be none.
mod guards;
mod names;
mod users;

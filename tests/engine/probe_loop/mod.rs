//! Tests of `probe` on loop devices: names, ground, users. Skipped with a message if they are not available.
mod guards;
mod names;
mod users;

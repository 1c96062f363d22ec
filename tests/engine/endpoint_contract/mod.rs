//! The same checks for every kind of endpoint, on real files, pipes and loop devices.
mod cache;
mod devices;
mod files;
mod moving;
mod places;
mod positional;
mod streams;

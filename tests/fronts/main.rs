//! `haul dd` compared with GNU dd, and `haul sg_dd` and its variants with those of sg3_utils.
#[path = "../support/mod.rs"]
mod support;

mod dd;
mod dd_corners;
mod dd_devices;
mod dd_differential;
mod dd_ideas;
mod dd_moving;
mod sg;
mod sg_dd;
mod sg_dd_differential;
mod sg_dd_media;
mod sg_dd_refusals;
mod sg_dd_signals;

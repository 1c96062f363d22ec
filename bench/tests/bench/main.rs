//! The bench: its beds and races in tiny size, what it shows, and haul's decisions on modelled disks in virtual time.
mod certain;
mod image;
mod model_proofs;
mod object;
mod race;
mod rescue_race;
mod show;
mod support;
mod sweep;
mod unlike;
mod zoo;

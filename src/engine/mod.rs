//! Keeps requests in flight: the copy loop, and one room per way of doing it.
//!
//! This room must not know any kind of endpoint: it drives queues, and has no `if` on what is at their other end.
mod alone;
mod around;
mod checkpoints;
mod closer_look;
mod comparing;
mod delta;
mod ending;
mod engine_error;
mod failing;
mod gate;
mod meter;
mod offload;
mod one_side;
mod pace;
mod pump;
mod queues;
mod ring;
mod run;
mod source_end;
mod threads;
mod unreadable;
mod writing;

pub use one_side::OneSide;
pub use ring::refused as ring_refused;
pub use run::{Ends, run, run_keeping};

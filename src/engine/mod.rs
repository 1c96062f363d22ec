//! Engines: the copy loop, and the queues that keep requests in flight.
//!
//! This room must not know any kind of endpoint: it drives queues, and never tests the kind of endpoint.
mod alone;
mod bad_block_search;
mod checkpoints;
mod comparing;
mod delta_method;
mod ending;
mod endpoint_queue;
mod engine_error;
mod gate;
mod locate_bad_block;
mod meter;
mod offload;
mod pump;
mod queue_set;
mod queues;
mod recover_from_dest;
mod ring;
mod run;
mod threads;
pub mod valves;
mod watch;

pub use endpoint_queue::EndpointQueue;
pub use ring::refused as ring_refused;
pub use run::{Endpoints, run, run_keeping};
pub use watch::Watch;

//! A copy by many workers: the plan and the preparation of its destination, taking and copying a shard, and the end.
//!
//! Workers share small texts and nothing else. Nothing here prints.
mod claim;
pub(crate) mod finishing;
mod heartbeat;
mod host;
pub(crate) mod job_of;
mod manifest;
mod names;
pub(crate) mod overview;
pub(crate) mod planning;
mod sides;
mod store_probe;
mod task;
#[cfg(feature = "objects")]
#[cfg(test)]
mod tests;
pub(crate) mod worker;

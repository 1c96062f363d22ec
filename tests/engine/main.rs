//! Tests of the library: pump, queues, stages, endpoints, probe and ledger, on memory, files, pipes and loop
//! devices.
#[path = "../model/hollow.rs"]
mod hollow;
#[path = "../model/mod.rs"]
mod model;
#[path = "../support/mod.rs"]
mod support;

mod also;
mod block_digests;
mod checkpoints;
mod comparing;
mod delta;
mod device_copy;
mod endpoint_contract;
mod fault_matrix;
mod faults;
mod journal_crashes;
mod latencies;
mod mapfile_oracle;
mod matrix;
mod memory_check;
mod pattern;
mod probe_loop;
mod pump_calls;
mod queue_contract;
mod reading_around;
mod rescue;
mod resuming_around;
mod retried_alone;
mod ring_forms;
mod scsi_oracle;
mod surroundings;

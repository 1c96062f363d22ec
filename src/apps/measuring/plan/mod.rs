//! What is decided before a disk is measured; pure.
mod by_node;
mod measuring;
mod random;
mod requests;
mod writing;

pub use by_node::ways_by_node;
pub use measuring::{
    MEASURED_IN_FLIGHT_BYTES, Measuring, ProfileOptions, TableStyle, TimingFrom, TuneOptions, ceiling, measure,
};
pub use random::random_reads;
pub use requests::{RandomOptions, WriteOptions};
pub use writing::{KEPT_BYTES_MAX, WriteDest, WriteScope, Writing, may_measure_writing, measure_writing};

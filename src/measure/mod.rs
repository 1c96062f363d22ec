//! Measures disks: runs of requests with one block size, depth and way, and their statistics.
//!
//! Runs use the endpoints and queues of copies. Statistics are separate, so that they can be tested with simulated
//! disks. This room must not know how an endpoint is opened, the options of the user, or how results are reported.
#![forbid(unsafe_code)]
mod clock;
mod commands;
mod cost;
mod failure;
pub mod fit;
mod forecast;
mod grid;
mod level;
mod pick;
mod places;
mod point;
mod profile;
mod random;
mod read_buffer;
mod run;
mod sample;
pub mod shift;
mod stage;
pub mod stats;
mod steady;
mod subject;
mod surroundings;
mod sustained;
mod sweep;
mod system_impact;
mod thermometer;
mod timing;
mod trend;
mod trial;
mod tune;
mod written;
mod zones;

pub use clock::Clock;
pub use commands::Commands;
pub use cost::Cost;
pub use failure::MeasureFailure;
pub use forecast::{CopyProgress, Course, Forecast, ProgressTrack};
pub use grid::{Effort, grid};
pub use level::PointRate;
pub use pick::{BestPoint, answer};
pub use places::{Walk, spread};
pub use point::{DD_BLOCK_BYTES, Point, Way};
pub use profile::{Profiled, WayCost, profile};
pub use random::{CLASS_FACTOR, RandomFound, RandomReads, SlowRead, random};
pub use read_buffer::{BufferCost, BufferOptions, BufferWayCosts, ReadBuffer, SeedFigures, read_buffer};
pub use run::{Run, RunResult, run};
pub use sample::{Budget, FirstSample, look, sample};
pub use stage::{Stage, WriteMoment};
pub use subject::Subject;
pub use surroundings::RunningSystem;
pub use sustained::{Sustained, sustained};
pub use sweep::{Entry, State, Sweep};
pub use system_impact::{Effect, Interference, Memory, SystemUnderTest, Unknown, effects};
pub use thermometer::{TemperatureReading, Temperatures, Thermometer};
pub use timing::{Timed, numbered_place, timing};
pub use trend::{Trend, fell_hot, trend};
pub use trial::{BadRange, Trial};
pub use tune::{SweepObserver, Tuned, tune};
pub use written::{Ground, NotRestored, Written};
pub use zones::{Curve, Position, Zone, whole_time};

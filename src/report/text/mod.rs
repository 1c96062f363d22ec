//! Plan, outcome, errors and questions as text for 80 columns. Every text consists of whole lines, except
//! questions, whose answer follows on the last one. Texts may contain colour, which [`super::Out`] removes if
//! it is disabled.
mod advice;
mod choose;
mod confirm;
mod damage;
mod dests;
mod differences;
mod digests;
mod doubts;
mod ending;
mod error;
mod estimate;
mod given;
mod memory_check;
mod outcome;
mod pace;
mod plan;
pub(crate) mod queue;
mod rest;
mod short;
pub(crate) mod side;
mod signal;
mod unread;
mod uploads;
mod usage;
mod verified;
mod writing;

pub(crate) use advice::advice;
pub use choose::{choose, not_offered};
pub use confirm::{abort_upload, answer, ask, confirm, remove_journal, waiting_copy};
pub use dests::{catching_up, dropped};
pub(crate) use dests::{rest as rest_of_dest, results as dest_results};
pub use digests::digest_lines;
pub use doubts::{above_the_link, kept, paged};
pub(crate) use ending::headline;
pub(crate) use error::message;
pub use error::{error, info, warning};
pub(crate) use estimate::estimated;
pub use outcome::outcome;
pub(crate) use outcome::{bottleneck, rate, time};
pub use plan::plan;
pub use rest::{continue_command, no_continuation};
pub(crate) use side::described;
pub use uploads::uploads;
pub use usage::usage;
pub use writing::{nothing_to_put_back, put_back_earlier, putting_back};

#[cfg(test)]
mod tests;

//! Plan, outcome and devices as JSON. `docs/user/json.md` describes each field. Names end in their unit; a
//! field without a value is `null`, never missing. Within a schema version fields may be added, but none is
//! renamed or changes its meaning.
mod damage;
mod dests;
mod devices;
mod failure;
mod fleet;
mod not_started;
mod outcome;
mod pending;
mod plan;
mod rescue;
mod runs;

pub use devices::devices;
pub use failure::FailureReport;
pub use fleet::fleet;
pub use not_started::{NotStarted, failed, not_started};
pub use outcome::outcome;
pub use pending::journals;
pub use plan::plan;
pub use rescue::{RescueEnd, blocks, rescue};
pub use runs::RunReport;

use serde::Serialize;

/// Version of the schema, the value of the field `schema`.
pub const SCHEMA: u32 = 1;

/// The arguments of a command line, without the name of the program.
pub fn command_line(args: &[String]) -> Vec<&str> {
    std::iter::once("haul").chain(args.iter().map(String::as_str)).collect()
}

/// An object whose fields are written in the order given. A name without a value is a variable. serde_json's
/// `json!` would sort them, or need a further crate.
macro_rules! object {
    ($($field:ident $(: $value:expr)?),* $(,)?) => {{
        // Each field's type is an inferred type parameter of the same name.
        #[allow(non_camel_case_types)]
        let object = {
            #[derive(serde::Serialize)]
            struct Object<$($field),*> {
                $($field: $field),*
            }
            Object { $($field $(: $value)?),* }
        };
        object
    }};
}
pub(crate) use object;

/// Seconds, rounded to milliseconds.
pub(crate) fn seconds(time: std::time::Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).round() / 1000.0
}

/// Requests in flight, by side.
pub(crate) fn queue_depth(limits: crate::core::Limits) -> impl Serialize {
    let [source, dest] = limits.in_flight;
    object! { source, dest }
}

/// The value on several lines, with a final newline.
pub fn text(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("our structs have string keys and cannot fail") + "\n"
}

/// The value on one line, with a newline.
pub fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("our structs have string keys and cannot fail") + "\n"
}

#[cfg(test)]
mod tests;

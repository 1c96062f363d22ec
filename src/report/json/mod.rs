//! Plan, outcome and devices for programs. `docs/user/json.md` says what each field means. Names end in their unit; a
//! field without a value is `null`, never missing. Within a schema version fields may be added; none is renamed, and
//! none changes its meaning.
mod damage;
mod dests;
mod devices;
mod failure;
mod not_started;
mod outcome;
mod pending;
mod plan;
mod runs;

pub use devices::devices;
pub use failure::FailureReport;
pub use not_started::{NotStarted, failed, not_started};
pub use outcome::outcome;
pub use pending::journals;
pub use plan::plan;
pub use runs::RunReport;

use serde::Serialize;

/// Version of the schema, the value of the field `schema`.
pub const SCHEMA: u32 = 1;

/// An object whose fields are written in the order in which they stand. A name without a value is a variable.
/// serde_json's `json!` would sort them, or need a crate with a map that does not.
macro_rules! object {
    ($($field:ident $(: $value:expr)?),* $(,)?) => {{
        // Each field's type is a parameter of the same name, which the compiler finds out.
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

/// Requests in flight, by side.
pub(crate) fn queue_depth(limits: crate::core::Limits) -> impl Serialize {
    let [source, dest] = limits.in_flight;
    object! { source, dest }
}

/// The value over several lines, the last one ended.
pub fn text(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("our structs have string keys and cannot fail") + "\n"
}

/// The value on one line, ended.
pub fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("our structs have string keys and cannot fail") + "\n"
}

#[cfg(test)]
mod tests;

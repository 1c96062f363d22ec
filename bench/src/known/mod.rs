//! What haul knows of disks whose numbers are known: measured, estimated, and put to use. The disks are served by a
//! process here, with all that lies between; `bench/tests/model_proofs` holds the same against the model itself, in
//! virtual time.
//!
//! Must not know: how the beds are made, how tables are shown.
mod disks;
mod pace;
mod time;

use crate::error::{Error, Result};
use crate::seeds::{Call, TableRecipe};
use serde_json::Value;

/// Every table.
pub fn recipes() -> Vec<TableRecipe> {
    vec![disks::recipe(), time::recipe(), pace::recipe()]
}

/// The one JSON document that `line` prints.
fn document(call: &Call<'_>, line: &str) -> Result<Value> {
    let ended = call.run(&crate::process::Line::words(line))?;
    serde_json::from_str(&ended.stdout).map_err(|error| Error(format!("`{line}` printed no JSON: {error}")))
}

/// The number at `path`, a JSON pointer; `None`: `null`, or not there.
fn number_at(value: &Value, path: &str) -> Option<f64> {
    value.pointer(path).and_then(Value::as_f64)
}

/// How far `found` is from `truth`, in percent of it.
fn off_percent(found: f64, truth: f64) -> f64 {
    (found / truth - 1.0) * 100.0
}

//! How accurately haul measures disks with known parameters: their rates, the estimate of a copy, and the result of
//! tuning. The disks are served by a process here, with all overhead; `bench/tests/bench/model_proofs` compares the
//! same with the model itself, in virtual time.
//!
//! Independent of how the beds are made, and how tables are shown.
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

/// The only JSON document that `line` prints.
fn document(call: &Call<'_>, line: &str) -> Result<Value> {
    let ended = call.run(&crate::process::Line::words(line))?;
    serde_json::from_str(&ended.stdout).map_err(|error| Error(format!("`{line}` printed no JSON: {error}")))
}

/// The number at `path`, a JSON pointer; `None`: `null`, or missing.
fn number_at(value: &Value, path: &str) -> Option<f64> {
    value.pointer(path).and_then(Value::as_f64)
}

/// The deviation of `found` from `truth`, in percent.
fn off_percent(found: f64, truth: f64) -> f64 {
    (found / truth - 1.0) * 100.0
}

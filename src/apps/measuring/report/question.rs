//! The question before a device is written to for measuring.
use crate::apps::measuring::plan::WriteDest;
use crate::core::Facts;
use crate::report::columns::{Columns, paragraph};
use crate::report::printable::printable;
use crate::report::style::{DANGER, paint};
use crate::report::text::side::{describe, identity};
use crate::report::units;
use std::path::Path;

/// The question before a device is written to for measuring.
pub fn confirm_measuring(device: &Facts, over: &WriteDest, store: Option<&Path>) -> String {
    let mut sides = Columns::default();
    sides.row("device", describe(device, None));
    let mut text = sides.lines();
    text.push('\n');
    let name = printable(&device.path.to_string_lossy());
    let who = identity(device).map(|who| format!(" ({who})")).unwrap_or_default();
    let consequence = match (over, store) {
        (WriteDest::Kept(places), Some(store)) => format!(
            "At most {} of {name}{who} in {} will be overwritten and then restored. Until then the original data is \
             saved in {}.",
            units::size(places.iter().map(|place| place.len).sum()),
            units::count(places.len() as u64, "place", "places"),
            printable(&store.to_string_lossy())
        ),
        _ => paint(DANGER, &format!("All data on {name}{who} will be overwritten and cannot be recovered.")),
    };
    text += &paragraph(&consequence);
    text + "Type \"yes\" to continue, anything else to stop: "
}

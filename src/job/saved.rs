//! The results that `haul tune --save` stores, with which copies begin.
use crate::core::{Device, EndpointKind, Error, Facts, Kind, Op, Result, SavedPace};
use crate::job::operator::Operator;
use crate::ledger::saved::{self, SavedPaces};
use crate::measure::BestPoint;
use std::path::PathBuf;

/// Stores the answer for reading or writing the disk with these facts; returns the path of the file.
///
/// # Errors
/// There is no home directory, or the file cannot be read or written.
pub(crate) fn keep(facts: &Facts, op: Op, answer: &BestPoint) -> Result<PathBuf> {
    let place = saved::place().ok_or_else(|| {
        let advice = "Set HOME or XDG_CONFIG_HOME.";
        Error::new(Kind::Io, "--save: no directory for settings: neither HOME nor XDG_CONFIG_HOME is set")
            .advise(advice)
    })?;
    let date = jiff::Timestamp::now().to_string();
    let pace = SavedPace {
        block_bytes: answer.pick.block_bytes,
        depth: answer.pick.depth,
        bytes_per_s: answer.pick_bytes_per_s as u64,
        date: date.split('T').next().unwrap_or_default().to_owned(),
    };
    saved::save(&place, &name(facts), op, &pace)?;
    Ok(place)
}

/// Adds the stored results for the disks of a copy to their facts. A file that cannot be read causes a warning,
/// not an error.
pub(crate) fn recall<'a>(sides: impl IntoIterator<Item = &'a mut Facts>, operator: &dyn Operator) {
    let paces = all(|warning| operator.warn(warning));
    for facts in sides {
        let name = name(facts);
        facts.saved = paces.of(&name, Op::Read).cloned();
        facts.saved_write = paces.of(&name, Op::Write).cloned();
    }
}

/// The key under which results for the disk or file with these facts are stored.
fn name(facts: &Facts) -> String {
    let device_bytes = facts.size.filter(|_| facts.kind == EndpointKind::Block);
    saved::name(&facts.identity, &facts.path, device_bytes)
}

/// Adds the stored results to listed devices.
pub(crate) fn recall_all(devices: &mut [Device], warn: impl Fn(&str)) {
    let paces = all(warn);
    for device in devices {
        let name = saved::name(&device.identity, &device.path, Some(device.size));
        device.saved = paces.of(&name, Op::Read).cloned();
        device.saved_write = paces.of(&name, Op::Write).cloned();
    }
}

fn all(warn: impl Fn(&str)) -> SavedPaces {
    let loaded = saved::place().map_or_else(|| Ok(SavedPaces::default()), |place| saved::load(&place));
    loaded.unwrap_or_else(|error| {
        let why = error.source.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        warn(&format!("{error}{why}"));
        SavedPaces::default()
    })
}

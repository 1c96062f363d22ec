//! The plan that a command names, and its shared state.
use super::names;
use crate::core::{Error, Kind, Result};
use crate::disks::object::SharedState;
use crate::files::open_to_read;
use crate::ledger::fleet::FleetPlan;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A larger file is no plan.
const BYTES_MAX: u64 = 1 << 20;

/// A plan and its state.
pub(crate) struct Job {
    pub(crate) plan: Arc<FleetPlan>,
    pub(crate) state: Arc<SharedState>,
    pub(crate) id: String,
}

impl Job {
    /// Reads the plan at a path, or the copy of it in the state of this address, and opens the state.
    ///
    /// # Errors
    /// The plan cannot be read, is damaged, or of a newer haul; the state cannot be opened, or has another plan.
    pub(crate) fn open(place: &str) -> Result<Job> {
        let text = match place.strip_suffix(names::PLAN).filter(|_| place.contains("://")) {
            Some(state) => {
                let state = SharedState::open(state.trim_end_matches('/'))?;
                let missing = || Error::new(Kind::Usage, format!("there is no plan at {place}"));
                state.get(names::PLAN)?.ok_or_else(missing)?.into_bytes()
            }
            None => read(Path::new(place))?,
        };
        let parsed = FleetPlan::read_file(&*text);
        let plan = parsed.map_err(|fault| fault.into_error(place))?;
        let id = plan.job().map_err(|fault| fault.into_error(place))?;
        // An answer that comes after the next sign of life would be none.
        let within = Duration::from_secs(plan.lease_s).max(Duration::from_secs(4)) / 4;
        let state = SharedState::open(&plan.state)?.answered_within(within);
        Ok(Job { plan: Arc::new(plan), state: Arc::new(state), id })
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let cannot = |error| {
        let advice = "Name the file that haul plan wrote, or the copy of it in the shared state: plan.json.";
        Error::new(Kind::Open, format!("cannot read plan {}", path.display())).because(error).advise(advice)
    };
    let file = open_to_read(path).map_err(|error| cannot(error.into()))?;
    let mut text = Vec::new();
    BufReader::new(file).take(BYTES_MAX).read_to_end(&mut text).map_err(cannot)?;
    Ok(text)
}

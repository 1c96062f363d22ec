use super::{Failure, VerifiedReport};
use crate::core::{DestOutcome, Outcome, Plan};
use crate::report::text;
use serde::Serialize;

/// How one of several dests ended.
#[derive(Clone, Debug, Serialize)]
pub struct DestReport {
    /// As the user named it.
    pub address: String,
    /// What was opened.
    pub path: String,
    /// `complete`: it has all that the copy has come to; `failed`; `behind`: it was too slow and gets the rest next.
    pub status: &'static str,
    /// Why it was dropped, or its end failed.
    pub error: Option<Failure>,
    /// Bytes that arrived with none missing before them.
    pub claimed_bytes: u64,
    /// What is claimed survives a power loss.
    pub durable: bool,
    /// Bytes of data that it acknowledged.
    pub written_bytes: u64,
    /// Bytes that it zeroed by itself.
    pub zeroed_bytes: u64,
    /// Bytes left as holes.
    pub hole_bytes: u64,
    /// What came of reading it back; `null`: it was not.
    pub verified: Option<VerifiedReport>,
    /// The command that copies what it lacks, quoted for a shell, where a dest has failed.
    pub continue_command: Option<String>,
}

impl DestReport {
    /// Of `dest`, one of the outcome's. `args` is the command line as given, without the name of the program.
    pub(super) fn of(plan: &Plan, outcome: &Outcome, dest: &DestOutcome, args: &[String]) -> Self {
        DestReport {
            address: dest.address.clone(),
            path: dest.path.to_string_lossy().into_owned(),
            status: match &dest.error {
                Some(_) => "failed",
                None if dest.behind => "behind",
                None => "complete",
            },
            error: dest.error.as_ref().map(Failure::from),
            claimed_bytes: dest.claimed.len,
            durable: dest.durable,
            written_bytes: dest.written_bytes,
            zeroed_bytes: dest.zeroed_bytes,
            hole_bytes: dest.hole_bytes,
            verified: dest.verified.as_ref().map(VerifiedReport::from),
            continue_command: text::rest_of_dest(plan, outcome, dest, args),
        }
    }
}

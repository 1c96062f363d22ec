use super::runs::verified;
use super::{FailureReport, object};
use crate::core::{DestOutcome, Durability, Identity, Outcome, Plan};
use crate::report::printable::shell_line_as_it_is;
use crate::report::text;
use serde::Serialize;

/// The result of one of several dests, with this identity. `args` is the command line as given, without the
/// name of the program.
pub(super) fn dest(
    plan: &Plan,
    outcome: &Outcome,
    dest: &DestOutcome,
    identity: &Identity,
    args: &[String],
) -> impl Serialize {
    let durability = Durability::of(dest.durable, dest.memory.as_deref());
    object! {
        address: &dest.address,
        path: dest.path.to_string_lossy(),
        model: &identity.model,
        serial: &identity.serial,
        wwn: &identity.wwn,
        transport: &identity.transport,
        status: match &dest.error {
            Some(_) => "failed",
            None if dest.behind => "behind",
            None => "complete",
        },
        error: dest.error.as_ref().map(FailureReport::from),
        claimed_bytes: dest.claimed.len,
        durable: durability == Durability::Medium,
        durability: durability.name(),
        written_bytes: dest.written_bytes,
        zeroed_bytes: dest.zeroed_bytes,
        hole_bytes: dest.hole_bytes,
        verified: dest.verified.as_ref().map(verified),
        continue_command: text::rest_of_dest(plan, outcome, dest, args).map(shell_line_as_it_is),
    }
}

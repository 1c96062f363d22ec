//! Asking a person before a device is overwritten.
use crate::contract::{Error, Facts, Kind, Plan, Result, Side};
use crate::report::{Out, text};
use std::io::{self, IsTerminal};

/// Shows both sides and asks; returns when the answer is yes. Where nobody can be asked, `--yes` has to be given.
pub(super) fn ask(plan: &Plan, source: &Facts, dest: &Facts, out: Out) -> Result<()> {
    let refused = |what: &str| Error::new(Kind::Refused, format!("{what} {}", plan.dest.address)).on(Side::Dest);
    let somebody_is_there = io::stdin().is_terminal() && out.error_is_terminal() && plan.source.address != "-";
    if !somebody_is_there {
        return Err(refused("nobody can be asked before overwriting dest").advise(
            "Look at it with haul list, then give --yes; --expect serial=… makes sure that it is the right one.",
        ));
    }
    let question = text::confirm(plan, source, dest);
    match text::ask(&question, &mut io::stdin().lock(), &mut out.error_stream()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(refused("not confirmed: nothing was written to dest")),
        Err(error) => Err(refused("cannot ask before overwriting dest").because(error)),
    }
}

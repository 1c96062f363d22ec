//! Asking a person before a device is overwritten.
use crate::core::{Error, Facts, Kind, Plan, Result, Side};
use crate::report::{Out, text};
use std::io::{self, IsTerminal};

/// Shows both sides and asks; returns when the answer is yes. Where nobody can be asked, `--yes` has to be given.
pub(super) fn ask(plan: &Plan, source: &Facts, dest: &Facts, out: Out) -> Result<()> {
    let can_be_asked = plan.source.address != "-";
    agree(&plan.dest.address, can_be_asked, || text::confirm(plan, source, dest), out)
}

/// Puts the question about this dest.
pub(super) fn agree(dest: &str, can_be_asked: bool, question: impl FnOnce() -> String, out: Out) -> Result<()> {
    let refused = |what: &str| Error::new(Kind::Refused, format!("{what} {dest}")).on(Side::Dest);
    if !(can_be_asked && io::stdin().is_terminal() && out.error_is_terminal()) {
        return Err(refused("nobody can be asked before overwriting dest").advise(
            "Look at it with haul list, then give --yes; --expect serial=… makes sure that it is the right one.",
        ));
    }
    match text::ask(&question(), &mut io::stdin().lock(), &mut out.error_stream()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(refused("not confirmed: nothing was written to dest")),
        Err(error) => Err(refused("cannot ask before overwriting dest").because(error)),
    }
}

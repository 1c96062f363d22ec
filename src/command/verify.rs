//! `haul verify`.
use super::Exit;
use super::copy::{carry_out, host, show, warn};
use super::signals::Signals;
use crate::contract::{Result, Side};
use crate::plan::Options;
use crate::report::Out;
use crate::{endpoint, plan, probe};

/// As for a copy, but both sides are read. `words` is the command line behind the program's name.
pub(super) fn verify(options: &Options, words: &[String], out: Out) -> Result<Exit> {
    let signals = Signals::watch(out)?;
    let through = Side::BOTH.map(|side| options.passthrough.may(side));
    let (source, dest) = probe::both_to_read(&options.source, &options.dest, through)?;
    let plan = plan::compare(options, &source, &dest, &host(options))?;
    if options.dry_run {
        return show(options, &plan, &source, &dest, out);
    }
    warn(options, &plan, out);
    let ends = [endpoint::open_source(&plan.source, &source)?, endpoint::open_compared(&plan.dest, &dest)?];
    carry_out(options, &plan, &ends, &signals, words, out)
}

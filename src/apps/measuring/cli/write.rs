//! `--write` of `haul tune` and `haul profile`.
use crate::apps::measuring::plan::WriteWish;
use crate::cli::expect;
use crate::plan::Expectation;
use clap::Args;

/// What one `--expect` holds. An alias, so that clap takes it for one value.
type Expectations = Vec<Expectation>;

/// Whether writing is measured, and on what terms.
#[derive(Debug, Args)]
pub(crate) struct WriteArguments {
    /// Measure writing: on a new file, in a folder, on a device
    ///
    /// Measure writing. Where PATH is not there, a file is made, measured and removed; where it is a folder, one is
    /// made in it. A file that is there is never written to. On a device, which must not be in use, at most 512 MiB are
    /// written over and put back: what stands there is kept before, in haul/NAME.undo of $XDG_STATE_HOME or
    /// ~/.local/state, and survives a power loss. What a run that was cut off left is put back by the next haul that
    /// writes to the device, or by haul tune PATH --restore.
    #[arg(long, help_heading = "Writing")]
    write: bool,

    /// Keep nothing: what is on the device is lost
    ///
    /// Write anywhere on the device and keep nothing: all data on it is lost.
    #[arg(long, requires = "write", help_heading = "Writing")]
    destroy: bool,

    /// Do not ask before a device is written to
    #[arg(short, long, requires = "write", help_heading = "Writing")]
    yes: bool,

    /// Refuse unless the device is this one: serial=, model=, wwn=, size=
    ///
    /// Refuse unless the device to be written to is this one, as for haul copy: --expect serial=S3Z9NB0K.
    #[arg(long, value_name = "KEYS", value_parser = expect::parse, requires = "write", help_heading = "Writing")]
    expect: Vec<Expectations>,
}

impl WriteArguments {
    /// `save`: what is found is to be kept.
    pub(crate) fn into_options(self, save: bool) -> Option<WriteWish> {
        let expect = self.expect.into_iter().flatten().collect();
        self.write.then_some(WriteWish { destroy: self.destroy, yes: self.yes, expect, save })
    }
}

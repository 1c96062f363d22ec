//! `--write` of `haul tune` and `haul profile`.
use crate::apps::measuring::plan::WriteOptions;
use crate::cli::expect;
use crate::plan::Expectation;
use clap::Args;

/// The properties of one `--expect`. An alias, so that clap treats it as one value.
type Expectations = Vec<Expectation>;

/// Whether to measure writing, and under which conditions.
#[derive(Debug, Args)]
pub(crate) struct WriteArguments {
    /// Measure writing: to a new file, in a directory, on a device
    ///
    /// Measure writing. If PATH does not exist, haul creates, measures and removes a file; if it is a directory, it
    /// does so in it. haul never writes to an existing file. On a device, which must not be in use, haul overwrites at
    /// most 512 MiB and restores them: it first saves the original data in haul/NAME.undo of $XDG_STATE_HOME or
    /// ~/.local/state, which survives a power loss. After an interrupted run, the next haul that writes to the device
    /// restores the data, or haul tune PATH --restore.
    #[arg(long, help_heading = "Writing")]
    write: bool,

    /// Save nothing: all data on the device is lost
    ///
    /// Write anywhere on the device without saving data: all data on it is lost.
    #[arg(long, requires = "write", help_heading = "Writing")]
    destroy: bool,

    /// Do not ask before writing to a device
    #[arg(short, long, requires = "write", help_heading = "Writing")]
    yes: bool,

    /// Refuse unless the device is this one: serial=, model=, wwn=, size=
    ///
    /// Refuse unless the device is the intended one, as for haul copy: --expect serial=S3Z9NB0K.
    #[arg(long, value_name = "KEYS", value_parser = expect::parse, requires = "write", help_heading = "Writing")]
    expect: Vec<Expectations>,
}

impl WriteArguments {
    /// `save`: the result is to be saved.
    pub(crate) fn into_options(self, save: bool) -> Option<WriteOptions> {
        let expect = self.expect.into_iter().flatten().collect();
        self.write.then_some(WriteOptions { destroy: self.destroy, yes: self.yes, expect, save })
    }
}

//! `haul list`.
use super::command::{Call, Unmeant, Words};
use super::exit::{Exit, printed};
use crate::cli::help::{ENVIRONMENT, FILES};
use crate::disks::probe;
use crate::job::{saved, undo};
use crate::report::{json, list, text};
use clap::Parser;

/// List block devices: aliases, size, identity, use and partitions
#[derive(Debug, Parser)]
#[command(name = "list")]
pub(super) struct ListArguments {
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

impl Words for ListArguments {
    /// JSON is requested.
    type Options = bool;

    const PAGE: &'static [&'static str] = &[
        include_str!("help/list-output.txt"),
        include_str!("help/list-status.txt"),
        ENVIRONMENT,
        FILES,
        include_str!("help/list-examples.txt"),
        "# SEE ALSO\nhaul(1), haul-copy(1), haul-tune(1), lsblk(8), lsscsi(8)\n",
    ];

    fn into_options(self) -> Result<bool, Unmeant> {
        Ok(self.json)
    }

    fn run(as_json: &bool, call: &Call<'_>) -> crate::core::Result<Exit> {
        let (mut devices, others) = probe::devices::devices()?;
        saved::recall_all(&mut devices, |warning| call.out.tell(&text::warning(warning)));
        undo::find_all(&mut devices);
        let text = if *as_json {
            json::text(&json::devices(&devices, &others))
        } else {
            list::human(&devices, &others, call.out.columns())
        };
        Ok(printed(call.out, &text))
    }

    fn json_report(as_json: &bool) -> Option<&'static str> {
        as_json.then_some("devices")
    }
}

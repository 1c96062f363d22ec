//! `haul config`.
use super::command::{Call, UsageError, Words};
use super::defaults::place;
use super::exit::{Exit, printed};
use crate::cli::defaults::{Defaults, JOURNAL_FOLDER, Origin, Value};
use crate::cli::help::{self, CONFIGURATION, ENVIRONMENT, FILES};
use crate::core::Result;
use crate::job::journal;
use crate::report::{config, json};
use clap::Parser;
use std::path::PathBuf;

/// Show the configured defaults, and where each comes from
///
/// Show the default of each option that can be configured, and where it comes from: the environment, the configuration
/// file, or the built-in default. The command line overrides all of them.
#[derive(Debug, Parser)]
#[command(name = "config", after_long_help = help::text(&[CONFIGURATION, ENVIRONMENT]))]
pub(super) struct ConfigArguments {
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,

    /// The values to show.
    #[arg(skip)]
    values: Vec<Value>,
}

/// What to print.
pub(super) struct Configuration {
    json: bool,
    file: Option<PathBuf>,
    rows: Vec<config::Row>,
}

impl Words for ConfigArguments {
    type Options = Configuration;

    const PAGE: &'static [&'static str] = &[
        CONFIGURATION,
        include_str!("help/config-status.txt"),
        ENVIRONMENT,
        FILES,
        include_str!("help/config-examples.txt"),
        "# SEE ALSO\nhaul(1), haul-copy(1)\n",
    ];

    fn with_defaults(self, defaults: &Defaults) -> Self {
        ConfigArguments { values: defaults.values.clone(), ..self }
    }

    fn into_options(self) -> std::result::Result<Configuration, UsageError> {
        let usual = journal::directories_of_devices().first().map(|directory| directory.to_string_lossy().into_owned());
        let row = |Value { key, mut text, origin }: Value| {
            if key.name == JOURNAL_FOLDER && text.is_empty() {
                text = usual.clone().unwrap_or_default();
            }
            let (source, line) = match origin {
                Origin::BuiltIn => ("built-in", None),
                Origin::File(line) => ("file", Some(line)),
                Origin::Environment => ("environment", None),
            };
            config::Row { key: key.name, value: text, variable: key.variable, source, line }
        };
        Ok(Configuration { json: self.json, file: place(), rows: self.values.into_iter().map(row).collect() })
    }

    fn run(options: &Configuration, call: &Call<'_>) -> Result<Exit> {
        let Configuration { json: as_json, file, rows } = options;
        let text = match as_json {
            true => json::text(&config::json(file.as_deref(), rows)),
            false => config::human(file.as_deref(), rows, call.out.terminal_columns()),
        };
        Ok(printed(call.out, &text))
    }

    fn json_report(options: &Configuration) -> Option<&'static str> {
        options.json.then_some("config")
    }
}

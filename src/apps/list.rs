//! `haul list`.
use super::command::{Call, UsageError, Words};
use super::exit::{Exit, printed};
use crate::cli::help::{self, ENVIRONMENT, FILES};
use crate::disks::probe;
use crate::job::{journal, saved, undo};
use crate::report::list::{COLUMNS, Column};
use crate::report::{json, list, text};
use clap::Parser;
use clap::error::ErrorKind;

/// The description of each column.
const COLUMN_NAMES: &str = include_str!("help/list-columns.txt");

/// List block devices: aliases, size, identity, use and partitions
///
/// List block devices, one per line: name, capacity, model, serial number, content, and use: mounts, holders,
/// unfinished copies. On a terminal, long texts are truncated to its width. --columns
/// chooses other columns, and --all shows everything,
/// with partitions and other names.
#[derive(Debug, Parser)]
#[command(name = "list", after_long_help = help::text(&[COLUMN_NAMES]))]
pub(super) struct ListArguments {
    /// Show all details, on several lines per device
    ///
    /// Show all details of each device on several lines: other names, partitions and their offsets, the scheduler, the
    /// result of haul tune --save, unfinished copies with the command that continues each; and SCSI devices that are
    /// not block devices.
    #[arg(long, short, conflicts_with_all = ["columns", "json"])]
    all: bool,

    /// Columns to show: NAME,SIZE,…; +NAME adds to the default ones
    ///
    /// Show these columns in this order, separated by commas, in upper or lower case: --columns path,serial. With a
    /// leading + they are added to the default columns: --columns +wwn,tran.
    #[arg(long, short = 'o', value_name = "NAMES", conflicts_with = "json")]
    columns: Option<String>,

    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// The form of the output.
#[derive(Debug)]
pub(super) enum ListFormat {
    Table(Vec<&'static Column>),
    Everything,
    Json,
}

fn columns(names: Option<&str>) -> Result<Vec<&'static Column>, UsageError> {
    let (mut columns, names) = match names.map(|names| (names.strip_prefix('+'), names)) {
        None => return Ok(Column::usual()),
        Some((Some(more), _)) => (Column::usual(), more),
        Some((None, names)) => (Vec::new(), names),
    };
    for name in names.split(',').map(str::trim) {
        let column = Column::named(name).ok_or_else(|| {
            let known: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
            (ErrorKind::InvalidValue, format!("--columns: unknown column '{name}'; accepted: {}", known.join(", ")))
        })?;
        columns.push(column);
    }
    Ok(columns)
}

impl Words for ListArguments {
    type Options = ListFormat;

    const PAGE: &'static [&'static str] = &[
        include_str!("help/list-output.txt"),
        COLUMN_NAMES,
        include_str!("help/list-status.txt"),
        ENVIRONMENT,
        FILES,
        include_str!("help/list-examples.txt"),
        "# SEE ALSO\nhaul(1), haul-copy(1), haul-tune(1), lsblk(8), lsscsi(8)\n",
    ];

    fn into_options(self) -> Result<ListFormat, UsageError> {
        Ok(match self {
            ListArguments { json: true, .. } => ListFormat::Json,
            ListArguments { all: true, .. } => ListFormat::Everything,
            ListArguments { columns: names, .. } => ListFormat::Table(columns(names.as_deref())?),
        })
    }

    fn run(form: &ListFormat, call: &Call<'_>) -> crate::core::Result<Exit> {
        let (mut devices, others) = probe::devices::devices()?;
        saved::recall_all(&mut devices, |warning| call.out.eprint(&text::warning(warning)));
        undo::find_all(&mut devices);
        journal::find_all(&mut devices);
        let text = match form {
            ListFormat::Json => json::text(&json::devices(&devices, &others)),
            ListFormat::Everything => list::human(&devices, &others, call.out.columns()),
            ListFormat::Table(columns) => list::table(&devices, columns, call.out.terminal_columns()),
        };
        Ok(printed(call.out, &text))
    }

    fn json_report(form: &ListFormat) -> Option<&'static str> {
        matches!(form, ListFormat::Json).then_some("devices")
    }
}

//! Results on disk: the JSON, and the page next to it.
use crate::claims::{self, Claim};
use crate::error::{Doing, Result};
use crate::result::Results;
use crate::show;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file: the measurements, and the verdicts. Only the former are read again.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    results: &'a Results,
    /// By the name of the bed or sweep.
    claims: BTreeMap<&'a str, Vec<Claim>>,
}

/// Writes `results`, and the verdict of each claim, to `<date>.json` in `dir`, which is created; returns the path.
///
/// # Errors
/// It cannot be written.
pub fn write(results: &Results, dir: &Path) -> Result<PathBuf> {
    fs::create_dir_all(dir).doing(format_args!("make {}", dir.display()))?;
    // Colons in file names cause problems when files are copied; the zone's offset is in the file.
    let stem = results.started.get(..19).unwrap_or("results").replace(':', "");
    let path = dir.join(format!("{stem}.json"));
    let beds = results.beds.iter().map(|bed| (bed.name.as_str(), claims::claims(bed)));
    let sweeps = results.sweeps.iter().map(|sweep| (sweep.name.as_str(), claims::of_sweep(sweep)));
    let claims = beds.chain(sweeps).collect();
    let json = serde_json::to_string_pretty(&Written { results, claims }).doing("write the results")?;
    fs::write(&path, json + "\n").doing(format_args!("write {}", path.display()))?;
    Ok(path)
}

/// Reads what [`write()`] wrote.
///
/// # Errors
/// It cannot be read, or is not a results file.
pub fn read(path: &Path) -> Result<Results> {
    let text = fs::read_to_string(path).doing(format_args!("read {}", path.display()))?;
    serde_json::from_str(&text).doing(format_args!("read {} as results of the bench", path.display()))
}

/// Prints the tables, and writes the page next to `path`.
///
/// # Errors
/// Standard output or the page cannot be written.
pub fn show(results: &Results, path: &Path) -> Result<()> {
    let page = path.with_extension("html");
    fs::write(&page, show::page(results)).doing(format_args!("write {}", page.display()))?;
    let mut out = anstream::stdout().lock();
    let printed = show::terminal(results, terminal_width(), &mut out)
        .and_then(|()| writeln!(out, "{} and {}", path.display(), page.display()));
    match printed {
        // The reader closed the pipe, as with `| head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.doing("print the tables"),
    }
}

/// Width of the terminal in columns; 100 without one, as in a log.
fn terminal_width() -> usize {
    rustix::termios::tcgetwinsize(std::io::stdout()).map_or(100, |size| usize::from(size.ws_col)).max(40)
}

//! Results on disk: the JSON, and the page beside it.
use crate::claims::{self, Claim};
use crate::error::{Doing, Result};
use crate::result::Results;
use crate::show;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file: what was measured, and what comes of it for those who read no tables. Read again, only the first counts.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    results: &'a Results,
    /// By the name of the bed or sweep.
    claims: BTreeMap<&'a str, Vec<Claim>>,
}

/// Writes `results`, and what comes of each claim, to `<date>.json` in `dir`, which is made, and returns the path.
///
/// # Errors
/// When it cannot be written.
pub fn write(results: &Results, dir: &Path) -> Result<PathBuf> {
    fs::create_dir_all(dir).doing(format_args!("make {}", dir.display()))?;
    // Colons are no good in names of files that are copied around; the zone's offset is in the file.
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
/// When it cannot be read, or is no such file.
pub fn read(path: &Path) -> Result<Results> {
    let text = fs::read_to_string(path).doing(format_args!("read {}", path.display()))?;
    serde_json::from_str(&text).doing(format_args!("read {} as results of the bench", path.display()))
}

/// Prints the tables, and writes the page beside `path`.
///
/// # Errors
/// When standard output or the page cannot be written.
pub fn show(results: &Results, path: &Path) -> Result<()> {
    let page = path.with_extension("html");
    fs::write(&page, show::page(results)).doing(format_args!("write {}", page.display()))?;
    let mut out = anstream::stdout().lock();
    let printed = show::terminal(results, terminal_width(), &mut out)
        .and_then(|()| writeln!(out, "{} and {}", path.display(), page.display()));
    match printed {
        // Whoever reads has seen enough, as with `| head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.doing("print the tables"),
    }
}

/// Columns of the terminal; 100 where there is none, as in a log.
fn terminal_width() -> usize {
    rustix::termios::tcgetwinsize(std::io::stdout()).map_or(100, |size| usize::from(size.ws_col)).max(40)
}

//! Reads and writes the map files that `haul map` works on.
use super::journal::opened;
use crate::core::{Error, Kind, Result};
use crate::ledger::Fault;
use crate::ledger::mapfile::{Mapfile, MapfileFile};
use std::io::{self, BufRead};
use std::path::Path;

/// Reads the map file at `path`; `-` is standard input.
///
/// # Errors
/// It does not exist, is not a regular file, or is not a valid map file.
pub(crate) fn read(path: &str) -> Result<Mapfile> {
    read_by(path, Mapfile::parse)
}

/// Reads the map file at `path`, whose blocks may have any order and gaps between them; `-` is standard input.
///
/// # Errors
/// Those of [`read`] except for gaps and the order.
pub(crate) fn read_loose(path: &str) -> Result<Mapfile> {
    read_by(path, Mapfile::parse_loose)
}

fn read_by(path: &str, parse: fn(Box<dyn BufRead>) -> std::result::Result<Mapfile, Fault>) -> Result<Mapfile> {
    let input: Box<dyn BufRead> =
        if path == "-" { Box::new(io::stdin().lock()) } else { Box::new(opened("mapfile", Path::new(path))?) };
    let parsed = parse(input);
    parsed.map_err(|fault: Fault| fault.into_error(if path == "-" { "standard input" } else { path }))
}

/// Writes `map` to a new file, durably.
///
/// # Errors
/// `path` exists, or cannot be written; then there is no file.
pub(crate) fn write(map: &Mapfile, path: &str) -> Result<()> {
    let file = MapfileFile::create(Path::new(path)).map_err(|fault| fault.into_error(path))?;
    file.close(map).map_err(|fault| fault.into_error(path))
}

/// The text of `map`.
///
/// # Errors
/// `Io`; never, because memory is written.
pub(crate) fn text(map: &Mapfile) -> Result<String> {
    let mut bytes = Vec::new();
    let failed = |error| Error::new(Kind::Io, "cannot write the mapfile").because(error);
    map.write(&mut bytes).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

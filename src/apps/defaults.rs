//! The defaults of this user: the configuration file and the environment, read when a command starts.
use crate::cli::defaults::Defaults;
use crate::core::{Error, Kind, Result};
use crate::files::{DirectoryEntry, FileError, Opening};
use crate::job::journal;
use etcetera::BaseStrategy;
use std::env;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A larger file is not a configuration file, and is not read into memory.
const BYTES_MAX: u64 = 1 << 20;

/// The path of the file: `haul/config.toml` in $XDG_CONFIG_HOME, else in `~/.config`. `None` without a home.
pub(super) fn place() -> Option<PathBuf> {
    Some(etcetera::base_strategy::Xdg::new().ok()?.config_dir().join("haul/config.toml"))
}

/// Reads the defaults, and sets the configured directory of journals.
///
/// # Errors
/// Usage for unknown keys and bad values, with file, line and key; Io for a file that cannot be read.
pub(super) fn load() -> Result<Defaults> {
    let file = file()?;
    let file = file.as_ref().map(|(path, text)| (path.as_path(), text.as_str()));
    let defaults = Defaults::of(file, |name| env::var_os(name))?;
    if let Some(directory) = &defaults.journal_folder {
        journal::keep_in(directory);
    }
    Ok(defaults)
}

/// Reads only the directory of journals, for commands that behave like other programs: journals of the files
/// that they overwrite are then found. Errors in the file do not end the command.
pub(super) fn load_for_fronts() {
    let file = file().ok().flatten();
    let file = file.as_ref().map(|(path, text)| (path.as_path(), text.as_str()));
    if let Some(directory) = Defaults::journal_folder_of(file, |name| env::var_os(name)) {
        journal::keep_in(&directory);
    }
}

/// The path and contents of the file; `None`: it does not exist.
fn file() -> Result<Option<(PathBuf, String)>> {
    let Some(path) = place() else { return Ok(None) };
    Ok(read(&path)?.map(|text| (path, text)))
}

fn read(path: &Path) -> Result<Option<String>> {
    let failed = |error: io::Error| {
        let what = format!("cannot read configuration file {}", path.display());
        let advice = "See whether it is a text file that you may read; XDG_CONFIG_HOME names another folder.";
        Error::new(Kind::Io, what).because(error).advise(advice)
    };
    let opened = || match DirectoryEntry::following(path) {
        Err(FileError::Io(error)) if is_missing(&error) => Ok(None),
        place => place?.open(Opening::Read),
    };
    let Some(file) = opened().map_err(|error| failed(error.into()))? else { return Ok(None) };
    let mut text = String::new();
    file.take(BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(failed(io::Error::other(format!("it has more than {BYTES_MAX} bytes"))));
    }
    Ok(Some(text))
}

/// Whether the directory does not exist or belongs to another user: sudo -u keeps HOME.
fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

//! The defaults of this user: the configuration file and the environment, read when a command starts.
use crate::cli::defaults::Defaults;
use crate::core::{Error, Kind, Result};
use crate::files::{FileError, FolderEntry, Opening};
use crate::job::journal;
use etcetera::BaseStrategy;
use std::env;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A larger file is no configuration, and is not read into memory.
const BYTES_MAX: u64 = 1 << 20;

/// Where the file is: `haul/config.toml` in $XDG_CONFIG_HOME, else in `~/.config`. `None` without a home.
pub(super) fn place() -> Option<PathBuf> {
    Some(etcetera::base_strategy::Xdg::new().ok()?.config_dir().join("haul/config.toml"))
}

/// Reads the defaults, and lets journals be kept where they say.
///
/// # Errors
/// Usage for unknown keys and bad values, with file, line and key; Io for a file that cannot be read.
pub(super) fn load() -> Result<Defaults> {
    let file = file()?;
    let file = file.as_ref().map(|(path, text)| (path.as_path(), text.as_str()));
    let defaults = Defaults::of(file, |name| env::var_os(name))?;
    if let Some(folder) = &defaults.journal_folder {
        journal::keep_in(folder);
    }
    Ok(defaults)
}

/// The same for commands that behave as other programs do: of all defaults only the folder of journals counts, so that
/// journals of what they overwrite are found. Errors in the file do not end them.
pub(super) fn load_for_fronts() {
    let file = file().ok().flatten();
    let file = file.as_ref().map(|(path, text)| (path.as_path(), text.as_str()));
    if let Some(folder) = Defaults::journal_folder_of(file, |name| env::var_os(name)) {
        journal::keep_in(&folder);
    }
}

/// The file with what is in it; `None`: there is none.
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
    let opened = || match FolderEntry::following(path) {
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

/// Whether there is no such folder, or it belongs to another user: sudo -u keeps HOME.
fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

//! The directories of record files about devices: the one that the user configured, and the default.
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The directory that the user configured, if any.
static NAMED: OnceLock<PathBuf> = OnceLock::new();

/// Stores record files about devices in `directory` from now on. Those in the default directory are still
/// found.
pub(crate) fn keep_in(directory: &Path) {
    // Set once, before the first search; a second call would be for the same configuration.
    let _ = NAMED.set(directory.to_owned());
}

/// All directories, the one for new files first; empty without a home directory.
pub(crate) fn all() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = NAMED.get().cloned().into_iter().chain(usual()).collect();
    directories.dedup();
    directories
}

/// The path of the file of this name, existing or not.
pub(super) fn place_of(name: &str) -> Option<PathBuf> {
    let places = all().into_iter().map(|directory| directory.join(name));
    let mut places: Vec<PathBuf> = places.collect();
    let found = places.iter().position(|place| place.symlink_metadata().is_ok()).unwrap_or(0);
    (found < places.len()).then(|| places.swap_remove(found))
}

/// Every file in them.
pub(super) fn files() -> impl Iterator<Item = PathBuf> {
    let entries = all().into_iter().filter_map(|directory| directory.read_dir().ok()).flatten();
    entries.flatten().map(|file| file.path())
}

/// `haul` in `$XDG_STATE_HOME`, else in `~/.local/state`, as in the XDG base directory specification.
fn usual() -> Option<PathBuf> {
    let directory = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = directory("XDG_STATE_HOME").or_else(|| Some(directory("HOME")?.join(".local/state")))?;
    Some(state.join("haul"))
}

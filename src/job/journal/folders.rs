//! The folders of record files about devices: the one that the user named, and the usual one.
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder that the user named, if any.
static NAMED: OnceLock<PathBuf> = OnceLock::new();

/// Keeps record files about devices in `folder` from now on. Those in the usual one are still found.
pub(crate) fn keep_in(folder: &Path) {
    // Set once, before anything looks for them; a second call would be of the same configuration.
    let _ = NAMED.set(folder.to_owned());
}

/// All of them, that for new files first; empty where there is no home either.
pub(crate) fn all() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = NAMED.get().cloned().into_iter().chain(usual()).collect();
    folders.dedup();
    folders
}

/// Where the file of this name is, or would be made.
pub(super) fn place_of(name: &str) -> Option<PathBuf> {
    let places = all().into_iter().map(|folder| folder.join(name));
    let mut places: Vec<PathBuf> = places.collect();
    let found = places.iter().position(|place| place.symlink_metadata().is_ok()).unwrap_or(0);
    (found < places.len()).then(|| places.swap_remove(found))
}

/// Every file in them.
pub(super) fn files() -> impl Iterator<Item = PathBuf> {
    let entries = all().into_iter().filter_map(|folder| folder.read_dir().ok()).flatten();
    entries.flatten().map(|file| file.path())
}

/// `haul` in `$XDG_STATE_HOME`, else in `~/.local/state`, as the XDG base directory specification has it.
fn usual() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("haul"))
}

//! The folders of record files about devices.
use std::path::PathBuf;

/// All of them, that for new files first; empty where there is no home either.
pub(crate) fn all() -> Vec<PathBuf> {
    usual().into_iter().collect()
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

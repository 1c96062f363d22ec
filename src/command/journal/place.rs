//! Where the journal of a copy is: the same place for the same dest, whatever it is copied from.
use crate::contract::{EndpointKind, Facts, FileId};
use rustix::fs::{Access, AtFlags, CWD};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Beside a file, hidden; for a device in the folder where programs keep their state. `None`: there is no such folder,
/// or the dest is nothing that a journal could be about.
pub(super) fn of(dest: &Facts) -> Option<PathBuf> {
    match dest.kind {
        EndpointKind::File => {
            let mut name = OsString::from(".");
            name.push(dest.path.file_name()?);
            name.push(".haul-journal");
            Some(dest.path.with_file_name(name))
        }
        EndpointKind::Block => Some(state_folder()?.join("haul").join(format!("{}.journal", device_name(dest)))),
        _ => None,
    }
}

/// `$XDG_STATE_HOME`, else `~/.local/state`, as the XDG base directory specification has it.
fn state_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))
}

/// Who the device is, in a word that can be the name of a file. A disk keeps it under another node; a partition has the
/// disk's, and where it begins.
fn device_name(dest: &Facts) -> String {
    let identity = &dest.identity;
    let who = match (&identity.wwn, &identity.serial, &identity.model) {
        (Some(wwn), ..) => wwn.clone(),
        (None, Some(serial), Some(model)) => format!("{model}-{serial}"),
        (None, Some(serial), None) => serial.clone(),
        (None, None, _) => dest.path.to_string_lossy().trim_start_matches("/dev/").to_owned(),
    };
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let mut name: String = who.chars().map(plain).take(100).collect();
    let start =
        dest.ground.iter().filter(|ground| matches!(ground.id, FileId::Device(_))).filter_map(|ground| ground.offset);
    if let Some(start) = start.max().filter(|&start| start > 0) {
        name += &format!("+{start}");
    }
    name
}

/// Makes sure that a file could be made at `path`; makes the folder of devices' journals, for its owner alone.
pub(super) fn prepare(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    match rustix::fs::accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
        // Before 5.8 the kernel knows the real user only.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => Ok(()),
        answer => Ok(answer?),
    }
}

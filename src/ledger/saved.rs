//! The results of `haul tune --save`, for each disk by its identity: one TOML file in the user's configuration
//! directory.
use crate::core::{Error, Identity, Kind, Op, Result, SavedPace};
use crate::files::{DirectoryEntry, FileError, NewFile, Opening, Visibility};
use etcetera::BaseStrategy;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A larger file is not a list of disks, and is not read into memory.
const BYTES_MAX: u64 = 1 << 20;

/// The results for all disks that were tuned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedPaces {
    /// For reading, by [`name`].
    #[serde(default)]
    disk: BTreeMap<String, SavedPace>,
    /// For writing, likewise.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    write: BTreeMap<String, SavedPace>,
    /// Fields of a later version, which must be preserved.
    #[serde(flatten)]
    other: BTreeMap<String, toml::Value>,
}

impl SavedPaces {
    /// The saved pace of reading or writing the disk of this name; `None` if its values are invalid.
    pub fn of(&self, name: &str, op: Op) -> Option<&SavedPace> {
        let table = if op == Op::Write { &self.write } else { &self.disk };
        table.get(name).filter(|pace| pace.block_bytes > 0 && pace.depth > 0)
    }
}

/// The name under which the results of a disk or file are saved: its identity, which does not depend on the
/// port; else its path, and for a device also its model and size, because another device may have that path
/// later.
pub fn name(identity: &Identity, path: &Path, device_bytes: Option<u64>) -> String {
    let model = identity.model.as_deref().unwrap_or("");
    match (&identity.wwn, &identity.serial) {
        (Some(wwn), _) => format!("wwn {wwn}"),
        (None, Some(serial)) => format!("serial {model} {serial}"),
        (None, None) => {
            let bytes = device_bytes.map(|bytes| format!("{bytes} bytes"));
            let device = bytes.map_or_else(String::new, |bytes| format!(" {}", format!("{model} {bytes}").trim()));
            format!("path {}{device}", path.display())
        }
    }
}

/// The path of the file: `haul/tuned.toml` in $XDG_CONFIG_HOME, else in `~/.config`. `None` without a home.
pub fn place() -> Option<PathBuf> {
    Some(etcetera::base_strategy::Xdg::new().ok()?.config_dir().join("haul/tuned.toml"))
}

/// Reads the file; an empty list if it does not exist.
///
/// # Errors
/// It cannot be read, or is not such a list.
pub fn load(path: &Path) -> Result<SavedPaces> {
    let opened = open(path).map_err(|error| failed("read", path).because(error.into()))?;
    let Some((_, file)) = opened else { return Ok(SavedPaces::default()) };
    let text = read(&file).map_err(|error| failed("read", path).because(error))?;
    toml::from_str(&text).map_err(|error| {
        let words = error.message().to_owned();
        let what = format!("{} is not a list of tuned disks: {words}", path.display());
        Error::new(Kind::Io, what).advise("Correct it, or remove it and run haul tune --save again.")
    })
}

/// Opens the list; `None`: it does not exist.
fn open(path: &Path) -> std::result::Result<Option<(DirectoryEntry, File)>, FileError> {
    let place = match DirectoryEntry::following(path) {
        Err(FileError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        place => place?,
    };
    Ok(place.open(Opening::Read)?.map(|file| (place, file)))
}

fn read(mut file: &File) -> io::Result<String> {
    let len = file.metadata()?.len();
    if len > BYTES_MAX {
        return Err(io::Error::other(format!("its size of {len} bytes exceeds the limit")));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Adds or replaces the pace at which a disk is read or written; the file is replaced as a whole, so that a
/// crash never leaves a partial one.
///
/// # Errors
/// As for [`load`], because a list that cannot be read is not overwritten; or the directory cannot be written.
pub fn save(path: &Path, name: &str, op: Op, pace: &SavedPace) -> Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let cannot = |error: io::Error| failed("write", path).because(error);
    fs::create_dir_all(directory).map_err(cannot)?;
    // Locked from reading to renaming, otherwise the result of a concurrent process would be lost.
    let lock = File::open(directory).map_err(cannot)?;
    flock(&lock, FlockOperation::LockExclusive).map_err(|errno| cannot(errno.into()))?;
    let mut paces = load(path)?;
    let table = if op == Op::Write { &mut paces.write } else { &mut paces.disk };
    table.insert(name.to_owned(), pace.clone());
    let text = toml::to_string(&paces).map_err(|error| cannot(io::Error::other(error)))?;
    let written = || -> std::result::Result<(), FileError> {
        let old = open(path)?;
        let place = match &old {
            Some((place, _)) => place.clone(),
            None => DirectoryEntry::of(path)?,
        };
        let new = NewFile::begin(&place)?;
        new.file().write_all(text.as_bytes())?;
        match old {
            Some((_, old)) => new.replace(old).map(drop),
            None => new.publish(Visibility::Umask).map(drop),
        }
    };
    written().map_err(|error| cannot(error.into()))
}

fn failed(doing: &str, path: &Path) -> Error {
    let advice = "Check that the file and its directory exist and belong to you. XDG_CONFIG_HOME names another \
        directory.";
    Error::new(Kind::Io, format!("cannot {doing} {}", path.display())).advise(advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(depth: u32) -> SavedPace {
        SavedPace { block_bytes: 256 << 10, depth, bytes_per_s: 1_200_000_000, date: "2026-11-21".to_owned() }
    }

    #[test]
    fn saved_settings_are_added_to_existing_ones() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/tuned.toml");
        assert_eq!(load(&path).unwrap(), SavedPaces::default());
        save(&path, "wwn eui.01", Op::Read, &pace(4)).unwrap();
        save(&path, "path /dev/\"odd\"\n", Op::Read, &pace(8)).unwrap();
        save(&path, "wwn eui.01", Op::Write, &pace(2)).unwrap();
        save(&path, "wwn eui.01", Op::Read, &pace(16)).unwrap();
        let paces = load(&path).unwrap();
        assert_eq!(paces.of("wwn eui.01", Op::Read), Some(&pace(16)));
        assert_eq!(paces.of("wwn eui.01", Op::Write), Some(&pace(2)));
        assert_eq!(paces.of("path /dev/\"odd\"\n", Op::Read), Some(&pace(8)));
        assert_eq!(paces.of("path /dev/\"odd\"\n", Op::Write), None);
        assert_eq!(paces.of("wwn eui.02", Op::Read), None);
        let names: Vec<_> =
            fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["tuned.toml"], "nothing is left beside it");
    }

    #[test]
    fn an_invalid_list_is_reported_and_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tuned.toml");
        for wrong in ["disk = 1", "[disk.x]\nblock_bytes = \"much\"", "\u{0}", "[disk"] {
            fs::write(&path, wrong).unwrap();
            let error = load(&path).unwrap_err();
            assert!(error.what.contains("not a list of tuned disks") && !error.advice.is_empty(), "{error:?}");
            assert!(save(&path, "x", Op::Read, &pace(1)).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), wrong);
        }
    }

    #[test]
    fn entries_of_later_versions_are_kept_and_invalid_ones_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tuned.toml");
        fs::write(&path, "[mixed.\"wwn x\"]\nfactor = 1.5\n").unwrap();
        save(&path, "wwn x", Op::Read, &pace(0)).unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains("[mixed.\"wwn x\"]\nfactor = 1.5"));
        assert_eq!(load(&path).unwrap().of("wwn x", Op::Read), None);
        let error = load(dir.path()).unwrap_err();
        assert!(error.source.is_some_and(|why| why.to_string().contains("not a regular file")));
    }

    #[test]
    fn a_disk_is_matched_by_its_identity_before_its_path() {
        let path = Path::new("/dev/sdb");
        let mut identity = Identity::default();
        assert_eq!(name(&identity, path, None), "path /dev/sdb");
        let one = name(&identity, path, Some(8 << 30));
        assert!(one.starts_with("path /dev/sdb ") && one != name(&identity, path, Some(16 << 30)), "{one}");
        (identity.model, identity.serial) = (Some("M".to_owned()), Some("S".to_owned()));
        assert_eq!(name(&identity, path, Some(1)), "serial M S");
        identity.wwn = Some("eui.0".to_owned());
        assert_eq!(name(&identity, path, Some(1)), "wwn eui.0");
    }
}

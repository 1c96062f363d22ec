//! Defaults of options, from the environment, the configuration file, or built in, and the origin of each.
//!
//! Pure: the caller has read the file and the environment.
use super::{size, words};
use crate::core::{Error, HashKind, Kind, Result, Units};
use crate::plan::{CHOOSE_MAX_BYTES, ProgressStyle};
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// The values of options that the command line omits.
#[derive(Clone, Debug)]
pub(crate) struct Defaults {
    /// Maximum bytes per second; `None`: no limit.
    pub(crate) limit: Option<u64>,
    /// The progress display.
    pub(crate) progress: ProgressStyle,
    /// The units that come first in sizes and rates.
    pub(crate) units: Units,
    /// Digests of the source.
    pub(crate) hash: Vec<HashKind>,
    /// The directory of journals of devices; `None`: the default one.
    pub(crate) journal_folder: Option<PathBuf>,
    /// Larger disks are not offered as a destination, in bytes.
    pub(crate) choose_max_bytes: u64,
    /// Each key with its value, in the order of [`KEYS`].
    pub(crate) values: Vec<Value>,
}

/// The value of a key, as written, and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) key: &'static Key,
    pub(crate) text: String,
    pub(crate) origin: Origin,
}

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    BuiltIn,
    /// This line of the configuration file.
    File(usize),
    Environment,
}

/// A key of the configuration file, and the environment variable that overrides it.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) variable: &'static str,
    built_in: &'static str,
    take: fn(&mut Defaults, &str) -> std::result::Result<(), String>,
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.name == other.name
    }
}

impl Eq for Key {}

/// The key of the directory of journals, which has no fixed default.
pub(crate) const JOURNAL_FOLDER: &str = "journal_folder";

/// Every key.
static KEYS: &[Key] = &[
    key("limit", "HAUL_LIMIT", "none", |to, text| words::limit(text).map(|limit| to.limit = limit)),
    key("progress", "HAUL_PROGRESS", "auto", |to, text| words::progress_named(text).map(|style| to.progress = style)),
    key("units", "HAUL_UNITS", "si", |to, text| words::units_named(text).map(|units| to.units = units)),
    key("hash", "HAUL_HASH", "none", |to, text| words::hashes_named(text).map(|kinds| to.hash = kinds)),
    key(JOURNAL_FOLDER, "HAUL_JOURNAL_FOLDER", "", |to, text| directory(text).map(|path| to.journal_folder = path)),
    key("choose_max", "HAUL_CHOOSE_MAX", "300GB", |to, text| bound(text).map(|bytes| to.choose_max_bytes = bytes)),
];

const fn key(
    name: &'static str,
    variable: &'static str,
    built_in: &'static str,
    take: fn(&mut Defaults, &str) -> std::result::Result<(), String>,
) -> Key {
    Key { name, variable, built_in, take }
}

fn bound(text: &str) -> std::result::Result<u64, String> {
    size::parse(text).map_err(|error| error.to_string())
}

fn directory(text: &str) -> std::result::Result<Option<PathBuf>, String> {
    let path = Path::new(text);
    let is_fine = path.is_absolute() || text.is_empty();
    is_fine.then(|| Some(path.to_owned()).filter(|_| !text.is_empty())).ok_or("give an absolute path".to_owned())
}

impl Default for Defaults {
    /// The built-in defaults.
    fn default() -> Self {
        let mut defaults = Defaults {
            limit: None,
            progress: ProgressStyle::default(),
            units: Units::default(),
            hash: Vec::new(),
            journal_folder: None,
            choose_max_bytes: CHOOSE_MAX_BYTES,
            values: Vec::new(),
        };
        let built_in = |key: &'static Key| Value { key, text: key.built_in.to_owned(), origin: Origin::BuiltIn };
        defaults.values = KEYS.iter().map(built_in).collect();
        defaults
    }
}

impl Defaults {
    /// The values in the file at `path` with this `text`, overridden by those in the environment.
    ///
    /// # Errors
    /// Usage, with file, line and key, or with the variable, for unknown keys and invalid values.
    pub(crate) fn of(file: Option<(&Path, &str)>, variable: impl Fn(&str) -> Option<OsString>) -> Result<Defaults> {
        let mut defaults = Defaults::default();
        if let Some((path, text)) = file {
            for line in lines(path, text)? {
                let Line { number, key, value } = line?;
                let failed = |what: String| in_file(path, number, &format!("{}: {what}", key.name));
                defaults.take(key, value, Origin::File(number)).map_err(failed)?;
            }
        }
        for key in KEYS {
            let Some(value) = variable(key.variable).filter(|value| !value.is_empty()) else { continue };
            let failed = |what: String| {
                let advice = format!("Correct it, or unset {}; haul config shows every default.", key.variable);
                Error::new(Kind::Usage, format!("environment variable {}: {what}", key.variable)).advise(advice)
            };
            let text = value.into_string().map_err(|_| failed("the value is not valid UTF-8".to_owned()))?;
            defaults.take(key, text, Origin::Environment).map_err(failed)?;
        }
        Ok(defaults)
    }

    /// Only the directory of journals of devices, regardless of errors elsewhere.
    pub(crate) fn journal_folder_of(
        file: Option<(&Path, &str)>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<PathBuf> {
        let mut defaults = Defaults::default();
        let of_directory = |key: &Key| key.name == JOURNAL_FOLDER;
        let lines = file.and_then(|(path, text)| lines(path, text).ok()).into_iter().flatten().flatten();
        for Line { number, key, value } in lines.filter(|line| of_directory(line.key)) {
            let _ = defaults.take(key, value, Origin::File(number));
        }
        for key in KEYS.iter().filter(|key| of_directory(key)) {
            let value = variable(key.variable).and_then(|value| value.into_string().ok());
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                let _ = defaults.take(key, value, Origin::Environment);
            }
        }
        defaults.journal_folder
    }

    fn take(&mut self, key: &'static Key, text: String, origin: Origin) -> std::result::Result<(), String> {
        (key.take)(self, &text).map_err(|what| format!("bad value '{text}': {what}"))?;
        if let Some(value) = self.values.iter_mut().find(|value| value.key == key) {
            (value.text, value.origin) = (text, origin);
        }
        Ok(())
    }
}

/// A key with its value in the file.
struct Line {
    number: usize,
    key: &'static Key,
    value: String,
}

/// The keys of the file in the order of their lines, each with its value or an error.
fn lines(path: &Path, text: &str) -> Result<Vec<Result<Line>>> {
    let number = |span: Range<usize>| 1 + text[..span.start.min(text.len())].matches('\n').count();
    let table = DeTable::parse(text).map_err(|error| {
        in_file(path, error.span().map_or(1, number), &format!("not valid TOML: {}", error.message().trim()))
    })?;
    let line = |name: &str, number: usize, value: &DeValue<'_>| {
        let failed = |what: &str| in_file(path, number, &format!("{name}: {what}"));
        let key = KEYS.iter().find(|key| key.name == name).ok_or_else(|| {
            let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
            failed(&format!("unknown key; accepted: {}", known.join(", ")))
        })?;
        let value =
            plain(value).ok_or_else(|| failed("expected a text in quotes, a whole number, or a list of texts"))?;
        Ok(Line { number, key, value })
    };
    let mut entries: Vec<_> = table.get_ref().iter().map(|(name, value)| (number(name.span()), name, value)).collect();
    entries.sort_by_key(|(number, ..)| *number);
    Ok(entries.into_iter().map(|(number, name, value)| line(name.get_ref(), number, value.get_ref())).collect())
}

/// The value as it would be written on the command line.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => (number.radix() == 10).then(|| number.as_str().replace('_', "")),
        DeValue::Array(values) => {
            let texts = values.iter().map(|value| match value.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                _ => None,
            });
            Some(texts.collect::<Option<Vec<_>>>()?.join(","))
        }
        _ => None,
    }
}

fn in_file(path: &Path, line: usize, what: &str) -> Error {
    let what = format!("configuration file {}, line {line}: {what}", path.display());
    Error::new(Kind::Usage, what).advise("Correct that line; 'haul config --help' lists the keys.")
}

#[cfg(test)]
#[path = "defaults_tests.rs"]
mod tests;

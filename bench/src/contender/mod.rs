//! The contenders: command lines of haul and of its peers, for each kind of copy.
//!
//! Independent of how a bed is made, and how a run is measured.
mod catalogue;
mod certain;
mod image;
mod network;
mod object;
mod pace;

use crate::bed::{Bed, Task};
use crate::process::{Line, output};
use crate::result::Missing;
pub use catalogue::catalogue;
use std::path::Path;

/// A program with certain options.
pub struct Contender {
    /// Its name in the tables.
    pub name: &'static str,
    /// Its task: it runs on beds for that.
    pub task: Task,
    /// The command that it needs, and the Debian package that contains it.
    pub needs: (&'static str, &'static str),
    /// The option that prints its version.
    pub version: &'static str,
    /// Shown, but not compared with haul's defaults.
    pub aside: bool,
    /// Its command line on a bed; `None` if it does not support this kind of copy. `haul` is the path of the
    /// program.
    pub line: fn(&Bed, haul: &str) -> Option<Line>,
}

/// An installed contender, with its command line for one bed.
pub struct Entry {
    /// Its name in the tables.
    pub name: String,
    /// The version that it prints.
    pub version: String,
    /// Shown, but not compared with haul's defaults.
    pub aside: bool,
    /// Its command line.
    pub line: Line,
}

/// The contenders whose program is installed, and those that are missing.
pub fn present(haul: &Path) -> (Vec<Contender>, Vec<Missing>) {
    let there = |contender: &Contender| contender.needs.0 == "haul" || in_path(contender.needs.0);
    let others = [certain::catalogue(), pace::pairs(), network::catalogue(), image::catalogue(), object::catalogue()];
    let everyone = catalogue().into_iter().chain(others.into_iter().flatten());
    let (present, absent): (Vec<_>, Vec<_>) = everyone.partition(there);
    debug_assert!(haul.exists(), "checked by the caller");
    let missing = absent.into_iter().map(|contender| Missing {
        contender: contender.name.into(),
        why: format!("{} is not installed (package {})", contender.needs.0, contender.needs.1),
    });
    (present, missing.collect())
}

/// The entries of `contenders` on `bed`, haul first.
pub fn entries(contenders: &[Contender], bed: &Bed, haul: &Path) -> Vec<Entry> {
    let haul = haul.display().to_string();
    let entry = |contender: &Contender| {
        let line = (contender.line)(bed, &haul)?;
        let ask = contender.version.replace("haul", &haul);
        let version = output(&ask).unwrap_or_default();
        let version = version.lines().next().unwrap_or("").trim().to_owned();
        Some(Entry { name: contender.name.into(), version, aside: contender.aside, line })
    };
    contenders.iter().filter(|contender| contender.task == bed.task).filter_map(entry).collect()
}

/// Whether a command of this name is on PATH.
pub fn in_path(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|dir| dir.join(name).is_file())
}

//! The files beside a copy: each must differ from both sides and from the others.
use crate::core::{EndpointKind, Error, Facts, FileId, Kind, Result, Side};
use crate::files::{FileIdentity, find};
use crate::job::journal;
use crate::plan::{Delta, JournalChoice, Options};
use std::path::{Path, PathBuf};

/// The journal: the name of its option, and that of the default journal.
const JOURNAL: [&str; 2] = ["--journal", "the journal"];

/// Refuses a copy if a file beside it is one of its `sides`, or another file beside it, under any name. Called
/// before anything is opened or changed.
///
/// # Errors
/// `Refused`, naming both.
pub(crate) fn check(options: &Options, sides: &[(Side, &Facts)]) -> Result<()> {
    let dests = sides.iter().filter(|(side, _)| *side == Side::Dest).map(|(_, facts)| *facts);
    let mut files = Vec::new();
    for (what, path) in named(options, dests) {
        // If it cannot be examined, the code that creates or opens it reports the error.
        let Ok(found) = find(&path) else { continue };
        files.push((what, path, found));
    }
    for (at, (what, path, found)) in files.iter().enumerate() {
        let refused = |other: String| {
            let error = Error::new(Kind::Refused, format!("{what} {} is {other}", path.display()));
            Err(error.advise("Nothing was written. Name another file."))
        };
        if let Some((side, facts)) = sides.iter().find(|(_, facts)| is(found, facts)) {
            return refused(format!("the {} {} of the copy", word(*side), facts.address))
                .map_err(|error: Error| error.on(*side));
        }
        // Giving the path of the default journal selects that journal.
        let same = |(other, _, place): &&(&str, PathBuf, FileIdentity)| {
            place == found && (*other, *what) != (JOURNAL[0], JOURNAL[1])
        };
        if let Some((other, path, _)) = files[..at].iter().find(same) {
            return refused(format!("also {other} {}", path.display()));
        }
    }
    Ok(())
}

/// Every file beside the copy, and its purpose.
fn named<'a>(options: &Options, dests: impl Iterator<Item = &'a Facts>) -> Vec<(&'static str, PathBuf)> {
    let of = |what, path: &dyn AsRef<Path>| (what, path.as_ref().to_owned());
    let mut files = Vec::new();
    files.extend(options.manifest.iter().map(|path| of("--manifest", path)));
    if let Some(Delta::Manifest(path)) = &options.delta {
        files.push(of("--delta", path));
    }
    files.extend(options.mapfile.iter().map(|path| of("--mapfile", path)));
    files.extend(options.report.iter().map(|path| of("--report", path)));
    if let JournalChoice::At(path) = &options.journal {
        files.push(of(JOURNAL[0], path));
    }
    if options.journal == JournalChoice::Auto {
        files.extend(dests.filter_map(journal::place_of).map(|path| (JOURNAL[1], path)));
    }
    files
}

/// Whether `path` is this side, or will be once both are created.
pub(crate) fn leads_to(path: &Path, facts: &Facts) -> bool {
    find(path).is_ok_and(|found| is(&found, facts))
}

/// Whether that file is this side.
fn is(found: &FileIdentity, facts: &Facts) -> bool {
    match (facts.id, facts.kind) {
        (Some(FileId::File(device, inode)), _) => *found == FileIdentity::Inode(device, inode),
        (None, EndpointKind::File | EndpointKind::CompressedDest) => find(&facts.path).is_ok_and(|it| it == *found),
        _ => false,
    }
}

fn word(side: Side) -> &'static str {
    match side {
        Side::Source => "source",
        Side::Dest => "destination",
    }
}

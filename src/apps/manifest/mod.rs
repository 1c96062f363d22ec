//! `haul manifest`.
pub(in crate::apps) mod words;

use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::{Exit, printed};
use crate::cli::words::address;
use crate::core::{Error, Extent, Kind, Result, Side};
use crate::job::manifest::open;
use crate::ledger::SideIdentity;
use crate::ledger::manifest::{Difference, Incomparable, diff};
use crate::report::manifest::{Compared, ManifestReport, ManifestSide, compared, run, shown};
use crate::report::{Out, json};
use words::{ManifestAction, ManifestArguments, ManifestVerb};

impl Words for ManifestArguments {
    type Options = ManifestAction;

    const PAGE: &'static [&'static str] = words::PAGE;

    fn into_options(self) -> std::result::Result<ManifestAction, UsageError> {
        Ok(match self.verb {
            ManifestVerb::Show { file, json } => ManifestAction::Show { path: address("FILE", file)?, json },
            ManifestVerb::Diff { first, second, quiet, json } => ManifestAction::Diff {
                first: address("FIRST", first)?,
                second: address("SECOND", second)?,
                quiet,
                json,
            },
        })
    }

    fn run(asked: &ManifestAction, call: &Call<'_>) -> Result<Exit> {
        manifest(asked, call.out)
    }

    fn json_report(asked: &ManifestAction) -> Option<&'static str> {
        match asked {
            ManifestAction::Show { json: true, .. } => Some("manifest"),
            ManifestAction::Diff { json: true, .. } => Some("manifest_diff"),
            _ => None,
        }
    }
}

/// Prints a manifest, or compares two.
pub(super) fn manifest(asked: &ManifestAction, out: Out) -> Result<Exit> {
    match asked {
        ManifestAction::Show { path, json } => show(path, *json, out),
        ManifestAction::Diff { first, second, quiet, json } => compare([first, second], *quiet, *json, out),
    }
}

fn show(path: &str, as_json: bool, out: Out) -> Result<Exit> {
    let manifest = open(path)?;
    let (head, closing) = (&manifest.head, &manifest.closing);
    let to = &manifest.ranges[Side::Dest.index()];
    let zeros = manifest.pieces().iter().filter(|(_, digest)| digest.is_none());
    let report = ManifestReport {
        schema: json::SCHEMA,
        report: "manifest",
        path: path.to_owned(),
        version: head.version.clone(),
        created: head.created.clone(),
        algorithm: head.algorithm.name(),
        block_bytes: head.block_bytes,
        len_bytes: closing.len_bytes,
        digested_blocks: manifest.pieces().iter().filter(|(_, digest)| digest.is_some()).count() as u64,
        zero_bytes: zeros.map(|(extent, _)| extent.len).sum(),
        unread: manifest.unread.iter().map(run).collect(),
        whole: closing.whole.map(|digest| digest.to_string()),
        source: side(&head.source, &manifest.ranges[Side::Source.index()]),
        dest: side(&head.dest, to),
        also: head.also.iter().map(|one| side(one, to)).collect(),
    };
    Ok(printed(out, &if as_json { json::text(&report) } else { shown(&report) }))
}

fn side(side: &SideIdentity, ranges: &[Extent]) -> ManifestSide {
    let SideIdentity { path, kind, offset_bytes, size_bytes, model, serial, wwn, version, .. } = side.clone();
    let ranges = ranges.iter().copied().map(run).collect();
    ManifestSide { path, kind, offset_bytes, ranges, size_bytes, model, serial, wwn, version }
}

fn compare([first, second]: [&str; 2], quiet: bool, as_json: bool, out: Out) -> Result<Exit> {
    let (one, other) = (open(first)?, open(second)?);
    let mut report = Compared::new(first, second);
    for difference in diff(&one, &other).map_err(incomparable)? {
        report.equal = false;
        let list = match difference {
            Difference::Differs(_) => &mut report.differing,
            Difference::OnlyInFirst(_) => &mut report.only_in_first,
            Difference::OnlyInSecond(_) => &mut report.only_in_second,
        };
        list.push(run(difference.extent()));
    }
    let printed = match (quiet, as_json) {
        (true, _) => Exit::Status(0),
        (_, true) => printed(out, &json::text(&report)),
        _ => printed(out, &compared(&report)),
    };
    match printed {
        Exit::Status(0) if !report.equal => Ok(Exit::Status(Exit::DIFFERENT)),
        exit => Ok(exit),
    }
}

fn incomparable(why: Incomparable) -> Error {
    let verdict = |differ| if differ { "the copies differ at unknown offsets" } else { "no comparison is possible" };
    let what = match why {
        Incomparable::Algorithms { first, second, differ } => {
            let (first, second) = (first.name(), second.name());
            format!("one manifest has {first} digests, the other {second}: {}", verdict(differ))
        }
        Incomparable::BlockLengths { first, second, differ } => {
            format!("one manifest has blocks of {first} bytes, the other of {second}: {}", verdict(differ))
        }
    };
    let advice = "Create one of them again with the block size and digest of the other, or compare the copies with \
        haul verify.";
    Error::new(Kind::Usage, what).advise(advice)
}

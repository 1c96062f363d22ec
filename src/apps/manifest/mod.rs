//! `haul manifest`.
mod compare;
pub(in crate::apps) mod words;

use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::{Exit, printed};
use crate::cli::words::address;
use crate::core::{Extent, Result, Side};
use crate::job::manifest::open;
use crate::job::map_export::{self, MapExport};
use crate::ledger::SideIdentity;
use crate::report::manifest::{ManifestReport, ManifestSide, run, shown};
use crate::report::{Out, json};
use compare::compare;
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
            ManifestVerb::Export { file, bmap, image, omit_zeros } => ManifestAction::Export {
                path: address("FILE", file)?,
                bmap: address("--bmap", bmap)?,
                export: MapExport { image: address("IMAGE", image)?, omit_zeros },
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

/// Prints a manifest, compares two, or writes a block map.
pub(super) fn manifest(asked: &ManifestAction, out: Out) -> Result<Exit> {
    match asked {
        ManifestAction::Show { path, json } => show(path, *json, out),
        ManifestAction::Diff { first, second, quiet, json } => compare([first, second], *quiet, *json, out),
        ManifestAction::Export { path, bmap, export } => {
            let map = map_export::block_map(&open(path)?, path, export)?;
            map_export::write(&map, bmap)?;
            Ok(Exit::Status(0))
        }
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

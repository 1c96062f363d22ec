//! The arguments of `haul manifest`.
use crate::cli::help::{ENVIRONMENT, FILES};
use crate::job::map_export::MapExport;
use clap::{Parser, Subcommand, ValueHint};
use std::ffi::OsString;

/// Sections of the man page.
pub(super) const PAGE: &[&str] = &[
    include_str!("help/status.txt"),
    ENVIRONMENT,
    FILES,
    include_str!("help/examples.txt"),
    "# SEE ALSO\nhaul(1), haul-copy(1), haul-verify(1), b3sum(1), jq(1)\n",
];

/// The request of `haul manifest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestAction {
    /// Print a manifest.
    Show {
        /// Its path.
        path: String,
        /// As JSON on standard output.
        json: bool,
    },
    /// Compare two manifests.
    Diff {
        /// Path of the first.
        first: String,
        /// Path of the second.
        second: String,
        /// Print nothing; only the exit status counts.
        quiet: bool,
        /// As JSON on standard output.
        json: bool,
    },
    /// Write a block map.
    Export {
        /// Path of the manifest.
        path: String,
        /// Path of the block map.
        bmap: String,
        /// What is mapped.
        export: MapExport,
    },
}

/// Show, compare or export manifests of copies
#[derive(Debug, Parser)]
#[command(name = "manifest")]
pub(crate) struct ManifestArguments {
    #[command(subcommand)]
    pub(super) verb: ManifestVerb,
}

/// The operation on manifests.
#[derive(Debug, Subcommand)]
pub(super) enum ManifestVerb {
    /// Show source, destination and digest of a copy
    Show {
        /// A manifest
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: OsString,

        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },

    /// Compare two copies by their manifests
    ///
    /// Exit status: 0 equal, 1 different, 2 not comparable.
    Diff {
        /// The first manifest
        #[arg(value_name = "FIRST", value_hint = ValueHint::FilePath)]
        first: OsString,

        /// The second manifest
        #[arg(value_name = "SECOND", value_hint = ValueHint::FilePath)]
        second: OsString,

        /// Print nothing; the exit status is the answer
        #[arg(long, short = 'q', conflicts_with = "json")]
        quiet: bool,

        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },

    /// Write a block map of an image, for bmaptool and haul copy --bmap
    ///
    /// Write a block map (.bmap 2.0) of the image that a manifest describes. Each block has its SHA-256, which bmaptool
    /// and haul compare when they copy the image. The manifest must be of a copy of the whole image without unreadable
    /// bytes.
    Export {
        /// The manifest
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: OsString,

        /// The block map to create; it must not exist
        #[arg(long, value_name = "BMAP", value_hint = ValueHint::FilePath, required = true)]
        bmap: OsString,

        /// The image
        ///
        /// The image, from which haul computes the SHA-256 of each block. Each block is compared with the manifest
        /// first.
        #[arg(value_name = "IMAGE", value_hint = ValueHint::FilePath)]
        image: OsString,

        /// Leave blocks of zeros out of the map
        ///
        /// Leave blocks of zeros out of the map: they are not copied then, and old data of the destination remains in
        /// their place. Only for destinations that read as zeros, or images whose zeros were never written.
        #[arg(long)]
        omit_zeros: bool,
    },
}

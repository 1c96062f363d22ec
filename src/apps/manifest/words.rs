//! The arguments of `haul manifest`.
use crate::cli::help::{ENVIRONMENT, FILES};
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
}

/// Show or compare manifests of copies
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
}

//! `haul manifest` as clap sees it.
use crate::cli::words::address;
use clap::error::ErrorKind;
use clap::{Subcommand, ValueHint};
use std::ffi::OsString;

/// What `haul manifest` was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestAsked {
    /// What one says.
    Show {
        /// Its path.
        path: String,
        /// As JSON on standard output.
        json: bool,
    },
    /// Where two differ.
    Diff {
        /// Path of the first.
        first: String,
        /// Path of the second.
        second: String,
        /// As JSON on standard output.
        json: bool,
    },
}

/// The words behind `haul manifest`.
#[derive(Debug, Subcommand)]
pub(crate) enum ManifestArguments {
    /// What was copied, from where to where, and its digest
    Show {
        /// A manifest
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: OsString,

        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },

    /// Where two copies differ, by their manifests alone
    ///
    /// Exit status: 0 equal, 1 different, 2 they cannot be compared.
    Diff {
        /// The first manifest
        #[arg(value_name = "FIRST", value_hint = ValueHint::FilePath)]
        first: OsString,

        /// The second manifest
        #[arg(value_name = "SECOND", value_hint = ValueHint::FilePath)]
        second: OsString,

        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
}

impl ManifestArguments {
    /// What these words mean, or why they cannot be meant.
    pub(crate) fn into_options(self) -> Result<ManifestAsked, (ErrorKind, String)> {
        Ok(match self {
            ManifestArguments::Show { file, json } => ManifestAsked::Show { path: address("FILE", file)?, json },
            ManifestArguments::Diff { first, second, json } => {
                ManifestAsked::Diff { first: address("FIRST", first)?, second: address("SECOND", second)?, json }
            }
        })
    }
}

//! The arguments of `haul map`.
use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::Exit;
use crate::apps::map::options::{MapAction, MapChange};
use crate::cli::help::{ENVIRONMENT, SIZES};
use crate::cli::words;
use crate::cli::words::address;
use crate::ledger::mapfile::Combination;
use clap::{Args, Parser, Subcommand, ValueHint};
use std::ffi::OsString;

const EXAMPLES: &str = include_str!("help/examples.txt");
const LETTERS: &str = include_str!("help/letters.txt");
const STATUS: &str = include_str!("help/status.txt");
const FILES: &str = include_str!("help/files.txt");
const SEE_ALSO: &str = "# SEE ALSO\nhaul(1), haul-rescue(1), haul-journal(1), ddrescue(1), ddrescuelog(1)\n";

/// Show, compare and combine the maps of rescues
///
/// Work with map files of haul rescue and GNU ddrescue: show what was rescued and where, compare two maps, or make a
/// new map from one or two. No map is changed, and no existing file is replaced.
#[derive(Debug, Parser)]
#[command(name = "map", subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct MapArguments {
    #[command(subcommand)]
    verb: MapVerb,
}

/// The operation on maps.
#[derive(Debug, Subcommand)]
enum MapVerb {
    /// Show phase, amounts and a picture of a rescue
    ///
    /// Show the phase of a rescue, how much has which status, and a picture of the source in letters, as wide as the
    /// terminal. A letter that stands for several statuses is the worst of them.
    Show {
        #[command(flatten)]
        map: OneMap,

        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },

    /// Compare two maps
    ///
    /// Compare the status of each byte in two maps; bytes that a map does not list are not tried. Exit status: 0 equal,
    /// 1 different.
    Compare {
        #[command(flatten)]
        maps: TwoMaps,

        /// Print nothing; the exit status is the answer
        #[arg(long, short = 'q')]
        quiet: bool,
    },

    /// Whether everything is rescued
    ///
    /// Print nothing. Exit status: 0 if all that the map lists is rescued, 1 if not.
    Done {
        #[command(flatten)]
        map: OneMap,
    },

    /// What is rescued in both maps
    ///
    /// Write the first map, with what is rescued in both maps as rescued. What is rescued in the first map only becomes
    /// bad; the rest keeps its status, and so do bytes that the second map does not list.
    And {
        #[command(flatten)]
        maps: TwoMaps,
        #[command(flatten)]
        new: NewMap,
    },

    /// What is rescued in one map or in both
    ///
    /// Write the first map, with what is rescued in any of the two maps as rescued; the rest keeps its status. For two
    /// rescues of the same source to the same destination.
    Or {
        #[command(flatten)]
        maps: TwoMaps,
        #[command(flatten)]
        new: NewMap,
    },

    /// What is rescued in one map, but not in both
    ///
    /// Write the first map, with what is rescued in one of the two maps as rescued. What is rescued in both becomes
    /// bad; the rest keeps its status.
    Xor {
        #[command(flatten)]
        maps: TwoMaps,
        #[command(flatten)]
        new: NewMap,
    },

    /// What is not rescued
    ///
    /// Write the map with rescued bytes as bad, and all others as rescued: for --domain and --ranges, which use what a
    /// map lists as rescued.
    Not {
        #[command(flatten)]
        map: OneMap,
        #[command(flatten)]
        new: NewMap,
    },

    /// Add the bytes that a map does not list
    ///
    /// Write the map from byte 0 on, ascending and without gaps; bytes that it did not list are not tried. For maps
    /// made by hand or by other programs: all other operations, haul rescue and ddrescue refuse a map with gaps or in
    /// another order.
    Complete {
        #[command(flatten)]
        map: OneMap,
        #[command(flatten)]
        new: NewMap,

        /// Size of the source; default: the end of the last block
        #[arg(long, value_name = "SIZE", value_parser = words::amount)]
        size: Option<u64>,
    },
}

#[derive(Debug, Args)]
struct OneMap {
    /// The map; - is standard input
    #[arg(value_name = "MAP", value_hint = ValueHint::FilePath)]
    map: OsString,
}

#[derive(Debug, Args)]
struct TwoMaps {
    /// The first map; - is standard input
    #[arg(value_name = "FIRST", value_hint = ValueHint::FilePath)]
    first: OsString,

    /// The second map
    #[arg(value_name = "SECOND", value_hint = ValueHint::FilePath)]
    second: OsString,
}

#[derive(Debug, Args)]
struct NewMap {
    /// The map to create, which must not exist; - is standard output
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath)]
    new: OsString,
}

impl Words for MapArguments {
    type Options = MapAction;

    const PAGE: &'static [&'static str] = &[SIZES, LETTERS, STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE_ALSO];

    fn into_options(self) -> Result<MapAction, UsageError> {
        let one = |map: OneMap| address("MAP", map.map);
        let two = |maps: TwoMaps| Ok::<_, UsageError>([address("FIRST", maps.first)?, address("SECOND", maps.second)?]);
        let combine = |how, maps, new: NewMap| {
            let [map, second] = two(maps)?;
            Ok(MapAction::Change { map, change: MapChange::Combine(how, second), new: address("NEW", new.new)? })
        };
        let change =
            |map, change, new: NewMap| Ok(MapAction::Change { map: one(map)?, change, new: address("NEW", new.new)? });
        match self.verb {
            MapVerb::Show { map, json } => Ok(MapAction::Show { map: one(map)?, json }),
            MapVerb::Compare { maps, quiet } => Ok(MapAction::Compare { maps: two(maps)?, quiet }),
            MapVerb::Done { map } => Ok(MapAction::Done { map: one(map)? }),
            MapVerb::And { maps, new } => combine(Combination::And, maps, new),
            MapVerb::Or { maps, new } => combine(Combination::Or, maps, new),
            MapVerb::Xor { maps, new } => combine(Combination::Xor, maps, new),
            MapVerb::Not { map, new } => change(map, MapChange::Invert, new),
            MapVerb::Complete { map, new, size: size_bytes } => change(map, MapChange::Complete { size_bytes }, new),
        }
    }

    fn run(asked: &MapAction, call: &Call<'_>) -> crate::core::Result<Exit> {
        super::run(asked, call.out)
    }

    fn json_report(asked: &MapAction) -> Option<&'static str> {
        matches!(asked, MapAction::Show { json: true, .. }).then_some("map")
    }
}

//! The command line as clap sees it.
use crate::apps::command_line::copy::CopyArguments;
use crate::apps::command_line::exchange::JournalVerb;
use crate::apps::command_line::generate::Artifact;
use crate::apps::command_line::manifest::ManifestArguments;
use crate::apps::command_line::verify::VerifyArguments;
use crate::apps::measuring::cli::profile::ProfileArguments;
use crate::apps::measuring::cli::tune::TuneArguments;
use crate::apps::pattern::cli::PatternVerb;
use crate::cli::help;
use clap::{Parser, Subcommand};

/// Copies disks, partitions and images: reads and writes overlap, nothing to tune, and the truth about what arrived.
#[derive(Debug, Parser)]
#[command(
    name = "haul",
    version,
    about = "Block copier for Linux: disks, partitions, images, pipes",
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_long_help = help::text(&[include_str!("help/overview.txt"), help::EXIT_STATUS])
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Copy a disk, a partition, a file or a stream
    ///
    /// Copy SRC to DST: every byte, many requests at once, on the medium when the program ends with status 0.
    ///
    /// Without options it finds its own settings: engine, direct or buffered I/O, block size and depth. It refuses to
    /// overwrite what is in use or too small, and asks before it overwrites a device. --dry-run shows all it would do.
    Copy(Box<CopyArguments>),

    /// Compare two sides: what differs, and where
    ///
    /// Read SRC and DST and tell whether they are equal, and if not, where they differ. Nothing is written. DST may be
    /// larger than SRC if it is a device; two files have to be equally long, unless a range is given.
    Verify(Box<VerifyArguments>),

    /// Show or compare manifests that copies wrote
    Manifest {
        #[command(subcommand)]
        what: ManifestArguments,
    },

    /// Test a disk: write a pattern, check what is left of it
    ///
    /// Test a disk: write a pattern of blocks that say where they belong, and check what is left of it, now or in a
    /// year, on this machine or another.
    #[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
    Pattern {
        #[command(subcommand)]
        verb: PatternVerb,
    },
    /// Exchange a journal with GNU ddrescue
    ///
    /// Write the journal of an interrupted copy as a mapfile of GNU ddrescue, or make one of a mapfile, so that either
    /// program goes on with what the other began.
    #[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
    Journal {
        #[command(subcommand)]
        verb: JournalVerb,
    },
    /// Find the block size and depth that a disk needs
    ///
    /// Read PATH with many block sizes and depths, direct and through the page cache, for about a minute, and tell the
    /// smallest block size and depth that reach 95 % of the best rate, with how sure that is. Nothing is written
    /// without --write, and the page cache is left as it was found.
    ///
    /// Runs are short, spread over the whole disk, and repeated in turn, so that neither the place nor a disturbance
    /// decides; a block size that clearly loses is dropped early. Use --quick for a first impression.
    Tune(Box<TuneArguments>),

    /// Measure a disk: rate by place, cost of a command
    ///
    /// Read PATH at places spread from its first byte to its last, then with commands from 512 bytes to 16 MiB one at a
    /// time, then past the page cache, through it, and through a mapping of it. Told are the rate at each place and how
    /// long a read of all of it takes by that; what a command costs before a byte moves, and how well that line fits;
    /// the processor time and page cache that each way of reading takes; and what a read does to the rest of the
    /// system, to a file that others have in the page cache and to the time a program takes to start.
    ///
    /// Nothing is written without --write, and the page cache is left as it was found.
    Profile(Box<ProfileArguments>),

    /// List block devices: aliases, size, identity, use and partitions
    List {
        /// Print one JSON document instead of a table
        #[arg(long)]
        json: bool,
    },

    /// Print a man page or the completions of a shell
    #[command(hide = true)]
    Generate {
        /// man, man-dd, man-sg_dd, man-tune, man-profile, bash, zsh or fish
        #[arg(value_parser = super::generate::artifact())]
        artifact: Artifact,
    },
}

//! A line on standard error for each run, which shows the progress.
use crate::bed::Bed;
use crate::race::Observer;
use crate::result::{Run, Verdict};

/// Prints progress line by line.
pub struct Lines;

impl Observer for Lines {
    fn ran(&mut self, bed: &Bed, contender: &str, run: &Run) {
        let ended = match &run.verdict {
            Verdict::Right => String::new(),
            Verdict::CopiedWrongly { first_difference } => format!("  COPIED WRONGLY from byte {first_difference} on"),
            Verdict::Failed { why } => format!("  failed: {why}"),
        };
        anstream::eprintln!("  {:<14} round {:<2} {contender:<18} {:>8.3} s{ended}", bed.name, run.round, run.wall_s);
    }

    fn doing(&mut self, what: &str) {
        anstream::eprintln!("  {what}");
    }
}

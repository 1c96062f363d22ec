//! Compares two manifests.
use crate::apps::exit::{Exit, printed};
use crate::core::{Error, Kind, Result};
use crate::job::manifest::open;
use crate::ledger::manifest::{Difference, Incomparable, diff};
use crate::report::manifest::{Compared, compared, run};
use crate::report::{Out, json};

/// Compares two manifests and prints the differences.
pub(super) fn compare([first, second]: [&str; 2], quiet: bool, as_json: bool, out: Out) -> Result<Exit> {
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

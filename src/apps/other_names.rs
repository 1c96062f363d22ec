//! Names of other programs that users may type, and the command of haul that replaces each.
use crate::report::style::{DANGER, paint};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Each name, and its replacement.
const NAMES: &[(&str, &str)] = &[
    (
        "sgq_dd",
        "'haul sgp_dd' accepts its operands and keeps many commands in flight; 'haul copy' finds the best number",
    ),
    ("sg_map", "'haul list' shows the SCSI generic nodes (sg) of disks, 'haul list --json' for programs"),
    ("sg_rbuf", "'haul profile /dev/sgN' measures READ BUFFER by size, as well as reads of the medium"),
    ("lmdd", "'haul copy' copies, 'haul profile' measures (--random for random reads), 'haul pattern' tests data"),
    ("hdparm", "'haul profile --timing DISK' is hdparm -t, and 'haul list' shows what the disks are"),
    ("fdisk", "'haul list' shows disks and partitions, as fdisk -ul does; haul does not change partition tables"),
    ("dd-parallel", "'haul dd-parallel SRC DST' is 'haul copy SRC DST', which overlaps reads and writes"),
];

/// The reaction to a command line that begins with one of the names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NameAnswer {
    /// Print this line on standard error; the status is 2.
    Told(String),
    /// Run this command line instead.
    Instead(Vec<OsString>),
}

/// The reaction to `args`, whose first is the program's name, if that or the first argument is the name of
/// another program.
pub(super) fn reaction_to(args: &[OsString]) -> Option<NameAnswer> {
    let (program, words) = args.split_first()?;
    let named = |word: &OsStr| NAMES.iter().find(|(name, _)| word == *name);
    let (found, rest) = match Path::new(program).file_name().and_then(named) {
        Some(found) => (found, words),
        None => (words.first().and_then(|word| named(word))?, &words[1..]),
    };
    let (name, does) = *found;
    if name != "dd-parallel" || rest.is_empty() {
        return Some(NameAnswer::Told(format!("{} {name} is not a command of haul: {does}\n", paint(DANGER, "haul:"))));
    }
    let copy = ["haul", "copy"].into_iter().map(OsString::from);
    let words = rest.iter().flat_map(|word| match word.to_str() {
        // The self-test of dcfldd and similar programs: the data on the disk is also read back.
        Some("--md5") => vec!["--hash=md5".into(), "--verify".into()],
        _ => vec![word.clone()],
    });
    Some(NameAnswer::Instead(copy.chain(words).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<NameAnswer> {
        reaction_to(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn each_foreign_name_suggests_an_existing_command_in_one_line() {
        for (name, _) in NAMES {
            for line in [format!("haul {name}"), format!("/usr/bin/{name}")] {
                let Some(NameAnswer::Told(reported)) = of(&line) else { panic!("{line}") };
                assert_eq!(reported.lines().count(), 1, "{reported}");
                assert!(reported.contains(name) && reported.contains("'haul "), "{reported}");
            }
        }
        assert!(
            matches!(of("haul fdisk -ul /dev/sda"), Some(NameAnswer::Told(reported)) if reported.contains("haul list"))
        );
        assert_eq!([of("haul copy sg_map fdisk"), of("haul"), of("haul list")], [None, None, None]);
    }

    #[test]
    fn dd_parallel_with_operands_is_a_copy() {
        let copy = |line: &str| Some(NameAnswer::Instead(line.split_whitespace().map(OsString::from).collect()));
        for line in ["haul dd-parallel a b", "/opt/dd-parallel a b"] {
            assert_eq!(of(line), copy("haul copy a b"));
        }
        assert_eq!(of("dd-parallel --md5 a b"), copy("haul copy --hash=md5 --verify a b"));
    }
}

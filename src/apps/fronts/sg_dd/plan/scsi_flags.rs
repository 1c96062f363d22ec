//! Decides which SCSI flags an endpoint supports.
use crate::apps::fronts::dd::plan::DdKind;
use crate::apps::fronts::sg_plan::{ScsiFlags, SgPlan};
use crate::core::Side;

/// A flag that this endpoint does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The side; `None`: the copy as a whole.
    pub side: Option<Side>,
    /// The flag, in a form in which it can be given.
    pub word: &'static str,
    /// What it requires.
    pub because: &'static str,
    /// What to write instead.
    pub instead: &'static str,
}

/// Whether SCSI commands are sent to a side of this kind.
fn takes_commands(kind: DdKind) -> bool {
    kind == DdKind::Commands
}

const NO_COMMANDS: &str = "it applies to SCSI commands, and this side uses none";

/// A flag of a side: a test for it, its name, and the nearest substitutes without SCSI commands.
type ScsiFlagRow = (fn(&ScsiFlags) -> bool, &'static str, [&'static str; 2]);

const SCSI_FLAGS: [ScsiFlagRow; 6] = [
    (
        |flags| flags.passthrough,
        "sgio (pt, blk_sgio=1)",
        ["omit it; iflag=direct bypasses the page cache", "omit it; oflag=direct bypasses the page cache"],
    ),
    (|flags| flags.dio, "dio", ["use iflag=direct", "use oflag=direct"]),
    (|flags| flags.mmap, "mmap", ["use iflag=direct", "use oflag=direct"]),
    (
        |flags| flags.fua,
        "fua",
        [
            "omit it; iflag=direct bypasses the page cache",
            "use oflag=dsync: each write is on the medium before the next",
        ],
    ),
    (|flags| flags.fua_nv, "fua_nv", ["omit it", "use oflag=dsync"]),
    (|flags| flags.dpo, "dpo", ["use iflag=nocache", "use oflag=nocache"]),
];

/// The first flag that is not supported between endpoints of these kinds. A null device supports everything:
/// nothing is sent to it.
pub fn refused_flag(plan: &SgPlan, kinds: [DdKind; 2]) -> Option<Refusal> {
    let writes = !plan.records.compare && kinds[1] != DdKind::Null || plan.records.second.is_some();
    if plan.writes_nothing && writes {
        let because = "the copy would write to OFILE";
        let instead = "use of=/dev/null to only read IFILE, or omit --nocopy";
        return Some(Refusal { side: None, word: "--nocopy", because, instead });
    }
    let commands = kinds.map(takes_commands);
    for side in Side::BOTH {
        let refused = match kinds[side.index()] {
            kind if takes_commands(kind) => refused_by_commands(plan, side),
            DdKind::Null => None,
            _ => without_commands(&of_this_side(plan, side, commands), side),
        };
        if refused.is_some() {
            return refused;
        }
    }
    let scsi = &plan.scsi;
    let none = commands == [false, false];
    let table = [
        (none && scsi.command_bytes.is_some(), "cdbsz"),
        (none && scsi.duration_limits != [0, 0], "cdl"),
        (none && scsi.groups != [0, 0], "grpnum"),
        (none && scsi.timeout_s.is_some(), "time=1,TO"),
        (scsi.read_long > 0 && !commands[Side::Source.index()] && kinds[0] != DdKind::Null, "coe=2"),
    ];
    let word = table.into_iter().find(|(requested, _)| *requested)?.1;
    let instead = match word {
        "time=1,TO" => "use time=1; the timeout of a device is in /sys/block/*/device/timeout",
        "coe=2" => "use coe=1: zeros replace what READ LONG would fetch",
        _ => "omit it",
    };
    let because = match word {
        "coe=2" => "READ LONG is a SCSI command, and IFILE is read without SCSI commands",
        _ => "it applies to SCSI commands, and neither side uses them",
    };
    Some(Refusal { side: None, word, because, instead })
}

/// The flags of a side without commands. dio=1 and blk_sgio=1, which name both sides, apply to the side that
/// accepts commands.
fn of_this_side(plan: &SgPlan, side: Side, commands: [bool; 2]) -> ScsiFlags {
    let one_does = commands != [false, false];
    let for_the_other = |requested: fn(&ScsiFlags) -> bool| one_does && plan.scsi_flags.iter().all(requested);
    let flags = plan.scsi_flags[side.index()];
    ScsiFlags {
        dio: flags.dio && !for_the_other(|flags| flags.dio),
        passthrough: flags.passthrough && !for_the_other(|flags| flags.passthrough),
        ..flags
    }
}

fn without_commands(flags: &ScsiFlags, side: Side) -> Option<Refusal> {
    let (_, word, instead) = SCSI_FLAGS.iter().find(|(requested, ..)| requested(flags))?;
    Some(Refusal { side: Some(side), word, because: NO_COMMANDS, instead: instead[side.index()] })
}

/// A flag that a side that is reached by commands does not support.
fn refused_by_commands(plan: &SgPlan, side: Side) -> Option<Refusal> {
    let words = match side {
        Side::Source => plan.records.source.words,
        Side::Dest => plan.records.dest.words,
    };
    let (flags, refusal) =
        (plan.scsi_flags[side.index()], |word, because, instead| Refusal { side: Some(side), word, because, instead });
    let table = [
        (words.append, refusal("append", "a disk has a fixed size", "give the offset with seek=")),
        (
            words.sync,
            refusal("dsync", "it applies to file writes; SCSI commands have fua for that", "use fua, or sync=1"),
        ),
        (
            flags.mmap && words.excl,
            refusal("mmap", "it opens the node a second time, which excl forbids", "omit one of them"),
        ),
        (
            flags.mmap && flags.dio,
            refusal(
                "mmap",
                "data goes either through shared memory or directly into the buffers of haul",
                "omit dio or mmap",
            ),
        ),
    ];
    table.into_iter().find(|(requested, _)| *requested).map(|(_, refusal)| refusal)
}

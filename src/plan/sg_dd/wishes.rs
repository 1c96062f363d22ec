//! Which wishes about SCSI an endpoint can honour: the one place that decides it.
use crate::contract::{ScsiWishes, SgPlan, Side};
use crate::plan::dd::DdKind;

/// A word that this endpoint cannot honour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which side it is about; `None`: the copy as such.
    pub side: Option<Side>,
    /// The word, as it may have been written.
    pub word: &'static str,
    /// What it would need.
    pub because: &'static str,
    /// What to write instead.
    pub instead: &'static str,
}

/// Whether SCSI commands can be sent to what is of this kind. Nothing yet; SCSI generic nodes later.
fn takes_commands(_kind: DdKind) -> bool {
    false
}

const NO_COMMANDS: &str = "it is about SCSI commands, and this side is read and written without any";

/// Each wish of a side, its word, and what comes nearest to it without SCSI commands.
type Wish = (fn(&ScsiWishes) -> bool, &'static str, [&'static str; 2]);

const WISHES: [Wish; 5] = [
    (
        |wishes| wishes.passthrough,
        "sgio (pt, blk_sgio=1)",
        ["leave it out; iflag=direct goes past the page cache", "leave it out; oflag=direct goes past the page cache"],
    ),
    (|wishes| wishes.dio, "dio", ["write iflag=direct", "write oflag=direct"]),
    (|wishes| wishes.mmap, "mmap", ["write iflag=direct", "write oflag=direct"]),
    (
        |wishes| wishes.fua,
        "fua",
        [
            "leave it out; iflag=direct goes past the page cache",
            "write oflag=dsync: each write is on the medium before the next",
        ],
    ),
    (|wishes| wishes.dpo, "dpo", ["write iflag=nocache", "write oflag=nocache"]),
];

/// The first wish that cannot be honoured between endpoints of these kinds. A null device honours everything: nothing
/// is sent to it.
pub fn refused_wish(plan: &SgPlan, kinds: [DdKind; 2]) -> Option<Refusal> {
    let sides = [Side::Source, Side::Dest];
    for side in sides {
        let kind = kinds[side.index()];
        if kind == DdKind::ScsiGeneric {
            let because = "SCSI generic nodes take commands only, and this front sends none yet";
            let instead = "name the block device of the same disk, which haul list shows, or use haul copy, which does";
            return Some(Refusal { side: Some(side), word: "/dev/sg*", because, instead });
        }
        if takes_commands(kind) || kind == DdKind::Null {
            continue;
        }
        let wishes = &plan.wishes[side.index()];
        if let Some((_, word, instead)) = WISHES.iter().find(|(wished, ..)| wished(wishes)) {
            let instead = instead[side.index()];
            return Some(Refusal { side: Some(side), word, because: NO_COMMANDS, instead });
        }
    }
    if kinds.into_iter().any(takes_commands) {
        return None;
    }
    let scsi = &plan.scsi;
    let table = [
        (scsi.command_bytes.is_some(), "cdbsz"),
        (scsi.duration_limits != [0, 0], "cdl"),
        (scsi.timeout_s.is_some(), "time=1,TO"),
        (scsi.read_long > 0, "coe=2"),
    ];
    let word = table.into_iter().find(|(wished, _)| *wished)?.1;
    let instead = match word {
        "time=1,TO" => "write time=1; how long a device may take is in /sys/block/*/device/timeout",
        "coe=2" => "write coe=1: what READ LONG would fetch becomes zeros",
        _ => "leave it out",
    };
    Some(Refusal { side: None, word, because: "it is about SCSI commands, and none are sent to either side", instead })
}

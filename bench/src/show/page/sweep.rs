//! The contents of a sweep's template.
use super::curves::{self, Curves};
use super::view::Claimed;
use crate::claims::{self, Verdict};
use crate::result::PointResult;
use crate::show::points::{HEADINGS, row};
use crate::show::words::rounds;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Sweep {
    name: String,
    title: String,
    what: String,
    peer: String,
    rounds: String,
    headings: [&'static str; 7],
    rows: Vec<Row>,
    curves: Option<Curves>,
    claims: Vec<Claimed>,
    commands: Vec<Command>,
}

#[derive(Serialize)]
struct Row {
    /// CSS class: none if the point holds.
    kind: Option<Verdict>,
    cells: [String; 7],
}

#[derive(Serialize)]
struct Command {
    name: String,
    command: String,
}

impl Sweep {
    pub(super) fn of(sweep: &crate::result::Sweep) -> Sweep {
        Sweep {
            name: sweep.name.clone(),
            title: sweep.title.clone(),
            what: sweep.what.clone(),
            peer: sweep.peer.clone(),
            rounds: rounds(sweep.rounds),
            headings: HEADINGS,
            rows: sweep.points.iter().map(Row::of).collect(),
            curves: curves::by_block_size(sweep),
            claims: claims::of_sweep(sweep).into_iter().map(Claimed::of).collect(),
            commands: sweep.points.iter().flat_map(Command::both).collect(),
        }
    }
}

impl Row {
    fn of(point: &PointResult) -> Row {
        let (cells, verdict) = row(point);
        Row { kind: (verdict != Verdict::Holds).then_some(verdict), cells }
    }
}

impl Command {
    fn both(point: &PointResult) -> [Command; 2] {
        let name = |who: &str| format!("{}, {who}", point.name);
        [
            Command { name: name("GNU dd"), command: point.peer_command.clone() },
            Command { name: name("haul"), command: point.haul_command.clone() },
        ]
    }
}

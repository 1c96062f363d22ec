//! The contents of the templates, in order.
use super::chart::{self, Chart};
use super::curves::{self, Curves};
use crate::claims::{self, Claim, Verdict};
use crate::numbers::{HAUL, Ranking, Summary, best_peer, limit_s, ranking};
use crate::result::{BedResult, Cell, ContenderResult, Limit, Missing, Results};
use crate::show::columns::{COLUMNS, Scale};
use crate::show::words::{duration, figure, number, rate, rounds, size};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Page {
    started: String,
    took: String,
    quick: bool,
    interrupted: bool,
    haul: String,
    facts: Vec<(&'static str, String)>,
    beds: Vec<Bed>,
    columns: Vec<Column>,
    sweeps: Vec<super::sweep::Sweep>,
    tables: Vec<Seeds>,
    missing: Vec<Missing>,
    curve_style: String,
}

#[derive(Serialize)]
struct Column {
    heading: &'static str,
    unit: &'static str,
    means: &'static str,
}

#[derive(Serialize)]
struct Bed {
    name: String,
    title: String,
    what: String,
    bytes: String,
    rounds: String,
    /// For the table of all beds.
    haul_s: String,
    to_limit: String,
    best_peer: String,
    /// Claims that hold; equal within the noise counts as holding.
    kept: usize,
    /// Claims with a verdict.
    known: usize,
    limits: Vec<Bound>,
    times: Chart,
    processor_times: Chart,
    curves: Option<Curves>,
    rows: Vec<Row>,
    marked: Vec<(String, String)>,
    claims: Vec<Claimed>,
    commands: Vec<Command>,
}

#[derive(Serialize)]
struct Bound {
    word: &'static str,
    seconds: String,
    rate: String,
    what: String,
}

#[derive(Serialize)]
struct Row {
    kind: &'static str,
    name: String,
    cells: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Claimed {
    verdict: Verdict,
    words: &'static str,
    figure: String,
    what: String,
    note: String,
}

#[derive(Serialize)]
struct Command {
    name: String,
    command: String,
    version: String,
}

#[derive(Serialize)]
struct Seeds {
    name: String,
    title: String,
    what: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    curves: Vec<curves::Curves>,
}

impl Page {
    pub(super) fn of(results: &Results) -> Page {
        let machine = &results.machine;
        let facts = vec![
            ("haul", machine.haul.clone()),
            ("processor", format!("{} x {}", machine.processors, machine.processor)),
            ("memory", size(machine.memory_bytes)),
            ("kernel", format!("Linux {}", machine.kernel)),
            ("load before", format!("{:.2}", machine.load_before)),
        ];
        Page {
            started: results.started.clone(),
            took: duration(results.took_s),
            quick: results.quick,
            interrupted: results.interrupted,
            haul: machine.haul.clone(),
            facts,
            beds: results.beds.iter().map(|bed| Bed::of(bed, machine.resident_floor_bytes)).collect(),
            columns: COLUMNS
                .iter()
                .map(|column| Column { heading: column.heading, unit: column.unit, means: column.means })
                .collect(),
            sweeps: results.sweeps.iter().map(super::sweep::Sweep::of).collect(),
            tables: results.tables.iter().map(Seeds::of).collect(),
            missing: results.missing.clone(),
            curve_style: haul::report::page::style(),
        }
    }
}

impl Bed {
    fn of(bed: &BedResult, resident_floor_bytes: u64) -> Bed {
        let ranking = ranking(bed);
        let haul = ranking.ranked.iter().find(|(one, _)| one.name == HAUL).map(|(_, summary)| summary);
        let claims: Vec<Claimed> = claims::claims(bed).into_iter().map(Claimed::of).collect();
        let unknown = || "–".to_string();
        let versus = |(peer, summary): (&ContenderResult, Summary)| {
            Some(format!("{:.2} x {}", summary.ratio_to_haul?, peer.name))
        };
        Bed {
            name: bed.name.clone(),
            title: bed.title.clone(),
            what: bed.what.clone(),
            bytes: size(bed.bytes),
            rounds: rounds(bed.rounds),
            haul_s: haul.map_or_else(unknown, |haul| format!("{} s", number(haul.median_s))),
            to_limit: haul.and_then(|haul| haul.ratio_to_limit).map_or_else(unknown, |ratio| format!("{ratio:.2} x")),
            best_peer: best_peer(bed).and_then(versus).unwrap_or_else(unknown),
            kept: claims.iter().filter(|claim| matches!(claim.verdict, Verdict::Holds | Verdict::Equal)).count(),
            known: claims.iter().filter(|claim| claim.verdict != Verdict::NotKnown).count(),
            limits: bounds(bed),
            times: chart::times(bed),
            processor_times: chart::processor_times(bed),
            curves: curves::over_rounds(bed),
            rows: rows(&ranking, &Scale::of(bed, resident_floor_bytes)),
            marked: ranking.marked.iter().map(|(one, why)| (one.name.clone(), why.clone())).collect(),
            claims,
            commands: bed.contenders.iter().map(Command::of).collect(),
        }
    }
}

fn bounds(bed: &BedResult) -> Vec<Bound> {
    let slowest_s = limit_s(bed);
    let mut limits: Vec<&Limit> = bed.limits.iter().collect();
    limits.sort_by(|a, b| b.binding.cmp(&a.binding).then(b.seconds.total_cmp(&a.seconds)));
    let word = |limit: &Limit| match limit.binding {
        true if Some(limit.seconds) == slowest_s => "limit",
        true => "bound",
        false => "tried",
    };
    let bound = |limit: &Limit| Bound {
        word: word(limit),
        seconds: number(limit.seconds),
        rate: rate(bed.bytes, limit.seconds),
        what: limit.what.clone(),
    };
    limits.into_iter().map(bound).collect()
}

fn rows(ranking: &Ranking, scale: &Scale) -> Vec<Row> {
    let row = |kind: &'static str, (one, summary): &(&ContenderResult, Summary)| Row {
        kind: if one.name == HAUL { "haul" } else { kind },
        name: one.name.clone(),
        cells: COLUMNS.iter().map(|column| (column.cell)(summary, scale)).collect(),
    };
    let ranked = ranking.ranked.iter().map(|one| row("peer", one));
    ranked.chain(ranking.aside.iter().map(|one| row("aside", one))).collect()
}

impl Claimed {
    pub(super) fn of(claim: Claim) -> Claimed {
        let (verdict, words, figure) = (claim.verdict, claim.verdict.words(), figure(&claim));
        Claimed { verdict, words, figure, what: claim.what, note: claim.note }
    }
}

impl Command {
    fn of(contender: &ContenderResult) -> Command {
        let ContenderResult { name, command, version, .. } = contender.clone();
        Command { name, command, version }
    }
}

impl Seeds {
    fn of(table: &crate::result::Table) -> Seeds {
        let cell = |cell: &Cell| match cell {
            Cell::Number { value, unit } => format!("{} {unit}", number(*value)),
            Cell::Text(text) => text.clone(),
        };
        Seeds {
            name: table.name.clone(),
            title: table.title.clone(),
            what: table.what.clone(),
            columns: table.columns.clone(),
            rows: table.rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
            curves: table.curves.iter().map(|curves| curves::over_time(&table.title, curves)).collect(),
        }
    }
}

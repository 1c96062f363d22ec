//! Sweeps: the same copy at many block sizes, by GNU dd and by haul, pair by pair.
//!
//! Independent of the verdicts, and of how numbers are shown.
mod ground;
mod point;
mod recipes;

use crate::bed::Size;
use crate::contender::in_path;
use crate::error::{Error, Result};
use crate::process::{Interrupt, output};
use crate::race::Observer;
use crate::result::{PairRun, PointResult, Sweep};
use crate::workplace::Workplace;
use ground::Ground;
use point::Point;
pub use recipes::recipes;
use std::path::Path;

/// A sweep that can be made: its name, title, and function.
pub struct SweepRecipe {
    /// Short name, as in `SCENARIO=`.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// A description of the copy.
    pub what: &'static str,
    make: fn(&Workplace, Size) -> Result<Ground>,
}

/// The parameters of every sweep.
pub struct Call<'a> {
    /// The program to measure.
    pub haul: &'a Path,
    /// The directories for sources and dests.
    pub workplace: &'a Workplace,
    /// The size.
    pub size: Size,
    /// Rounds per point; by default as many as the size requires.
    pub rounds: Option<u32>,
    /// Whether to end.
    pub interrupt: &'a Interrupt,
}

impl Size {
    fn sweep_rounds(self) -> u32 {
        if self == Size::Full { 5 } else { 1 }
    }
}

/// Measures every point of `recipe`: in each round GNU dd and haul at each point, alternating which is first. A
/// point at which either was wrong is not measured again.
///
/// After an interrupt, returns the measurements so far.
///
/// # Errors
/// There is no GNU dd, or a side cannot be made or opened; failures of the programs are results.
pub fn sweep(recipe: &SweepRecipe, call: &Call<'_>, observer: &mut dyn Observer) -> Result<Sweep> {
    let version = if in_path("dd") { output("dd --version")? } else { String::new() };
    if !version.contains("coreutils") {
        return Err(Error(format!("{}: there is no GNU dd to compare with", recipe.name)));
    }
    observer.doing(&format!("{}: made", recipe.name));
    let ground = (recipe.make)(call.workplace, call.size)?;
    let rounds = call.rounds.unwrap_or(call.size.sweep_rounds());
    let mut result = Sweep {
        name: recipe.name.into(),
        title: recipe.title.into(),
        what: recipe.what.into(),
        peer: version.lines().next().unwrap_or("").to_owned(),
        rounds,
        points: ground.points.iter().map(|point| result_of(point, &ground, call)).collect(),
    };
    for round in 1..=rounds {
        for (point, found) in ground.points.iter().zip(&mut result.points) {
            if found.wrong.is_some() {
                continue;
            }
            match pair(point, &ground, round, call) {
                Ok(Ok(run)) => found.runs.push(run),
                Ok(Err(why)) => found.wrong = Some(format!("{why}, in round {round}")),
                Err(_) if call.interrupt.is_set() => return Ok(result),
                Err(error) => return Err(error),
            }
            observer.doing(&reported(recipe.name, found));
        }
    }
    Ok(result)
}

fn result_of(point: &Point, ground: &Ground, call: &Call<'_>) -> PointResult {
    PointResult {
        name: point.name.clone(),
        bytes: point.bytes,
        peer_command: point.line("dd", ground).text(),
        haul_command: point.line(&haul(call), ground).text(),
        wanted: point.wanted,
        runs: Vec::new(),
        wrong: None,
    }
}

fn haul(call: &Call<'_>) -> String {
    format!("{} dd", call.haul.display())
}

/// The last pair, or the error, in one line.
fn reported(sweep: &str, point: &PointResult) -> String {
    let ended = match (&point.wrong, point.runs.last()) {
        (Some(why), _) => format!("WRONG: {why}"),
        (None, Some(run)) => format!("round {:<2} dd {:>8.3} s  haul {:>8.3} s", run.round, run.peer_s, run.haul_s),
        (None, None) => String::new(),
    };
    format!("{sweep:<14} {:<22} {ended}", point.name)
}

/// Runs both programs once, each on sides that were reset; the inner error names the program and its error.
fn pair(point: &Point, ground: &Ground, round: u32, call: &Call<'_>) -> Result<std::result::Result<PairRun, String>> {
    let mut seconds = [0.0; 2];
    // The second contender may find a warm cache or a slower disk.
    let order = if round % 2 == 1 { [0, 1] } else { [1, 0] };
    for which in order {
        let (who, program) = if which == 0 { ("GNU dd", "dd".to_owned()) } else { ("haul", haul(call)) };
        match ground.run(point, &program, call.interrupt)? {
            Ok(taken_s) => seconds[which] = taken_s,
            Err(why) => return Ok(Err(format!("{who} {why}"))),
        }
        if ground.is_held_against_the_other() {
            ground.keep_for_comparison(which)?;
        }
    }
    if ground.is_held_against_the_other()
        && let Some(byte) = ground.first_difference_of_both()?
    {
        return Ok(Err(format!("haul's output differs from that of GNU dd from byte {byte} on")));
    }
    Ok(Ok(PairRun { round, peer_s: seconds[0], haul_s: seconds[1] }))
}

//! One run of the bench: makes, measures, shows and records what was requested.
use crate::bed::{self, Bed, Recipe, Size, unlike};
use crate::cli::Arguments;
use crate::contender::{self, Contender};
use crate::error::{Doing, Error, Result};
use crate::known;
use crate::machine;
use crate::pressure::Pressure;
use crate::process::Interrupt;
use crate::race::{Observer, race};
use crate::rescue;
use crate::result::{BedResult, Results, Run, Sweep, Table, Verdict};
use crate::seeds::{self, TableRecipe};
use crate::sweep::{self, SweepRecipe, sweep};
use crate::workplace::Workplace;
use crate::zoo;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Measures what `arguments` request. After an interrupt, returns the completed measurements.
///
/// # Errors
/// Nothing can be measured: no root, no program, no such scenario; or a bed fails.
pub fn measure(arguments: &Arguments, interrupt: &Interrupt, observer: &mut dyn Observer) -> Result<Results> {
    let started = Instant::now();
    let chosen = chosen(arguments)?;
    let haul = program(arguments)?;
    let workplace = Workplace::new(&arguments.dir)?;
    let (contenders, missing) = contender::present(&haul);
    let contenders = only(contenders, &arguments.only);
    let mut results = Results {
        format: 1,
        started: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        quick: arguments.size() != Size::Full,
        machine: machine::describe(&haul)?,
        missing,
        ..Results::default()
    };
    let call = Call { arguments, haul: &haul, workplace: &workplace, contenders: &contenders, interrupt };
    for recipe in &chosen.beds {
        if interrupt.is_set() {
            break;
        }
        results.beds.push(call.measure_bed(recipe, observer)?);
    }
    for recipe in &chosen.sweeps {
        if interrupt.is_set() {
            break;
        }
        results.sweeps.push(call.make_sweep(recipe, observer)?);
    }
    for recipe in &chosen.tables {
        match call.make_table(recipe, observer) {
            Ok(table) => results.tables.push(table),
            // Incomplete results are not made into a table.
            Err(_) if interrupt.is_set() => break,
            Err(error) => return Err(error),
        }
    }
    results.interrupted = interrupt.is_set();
    results.took_s = started.elapsed().as_secs_f64();
    Ok(results)
}

/// Makes the bed that `arguments` name and starts a shell; returns the counters of its modelled disks.
///
/// # Errors
/// Not exactly one bed is requested, or it cannot be made.
pub fn hold(arguments: &Arguments) -> Result<String> {
    let [recipe] = &chosen(arguments)?.beds[..] else {
        return Err(Error("--hold needs exactly one bed".into()));
    };
    let workplace = Workplace::new(&arguments.dir)?;
    let bed = (recipe.make)(recipe, &workplace, arguments.size())?;
    let shell = std::env::var_os("SHELL").unwrap_or_else(|| "sh".into());
    let mut command = std::process::Command::new(shell);
    command.env("SOURCE", &bed.source.path).env("DEST", &bed.dest.path).env("HAUL", program(arguments)?);
    for (variable, place) in [("SOURCE_URI", &bed.source), ("DEST_URI", &bed.dest)] {
        command.env(variable, place.uri.as_deref().unwrap_or(""));
    }
    command.status().doing("start a shell")?;
    drop(bed);
    let mut reported = String::new();
    for path in std::fs::read_dir(workplace.memory())?.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == "log") {
            reported += &format!("{}: {}\n", path.display(), std::fs::read_to_string(&path)?);
        }
    }
    Ok(reported)
}

/// The constant parameters of all beds.
struct Call<'a> {
    arguments: &'a Arguments,
    haul: &'a Path,
    workplace: &'a Workplace,
    contenders: &'a [Contender],
    interrupt: &'a Interrupt,
}

impl Call<'_> {
    fn measure_bed(&self, recipe: &Recipe, observer: &mut dyn Observer) -> Result<BedResult> {
        observer.doing(&format!("{}: made", recipe.name));
        let bed = (recipe.make)(recipe, self.workplace, self.arguments.size())?;
        observer.doing(&format!("{}: {}", bed.name, bed.what));
        let entries = contender::entries(self.contenders, &bed, self.haul);
        let rounds = self.arguments.rounds.unwrap_or(bed.rounds);
        let mut result = race(&bed, &entries, rounds, self.interrupt, observer)?;
        if bed.under_pressure {
            self.measure_test_file(&bed, &entries, &mut result, observer)?;
        }
        Ok(result)
    }

    fn make_sweep(&self, recipe: &SweepRecipe, observer: &mut dyn Observer) -> Result<Sweep> {
        let call = sweep::Call {
            haul: self.haul,
            workplace: self.workplace,
            size: self.arguments.size(),
            rounds: self.arguments.rounds,
            interrupt: self.interrupt,
        };
        sweep(recipe, &call, observer)
    }

    fn make_table(&self, recipe: &TableRecipe, observer: &mut dyn Observer) -> Result<Table> {
        observer.doing(&format!("{}: {}", recipe.name, recipe.title));
        let call = seeds::Call {
            haul: self.haul,
            workplace: self.workplace,
            size: self.arguments.size(),
            interrupt: self.interrupt,
            simulated: (self.arguments.seeds.clone(), self.arguments.zoo_mib << 20),
        };
        (recipe.make)(recipe, &call, observer)
    }

    /// Runs once more with little memory, for the cached test file. Skipped on a machine without control groups.
    fn measure_test_file(
        &self,
        bed: &Bed,
        entries: &[contender::Entry],
        result: &mut BedResult,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        observer.doing(&format!("{}: with little memory", bed.name));
        let pressure = match Pressure::new(self.workplace) {
            Ok(pressure) => pressure,
            Err(error) => {
                observer.doing(&format!("{}: no cached test file, {error}", bed.name));
                return Ok(());
            }
        };
        for (entry, contender) in entries.iter().zip(&mut result.contenders) {
            let right = contender.runs.iter().all(|run: &Run| run.verdict == Verdict::Right);
            if !right || self.interrupt.is_set() {
                continue;
            }
            match pressure.test_file_left(bed, &entry.line, self.interrupt) {
                Ok(share) => contender.test_file_left = share,
                Err(_) if self.interrupt.is_set() => return Ok(()),
                // The races are still shown; the claim is then unknown.
                Err(error) => {
                    observer.doing(&format!("{}: {}: no cached test file, {error}", bed.name, contender.name))
                }
            }
        }
        Ok(())
    }
}

/// The selected measurements.
struct Chosen {
    beds: Vec<Recipe>,
    sweeps: Vec<SweepRecipe>,
    tables: Vec<TableRecipe>,
}

/// The beds and tables selected by the start of their name, in the order of measurement.
fn chosen(arguments: &Arguments) -> Result<Chosen> {
    let scenarios = &arguments.scenarios;
    let mut chosen = Chosen { beds: bed::recipes(), sweeps: sweep::recipes(), tables: tables() };
    let names: Vec<&str> = scenario_names().map(|(name, _)| name).collect();
    if let Some(wanted) = scenarios.iter().find(|wanted| !names.iter().any(|name| name.starts_with(wanted.as_str()))) {
        return Err(Error(format!("there is no scenario {wanted}; there are: {}", names.join(", "))));
    }
    let fits = |name: &str| scenarios.is_empty() || scenarios.iter().any(|wanted| name.starts_with(wanted.as_str()));
    // Takes hours, so it runs only on request.
    chosen
        .beds
        .retain(|recipe| fits(recipe.name) && !(scenarios.is_empty() && recipe.name.starts_with(unlike::PREFIX)));
    chosen.beds.iter_mut().for_each(|recipe| recipe.seed = arguments.seed);
    chosen.sweeps.retain(|recipe| fits(recipe.name));
    chosen.tables.retain(|recipe| fits(recipe.name));
    Ok(chosen)
}

/// Every table.
fn tables() -> Vec<TableRecipe> {
    seeds::recipes().into_iter().chain(known::recipes()).chain([zoo::recipe(), rescue::recipe()]).collect()
}

/// Name and title of every bed, sweep and table.
pub fn scenario_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let beds = bed::recipes().into_iter().map(|recipe| (recipe.name, recipe.title));
    let sweeps = sweep::recipes().into_iter().map(|recipe| (recipe.name, recipe.title));
    beds.chain(sweeps).chain(tables().into_iter().map(|recipe| (recipe.name, recipe.title)))
}

/// The contenders selected by a part of their name; always including haul, and the references of its options.
fn only(contenders: Vec<Contender>, wanted: &[String]) -> Vec<Contender> {
    let asked = |contender: &Contender| wanted.iter().any(|part| contender.name.contains(part.as_str()));
    let ours = |contender: &Contender| contender.needs.0 == "haul" && !contender.aside;
    contenders.into_iter().filter(|found| wanted.is_empty() || ours(found) || asked(found)).collect()
}

/// The program to measure.
fn program(arguments: &Arguments) -> Result<PathBuf> {
    let beside = || Ok::<_, Error>(std::env::current_exe()?.with_file_name("haul"));
    let path = arguments.haul.clone().map_or_else(beside, Ok)?;
    path.canonicalize().doing(format_args!("find the program to measure, {}", path.display()))
}

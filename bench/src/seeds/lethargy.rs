//! System impact: the effect of a copy on other contents of the page cache.
use super::{Call, TableRecipe, number, text};
use crate::bed::{self, Bed};
use crate::error::{Doing, Error, Result};
use crate::machine::uncache;
use crate::numbers::median;
use crate::pressure::Pressure;
use crate::process::{Line, run};
use crate::race::Observer;
use crate::result::Table;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Start times and cached shares.
pub(super) fn recipe() -> TableRecipe {
    TableRecipe {
        name: "seeds-lethargy",
        title: "System lethargy",
        what: "Gilbert 2001, fourth table: he started X by the clock on the wall. Here a program of a few MiB is \
               started again and again, and a file that was read before is looked at, before, during and after a \
               copy between two loop devices over tmpfs; all of it in a memory control group of 192 MiB, as the page \
               cache of his machine was small too.",
        make,
    }
}

fn make(recipe: &TableRecipe, call: &Call<'_>, observer: &mut dyn Observer) -> Result<Table> {
    let columns =
        ["copy", "start before", "start during", "start after", "file before", "file at its least", "file after"];
    let mut table = Call::table(recipe, &columns);
    let pressure = match Pressure::new(call.workplace) {
        Ok(pressure) => pressure,
        Err(error) => {
            observer.doing(&format!("{}: left out, {error}", recipe.name));
            return Ok(table);
        }
    };
    let ram = bed::recipe("ram")?;
    let bed = (ram.make)(&ram, call.workplace, call.size)?;
    let program = Program::new(call)?;
    let (source, dest) = (bed.source.path.display(), bed.dest.path.display());
    let lines = [
        ("nothing else", "sleep 1".to_owned()),
        ("dd bs=1M", format!("dd if={source} of={dest} bs=1M conv=fsync status=none")),
        ("dd bs=1M direct", format!("dd if={source} of={dest} bs=1M iflag=direct oflag=direct status=none")),
        ("haul", format!("{} {source} {dest}", call.copy())),
    ];
    for (name, line) in lines {
        observer.doing(&format!("{}: {name}", recipe.name));
        let seen = watch(&bed, &pressure, &program, &Line::words(&line), call)?;
        table.rows.push(vec![
            text(name),
            number(seen.before_s * 1000.0, "ms"),
            number(seen.during_s * 1000.0, "ms"),
            number(seen.after_s * 1000.0, "ms"),
            number(seen.file_before * 100.0, "%"),
            number(seen.file_least * 100.0, "%"),
            number(seen.file_after * 100.0, "%"),
        ]);
    }
    Ok(table)
}

/// A program that is not cached: a copy of this one.
struct Program(PathBuf);

impl Program {
    fn new(call: &Call<'_>) -> Result<Self> {
        let path = call.workplace.disk().join("program");
        std::fs::copy(std::env::current_exe()?, &path).doing("copy a program to start")?;
        uncache(&path)?;
        Ok(Self(path))
    }

    /// Seconds for one start and end of it, in the group.
    fn start_s(&self, pressure: &Pressure, call: &Call<'_>) -> Result<f64> {
        let line = Line::words(&format!("{} --list", self.0.display()));
        let ended = run(&line, Some(&pressure.procs()), call.interrupt)?;
        Ok(ended.wall.as_secs_f64())
    }
}

/// The measurements around one copy.
struct Seen {
    before_s: f64,
    during_s: f64,
    after_s: f64,
    file_before: f64,
    file_least: f64,
    file_after: f64,
}

fn watch(bed: &Bed, pressure: &Pressure, program: &Program, line: &Line, call: &Call<'_>) -> Result<Seen> {
    bed.reset()?;
    uncache(&program.0)?;
    pressure.warm(call.interrupt)?;
    // The first start reads it from the disk.
    program.start_s(pressure, call)?;
    let before = (0..5).map(|_| program.start_s(pressure, call)).collect::<Result<Vec<_>>>()?;
    let file_before = pressure.share()?;
    let mut during = Vec::new();
    let mut file_least = file_before;
    let copied = std::thread::scope(|scope| -> Result<_> {
        let copy = scope.spawn(|| run(line, Some(&pressure.procs()), call.interrupt));
        while !copy.is_finished() {
            let next = Instant::now() + Duration::from_millis(50);
            during.push(program.start_s(pressure, call)?);
            file_least = file_least.min(pressure.share()?);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        copy.join().unwrap_or_else(|_| Err(Error("the thread of a copy has panicked".into())))
    })?;
    if !copied.status.success() {
        return Err(Error(format!("`{}` failed: {}", line.text(), copied.how())));
    }
    let file_after = pressure.share()?;
    let after_s = program.start_s(pressure, call)?;
    Ok(Seen {
        before_s: median(before),
        during_s: median(during),
        after_s,
        file_before,
        file_least: file_least.min(file_after),
        file_after,
    })
}

//! `haul-bench`: see `docs/developer/measuring.md`.
use clap::Parser;
use haul_bench::cli::Arguments;
use haul_bench::error::Result;
use haul_bench::process::Interrupt;
use haul_bench::{announce, record, session};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("haul-bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.list {
        for (name, title) in session::scenario_names() {
            anstream::println!("{name:<16} {title}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &arguments.show {
        let results = record::read(path)?;
        return record::show(&results, path).map(|()| ExitCode::SUCCESS);
    }
    if arguments.hold {
        anstream::print!("{}", session::hold(arguments)?);
        return Ok(ExitCode::SUCCESS);
    }
    let interrupt = Interrupt::on_signals()?;
    let results = session::measure(arguments, &interrupt, &mut announce::Lines)?;
    let path = record::write(&results, &arguments.out)?;
    record::show(&results, &path)?;
    // The status of a shell after SIGINT.
    Ok(if results.interrupted { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

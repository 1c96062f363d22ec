//! One file per subcommand, each a recipe in a few lines: the only room that wires the others together.
//!
//! It must not know how anything is done: what is longer than a recipe belongs to the room it is about.
#![forbid(unsafe_code)]
mod also;
mod beside;
mod certify;
pub mod command_line;
mod consent;
mod copy;
mod digest_collector;
mod digested;
mod estimate;
pub mod fronts;
mod journal;
mod judged;
mod manifest;
mod mapfile;
pub mod measuring;
mod page;
pub mod pattern;
mod read_back;
mod saved;
mod session;
mod signals;
mod trailing;
mod undo;
mod verify;

use crate::core::{Error, Kind};
use crate::disks::probe;
use crate::report::{Out, json, list, text};
use command_line::Command;
use std::ffi::OsString;

/// How the process is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this status: 0 done and durable, or equal; 1 I/O failure, or different; 2 usage, 3 refused for safety.
    Status(u8),
    /// By this signal, as it would have without us.
    Signal(i32),
}

impl Exit {
    /// The status of a comparison that found a difference, as cmp(1) has it.
    pub const DIFFERENT: u8 = 1;

    /// The status of a run that went around what it could not read.
    pub const UNREAD: u8 = 1;
}

/// Does what the command line asks for; the first of `args` is the program's name.
pub fn run(args: Vec<OsString>) -> Exit {
    let out = Out;
    if let Some(exit) = fronts::named(&args, out) {
        return exit;
    }
    let words: Vec<String> = args.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match command_line::parse(args) {
        Ok(Command::Copy(options)) => copy::copy(&options, &words, out).unwrap_or_else(|error| failed(out, &error)),
        Ok(Command::Verify(options)) => {
            verify::verify(&options, &words, out).unwrap_or_else(|error| failed(out, &error))
        }
        Ok(Command::Pattern { act, options, run }) => {
            pattern::pattern(act, &options, run, &words, out).unwrap_or_else(|error| failed(out, &error))
        }
        Ok(Command::ExportJournal { journal, mapfile }) => {
            journal::export(&journal, &mapfile, out).unwrap_or_else(|error| failed(out, &error))
        }
        Ok(Command::ImportJournal { mapfile, options }) => {
            journal::import(&mapfile, &options, out).unwrap_or_else(|error| failed(out, &error))
        }
        Ok(Command::Tune(options)) => {
            measuring::tune::tune(&options, &words, out).unwrap_or_else(|error| failed(out, &error))
        }
        Ok(Command::Profile(options)) => {
            measuring::profile::profile(&options, &words, out).unwrap_or_else(|error| failed(out, &error))
        }
        Ok(Command::Manifest(asked)) => manifest::manifest(&asked, out).unwrap_or_else(|error| failed(out, &error)),
        Ok(Command::List { json }) => list_devices(json, out).unwrap_or_else(|error| failed(out, &error)),
        Ok(Command::Generate(artifact)) => {
            let bytes = fronts::manual(artifact).unwrap_or_else(|| command_line::generate::render(artifact));
            printed(out, &String::from_utf8_lossy(&bytes))
        }
        Err(error) if error.use_stderr() => {
            let verb = words.first().map(String::as_str).filter(|word| command_line::is_verb(word));
            out.tell(&text::usage(&error.render().to_string(), verb));
            Exit::Status(2)
        }
        Err(help) => printed(out, &help.render().ansi().to_string()),
    }
}

/// Dies by `signal` as if it had never been caught: a shell then knows that the copy did not finish.
pub fn die_by(signal: i32) {
    crate::files::remove_unfinished();
    // Returns only for signals whose default is to be ignored; the caller then exits with a status.
    signal_hook::low_level::emulate_default_handler(signal).ok();
}

fn failed(out: Out, error: &Error) -> Exit {
    out.tell(&text::error(error));
    Exit::Status(error.kind.exit_status())
}

fn printed(out: Out, text: &str) -> Exit {
    match out.print(text) {
        Ok(()) => Exit::Status(0),
        Err(error) => failed(out, &Error::new(Kind::Io, "cannot write to standard output").because(error)),
    }
}

fn list_devices(json: bool, out: Out) -> crate::core::Result<Exit> {
    let mut devices = probe::devices::devices()?;
    saved::recall_all(&mut devices, out);
    undo::find_all(&mut devices);
    let text = if json { json::text(&json::devices(&devices)) } else { list::human(&devices, out.columns()) };
    Ok(printed(out, &text))
}

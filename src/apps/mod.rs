//! One file per subcommand, each a recipe in a few lines: the only room that wires the others together.
//!
//! It must not know how anything is done: what is longer than a recipe belongs to the room it is about.
#![forbid(unsafe_code)]
pub mod command_line;
mod console;
mod copy;
mod exchange;
mod exit;
pub mod fronts;
mod manifest;
pub mod measuring;
mod page;
pub mod pattern;
mod signals;
mod told;
mod verify;

use crate::disks::probe;
use crate::job::{saved, undo};
use crate::report::{Out, json, list, text};
use command_line::Command;
pub use exit::{Exit, die_by};
use exit::{failed, printed};
use std::ffi::OsString;

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
            exchange::export_journal(&journal, &mapfile, out).unwrap_or_else(|error| failed(out, &error))
        }
        Ok(Command::ImportJournal { mapfile, options }) => {
            exchange::import_journal(&mapfile, &options, out).unwrap_or_else(|error| failed(out, &error))
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

fn list_devices(json: bool, out: Out) -> crate::core::Result<Exit> {
    let mut devices = probe::devices::devices()?;
    saved::recall_all(&mut devices, |warning| out.tell(&text::warning(warning)));
    undo::find_all(&mut devices);
    let text = if json { json::text(&json::devices(&devices)) } else { list::human(&devices, out.columns()) };
    Ok(printed(out, &text))
}

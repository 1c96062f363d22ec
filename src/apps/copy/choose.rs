//! The destination of a copy that names none: chosen on the terminal.
use crate::apps::console::chosen;
use crate::core::{Device, Error, Kind, Result, Side};
use crate::disks::probe;
use crate::job::{journal, undo};
use crate::plan::{Candidates, Expectation, Options, PassthroughMode, candidates};
use crate::report::{Out, text};

/// The same options and words, with the disk that was chosen as the destination. What it is when it is chosen is what
/// it must be when it is written to, and it is confirmed whatever was said of that.
///
/// # Errors
/// Usage where there is no terminal to ask on; Refused where there is nothing to choose, or nothing was chosen.
pub(super) fn dest(options: &Options, words: &[String], out: Out) -> Result<(Options, Vec<String>)> {
    if options.source == "-" {
        let what = "no destination is named, and none can be chosen: standard input is the source";
        return Err(Error::new(Kind::Usage, what).advise(NAME_IT));
    }
    let Some(ask) = chosen(out) else {
        let what = "no destination is named, and there is no terminal to choose one on";
        return Err(Error::new(Kind::Usage, what).advise(NAME_IT));
    };
    let source = probe::one_through(&options.source, Side::Source, options.passthrough.may(Side::Source))?;
    let (mut devices, _) = probe::devices::devices()?;
    undo::find_all(&mut devices);
    journal::find_all(&mut devices);
    let Candidates { offered, others } = candidates(options, &source, devices);
    if offered.is_empty() {
        out.eprint(&text::not_offered(&others, out.columns()));
        let advice = "Connect a disk and run this again, or name the destination. --choose all offers fixed disks, \
                      too, and --choose-max SIZE larger ones.";
        return Err(Error::new(Kind::Refused, "there is no disk that could be the destination").advise(advice));
    }
    let answer = ask(&text::choose(&options.source, source.size, &offered, &others, out.columns()))?;
    let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let Some(device) = number.and_then(|number| offered.get(number)) else {
        return Err(Error::new(Kind::Refused, "stopped: no disk was chosen, and nothing was written"));
    };
    let dest = device.path.to_string_lossy().into_owned();
    let words = [words, std::slice::from_ref(&dest)].concat();
    let expect = [options.expect.clone(), identity(device, options)].concat();
    Ok((Options { dest, expect, yes: false, ..options.clone() }, words))
}

const NAME_IT: &str = "Name it behind the source: haul copy SRC DST. haul list shows the disks.";

/// What makes sure that no other disk has come under its name.
fn identity(device: &Device, options: &Options) -> Vec<Expectation> {
    let size = Expectation::Size(device.size);
    if let Some(sequence) = device.disk_sequence {
        return vec![size, Expectation::Sequence(sequence)];
    }
    // By its own commands a disk may say who it is in other words.
    if options.passthrough != PassthroughMode::AsNamed {
        return vec![size];
    }
    let who = device.identity.clone();
    let serial = who.serial.map(Expectation::Serial);
    let model = who.model.map(Expectation::Model);
    [Some(size), serial, model, who.wwn.map(Expectation::Wwn)].into_iter().flatten().collect()
}

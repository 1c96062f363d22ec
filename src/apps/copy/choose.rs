//! Asks on the terminal for the destination of a copy that names none.
use crate::apps::console::chosen;
use crate::core::{Device, Error, Kind, Result, Side};
use crate::disks::probe;
use crate::job::{journal, undo};
use crate::plan::{Candidates, Expectation, Options, PassthroughMode, candidates};
use crate::report::{Out, text};

/// The same options and arguments, with the chosen disk as the destination. Opening checks that the disk is
/// still the same, and haul asks for confirmation even with --yes.
///
/// # Errors
/// Usage if there is no terminal to ask on; Refused if there is no disk to choose, or none was chosen.
pub(super) fn dest(options: &Options, words: &[String], out: Out) -> Result<(Options, Vec<String>)> {
    if options.source == "-" {
        let what = "no destination is given, and none can be chosen: standard input is the source";
        return Err(Error::new(Kind::Usage, what).advise(NAME_IT));
    }
    let Some(ask) = chosen(out) else {
        let what = "no destination is given, and there is no terminal to choose one on";
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
        return Err(Error::new(Kind::Refused, "no disk is available as the destination").advise(advice));
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

const NAME_IT: &str = "Give it after the source: haul copy SRC DST. 'haul list' shows the disks.";

/// Identifies the device, so that another disk that got its name is refused.
fn identity(device: &Device, options: &Options) -> Vec<Expectation> {
    let size = Expectation::Size(device.size);
    if let Some(sequence) = device.disk_sequence {
        return vec![size, Expectation::Sequence(sequence)];
    }
    // A disk may report its identity in another form to passthrough commands.
    if options.passthrough != PassthroughMode::AsNamed {
        return vec![size];
    }
    let who = device.identity.clone();
    let serial = who.serial.map(Expectation::Serial);
    let model = who.model.map(Expectation::Model);
    [Some(size), serial, model, who.wwn.map(Expectation::Wwn)].into_iter().flatten().collect()
}

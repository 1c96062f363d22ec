//! Removes options from a case that would only be refused.
use super::case::{By, Case, Dest, Source, Verb, Words};
use super::draw::{NAMES, chance, offset, one_of};
use fastrand::Rng;

/// Usually removes options that would only be refused, and slows down copies to be interrupted.
pub fn make_sense(rng: &mut Rng, case: &mut Case) {
    // Files used as dests have distinct names, even if there are several.
    let mut taken = Vec::new();
    for dest in &mut case.dests {
        if let Dest::File { name, .. } = dest {
            if taken.contains(name) {
                *name = NAMES.into_iter().find(|name| !taken.contains(name)).expect("there are four");
            }
            taken.push(name);
        }
    }
    let single = |kind: fn(&Dest) -> bool, dests: &mut Vec<Dest>| {
        let mut seen = 0;
        dests.retain(|dest| {
            !kind(dest) || {
                seen += 1;
                seen == 1
            }
        });
    };
    for kind in [is_standard_output, |dest: &Dest| *dest == Dest::Fifo, |dest: &Dest| *dest == Dest::Same] {
        single(kind, &mut case.dests);
    }
    for kind in [|dest: &Dest| matches!(dest, Dest::Small { .. }), |dest: &Dest| matches!(dest, Dest::Failing { .. })] {
        single(kind, &mut case.dests);
    }
    if case.dests.contains(&Dest::Same) {
        case.source = Source::File { by: By::Name, holes: false };
    }
    if chance(rng, 95) {
        mend(rng, case);
    }
    if matches!(case.verb, Verb::Dd(_)) {
        // An endless source of dd never ends; and data from a pipe is lost after a short read.
        case.count = case.count.or((case.source == Source::Zero).then_some(case.len as u64));
        if case.dests[0] != Dest::Null && !matches!(case.dests[0], Dest::File { .. } | Dest::Loop { .. }) {
            drop_options(case, &["oflag"]);
        }
    }
    if case.source == Source::Zero && case.count.is_none() {
        case.count = Some(case.len.max(1) as u64);
    }
    let slow = case.signals().iter().any(|sent| sent.signal != libc::SIGUSR1) && chance(rng, 70);
    if case.verb == Verb::Copy && slow {
        let rate = one_of(rng, &["3M", "10M", "40M"]);
        case.options.push(["--limit", rate].map(str::to_owned).to_vec());
    }
}

/// Whether it is written as `-`.
fn is_standard_output(dest: &Dest) -> bool {
    matches!(dest, Dest::Pipe { .. } | Dest::Redirected)
}

/// Removes these options, with their values.
pub fn drop_options(case: &mut Case, names: &[&str]) {
    let is_one =
        |words: &Words| names.iter().any(|name| words[0] == *name || words[0].starts_with(&format!("{name}=")));
    case.options.retain(|words| !is_one(words));
}

/// Removes options that exclude each other.
fn mend(rng: &mut Rng, case: &mut Case) {
    case.is_mended = true;
    let has_no_places = matches!(case.source, Source::Pipe { .. } | Source::Fifo | Source::Redirected);
    if has_no_places {
        case.skip = None;
        drop_options(case, &["--mapfile", "--on-error", "--resume"]);
    }
    if matches!(case.source, Source::Zero) {
        case.count = case.count.or_else(|| Some(offset(rng, case.len as u64)));
        drop_options(case, &["--mapfile", "--on-error"]);
    }
    if case.count == Some(0) && !matches!(case.verb, Verb::Dd(_)) {
        case.count = (case.source == Source::Zero).then_some(513);
    }
    let is_stream = |dest: &Dest| is_standard_output(dest) || matches!(dest, Dest::Fifo | Dest::Null | Dest::Full);
    if has_no_places || case.source == Source::Zero || case.dests.len() < 2 {
        drop_options(case, &["--independent"]);
    }
    if case.len == 0 {
        drop_options(case, &["--journal"]);
    }
    let to_stream = case.dests.iter().any(is_stream);
    if to_stream {
        case.seek = None;
        drop_options(case, &["--delta", "--verify", "--mapfile", "--sparse"]);
    }
    if to_stream || has_no_places || case.source == Source::Zero || case.dests.len() > 1 || case.has("--no-flush") {
        drop_options(case, &["--journal"]);
    }
    if case.dests.len() > 1 {
        drop_options(case, &["--mapfile", "--delta", "--sparse", "--reflink"]);
    }
    if case.has("--no-journal") {
        drop_options(case, &["--checkpoint"]);
    }
    if case.has("--no-flush") {
        drop_options(case, &["--verify"]);
    }
    if case.dests.iter().any(is_standard_output) {
        drop_options(case, &["--json"]);
    }
    if case.value("--engine") == Some("sync") {
        drop_options(case, &["--depth"]);
    }
    if matches!(case.value("--block-size"), Some("0" | "1")) || case.value("--manifest-block") == Some("1000") {
        drop_options(case, &["--block-size", "--manifest-block"]);
    }
    if case.has("--resume") && case.has("--restart") {
        drop_options(case, &["--resume"]);
    }
    if case.value("--block-size").is_some_and(|size| !size.ends_with('K') && size != "4096" && size != "1M") {
        drop_options(case, &["--direct"]);
    }
    if matches!(case.dests[0], Dest::Loop { more } if more < 0) && chance(rng, 80) {
        case.dests[0] = Dest::Loop { more: 0 };
    }
}

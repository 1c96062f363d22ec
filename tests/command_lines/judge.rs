//! Checks how a command ended: its bytes, its messages, and every file around it, without using code of haul.
use super::case::{Case, Dest, Source, Verb};
use super::claims;
use super::expected;
use super::lists::of_copy;
use super::run::Ended;
use super::scene::Scene;
use super::snapshot::Snapshot;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns this error unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($holds:expr, $($messages:tt)+) => {
        if !$holds {
            return Err(format!($($messages)+));
        }
    };
}

/// The observations about one command.
pub struct Seen<'a> {
    pub case: &'a Case,
    pub scene: &'a Scene,
    pub before: &'a Snapshot,
    pub after: &'a Snapshot,
    pub ended: &'a Ended,
    /// The options of the command, which may differ from those of the case.
    pub options: &'a [Vec<String>],
    /// It continues or replaces an earlier copy, whose files may be removed.
    pub follows: bool,
}

/// Words that haul never prints.
const NEVER_SAID: [&str; 6] =
    ["panicked", "engine failed", "RUST_BACKTRACE", "internal error", "held back", "unreachable"];

/// Checks that apply to every command.
pub fn judge(seen: &Seen<'_>) -> Result<(), String> {
    end(seen)?;
    let reports = reports(seen)?;
    bystanders(seen)?;
    match seen.case.verb {
        Verb::Copy => {
            expected::copied(seen)?;
            claims::hold(seen, &reports)
        }
        Verb::Verify => expected::verified(seen, &reports),
        Verb::Dd(name) => expected::moved(seen, name),
        // haul pattern check checks what it wrote, and a flipped bit checks haul pattern check.
        Verb::Pattern => Ok(()),
    }
}

impl Seen<'_> {
    /// Whether an option was given.
    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// Its value, or an empty string.
    pub fn value(&self, name: &str) -> Option<&str> {
        let is_it = |words: &&Vec<String>| words[0] == name || words[0].starts_with(&format!("{name}="));
        let words = self.options.iter().find(is_it)?;
        Some(words.get(1).map_or_else(|| words[0].split_once('=').map_or("", |(_, value)| value), String::as_str))
    }

    /// Whether it was killed, or received two signals: there may be no report, and temporary files may remain.
    pub fn at_once(&self) -> bool {
        self.ended.signal == Some(libc::SIGKILL) || self.ending_signals() > 1
    }

    /// The number of signals that it received and that end it.
    pub fn ending_signals(&self) -> usize {
        self.ended.sent.iter().filter(|signal| **signal != libc::SIGUSR1).count()
    }

    /// Whether it was refused before it began.
    pub fn is_refused(&self) -> bool {
        matches!(self.ended.code, Some(2 | 3))
    }
}

/// Checks that it ended by a documented status, or by a signal that was sent.
fn end(seen: &Seen<'_>) -> Result<(), String> {
    let Ended { code, signal, hung, stderr, sent, .. } = seen.ended;
    ensure!(!hung, "it hangs: it was killed after a long time");
    for words in NEVER_SAID {
        ensure!(!stderr.contains(words), "it prints {words:?}");
    }
    let reader_goes = seen.case.dests.iter().any(|dest| matches!(dest, Dest::Pipe { closes_after: Some(_) }));
    match (code, signal) {
        (Some(0..=3), None) => Ok(()),
        (None, Some(signal)) if sent.contains(signal) => Ok(()),
        (None, Some(libc::SIGPIPE)) if reader_goes => Ok(()),
        // Like dd.
        (None, Some(libc::SIGXFSZ)) if matches!(seen.case.verb, Verb::Dd(_)) => Ok(()),
        (Some(code), None) if matches!(seen.case.verb, Verb::Dd(name) if name != "dd") && *code < 100 => Ok(()),
        _ => Err(format!("status {code:?}, signal {signal:?}; {sent:?} were sent")),
    }
}

/// All its JSON output, which must be valid: documents on standard output, lines on standard error.
fn reports(seen: &Seen<'_>) -> Result<Vec<Value>, String> {
    let mut found = Vec::new();
    let Ended { stdout, stderr, code, .. } = seen.ended;
    if matches!(seen.case.verb, Verb::Dd(_)) {
        return Ok(found);
    }
    // Before it handles signals it prints nothing; nor after a second signal.
    let is_early = seen.has("--dry-run") && !seen.ended.sent.is_empty()
        || seen.case.signals().iter().any(|sent| !sent.when_ready)
        || seen.at_once();
    if seen.has("--json") && *code != Some(2) {
        for document in serde_json::Deserializer::from_slice(stdout).into_iter::<Value>() {
            found.push(document.map_err(|error| format!("what --json prints is no JSON: {error}"))?);
        }
        ensure!(!found.is_empty() || is_early, "--json printed nothing");
    }
    if seen.value("--progress") == Some("json") && *code != Some(2) {
        let mut last = None;
        for line in stderr.lines() {
            let value: Result<Value, _> = serde_json::from_str(line);
            last = Some(value.map_err(|error| format!("a line of --progress json is no JSON: {error}: {line}"))?);
        }
        let summary = last.filter(|last| last["type"] == "summary");
        ensure!(summary.is_some() || is_early || seen.has("--dry-run"), "the last line is no summary");
        found.extend(summary);
    }
    for report in &found {
        ensure!(report["schema"] == 1, "a report without schema");
    }
    Ok(found)
}

/// Names of files that this command may create.
fn may_be_made(seen: &Seen<'_>) -> Vec<PathBuf> {
    let Scene { place, state, dests, .. } = seen.scene;
    let mut names: Vec<PathBuf> = dests.iter().filter_map(|dest| dest.file.clone()).collect();
    if seen.has("--dry-run") || seen.case.verb == Verb::Verify {
        return Vec::new();
    }
    if seen.is_refused() {
        // The directory in which it checked whether a journal could be created.
        return vec![state.join("haul")];
    }
    if seen.case.verb == Verb::Copy {
        let named = ["--manifest", "--mapfile", "--journal", "--report"];
        names.extend(named.iter().filter_map(|option| seen.value(option)).map(|name| place.join(name)));
        if seen.ended.code != Some(0) {
            names.extend(dests.iter().filter_map(|dest| claims::default_journal(dest.named.as_ref()?)));
            names.push(state.clone());
        }
        names.push(state.join("haul"));
    }
    names
}

/// Checks that unrelated files are unchanged, and that no unexpected file exists.
fn bystanders(seen: &Seen<'_>) -> Result<(), String> {
    let Seen { scene, before, after, .. } = *seen;
    let written: Vec<(u64, u64)> = written_inodes(seen);
    let may_be_made = may_be_made(seen);
    let is_journal = |path: &Path| path.to_string_lossy().contains("journal");
    for (path, was) in before {
        let Some(is) = after.get(path) else {
            ensure!(seen.follows && is_journal(path), "{} was removed", path.display());
            continue;
        };
        if written.contains(&was.inode) {
            let same = (was.inode, was.mode, was.owner, was.links) == (is.inode, is.mode, is.owner, is.links);
            ensure!(same, "dest {}: {}", path.display(), was.difference(is));
        } else if was != is {
            let is_own = seen.follows && (may_be_made.contains(path) || is_journal(path));
            let is_page = seen.value("--report").is_some_and(|name| scene.place.join(name) == *path)
                && (was.size == 0 || was.content.starts_with(b"<!DOCTYPE html>"));
            ensure!(is_own || is_page, "{} is another: {}", path.display(), was.difference(is));
        }
    }
    for (path, is) in after.iter().filter(|(path, _)| !before.contains_key(*path)) {
        let unfinished = path.to_string_lossy().ends_with(".haul-new") && seen.ended.signal == Some(libc::SIGKILL);
        let in_state = seen.ended.code != Some(0) && path.starts_with(scene.state.join("haul"));
        let may = may_be_made.contains(path) || unfinished || in_state && !seen.is_refused();
        ensure!(may, "{} was not there before: {} bytes, mode {:o}", path.display(), is.size, is.mode);
    }
    Ok(())
}

/// The files that may be written to.
fn written_inodes(seen: &Seen<'_>) -> Vec<(u64, u64)> {
    let prints = |dest: &Dest| *dest == Dest::Redirected && seen.has("--dry-run");
    if !seen.case.dests.iter().any(prints)
        && (seen.is_refused() || seen.has("--dry-run") || seen.case.verb == Verb::Verify)
    {
        return Vec::new();
    }
    let dests = seen.scene.dests.iter().zip(&seen.case.dests).enumerate();
    let path = |(number, (place, dest)): (usize, (&super::scene::Place, &Dest))| match dest {
        Dest::Loop { .. } | Dest::Failing { .. } => Some(seen.scene.backing(number)),
        _ => place.file.clone(),
    };
    dests.filter_map(path).filter_map(|path| seen.before.get(&path).map(|entry| entry.inode)).collect()
}

/// The unreadable ranges of the copy, in whole pages.
pub fn bad(case: &Case) -> Vec<std::ops::Range<u64>> {
    let Source::Failing { bad, .. } = &case.source else { return Vec::new() };
    if let Some(list) = &case.lists.of_side[0] {
        let of_copy = |bad: &std::ops::Range<u64>| of_copy(list, bad.start as usize..bad.end as usize);
        return bad.iter().flat_map(of_copy).map(|bad| bad.start as u64..bad.end as u64).collect();
    }
    let skip = case.skip.unwrap_or(0);
    bad.iter().map(|bad| bad.start.saturating_sub(skip)..bad.end.saturating_sub(skip)).collect()
}

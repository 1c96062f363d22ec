//! Runs a case: its command, and the commands that continue an unfinished copy.
use super::case::{Case, Dest, Fault, Sent, Source, Then, Verb, Words};
use super::claims::{durable, journals};
use super::command::{shown, words};
use super::expected;
use super::judge::{Seen, judge};
use super::run::{Asked, Ended};
use super::scene::Scene;
use super::snapshot::Snapshot;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The result of a case that this machine cannot run.
pub const NOT_HERE: &str = "not to be had here";

/// Runs the case; returns how its first command ended, or the error.
pub fn run(program: &[PathBuf], case: &Case) -> Result<String, String> {
    let Some(scene) = Scene::new(case) else { return Ok(NOT_HERE.to_owned()) };
    let mut chain = Chain { program, case, scene: &scene, reported: Vec::new() };
    let result = chain.all();
    result.map_err(|error| format!("{error}\n  {}\n{case}", chain.reported.join("\n  ")))
}

/// Maximum length of a printed message line.
const LINE_CHARS: usize = 600;

/// A case in progress.
pub struct Chain<'a> {
    pub program: &'a [PathBuf],
    pub case: &'a Case,
    pub scene: &'a Scene,
    /// The commands so far, and their messages.
    pub reported: Vec<String>,
}

/// A command that was run and checked.
struct Step {
    ended: Ended,
    after: Snapshot,
    /// There are journals, which claim this many bytes.
    claimed: Option<u64>,
}

impl Chain<'_> {
    fn all(&mut self) -> Result<String, String> {
        let case = self.case;
        let first = self.step(&words(case, self.scene, &case.options), &case.options, case.fault.as_ref(), false)?;
        let is_fine = is_fine(case);
        let Ended { code, signal, sent, .. } = &first.ended;
        let reported = if is_fine { "fine" } else { "odd" };
        if is_fine && !matches!(case.fault, Some(Fault::FileSize(_))) {
            crate::ensure!(
                *code == Some(0) || signal.is_some() && !sent.is_empty(),
                "nothing is wrong with it, and it ended with {code:?}, {signal:?}"
            );
        }
        if *code == Some(0) {
            self.look_again()?;
        }
        let is_unfinished = *code == Some(1) || signal.is_some();
        if case.verb == Verb::Copy && is_fine && is_unfinished && can_follow(case) {
            self.follow(first)?;
            return Ok(format!("{reported}: unfinished, and continued: {:?}", case.then));
        }
        Ok(match (code, signal) {
            (Some(code), _) => format!("{reported}: {:?}, status {code}", case.verb),
            (_, signal) => format!("{reported}: {:?}, signal {signal:?}", case.verb),
        })
    }

    /// Runs one command and checks it.
    fn step(
        &mut self,
        words: &[String],
        options: &[Words],
        fault: Option<&Fault>,
        follows: bool,
    ) -> Result<Step, String> {
        let (case, scene) = (self.case, self.scene);
        let before = scene.look();
        self.reported.push(format!("haul {}", shown(words)));
        let asked = Asked { program: self.program, words, fault, feed_all: follows };
        let ended = super::run::run(&asked, scene, case);
        let messages: Vec<String> = ended.stderr.lines().map(|line| line.chars().take(LINE_CHARS).collect()).collect();
        let messages = messages.join("\n      ");
        let end = format!("{:?}, {:?}; sent {:?}", ended.code, ended.signal, ended.sent);
        self.reported.push(format!("    {end}; messages:\n      {messages}"));
        scene.wait_until_free();
        let after = scene.look();
        let seen = Seen { case, scene, before: &before, after: &after, ended: &ended, options, follows };
        judge(&seen)?;
        let mut claimed = None;
        for (path, _) in journals(case, &seen) {
            let bytes: u64 = durable(&path, seen.at_once())?.iter().map(|(_, len)| len).sum();
            *claimed.get_or_insert(0) += bytes;
        }
        Ok(Step { ended, after, claimed })
    }

    /// Continues an unfinished copy, as the case requires, until it is complete.
    fn follow(&mut self, first: Step) -> Result<(), String> {
        let case = self.case;
        let plain = rest_of_options(case, self.scene);
        let is_resumable = !case.has("--no-journal");
        if first.claimed.is_some_and(|bytes| bytes > 0) {
            let step = self.step(&words(case, self.scene, &plain), &plain, None, true)?;
            let same = step.after == first.after;
            crate::ensure!(step.ended.code == Some(3) && same, "an unfinished copy waits, and it was not refused");
        }
        let with = |option: &str| [plain.clone(), vec![vec![option.to_owned()]]].concat();
        let resumed = with("--resume");
        let resume = if is_resumable && first.claimed.is_some() { resumed.clone() } else { plain.clone() };
        match case.then {
            Then::PrintedCommand => {
                let lines = printed_commands(&first.ended);
                if !lines.is_empty() {
                    return self.paste(&lines);
                }
            }
            Then::ResumeAgain(moments) if first.claimed.is_some() => {
                for after_us in moments {
                    let kill = Sent { signal: libc::SIGKILL, when_ready: true, after_us };
                    let options = if self.is_waiting() { resumed.clone() } else { plain.clone() };
                    let words = words(case, self.scene, &options);
                    self.step(&words, &options, Some(&Fault::Signals(vec![kill])), true)?;
                }
                let options = if self.is_waiting() { resumed.clone() } else { plain.clone() };
                return self.finish(&options);
            }
            Then::Restart => return self.finish(&with("--restart")),
            _ => {}
        }
        self.finish(&resume)
    }

    /// Whether there is a journal.
    fn is_waiting(&self) -> bool {
        let here = |directory: &Path| {
            std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name())
        };
        let names = here(&self.scene.place).chain(here(&self.scene.state.join("haul")));
        let journal = self.case.value("--journal");
        names
            .filter_map(|name| name.into_string().ok())
            .any(|name| name.ends_with(".haul-journal") || name.ends_with(".journal") || journal == Some(name.as_str()))
    }

    fn finish(&mut self, options: &[Words]) -> Result<(), String> {
        let words = words(self.case, self.scene, options);
        let step = self.step(&words, options, None, true)?;
        crate::ensure!(step.ended.code == Some(0), "it does not get to its end: {:?}", step.ended.code);
        crate::ensure!(step.claimed.is_none(), "a journal is left of a complete copy");
        Ok(())
    }

    /// Runs the commands that haul printed, as users do.
    fn paste(&mut self, lines: &[String]) -> Result<(), String> {
        // Control characters in messages are escaped in a form that not every shell supports.
        let shell =
            if self.case.has("--json") || self.case.value("--progress") == Some("json") { "sh" } else { "bash" };
        let mut stderr = String::new();
        for line in lines {
            self.reported.push(format!("$ {line}"));
            let output = std::process::Command::new(shell)
                .args(["-c", &without_limit(line)])
                .current_dir(&self.scene.place)
                .env("PATH", crate::support::with_haul_in_path())
                .env("XDG_STATE_HOME", &self.scene.state)
                .stdin(std::process::Stdio::null())
                .output()
                .expect("a shell is installed");
            stderr += &String::from_utf8_lossy(&output.stderr);
            crate::ensure!(output.status.success(), "the printed command ends with {}: {stderr}", output.status);
        }
        let now = self.scene.look();
        let (stdout, fifo) = (Vec::new(), Vec::new());
        let ended = Ended { code: Some(0), signal: None, hung: false, stdout, fifo, stderr, sent: Vec::new() };
        let (case, scene) = (self.case, self.scene);
        let seen = Seen { case, scene, before: &now, after: &now, ended: &ended, options: &[], follows: true };
        expected::copied(&seen)
    }
}

/// The options of the continued copy: without limits, and without files that already exist.
fn rest_of_options(case: &Case, scene: &Scene) -> Vec<Words> {
    let is_there = |name: &str| scene.place.join(name).symlink_metadata().is_ok();
    let stays = |words: &&Words| {
        let is_file = ["--mapfile", "--manifest"].contains(&words[0].as_str());
        let goes = ["--limit", "--resume", "--restart"].contains(&words[0].as_str());
        !(goes || is_file && is_there(&words[1]))
    };
    case.options.iter().filter(stays).cloned().collect()
}

/// The printed commands that continue the copy: one, or one for each dest.
fn printed_commands(ended: &Ended) -> Vec<String> {
    let of = |report: &Value| Some(report["continue_command"].as_str()?.to_owned());
    let document = serde_json::from_slice::<Value>(&ended.stdout).ok();
    let line = |line: &str| serde_json::from_str::<Value>(line).ok();
    let report = document.or_else(|| ended.stderr.lines().filter_map(line).find(|line| line["type"] == "summary"));
    if let Some(report) = report {
        let dests = report["dests"].as_array().map(Vec::as_slice).unwrap_or_default();
        let each: Vec<String> = dests.iter().filter_map(of).collect();
        return if each.is_empty() { of(&report).into_iter().collect() } else { each };
    }
    let command = |line: &str| line.trim_start().starts_with("haul copy").then(|| line.trim().to_owned());
    ended.stderr.lines().filter_map(command).collect()
}

/// The same copy without a rate limit.
fn without_limit(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    if let Some(at) = words.iter().position(|word| *word == "--limit") {
        words.drain(at..at + 2);
    }
    words.join(" ")
}

/// Whether the source is still available, and the dest keeps its data.
fn can_follow(case: &Case) -> bool {
    let again = matches!(case.source, Source::File { .. } | Source::Loop | Source::Zero);
    let keeps = |dest: &Dest| matches!(dest, Dest::File { .. } | Dest::Loop { .. });
    // If both are one file, copied data is the source of the rest.
    again && case.dests.iter().all(keeps)
}

/// Whether its arguments and sides are valid: without faults and signals, it must succeed.
pub fn is_fine(case: &Case) -> bool {
    let len = match case.source {
        Source::Zero => u64::MAX,
        Source::Loop => case.len.next_multiple_of(512).max(4096) as u64,
        _ => case.len as u64,
    };
    let is_stream = matches!(case.source, Source::Pipe { .. } | Source::Fifo | Source::Redirected);
    let left = len.checked_sub(case.skip.unwrap_or(0));
    let count = case.listed_bytes().filter(|_| case.lists.of_side[0].is_none()).map(|bytes| bytes as u64);
    let count = count.or(case.count);
    let range = left.is_some_and(|left| count.is_none_or(|count| count <= left));
    let source = match case.source {
        Source::Failing { .. } => false,
        Source::Zero => count.is_some(),
        _ => !is_stream || case.skip.is_none(),
    };
    let dests = case.dests.iter().all(|dest| match dest {
        Dest::File { .. } => true,
        Dest::Pipe { closes_after: None } | Dest::Redirected | Dest::Fifo | Dest::Null => true,
        Dest::Loop { more } => *more >= 0 && (!is_stream || count.is_some()),
        _ => false,
    });
    // A block begins at the same offset within a page of each dest.
    let first = case.places(1, case.len).first().map_or(0, |place| place.0);
    let together = case.dests.len() < 2 || first.is_multiple_of(4096);
    range && source && dests && together && options_are_fine(case)
}

fn options_are_fine(case: &Case) -> bool {
    let others = ["bystander", "src", "dst", "bystander-link", "fifo"];
    let files = ["--manifest", "--mapfile", "--journal", "--report"];
    let own = files.iter().all(|option| case.value(option).is_none_or(|name| !others.contains(&name)));
    let odd = ["--resume", "--dry-run", "--reflink"].iter().any(|option| case.has(option));
    let block = case.value("--block-size").is_none_or(|size| !["0", "1", "512", "100000", "3s"].contains(&size));
    let direct = case.value("--direct") == Some("always");
    case.verb == Verb::Copy && case.is_mended && own && !odd && block && !direct && case.has("--yes")
}

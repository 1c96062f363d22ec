//! The guests of the laboratory: scripts that need the same disks and the same clock share one boot, each as a
//! separate process (`lab/several.sh`), and each test checks the findings of its script.
//!
//! The first test that needs findings starts all guests whose scripts this test run needs, the longest first, with
//! one guest per processor. Guests of virtual time run in addition, at the lowest priority: they use the time left
//! by the others, and their clock does not depend on how slow they are. A script that fails, ends early or hangs
//! fails only its test; a guest that dies fails those whose results are missing, with its console.
use crate::guest_table::GUESTS;
pub use crate::guest_table::Guest;
use crate::support::{
    Findings, ScratchDir, Slot, example, launcher, patient_launcher, release_binary, without_io_uring, words_for,
};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Seconds without output of a guest after which it is ended. The guest should end a hanging script first.
const GUEST_SILENCE_S: u64 = 900;

/// The result of a script, reported by its guest.
#[derive(Clone, Default)]
pub struct ProofReport {
    /// The output of the script.
    pub messages: String,
    /// The error, without its failed checks. Empty for a script that completed.
    pub wrong: String,
    /// For a script that has ended: its duration by the guest's clock, in milliseconds.
    took_ms: Option<u64>,
}

/// The results of all guests, by the command line of the script.
#[derive(Default)]
struct Board {
    reported: Mutex<BTreeMap<&'static str, ProofReport>>,
    changed: Condvar,
}

impl Board {
    fn put(&self, proof: &'static str, reported: ProofReport) {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).insert(proof, reported);
        self.changed.notify_all();
    }

    fn wait_for(&self, proof: &str) -> ProofReport {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match reported.get(proof) {
                Some(reported) => return reported.clone(),
                None => reported = self.changed.wait(reported).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// Whether this test run includes the test of that name, by the arguments of libtest. A wrong answer costs a boot or
/// a script, but no finding.
fn is_selected(test: &str) -> bool {
    let (mut wanted, mut skipped, mut exact) = (Vec::new(), Vec::new(), false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--exact" => exact = true,
            "--skip" => skipped.extend(words.next()),
            "--test-threads" | "--color" | "--format" | "--logfile" | "--shuffle-seed" | "-Z" => drop(words.next()),
            option if option.starts_with("--skip=") => skipped.push(option["--skip=".len()..].to_owned()),
            option if option.starts_with('-') => {}
            _ => wanted.push(word),
        }
    }
    let is_one_of = |words: &[String]| words.iter().any(|word| if exact { test == word } else { test.contains(word) });
    (wanted.is_empty() || is_one_of(&wanted)) && !is_one_of(&skipped)
}

/// The results, after the guests of this run were started.
fn board() -> &'static Board {
    static BOARD: OnceLock<Board> = OnceLock::new();
    static STARTED: OnceLock<()> = OnceLock::new();
    let board = BOARD.get_or_init(Board::default);
    STARTED.get_or_init(|| {
        let asked_for = |guest: &'static Guest| {
            let proofs = guest.proofs.iter().filter(|(test, _)| is_selected(test));
            let proofs: Vec<&'static str> = proofs.map(|(_, proof)| *proof).collect();
            (!proofs.is_empty()).then_some((guest, proofs))
        };
        let guests = GUESTS.iter().filter_map(asked_for);
        let (patient, hurried): (Vec<_>, Vec<_>) = guests.partition(|(guest, _)| guest.is_patient());
        Slot::announce(hurried.len());
        let run = move |guest: &Guest, proofs: &[_]| guest.run(proofs, |proof, reported| board.put(proof, reported));
        for (guest, proofs) in patient {
            drop(thread::spawn(move || run(guest, &proofs)));
        }
        drop(thread::spawn(move || {
            for (guest, proofs) in hurried {
                // In the order of the table.
                let slot = Slot::take_announced();
                thread::spawn(move || {
                    run(guest, &proofs);
                    drop(slot);
                });
            }
        }));
    });
    board
}

/// A slot for a short guest of a single test, after those of the table.
pub fn slot_for_a_short_one() -> Slot {
    board();
    Slot::take()
}

/// The findings of that script.
#[track_caller]
pub fn findings(proof: &'static str) -> Findings {
    let reported = reported(proof);
    assert!(reported.wrong.is_empty(), "{proof}: {}\nIts output:\n{}", reported.wrong, reported.messages);
    Findings::in_words(proof, &reported.messages)
}

/// The result of that script.
#[track_caller]
pub fn reported(proof: &'static str) -> ProofReport {
    let asks = |guest: &&Guest| guest.proofs.iter().any(|(_, words)| *words == proof);
    let guest = GUESTS.iter().find(asks).unwrap_or_else(|| panic!("no guest has {proof}"));
    let (test, _) = guest.proofs.iter().find(|(_, words)| *words == proof).expect("it was just found");
    // With one thread for all tests, its name is main.
    let name = thread::current().name().unwrap_or("main").to_owned();
    assert!(name == "main" || name == *test, "the table of guests has {test} for {proof}");
    if is_selected(test) {
        return board().wait_for(proof);
    }
    let mut alone = ProofReport::default();
    let slot = Slot::take();
    guest.run(&[proof], |_, reported| alone = reported);
    drop(slot);
    alone
}

impl Guest {
    /// Boots it and runs these scripts; the result of each is passed on as soon as it ends. It prints the duration
    /// of each.
    pub fn run(&self, proofs: &[&'static str], mut hand_out: impl FnMut(&'static str, ProofReport)) {
        if self.is_quiet {
            return proofs.iter().for_each(|proof| hand_out(proof, self.run_alone(proof)));
        }
        let dir = ScratchDir::below(std::env::temp_dir()).expect("a test directory can be created");
        let mut vmlab = self.command(dir.path(), proofs);
        let mut running = vmlab.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("bash is installed");
        let mut console = running.stderr.take().expect("it is piped");
        let console = thread::spawn(move || {
            let mut words = Vec::new();
            let _ = console.read_to_end(&mut words);
            String::from_utf8_lossy(&words).into_owned()
        });
        let (send, lines) = channel();
        let messages = BufReader::new(running.stdout.take().expect("it is piped"));
        // Not lines(): the output of a script may not be UTF-8.
        thread::spawn(move || messages.split(b'\n').map_while(Result::ok).try_for_each(|line| send.send(line)));
        let mut reported: Vec<ProofReport> = proofs.iter().map(|_| ProofReport::default()).collect();
        let (pid, mut used_s) = (dir.path().join("pid"), 0.0);
        loop {
            match lines.recv_timeout(Duration::from_secs(GUEST_SILENCE_S)) {
                Ok(line) => {
                    let Some(number) = on_line(&String::from_utf8_lossy(&line), &mut reported) else { continue };
                    let used_before_s = std::mem::replace(&mut used_s, processor_s(&pid));
                    self.print_progress(proofs[number], &reported[number], used_s - used_before_s);
                    hand_out(proofs[number], reported[number].clone());
                }
                Err(RecvTimeoutError::Timeout) => end(&pid),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = running.wait().expect("it was started");
        let console = console.join().unwrap_or_default();
        for (proof, mut reported) in proofs.iter().zip(reported).filter(|(_, reported)| reported.took_ms.is_none()) {
            reported.wrong += &format!("its guest ended first ({}, {status}):\n{console}", self.name);
            self.print_progress(proof, &reported, 0.0);
            hand_out(proof, reported);
        }
    }

    /// Boots it for this script only.
    fn run_alone(&self, proof: &str) -> ProofReport {
        let (lab, mut words) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("lab"), proof.split(' '));
        let mut vmlab = self.launcher();
        vmlab.env("VMLAB_TIMEOUT", self.silence_s.to_string());
        vmlab.arg("bash").arg(lab.join(words.next().unwrap_or_default())).arg(release_binary()).args(words);
        let started = Instant::now();
        let output = vmlab.output().expect("setpriv is installed");
        let mut reported =
            ProofReport { messages: String::from_utf8_lossy(&output.stdout).into_owned(), ..ProofReport::default() };
        reported.took_ms = Some(started.elapsed().as_millis() as u64);
        if !output.status.success() {
            reported.wrong = format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        self.print_progress(proof, &reported, 0.0);
        reported
    }

    /// Prints a line of progress.
    fn print_progress(&self, proof: &str, reported: &ProofReport, used_s: f64) {
        let judged = |verdict: &str| reported.messages.lines().filter(|line| line.starts_with(verdict)).count();
        let took = reported.took_ms.map_or("not over".to_owned(), |ms| format!("{:.1} s", ms as f64 / 1000.0));
        let (fine, failed) = (judged("ok "), judged("FAIL "));
        println!(
            "lab: {:14} {proof:42} {took:>8} ({used_s:.1} s of a processor), {fine} right, {failed} not {}",
            self.name,
            reported.wrong.lines().next().unwrap_or_default()
        );
    }

    fn launcher(&self) -> Command {
        let mut vmlab = if self.is_patient() { patient_launcher() } else { launcher() };
        vmlab.envs(self.words.iter().copied());
        vmlab
    }

    fn command(&self, dir: &Path, proofs: &[&str]) -> Command {
        let mut vmlab = self.launcher();
        if !self.drives.is_empty() {
            vmlab.env("VMLAB_QEMU", words_for(self.drives, dir));
        }
        vmlab.env("VMLAB_PIDFILE", dir.join("pid"));
        // Long enough for all scripts, but limited.
        vmlab.env("VMLAB_TIMEOUT", "7200");
        if proofs.iter().any(|proof| proof.ends_with(" forbidden")) {
            vmlab.env("WITHOUT_IO_URING", without_io_uring());
        }
        if proofs.contains(&"scsi-read-buffer.sh") {
            vmlab.env("TCMU_DISK", example("tcmu-disk"));
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("lab/several.sh");
        vmlab.arg("bash").arg(script).arg(release_binary()).arg(self.silence_s.to_string()).args(proofs);
        vmlab
    }
}

/// The processor time of qemu in seconds; with the first script, including the boot.
fn processor_s(pid: &Path) -> f64 {
    let pid = std::fs::read_to_string(pid).unwrap_or_default();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // After the name, which may contain blanks: utime and stime are the 12th and 13th field, in ticks of 10 ms.
    let ticks = stat.rsplit(") ").next().unwrap_or("").split(' ').skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Ends a guest without output; the launcher prints its console.
fn end(pid: &Path) {
    let pid = std::fs::read_to_string(pid).ok().and_then(|pid| pid.trim().parse().ok());
    if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// Handles a line of `lab/several.sh`; returns the number of the script that it ends.
fn on_line(line: &str, reported: &mut [ProofReport]) -> Option<usize> {
    let (number, line) = line.split_once(' ')?;
    let number: usize = number.parse().ok()?;
    let reported = reported.get_mut(number)?;
    let (what, more) = line.split_once(' ').unwrap_or((line, ""));
    match what {
        "|" => reported.messages += &format!("{more}\n"),
        "hung" => reported.wrong += "no output for so long that it was ended. ",
        "left" => reported.wrong += &format!("it left in its guest what could not be removed: {more}. "),
        "end" => {
            let (status, took_ms) = more.split_once(' ')?;
            if !["0", "hung"].contains(&status) {
                reported.wrong += &format!("it ended with status {status}. ");
            }
            reported.took_ms = Some(took_ms.parse().ok()?);
            return Some(number);
        }
        _ => {}
    }
    None
}

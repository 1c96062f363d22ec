//! The guests of the laboratory: proofs that need the same disks and the same clock share one boot, each as a process
//! of its own (`lab/several.sh`), and each test asks for the findings of its proof.
//!
//! The first test that asks starts all guests whose proofs this run of the tests is about, the longest first, as many
//! at once as there are processors. Guests of virtual time come on top of these, at the lowest priority: they never
//! wait, so they use what the others leave, and however slow they are, their clock shows the same. A proof that fails,
//! ends early or hangs fails its own test; a guest that dies fails those that it has not reported, with its console.
use crate::guest_table::GUESTS;
pub use crate::guest_table::Guest;
use crate::support::{
    Findings, Folder, Slot, example, launcher, patient_launcher, release_binary, without_io_uring, words_for,
};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Seconds without a word from a guest after which it is ended. A proof is to be ended by its guest first.
const GUEST_SILENCE_S: u64 = 900;

/// What a guest told of a proof.
#[derive(Clone, Default)]
pub struct Told {
    /// What the proof printed.
    pub said: String,
    /// What went wrong, but for its judgements. Empty for a proof that came to its end.
    pub wrong: String,
    /// Of a proof that is over: what it took by the guest's clock, in milliseconds.
    took_ms: Option<u64>,
}

/// What all guests have told, by the words of the proof.
#[derive(Default)]
struct Board {
    told: Mutex<BTreeMap<&'static str, Told>>,
    changed: Condvar,
}

impl Board {
    fn put(&self, proof: &'static str, told: Told) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(proof, told);
        self.changed.notify_all();
    }

    fn wait_for(&self, proof: &str) -> Told {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match told.get(proof) {
                Some(told) => return told.clone(),
                None => told = self.changed.wait(told).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// Whether this run of the tests is about the test of that name: the words that libtest chooses by. A wrong answer
/// costs a boot or a proof, and no finding.
fn is_asked_for(test: &str) -> bool {
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

/// The board, once the guests of this run are on their way.
fn board() -> &'static Board {
    static BOARD: OnceLock<Board> = OnceLock::new();
    static STARTED: OnceLock<()> = OnceLock::new();
    let board = BOARD.get_or_init(Board::default);
    STARTED.get_or_init(|| {
        let asked_for = |guest: &'static Guest| {
            let proofs = guest.proofs.iter().filter(|(test, _)| is_asked_for(test));
            let proofs: Vec<&'static str> = proofs.map(|(_, proof)| *proof).collect();
            (!proofs.is_empty()).then_some((guest, proofs))
        };
        let guests = GUESTS.iter().filter_map(asked_for);
        let (patient, hurried): (Vec<_>, Vec<_>) = guests.partition(|(guest, _)| guest.is_patient());
        Slot::announce(hurried.len());
        let run = move |guest: &Guest, proofs: &[_]| guest.run(proofs, |proof, told| board.put(proof, told));
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

/// Room for a short guest of a test's own, behind those of the table.
pub fn slot_for_a_short_one() -> Slot {
    board();
    Slot::take()
}

/// What the guest of that proof found.
#[track_caller]
pub fn findings(proof: &'static str) -> Findings {
    let told = told(proof);
    assert!(told.wrong.is_empty(), "{proof}: {}\nIt said:\n{}", told.wrong, told.said);
    Findings::in_words(proof, &told.said)
}

/// What the guest of that proof told of it.
#[track_caller]
pub fn told(proof: &'static str) -> Told {
    let asks = |guest: &&Guest| guest.proofs.iter().any(|(_, words)| *words == proof);
    let guest = GUESTS.iter().find(asks).unwrap_or_else(|| panic!("no guest has {proof}"));
    let (test, _) = guest.proofs.iter().find(|(_, words)| *words == proof).expect("it was just found");
    // With one thread for all tests, it is called main.
    let name = thread::current().name().unwrap_or("main").to_owned();
    assert!(name == "main" || name == *test, "the table of guests has {test} for {proof}");
    if is_asked_for(test) {
        return board().wait_for(proof);
    }
    let mut alone = Told::default();
    let slot = Slot::take();
    guest.run(&[proof], |_, told| alone = told);
    drop(slot);
    alone
}

impl Guest {
    /// Boots it and runs these proofs; what each told is handed out as soon as it is over. It says of each how long it
    /// took.
    pub fn run(&self, proofs: &[&'static str], mut hand_out: impl FnMut(&'static str, Told)) {
        if self.is_quiet {
            return proofs.iter().for_each(|proof| hand_out(proof, self.run_alone(proof)));
        }
        let dir = Folder::below(std::env::temp_dir()).expect("there is a place for scratch");
        let mut vmlab = self.command(dir.path(), proofs);
        let mut running = vmlab.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("bash is there");
        let mut console = running.stderr.take().expect("it is piped");
        let console = thread::spawn(move || {
            let mut words = Vec::new();
            let _ = console.read_to_end(&mut words);
            String::from_utf8_lossy(&words).into_owned()
        });
        let (send, lines) = channel();
        let said = BufReader::new(running.stdout.take().expect("it is piped"));
        // Not lines(): a proof may print what is no text.
        thread::spawn(move || said.split(b'\n').map_while(Result::ok).try_for_each(|line| send.send(line)));
        let mut told: Vec<Told> = proofs.iter().map(|_| Told::default()).collect();
        let (pid, mut used_s) = (dir.path().join("pid"), 0.0);
        loop {
            match lines.recv_timeout(Duration::from_secs(GUEST_SILENCE_S)) {
                Ok(line) => {
                    let Some(number) = hear(&String::from_utf8_lossy(&line), &mut told) else { continue };
                    let used_before_s = std::mem::replace(&mut used_s, processor_s(&pid));
                    self.say(proofs[number], &told[number], used_s - used_before_s);
                    hand_out(proofs[number], told[number].clone());
                }
                Err(RecvTimeoutError::Timeout) => end(&pid),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = running.wait().expect("it was started");
        let console = console.join().unwrap_or_default();
        for (proof, mut told) in proofs.iter().zip(told).filter(|(_, told)| told.took_ms.is_none()) {
            told.wrong += &format!("its guest ended first ({}, {status}):\n{console}", self.name);
            self.say(proof, &told, 0.0);
            hand_out(proof, told);
        }
    }

    /// Boots it for this proof alone.
    fn run_alone(&self, proof: &str) -> Told {
        let (lab, mut words) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("lab"), proof.split(' '));
        let mut vmlab = self.launcher();
        vmlab.env("VMLAB_TIMEOUT", self.silence_s.to_string());
        vmlab.arg("bash").arg(lab.join(words.next().unwrap_or_default())).arg(release_binary()).args(words);
        let started = Instant::now();
        let output = vmlab.output().expect("setpriv is there");
        let mut told = Told { said: String::from_utf8_lossy(&output.stdout).into_owned(), ..Told::default() };
        told.took_ms = Some(started.elapsed().as_millis() as u64);
        if !output.status.success() {
            told.wrong = format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        self.say(proof, &told, 0.0);
        told
    }

    /// A line for whoever reads along.
    fn say(&self, proof: &str, told: &Told, used_s: f64) {
        let judged = |verdict: &str| told.said.lines().filter(|line| line.starts_with(verdict)).count();
        let took = told.took_ms.map_or("not over".to_owned(), |ms| format!("{:.1} s", ms as f64 / 1000.0));
        let (fine, failed) = (judged("ok "), judged("FAIL "));
        println!(
            "lab: {:14} {proof:42} {took:>8} ({used_s:.1} s of a processor), {fine} right, {failed} not {}",
            self.name,
            told.wrong.lines().next().unwrap_or_default()
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
        // Whatever else happens, it ends.
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

/// The processor time that qemu has used, in seconds; with the first proof, that of the boot.
fn processor_s(pid: &Path) -> f64 {
    let pid = std::fs::read_to_string(pid).unwrap_or_default();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // Behind the name, which may have blanks: utime and stime are the 12th and 13th of these, in ticks of 10 ms.
    let ticks = stat.rsplit(") ").next().unwrap_or("").split(' ').skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Ends a guest that says nothing; the launcher shows its console.
fn end(pid: &Path) {
    let pid = std::fs::read_to_string(pid).ok().and_then(|pid| pid.trim().parse().ok());
    if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// Takes a line of `lab/several.sh`; the number of the proof that is over with it.
fn hear(line: &str, told: &mut [Told]) -> Option<usize> {
    let (number, line) = line.split_once(' ')?;
    let number: usize = number.parse().ok()?;
    let told = told.get_mut(number)?;
    let (what, more) = line.split_once(' ').unwrap_or((line, ""));
    match what {
        "|" => told.said += &format!("{more}\n"),
        "hung" => told.wrong += "no output for so long that it was ended. ",
        "left" => told.wrong += &format!("it left in its guest what could not be removed: {more}. "),
        "end" => {
            let (status, took_ms) = more.split_once(' ')?;
            if !["0", "hung"].contains(&status) {
                told.wrong += &format!("it ended with status {status}. ");
            }
            told.took_ms = Some(took_ms.parse().ok()?);
            return Some(number);
        }
        _ => {}
    }
    None
}

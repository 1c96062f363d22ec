//! Checks after a successful command, by commands that only read.
use super::case::{Source, Verb};
use super::chain::{Chain, is_fine};
use super::command::shown;
use super::ensure_equal;
use super::run::{Asked, Ended, run};
use crate::ensure;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

impl Chain<'_> {
    /// Checks that reading commands report the state and change nothing.
    pub fn look_again(&mut self) -> Result<(), String> {
        let (case, scene) = (self.case, self.scene);
        if case.verb == Verb::Pattern {
            return self.check_pattern();
        }
        let [place] = &scene.dests[..] else { return Ok(()) };
        if case.verb != Verb::Copy || !is_fine(case) || place.before.is_none() && place.file.is_none() {
            return Ok(());
        }
        let again = !matches!(case.source, Source::Pipe { .. } | Source::Fifo | Source::Zero | Source::Redirected);
        let range = [("--skip", case.skip), ("--seek", case.seek), ("--count", case.count)];
        let range =
            || range.iter().flat_map(|(name, value)| value.map(|value| [(*name).to_owned(), value.to_string()]));
        if again && case.number.is_multiple_of(3) && place.address != "-" {
            let mut words = vec!["verify".to_owned()];
            words.extend(range().flatten());
            words.extend(case.lists.words());
            words.extend([scene.source.clone(), place.address.clone()]);
            self.reads_only(&words, 0)?;
        }
        if case.has("--manifest") && place.address != "-" && place.file.is_some() {
            let verify = ["verify", "--manifest", "manifest"].map(str::to_owned);
            let seek = case.seek.map(|seek| ["--seek".to_owned(), seek.to_string()]);
            let words: Vec<String> = verify.into_iter().chain(seek.into_iter().flatten()).collect();
            self.reads_only(&[words, vec![place.address.clone()]].concat(), 0)?;
            let shown = self.reads_only(&["manifest", "show", "--json", "manifest"].map(str::to_owned), 0)?;
            let json = serde_json::from_slice::<Value>(&shown.stdout);
            ensure!(json.is_ok(), "manifest show --json prints no JSON");
            if matches!(case.source, Source::File { .. }) && !scene.wanted(case).is_empty() && case.lists.is_empty() {
                return self.bring_up_to_date(&range().flatten().collect::<Vec<_>>());
            }
        }
        Ok(())
    }

    /// Changes a part of the source, and copies it with the manifest: the dest is not read, and becomes equal.
    fn bring_up_to_date(&mut self, range: &[String]) -> Result<(), String> {
        let (scene, place) = (self.scene, &self.scene.dests[0]);
        let source = scene.place.join("src");
        let mut bytes = fs::read(&source).expect("it exists");
        bytes.iter_mut().step_by(300_007).for_each(|byte| *byte ^= 0x55);
        fs::write(&source, &bytes).expect("this test created it");
        let options = ["copy", "--yes", "--progress", "none", "--delta=manifest"].map(str::to_owned);
        let words = [&options[..], range, &[scene.source.clone(), place.address.clone()]].concat();
        self.reported.push(format!("haul {}", shown(&words)));
        let asked = Asked { program: self.program, words: &words, fault: None, feed_all: true };
        let ended = run(&asked, scene, self.case);
        ensure!(ended.code == Some(0), "{:?} instead of 0: {}", ended.code, ended.stderr);
        let is = fs::read(place.file.as_ref().expect("it is a file")).expect("it exists");
        let (skip, seek) = (self.case.skip.unwrap_or(0) as usize, self.case.seek.unwrap_or(0) as usize);
        let len = scene.wanted(self.case).len();
        ensure_equal(&bytes[skip..skip + len], &is[seek..seek + len], "by the manifest")?;
        let mut verify = ["verify", "--manifest", "manifest", "--seek"].map(str::to_owned).to_vec();
        verify.extend([seek.to_string(), place.address.clone()]);
        self.reads_only(&verify, 0).map(drop)
    }

    /// Checks that a written pattern is clean, and that a flipped bit is found at its offset.
    fn check_pattern(&mut self) -> Result<(), String> {
        let (case, place) = (self.case, &self.scene.dests[0]);
        let (Some(file), false) = (&place.file, case.has("--dry-run")) else { return Ok(()) };
        let check = ["pattern", "check", "--json", "--progress", "none", "--run", "7", "--count"].map(str::to_owned);
        let count = case.count.unwrap_or(0);
        let words = [&check[..], &[count.to_string(), place.address.clone()]].concat();
        self.reads_only(&words, 0)?;
        let at = case.number.wrapping_mul(7919) % count;
        let open = OpenOptions::new().read(true).write(true).open(file).expect("it exists");
        let mut byte = [0];
        open.read_exact_at(&mut byte, at).expect("it is as long as its pattern");
        open.write_all_at(&[byte[0] ^ 4], at).expect("this test created it");
        drop(open);
        let reported = self.reads_only(&words, 1)?;
        let report: Value =
            serde_json::from_slice(&reported.stdout).map_err(|error| format!("pattern check: {error}"))?;
        let run = &report["damage"]["runs"][0];
        let (from, len) = (run["offset_bytes"].as_u64().unwrap_or(0), run["len_bytes"].as_u64().unwrap_or(0));
        ensure!((from..from + len).contains(&at), "a bit at {at} is flipped, and it reports: {run}");
        Ok(())
    }

    /// Runs a command that must end with this status and change nothing.
    fn reads_only(&mut self, words: &[String], status: i32) -> Result<Ended, String> {
        let before = self.scene.look();
        self.reported.push(format!("haul {}", shown(words)));
        let asked = Asked { program: self.program, words, fault: None, feed_all: true };
        let ended = run(&asked, self.scene, self.case);
        ensure!(ended.code == Some(status), "{:?} instead of {status}: {}", ended.code, ended.stderr);
        ensure!(self.scene.look() == before, "what only reads has changed something");
        Ok(ended)
    }
}

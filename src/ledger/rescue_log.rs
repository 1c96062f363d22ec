//! The logs of a rescue: events, rates or reads, in the formats of GNU ddrescue 1.27, for the programs that draw them.
use super::record_file::{file_fault, free_place, io_fault, open_own};
use super::{Fault, FaultKind, RecordFile};
use crate::core::rescue::{ReadResult, RescueLog, RescueState, Status};
use crate::core::{Error, Extent};
use crate::files::{NewFile, Visibility};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const KIND: RecordFile = RecordFile::RescueLog;

/// Lines are in the file after this time at the latest, as long as reads end.
const FLUSHED_EVERY: Duration = Duration::from_secs(1);

/// What a log has lines about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RescueLogKind {
    /// The phases and the end.
    Events,
    /// The rates, once a second.
    Rates,
    /// Each read.
    Reads,
}

impl RescueLogKind {
    /// The beginning of the first line.
    fn title(self) -> &'static str {
        match self {
            RescueLogKind::Events => "# Events Logfile.",
            RescueLogKind::Rates => "# Rates Logfile.",
            RescueLogKind::Reads => "# Reads Logfile.",
        }
    }

    fn columns(self) -> &'static str {
        match self {
            RescueLogKind::Events => "#         Time  Rescued  Event",
            RescueLogKind::Rates => "#Time  Ipos  Current_rate  Average_rate  Bad_areas  Bad_size",
            RescueLogKind::Reads => "#  Ipos       Size  Copied_size  Error_size",
        }
    }
}

/// A log of a rescue. It is appended to: each run of the rescue begins with a new heading.
pub struct RescueLogFile {
    kind: RescueLogKind,
    out: BufWriter<File>,
    name: String,
    /// Receives the first failure; the rescue continues.
    failed: Option<Box<dyn FnOnce(Error) + Send>>,
    began: Instant,
    /// When lines were last flushed, or rates last written.
    last: Instant,
    rescued_at_start_bytes: u64,
    rescued_bytes: u64,
}

impl RescueLogFile {
    /// Opens the log at `path`, or creates it, and writes its heading, with the command line `command`. `failed` is
    /// called once if the log cannot be written later.
    ///
    /// # Errors
    /// It exists and is not a log of this kind, another process uses it, or it cannot be written.
    pub fn open(
        kind: RescueLogKind,
        path: &Path,
        command: &str,
        state: &RescueState,
        failed: impl FnOnce(Error) + Send + 'static,
    ) -> Result<Self, Fault> {
        let file = match open_own(KIND, path)? {
            Some((_, mut file)) => {
                is_of(kind, &mut file)?;
                file
            }
            None => {
                let new = NewFile::begin(&free_place(KIND, path)?).map_err(|error| file_fault(KIND, error))?;
                new.publish(Visibility::Umask).map_err(|error| file_fault(KIND, error))?
            }
        };
        let (now, rescued) = (Instant::now(), state.map.bytes(Status::Finished));
        let mut log = RescueLogFile {
            kind,
            out: BufWriter::new(file),
            name: path.display().to_string(),
            failed: Some(Box::new(failed)),
            began: now,
            last: now,
            rescued_at_start_bytes: rescued,
            rescued_bytes: rescued,
        };
        log.heading(command).and_then(|()| log.out.flush()).map_err(|error| io_fault(KIND, error))?;
        Ok(log)
    }

    fn heading(&mut self, command: &str) -> io::Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        if self.out.get_ref().metadata()?.len() > 0 {
            writeln!(self.out)?;
        }
        writeln!(self.out, "{} Created by haul version {version}", self.kind.title())?;
        writeln!(self.out, "# Command line: {}", command.replace('\n', "\\n"))?;
        writeln!(self.out, "# Start time:   {}", jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S"))?;
        writeln!(self.out, "{}", self.kind.columns())
    }

    fn event(&mut self, state: &RescueState, what: &str) -> io::Result<()> {
        let (time, name) = (self.began.elapsed().as_secs(), state.phase.name());
        match self.kind {
            RescueLogKind::Events => {
                let (rescued, all) = (state.map.bytes(Status::Finished), state.map.len_bytes().max(1));
                // Only what is complete is 100 %.
                let share = (rescued as u128 * 10_000 / u128::from(all)) as f64 / 100.0;
                writeln!(self.out, "{:>13}  {share:>6.2}%  {what}{name}, pass {}", format!("{time}s"), state.pass)
            }
            RescueLogKind::Rates => self.rates(state),
            RescueLogKind::Reads => writeln!(self.out, "# {time}s  {what}{name}, pass {}", state.pass),
        }
    }

    /// The rates since the last line and since the start.
    fn rates(&mut self, state: &RescueState) -> io::Result<()> {
        let rescued = state.map.bytes(Status::Finished);
        let (since, passed) = (self.last.elapsed(), self.began.elapsed());
        let rate = |bytes: u64, time: Duration| {
            if time.is_zero() { 0 } else { (bytes as f64 / time.as_secs_f64()) as u64 }
        };
        let current = rate(rescued.saturating_sub(self.rescued_bytes), since);
        let mean = rate(rescued.saturating_sub(self.rescued_at_start_bytes), passed);
        let is_bad = |status: Status| !matches!(status, Status::Finished | Status::Untried);
        let bad = state.map.blocks().filter(|block| is_bad(block.status));
        let (areas, bytes) = bad.fold((0, 0), |(areas, bytes), block| (areas + 1, bytes + block.extent.len));
        (self.rescued_bytes, self.last) = (rescued, Instant::now());
        let (time, pos) = (passed.as_secs(), state.pos);
        writeln!(self.out, "{time:>2}  0x{pos:08X}  {current:>8}  {mean:>8}  {areas:>7}  {bytes:>8}")
    }

    /// Reports the first failure.
    fn done(&mut self, result: io::Result<()>) {
        if let Err(error) = result
            && let Some(failed) = self.failed.take()
        {
            failed(io_fault(KIND, error).into_error(&self.name));
        }
    }
}

impl RescueLog for RescueLogFile {
    fn on_phase(&mut self, state: &RescueState) {
        let result = self.event(state, "").and_then(|()| self.out.flush());
        self.done(result);
    }

    fn on_read(&mut self, extent: Extent, result: ReadResult, state: &RescueState) {
        let is_due = self.last.elapsed() >= FLUSHED_EVERY;
        let written = match self.kind {
            RescueLogKind::Events => Ok(()),
            RescueLogKind::Rates if is_due => self.rates(state),
            RescueLogKind::Rates => Ok(()),
            RescueLogKind::Reads => {
                let Extent { offset, len } = extent;
                let (copied, failed) = if result == ReadResult::Read { (len, 0) } else { (0, len) };
                writeln!(self.out, "0x{offset:08X}\t{len}\t{copied}\t{failed}")
            }
        };
        let flushed = if is_due && self.kind != RescueLogKind::Events {
            self.last = Instant::now();
            written.and_then(|()| self.out.flush())
        } else {
            written
        };
        self.done(flushed);
    }

    fn on_end(&mut self, state: &RescueState) {
        let ended = self.event(state, "end: ");
        let end = writeln!(self.out, "# End time:     {}", jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S"));
        let result = ended.and(end).and_then(|()| self.out.flush());
        self.done(result);
    }
}

/// Checks the first line of an existing log, and moves to its end.
fn is_of(kind: RescueLogKind, file: &mut File) -> Result<(), Fault> {
    let (mut found, title) = (Vec::new(), kind.title().as_bytes());
    let failed = |error| io_fault(KIND, error);
    (&*file).take(title.len() as u64).read_to_end(&mut found).map_err(failed)?;
    if !found.is_empty() && found != title {
        return Err(Fault::of(KIND, FaultKind::Other));
    }
    file.seek(SeekFrom::End(0)).map(drop).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rescue::{RescueMap, RescueStatus};
    use std::fs;

    fn state() -> RescueState {
        let mut map = RescueMap::untried(1000);
        map.set(Extent::new(0, 999), Status::Finished);
        map.set(Extent::new(500, 100), Status::Untrimmed);
        RescueState::new(map, RescueStatus::Scraping, 1, 600)
    }

    /// Runs a rescue of two reads that is logged.
    fn log(kind: RescueLogKind, path: &Path) -> Result<(), Fault> {
        let state = state();
        let mut log = RescueLogFile::open(kind, path, "haul rescue a b", &state, |error| panic!("{error}"))?;
        log.on_phase(&state);
        log.on_read(Extent::new(0, 512), ReadResult::Read, &state);
        log.last -= FLUSHED_EVERY;
        log.on_read(Extent::new(512, 64), ReadResult::Failed, &state);
        log.on_end(&state);
        Ok(())
    }

    #[test]
    fn each_log_has_its_lines_and_is_appended_to() {
        let dir = tempfile::tempdir().unwrap();
        let cases = [
            (RescueLogKind::Events, vec!["0s   89.90%  scraping, pass 1", "0s   89.90%  end: scraping, pass 1"]),
            (RescueLogKind::Reads, vec!["0x00000000\t512\t512\t0", "0x00000200\t64\t0\t64"]),
            (RescueLogKind::Rates, vec!["0  0x00000258         0         0        1       100"; 3]),
        ];
        for (kind, expected) in cases {
            let path = dir.path().join(format!("{kind:?}"));
            for run in 1..=2 {
                log(kind, &path).unwrap();
                let text = fs::read_to_string(&path).unwrap();
                assert!(text.starts_with(kind.title()), "{text}");
                let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.starts_with('#')).collect();
                let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
                assert_eq!(lines, expected.repeat(run), "{text}");
                assert_eq!(text.matches("# Command line: haul rescue a b\n").count(), run);
                assert_eq!(text.matches("# End time: ").count(), run);
            }
        }
    }

    #[test]
    fn a_file_that_is_no_log_of_this_kind_is_not_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        fs::write(&path, [0; 4096]).unwrap();
        let fault = log(RescueLogKind::Reads, &path).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Other), "{fault}");
        assert_eq!(fs::read(&path).unwrap(), [0; 4096]);
        let path = dir.path().join("events");
        log(RescueLogKind::Events, &path).unwrap();
        assert!(log(RescueLogKind::Rates, &path).is_err());
    }

    #[test]
    fn a_log_that_cannot_be_written_is_reported_once() {
        let (failures, heard) = std::sync::mpsc::channel();
        let dir = tempfile::tempdir().unwrap();
        let (path, state) = (dir.path().join("reads"), state());
        let failed = move |error: Error| failures.send(error.to_string()).unwrap();
        let mut log = RescueLogFile::open(RescueLogKind::Reads, &path, "haul", &state, failed).unwrap();
        log.out = BufWriter::with_capacity(0, File::options().write(true).open("/dev/full").unwrap());
        (0..3).for_each(|_| log.on_read(Extent::new(0, 512), ReadResult::Read, &state));
        log.on_end(&state);
        let messages: Vec<String> = heard.try_iter().collect();
        assert!(matches!(&messages[..], [only] if only.contains("reads")), "{messages:?}");
    }
}

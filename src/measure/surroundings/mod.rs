//! The running system: a cached test file, starts of this program, and this program reading the disk as dd. If a memory
//! control group can be created, all of them share one, so that a short read has an effect even on a machine with much
//! memory.
mod group;
mod test_file;

use super::{Memory, SystemUnderTest, Way};
use crate::core::Extent;
use crate::sys::{self, page_cache};
use group::Group;
use rustix::fs::{Advice, fadvise};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{self, Read};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use test_file::TestFile;

/// Size of the test file, in bytes.
const TEST_FILE_BYTES: u64 = 64 << 20;

/// Memory limit of the group, in bytes: the test file, and about as much as a small machine has available for a copy.
const GROUP_BYTES: u64 = 192 << 20;

/// Maximum number of bytes to read per way without a group, because other processes use the page cache.
const UNGROUPED_BYTES_MAX: u64 = 1 << 30;

/// Number of attempts to read the test file into the page cache.
const WARM_TRIES: usize = 3;

/// Share of the test file in the page cache that counts as all of it.
const WARM: f64 = 0.99;

/// Time for the reader to end and report its progress.
const READER_TIMEOUT: Duration = Duration::from_secs(5);

/// Block size of the reader, in bytes.
const BLOCK_BYTES: u64 = 1 << 20;

/// The running system with a disk to read.
#[derive(Debug)]
pub struct RunningSystem {
    program: PathBuf,
    disk: PathBuf,
    /// The extent to read; a multiple of the block size.
    extent: Extent,
    test_file: TestFile,
    group: Result<Group, String>,
    reading: Option<ReaderProcess>,
}

#[derive(Debug)]
struct ReaderProcess {
    child: Child,
    disk: File,
    way: Way,
    /// Whether none of the extent was cached before, so that it may be dropped afterwards.
    was_clean: bool,
}

impl RunningSystem {
    /// A system on which `program`, which is haul, is started and reads `disk` with a size of `disk_bytes`.
    ///
    /// # Errors
    /// There is no directory for the test file.
    pub fn new(program: &Path, disk: &Path, disk_bytes: u64) -> io::Result<RunningSystem> {
        let test_file = TestFile::new(TEST_FILE_BYTES)?;
        let group = Group::new(GROUP_BYTES).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => "only root can create a memory control group".to_owned(),
            _ => format!("no memory control group: {error}"),
        });
        // The start of a disk is often in the page cache: partition tables, headers of file systems.
        let begin = disk_bytes / 4 / BLOCK_BYTES * BLOCK_BYTES;
        let most = if group.is_ok() { u64::MAX } else { UNGROUPED_BYTES_MAX };
        let len = ((disk_bytes - begin) / BLOCK_BYTES * BLOCK_BYTES).min(most);
        let (program, disk) = (program.to_owned(), disk.to_owned());
        Ok(RunningSystem { program, disk, extent: Extent::new(begin, len), test_file, group, reading: None })
    }

    /// Size of the test file in bytes.
    pub fn test_file_bytes(&self) -> u64 {
        self.test_file.bytes()
    }

    /// The memory that the test file and the reader share.
    pub fn memory(&self) -> Memory {
        match &self.group {
            Ok(_) => Memory::Group(GROUP_BYTES),
            Err(why) => Memory::Machine { available_bytes: available_bytes(), why: why.clone() },
        }
    }

    /// A command for this program, without output and in the group if there is one. It is killed when haul ends.
    fn command(&self) -> io::Result<Command> {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(&self.program);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // haul signals the reader itself; signals of the terminal must not reach it.
        command.process_group(0);
        sys::bind_to_parent(&mut command);
        if let Ok(group) = &self.group {
            sys::join_group(&mut command, group.procs()?);
        }
        Ok(command)
    }

    /// Number of bytes of the extent in the page cache.
    fn cached_bytes(&self, disk: &File) -> u64 {
        let stat = page_cache::cachestat(disk.as_fd(), self.extent.offset, self.extent.len);
        stat.map_or(0, |stat| stat.nr_cache * rustix::param::page_size() as u64)
    }
}

impl SystemUnderTest for RunningSystem {
    fn warm(&mut self) -> io::Result<f64> {
        let mut share = 0.0;
        for _ in 0..WARM_TRIES {
            // Pages are charged to the group of their first reader.
            self.test_file.forget()?;
            let mut command = self.command()?;
            let ended = command.args(["dd", "bs=1M"]).stdin(self.test_file.reader()?).status()?;
            if !ended.success() {
                return Err(io::Error::other(format!("cannot read the cached test file: {ended}")));
            }
            share = self.test_file.share()?;
            if share >= WARM {
                break;
            }
        }
        Ok(share)
    }

    fn share(&mut self) -> io::Result<f64> {
        self.test_file.share()
    }

    fn start(&mut self) -> io::Result<Duration> {
        let mut command = self.command()?;
        command.arg("--version");
        let began = Instant::now();
        let ended = command.status()?;
        let took = began.elapsed();
        if ended.success() { Ok(took) } else { Err(io::Error::other(format!("haul --version failed: {ended}"))) }
    }

    fn begin(&mut self, way: Way) -> io::Result<()> {
        let disk = File::open(&self.disk)?;
        let was_clean = self.cached_bytes(&disk) == 0;
        let mut source = std::ffi::OsString::from("if=");
        source.push(&self.disk);
        let (skip, count) = (self.extent.offset / BLOCK_BYTES, self.extent.len / BLOCK_BYTES);
        let mut command = self.command()?;
        command.arg("dd").arg(source).args(["of=/dev/null", "bs=1M"]);
        command.args([format!("skip={skip}"), format!("count={count}")]).env("LC_ALL", "C").stderr(Stdio::piped());
        // By default haul dd uses direct I/O on block devices. With this flag it calls read(2) on the descriptor as GNU
        // dd does; the flag has no other effect on files and block devices.
        command.arg(if way == Way::Direct { "iflag=direct" } else { "iflag=nonblock" });
        self.reading = Some(ReaderProcess { child: command.spawn()?, disk, way, was_clean });
        Ok(())
    }

    fn is_reading(&mut self) -> io::Result<bool> {
        match &mut self.reading {
            Some(reading) => Ok(reading.child.try_wait()?.is_none()),
            None => Ok(false),
        }
    }

    fn is_full(&mut self) -> io::Result<bool> {
        let Some(ReaderProcess { way: Way::Buffered, disk, .. }) = &self.reading else { return Ok(true) };
        let page = rustix::param::page_size() as u64;
        let stat = page_cache::cachestat(disk.as_fd(), self.extent.offset, self.extent.len)?;
        Ok(self.group.is_err() || (stat.nr_cache + stat.nr_evicted) * page >= GROUP_BYTES)
    }

    fn end(&mut self) -> io::Result<u64> {
        let Some(mut reading) = self.reading.take() else { return Ok(0) };
        let messages = ended(&mut reading.child)?;
        let Some(read_bytes) = bytes_in(&messages) else {
            let last = messages.lines().last().unwrap_or("no output");
            return Err(io::Error::other(format!("dd cannot read it: {last}")));
        };
        if let (true, Way::Buffered, Some(len)) = (reading.was_clean, reading.way, NonZeroU64::new(self.extent.len)) {
            // Failure only costs memory.
            fadvise(&reading.disk, self.extent.offset, Some(len), Advice::DontNeed).ok();
        }
        Ok(read_bytes)
    }
}

impl Drop for RunningSystem {
    fn drop(&mut self) {
        if let Some(mut reading) = self.reading.take() {
            reading.child.kill().ok();
            reading.child.wait().ok();
        }
    }
}

/// Ends the reader by SIGINT, on which dd reports its progress, and returns its output.
fn ended(child: &mut Child) -> io::Result<String> {
    let began = Instant::now();
    if child.try_wait()?.is_none() {
        // ESRCH: it has just ended.
        kill_process(Pid::from_child(child), Signal::INT).ok();
    }
    while child.try_wait()?.is_none() {
        if began.elapsed() > READER_TIMEOUT {
            child.kill()?;
            child.wait()?;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut messages = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut messages)?;
    }
    Ok(messages)
}

/// The number of bytes in dd's last line: `1048576 bytes (1.0 MB, 1.0 MiB) copied, …`.
fn bytes_in(messages: &str) -> Option<u64> {
    let line = messages.lines().rfind(|line| line.contains(" copied, "))?;
    line.split_once(" byte")?.0.parse().ok()
}

/// Memory available without taking it from other processes, in bytes; 0 if the kernel does not report it.
fn available_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_dd_are_parsed_from_its_last_line() {
        let messages = "3+1 records in\n3+1 records out\n3145735 bytes (3.1 MB, 3.0 MiB) copied, 0.1 s, 31 MB/s\n";
        assert_eq!(bytes_in(messages), Some(3_145_735));
        assert_eq!(bytes_in("1 byte copied, 0.1 s, 0.0 kB/s\n"), Some(1));
        assert_eq!(bytes_in("dd: failed to open '/dev/x': Permission denied\n"), None);
    }

    #[test]
    fn the_memory_size_is_read_from_the_kernel() {
        assert!(available_bytes() > 1 << 20);
    }
}

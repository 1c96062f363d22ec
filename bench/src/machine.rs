//! The machine: its description, the load of its processors, the contents of its page cache.
use crate::error::{Doing, Error, Result};
use crate::process::{Interrupt, Line, output, run};
use crate::result::Machine;
use haul::sys::page_cache::cachestat;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::Path;

/// Describes this machine; `haul` is the program that is measured.
///
/// # Errors
/// `haul` cannot be run.
pub fn describe(haul: &Path) -> Result<Machine> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?.to_owned();
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let memory = value(&read("/proc/meminfo"), "MemTotal").and_then(|text| text.strip_suffix(" kB")?.parse().ok());
    let commit = output("git rev-parse --short HEAD").map(|text| format!(" ({})", text.trim())).unwrap_or_default();
    Ok(Machine {
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        processor: value(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown".into()),
        processors: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        memory_bytes: memory.unwrap_or(0u64) * 1024,
        load_before: read("/proc/loadavg").split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0),
        resident_floor_bytes: run(&Line::words("true"), None, &Interrupt::default())?.resident_bytes,
        haul: output(&format!("{} --version", haul.display()))?.trim().to_owned() + &commit,
    })
}

/// Processor seconds that all processors have spent since the boot, in steps of 10 ms.
///
/// # Errors
/// `/proc/stat` does not have the format of proc(5).
pub fn busy_s() -> Result<f64> {
    let stat = fs::read_to_string("/proc/stat").doing("read /proc/stat")?;
    parse_busy_s(&stat).ok_or_else(|| Error("/proc/stat has no usable line `cpu`".into()))
}

/// user, nice, system, idle, iowait, irq, softirq, steal, and two parts of user: everything except idle and steal
/// counts.
fn parse_busy_s(stat: &str) -> Option<f64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, _idle, _iowait, irq, softirq, ..] = ticks[..] else { return None };
    Some((user + nice + system + irq + softirq) as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Bytes of the file or device at `path` in the page cache; 0 if the kernel does not report it (before 6.5).
///
/// # Errors
/// It cannot be opened.
pub fn cached_bytes(path: &Path) -> Result<u64> {
    let file = File::open(path).doing(format_args!("open {}", path.display()))?;
    let pages = cachestat(file.as_fd(), 0, 0).map_or(0, |stat| stat.nr_cache);
    Ok(pages * rustix::param::page_size() as u64)
}

/// Writes back and evicts the cached pages of the file or device at `path`.
///
/// # Errors
/// It cannot be opened or written back.
pub fn uncache(path: &Path) -> Result<()> {
    let file = File::open(path).doing(format_args!("open {}", path.display()))?;
    rustix::fs::fsync(&file).doing(format_args!("write {} back", path.display()))?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
        .doing(format_args!("drop {} from the page cache", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_all_but_idle_and_stolen_time() {
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let stat = "cpu  100 20 30 5000 600 7 3 999 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(parse_busy_s(stat), Some(160.0 / ticks));
        assert_eq!(parse_busy_s("cpu0 1 2 3\n"), None);
        assert_eq!(parse_busy_s("cpu  1 2 3\n"), None);
    }

    #[test]
    fn a_file_is_cached_after_a_read_until_it_is_evicted() {
        let file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        fs::write(file.path(), vec![1; 1 << 20]).unwrap();
        if cached_bytes(file.path()).unwrap() == 0 {
            println!("skipped: this kernel has no cachestat (since 6.5)");
            return;
        }
        assert_eq!(cached_bytes(file.path()).unwrap(), 1 << 20);
        uncache(file.path()).unwrap();
        assert_eq!(cached_bytes(file.path()).unwrap(), 0);
    }
}

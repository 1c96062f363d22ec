//! The machine, for reports.
use crate::core::Machine;
use std::fs;

/// The machine. Unknown values are left empty.
pub fn machine() -> Machine {
    let name = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    Machine {
        name: text(name.nodename()),
        kernel: text(name.release()),
        architecture: text(name.machine()),
        processor: value(&read("/proc/cpuinfo"), "model name").unwrap_or_default(),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: memory_bytes(&read("/proc/meminfo")).unwrap_or(0),
    }
}

/// The value after the first `key` and a colon.
fn value(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    value(meminfo, "MemTotal")?.strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_and_memory_of_this_machine_are_read() {
        let machine = machine();
        assert!(machine.kernel.starts_with(|first: char| first.is_ascii_digit()), "{machine:?}");
        assert!(machine.memory_bytes > 1 << 20 && machine.processors > 0, "{machine:?}");
    }

    #[test]
    fn unexpected_lines_are_ignored() {
        assert_eq!(memory_bytes("MemTotal:       2048 kB\n"), Some(2 << 20));
        assert_eq!(memory_bytes("MemTotal:       2048\n"), None);
        assert_eq!(value("", "model name"), None);
    }
}

//! Resource usage of this process.
use std::fs;
use std::mem::MaybeUninit;
use std::time::Duration;

/// Resource usage of this process since its start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// Processor time in user mode.
    pub user: Duration,
    /// Processor time in the kernel, including io_uring's worker threads.
    pub system: Duration,
    /// Peak RSS, in bytes.
    pub peak_resident_bytes: u64,
}

/// The resource usage so far, as reported by `getrusage(2)`.
pub fn used() -> Used {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: valid memory for one rusage; zeros, if the call fails, are a valid rusage too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    Used {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        // In KiB on Linux.
        peak_resident_bytes: peak_resident_bytes().unwrap_or(usage.ru_maxrss as u64 * 1024),
    }
}

/// Number of bytes of this process on huge pages; 0 if the kernel does not report it (before 4.14).
pub fn huge_page_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    field_kib(&text, "AnonHugePages:").unwrap_or(0) * 1024
}

/// `VmHWM` of this program; `ru_maxrss` would include the program that called exec.
fn peak_resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    field_kib(&status, "VmHWM:").map(|kib| kib * 1024)
}

/// The number after `name` in a text of /proc, which is in KiB although its unit is kB.
fn field_kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_rss_is_at_least_the_current_rss() {
        let touched = vec![1u8; 8 << 20];
        assert!(peak_resident_bytes().expect("Linux says it") >= touched.len() as u64);
    }
}

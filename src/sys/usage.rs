//! What this process has used so far.
use std::fs;
use std::mem::MaybeUninit;
use std::time::Duration;

/// What this process has used since it began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// Processor time in user mode.
    pub user: Duration,
    /// Processor time in the kernel, io_uring's worker threads included.
    pub system: Duration,
    /// Most memory resident, in bytes.
    pub peak_resident_bytes: u64,
}

/// What this process has used so far, as `getrusage(2)` says.
pub fn used() -> Used {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: a valid place for one rusage; should the call fail, all zeros are a valid rusage too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    Used {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        // Linux counts it in KiB.
        peak_resident_bytes: peak_resident_bytes().unwrap_or(usage.ru_maxrss as u64 * 1024),
    }
}

/// Bytes of this process that lie on huge pages now; 0 where the kernel does not say (before 4.14).
pub fn huge_page_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    field_kib(&text, "AnonHugePages:").unwrap_or(0) * 1024
}

/// `VmHWM` of this program alone; `ru_maxrss` also counts what the process was before it called exec.
fn peak_resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    field_kib(&status, "VmHWM:").map(|kib| kib * 1024)
}

/// The number behind `name` in a text of /proc that counts in kB and means KiB.
fn field_kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_at_least_what_is_resident_now() {
        let touched = vec![1u8; 8 << 20];
        assert!(peak_resident_bytes().expect("Linux says it") >= touched.len() as u64);
    }
}

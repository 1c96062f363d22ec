//! What this process has used so far.
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
        peak_resident_bytes: usage.ru_maxrss as u64 * 1024,
    }
}

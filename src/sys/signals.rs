//! Signal dispositions and masks.
use std::mem::MaybeUninit;
use std::ptr;

/// Whether `signal` is ignored: it must stay ignored in a process started by nohup, or in the background of a script.
pub fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: queries only; valid memory for one sigaction, for which zeros are a valid value.
    let action = unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

/// Ignores `signal` from now on, also in programs that this process starts.
pub fn ignore(signal: i32) {
    // SAFETY: installs no handler; the kernel drops the signal.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Blocks `signals` for this thread and the threads that it starts from now on: another thread handles them, and they
/// do not interrupt calls of this one.
pub fn block(signals: &[i32]) {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: valid memory for a set, emptied before use; the old mask is not requested.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut());
    }
}

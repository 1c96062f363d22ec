//! How signals are disposed of.
use std::mem::MaybeUninit;
use std::ptr;

/// Whether `signal` is ignored: a process started by nohup, or in the background of a script, needs it to stay ignored.
pub fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: only asks; a valid place for one sigaction, for which all zeros are a valid value too.
    let action = unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

/// Ignores `signal` from now on, in programs that this process starts, too.
pub fn ignore(signal: i32) {
    // SAFETY: no handler of ours runs: the kernel drops the signal.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Keeps `signals` from this thread and those that it starts from now on: another one handles them, and no call of this
/// one is cut short by them.
pub fn block(signals: &[i32]) {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: a valid place for a set, made empty before it is used; the old mask is not asked for.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut());
    }
}

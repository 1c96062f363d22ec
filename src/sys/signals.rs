//! How signals are disposed of.
use std::mem::MaybeUninit;
use std::ptr;

/// Whether `signal` is ignored: a process started by nohup, or in the background of a script, wants it to stay so.
pub fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: only asks; a valid place for one sigaction, for which all zeros are a valid value too.
    let action = unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

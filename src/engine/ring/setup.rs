//! Setting up a ring with what this kernel offers.
use super::form::{EntryForm, Narrow};
use crate::core::Arena;
use io_uring::{Builder, IoUring, opcode};
use std::io;
use std::os::fd::RawFd;

/// A ring that is set up, and how.
pub struct Ring<F: EntryForm> {
    /// The ring.
    pub uring: Uring<F>,
    /// How it was set up, for the report.
    pub detail: Vec<&'static str>,
    /// What was not available, and what was done instead.
    pub notes: Vec<String>,
    /// Bytes of the arena that are registered.
    registered_bytes: usize,
}

/// A ring of this form.
type Uring<F> = IoUring<<F as EntryForm>::Entry, <F as EntryForm>::Completion>;

/// What makes one.
type Maker<F> = Builder<<F as EntryForm>::Entry, <F as EntryForm>::Completion>;

/// A rung: what it asks of the kernel, and its name.
type Rung<F> = (fn(&mut Maker<F>) -> &mut Maker<F>, &'static str);

/// From the best to the plainest: what each asks for, and since when.
fn ladder<F: EntryForm>() -> [Rung<F>; 3] {
    [
        // 6.1: completions are worked off on request, without interrupts.
        (|builder| builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag(), "deferred completions"),
        // 5.19: at the next system call.
        (|builder| builder.setup_coop_taskrun().setup_taskrun_flag(), "cooperative completions"),
        // 5.6, the first with all the operations used here.
        (|builder| builder, "plain"),
    ]
}

fn build<F: EntryForm>(entries: u32) -> io::Result<(Uring<F>, &'static str)> {
    let mut refusal = io::Error::from(io::ErrorKind::Unsupported);
    for (flags, name) in ladder::<F>() {
        match flags(&mut Uring::<F>::builder()).build(entries) {
            Ok(uring) => return Ok((uring, name)),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = error,
            Err(error) => return Err(error),
        }
    }
    Err(refusal)
}

/// Why no ring can be used here, in words for the user; `None`: it works. Asks by doing: a ring is made and one empty
/// operation completes on it.
pub fn refused() -> Option<String> {
    let tried = build::<Narrow>(4).and_then(|(mut uring, _)| {
        // SAFETY: an empty operation refers to no memory.
        unsafe { uring.submission().push(&opcode::Nop::new().build()) }.map_err(io::Error::other)?;
        uring.submit_and_wait(1)?;
        uring.completion().next().map(drop).ok_or_else(|| io::Error::other("no completion"))
    });
    tried.err().map(|error| words(&error))
}

fn words(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOSYS) => "this kernel has no io_uring, or a container's seccomp profile hides it".to_owned(),
        Some(libc::EPERM | libc::EACCES) => {
            "io_uring is forbidden (kernel.io_uring_disabled, or a container's seccomp profile)".to_owned()
        }
        Some(libc::ENOMEM) => "the limit of locked memory (ulimit -l) is too low for a ring".to_owned(),
        _ => format!("io_uring does not work: {error}"),
    }
}

impl<F: EntryForm> Ring<F> {
    /// A ring for `depth` requests towards the files `fds` (-1: none), which become fixed files 0, 1, …. The arena is
    /// registered where the limit of locked memory allows it.
    ///
    /// # Errors
    /// The kernel's error to setting up a ring.
    pub fn open(depth: u32, fds: &[RawFd], arena: &Arena) -> io::Result<Ring<F>> {
        let (uring, name) = build::<F>(depth.next_power_of_two().max(8))?;
        let detail = std::iter::once(name).chain(F::DETAIL).collect();
        let mut ring = Ring { uring, detail, notes: Vec::new(), registered_bytes: 0 };
        ring.uring.submitter().register_files(fds)?;
        ring.register(arena);
        if ring.registered_bytes > 0 {
            ring.detail.push("fixed buffers");
        }
        Ok(ring)
    }

    /// Registers the part of the arena that is in use, unless it is already. Nothing is in flight.
    pub fn register(&mut self, arena: &Arena) {
        let part = arena.as_iovec();
        if part.iov_len <= self.registered_bytes {
            return;
        }
        let submitter = self.uring.submitter();
        if self.registered_bytes > 0 {
            submitter.unregister_buffers().ok();
        }
        arena.set_registered(None);
        self.registered_bytes = 0;
        // SAFETY: the arena is mapped until the last buffer is dropped, and buffers are in flight no longer than the
        // ring queue that holds them, which drains before it closes the ring.
        match unsafe { submitter.register_buffers(&[part]) } {
            Ok(()) => {
                arena.set_registered(Some(0));
                self.registered_bytes = part.iov_len;
            }
            Err(error) => self.note_unregistered(&error),
        }
    }

    fn note_unregistered(&mut self, error: &io::Error) {
        let why = match error.raw_os_error() {
            Some(libc::ENOMEM) => "the limit of locked memory (ulimit -l) is too low".to_owned(),
            _ => error.to_string(),
        };
        self.notes.push(format!("buffers are not registered with the ring: {why}; this costs some CPU time"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_in_words_that_help() {
        let told = |errno| words(&io::Error::from_raw_os_error(errno));
        assert!(told(libc::ENOSYS).contains("seccomp"));
        assert!(told(libc::EPERM).contains("io_uring_disabled"));
        assert!(told(libc::ENOMEM).contains("ulimit -l"));
    }
}

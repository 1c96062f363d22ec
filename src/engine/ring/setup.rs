//! Setting up a ring with the features of the running kernel.
use super::form::{EntryForm, Narrow};
use crate::core::Arena;
use io_uring::{Builder, IoUring, opcode};
use std::io;
use std::os::fd::RawFd;

/// A ring and its configuration.
pub struct Ring<F: EntryForm> {
    /// The ring.
    pub uring: Uring<F>,
    /// Details of the setup, for the report.
    pub detail: Vec<&'static str>,
    /// Unavailable features and their replacements.
    pub notes: Vec<String>,
    /// Number of registered bytes of the arena.
    registered_bytes: usize,
}

/// An io_uring of this form.
type Uring<F> = IoUring<<F as EntryForm>::Entry, <F as EntryForm>::Completion>;

/// Builder of an io_uring.
type Maker<F> = Builder<<F as EntryForm>::Entry, <F as EntryForm>::Completion>;

/// A configuration: the setup flags, and its name.
type Rung<F> = (fn(&mut Maker<F>) -> &mut Maker<F>, &'static str);

/// Configurations from the best to the simplest, with the kernel version that each requires.
fn ladder<F: EntryForm>() -> [Rung<F>; 3] {
    [
        // 6.1: completions are processed on request, without interrupting the thread.
        (|builder| builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag(), "deferred completions"),
        // 5.19: completions are processed at the next system call.
        (|builder| builder.setup_coop_taskrun().setup_taskrun_flag(), "cooperative completions"),
        // 5.6, the first version with all operations used here.
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

/// Why io_uring cannot be used, for the user; `None` if it can. Tests it by creating a ring and completing a no-op.
pub fn refused() -> Option<String> {
    let tried = build::<Narrow>(4).and_then(|(mut uring, _)| {
        // SAFETY: a no-op references no memory.
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
    /// A ring for `depth` requests on the files `fds` (-1 for none), which become fixed files 0, 1, …. The arena is
    /// registered if the limit of locked memory allows it.
    ///
    /// # Errors
    /// The kernel's error when setting up a ring.
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

    /// Registers the part of the arena that is in use, unless it is registered already. No request may be in flight.
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
        // SAFETY: the arena is mapped until the last buffer is dropped. Buffers are in flight no longer than the ring
        // queue exists, which drains before it closes the ring.
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
    fn a_refused_ring_is_explained_with_advice() {
        let reported = |errno| words(&io::Error::from_raw_os_error(errno));
        assert!(reported(libc::ENOSYS).contains("seccomp"));
        assert!(reported(libc::EPERM).contains("io_uring_disabled"));
        assert!(reported(libc::ENOMEM).contains("ulimit -l"));
    }
}

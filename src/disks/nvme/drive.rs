//! Executing commands on a node.
use super::command::{self, IDENTIFY_BYTES, Structure};
use super::namespace::{self, Controller, Namespace};
use super::status::{Status, StatusClass};
use crate::core::{DeviceError, Kind};
use crate::sys::nvme::{self, Command, Data, Set};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// Executes commands: a node, or a simulated drive in tests.
pub(super) trait Drive: Send + Sync {
    /// Executes a command and returns its status.
    ///
    /// # Errors
    /// Those of [`nvme::execute`].
    fn execute(&self, set: Set, command: &Command, data: Data<'_>) -> io::Result<Status>;

    /// The descriptor for a ring, and the command timeout; `None` if it does not support rings.
    fn for_ring(&self) -> Option<(BorrowedFd<'_>, Duration)> {
        None
    }

    /// Sets the timeout of I/O commands.
    fn limit(&self, limit: Duration);
}

/// The character device of a namespace.
#[derive(Debug)]
pub(super) struct Node {
    fd: OwnedFd,
    timeout: Duration,
    /// Timeout of I/O commands in milliseconds.
    limit_ms: AtomicU32,
}

impl Node {
    pub(super) fn new(fd: OwnedFd, timeout: Duration) -> Self {
        Node { fd, timeout, limit_ms: AtomicU32::new(milliseconds(timeout)) }
    }

    fn io_timeout(&self) -> Duration {
        Duration::from_millis(self.limit_ms.load(Relaxed).into())
    }

    /// The ID of its namespace.
    pub(super) fn nsid(&self) -> io::Result<u32> {
        nvme::namespace_id(self.fd.as_fd())
    }
}

impl Drive for Node {
    fn execute(&self, set: Set, command: &Command, data: Data<'_>) -> io::Result<Status> {
        let timeout = if set == Set::Io { self.io_timeout() } else { self.timeout };
        nvme::execute(self.fd.as_fd(), set, command, data, timeout).map(Status)
    }

    fn for_ring(&self) -> Option<(BorrowedFd<'_>, Duration)> {
        Some((self.fd.as_fd(), self.io_timeout()))
    }

    fn limit(&self, limit: Duration) {
        self.limit_ms.store(milliseconds(limit), Relaxed);
    }
}

fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}

/// Identifies the controller and the namespace.
///
/// # Errors
/// The kernel's error; a [`DeviceError`] of the kind Unsupported if the namespace does not have the NVM command set.
pub(super) fn identify(drive: &dyn Drive, nsid: u32) -> io::Result<(Controller, Namespace)> {
    let controller = namespace::controller(&*answer(drive, nsid, Structure::Controller)?);
    let Some(found) = namespace::namespace(&*answer(drive, nsid, Structure::Namespace)?) else {
        return Err(refusal(
            "its namespace is inactive, or reports impossible properties",
            "'nvme list-ns' shows the active namespaces of the drive.",
        ));
    };
    // Drives before NVMe 1.3 do not support the query, and have the NVM command set.
    let set = answer(drive, nsid, Structure::Descriptors).map_or(0, |answer| namespace::command_set(&answer));
    if set != 0 {
        return Err(refusal(
            "it is a zoned or key-value namespace, which does not support random reads and writes",
            "Choose another drive, or a tool that supports zones.",
        ));
    }
    if let Some(why) = found.loses() {
        return Err(refusal(&why, "Format it without metadata (nvme format --lbaf), or choose another drive."));
    }
    Ok((controller, found))
}

fn answer(drive: &dyn Drive, nsid: u32, structure: Structure) -> io::Result<Box<[u8; IDENTIFY_BYTES]>> {
    let mut bytes = Box::new([0; IDENTIFY_BYTES]);
    match drive.execute(Set::Admin, &command::identify(nsid, structure), Data::In(bytes.as_mut_slice()))? {
        Status(0) => Ok(bytes),
        status => Err(command_error(status, "Identify: ", None)),
    }
}

fn refusal(words: &str, advice: &'static str) -> io::Error {
    DeviceError {
        kind: Kind::Unsupported,
        words: words.to_owned(),
        offset: None,
        of_medium: false,
        advice,
        sense: None,
    }
    .into()
}

/// The error of a failed command at byte `offset` of this side.
pub(super) fn command_error(status: Status, of: &str, offset: Option<u64>) -> io::Error {
    let meaning = status.meaning();
    let words = format!("{of}{}", status.words());
    let of_medium = meaning == StatusClass::Medium;
    DeviceError { kind: meaning.kind(), words, offset, of_medium, advice: meaning.advice(), sense: None }.into()
}

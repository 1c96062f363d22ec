//! Sockets for servers that this process starts.
use super::new_file::random_digits;
use rustix::fs::{CWD, Mode, OFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;

/// A socket without a name, and a descriptor by which this process can connect to it. No other user can connect: the
/// socket had its name in a private directory. An abstract name would be open to every user.
///
/// # Errors
/// The kernel's error: no descriptor is left, or the directory for temporary files takes none.
pub fn nameless_socket() -> io::Result<(UnixListener, OwnedFd)> {
    let directory = std::env::temp_dir().join(format!("haul-{}", random_digits()?));
    rustix::fs::mkdirat(CWD, &directory, Mode::RWXU)?;
    let path = directory.join("nbd");
    let made = UnixListener::bind(&path).and_then(|listener| {
        let node = rustix::fs::openat(CWD, &path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
        Ok((listener, node?))
    });
    let _ = rustix::fs::unlink(&path);
    let _ = rustix::fs::rmdir(&directory);
    made
}

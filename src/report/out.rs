//! The two streams we print to; a closed pipe at their end is no reason to panic, or to stop a copy.
use crate::core::set_terminal_columns;
use anstream::AutoStream;
use std::io::{self, IsTerminal, Write};

/// Columns of what is no terminal.
const COLUMNS: usize = 80;

/// Standard output and standard error, with colour only where a terminal wants it (NO_COLOR and TERM=dumb honoured).
#[derive(Clone, Copy, Debug, Default)]
pub struct Out;

impl Out {
    /// Prints to standard output: what was asked for, JSON, digests, lists.
    ///
    /// # Errors
    /// The error of `write(2)`, ENOSPC for one; a pipe whose reader has closed it is no error.
    pub fn print(&self, text: &str) -> io::Result<()> {
        quietly(write_whole(AutoStream::auto(io::stdout().lock()), text))
    }

    /// Prints to standard error: reports, errors, questions. Failures are not reported, for there is no other output.
    pub fn eprint(&self, text: &str) {
        // The only other place to say that standard error is broken would be standard error.
        let _ = write_whole(AutoStream::auto(io::stderr().lock()), text);
    }

    /// Prints bytes as they are to standard error: words of the user's that need not be text.
    pub fn eprint_bytes(&self, bytes: &[u8]) {
        // As above.
        let _ = io::stderr().write_all(bytes);
    }

    /// Standard error, for a question whose answer follows on the same line.
    pub fn error_stream(&self) -> impl Write {
        AutoStream::auto(io::stderr())
    }

    /// Columns of the terminal that standard output is; 80 where it is none, so that a file reads well too.
    pub fn columns(&self) -> usize {
        self.terminal_columns().unwrap_or(COLUMNS)
    }

    /// Columns of the terminal that standard output is; `None` where it is none, or does not say how wide it is.
    pub fn terminal_columns(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
    }

    /// Lays out everything that is shown from now on for the terminal that people read on, if they do.
    pub fn fit_terminal(&self) {
        let columns = |size: rustix::io::Result<rustix::termios::Winsize>| size.ok().map(|size| size.ws_col.into());
        let on_error = columns(rustix::termios::tcgetwinsize(io::stderr()));
        set_terminal_columns(on_error.or_else(|| columns(rustix::termios::tcgetwinsize(io::stdout()))));
    }

    /// Standard error is a terminal.
    pub fn error_is_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }
}

/// Writes and flushes at once: half a line must not wait in a buffer while a signal ends the process.
fn write_whole(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// A reader that went away has seen all it wanted.
fn quietly(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    #[test]
    fn what_is_no_terminal_gets_no_colour() {
        let mut file = tempfile::tempfile().unwrap();
        write_whole(AutoStream::auto(file.try_clone().unwrap()), "\u{1b}[31mred\u{1b}[0m\n").unwrap();
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "red\n");
    }

    #[test]
    fn a_closed_pipe_is_no_error_but_a_full_disk_is() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        assert!(quietly(write_whole(&writer, "nobody reads this")).is_ok());
        let full = std::fs::File::create("/dev/full").unwrap();
        let error = quietly(write_whole(&full, "no room for this")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}

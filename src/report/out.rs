//! Standard output and standard error; a closed pipe does not panic or end a copy.
use crate::core::set_terminal_columns;
use anstream::AutoStream;
use std::io::{self, IsTerminal, Write};

/// Width without a terminal, in columns.
const COLUMNS: usize = 80;

/// Standard output and standard error, with colour only if a terminal supports it (NO_COLOR and TERM=dumb are
/// honoured).
#[derive(Clone, Copy, Debug, Default)]
pub struct Out;

impl Out {
    /// Prints to standard output: results, JSON, digests, lists.
    ///
    /// # Errors
    /// The error of `write(2)`, such as ENOSPC; a closed pipe is not an error.
    pub fn print(&self, text: &str) -> io::Result<()> {
        quietly(write_whole(AutoStream::auto(io::stdout().lock()), text))
    }

    /// Prints to standard error: reports, errors, questions. Failures are not reported, because there is no
    /// other output.
    pub fn eprint(&self, text: &str) {
        // A failure of standard error could only be reported on standard error.
        let _ = write_whole(AutoStream::auto(io::stderr().lock()), text);
    }

    /// Prints bytes unchanged to standard error: arguments of the user that need not be UTF-8.
    pub fn eprint_bytes(&self, bytes: &[u8]) {
        // As above.
        let _ = io::stderr().write_all(bytes);
    }

    /// Standard error, for a question whose answer follows on the same line.
    pub fn error_stream(&self) -> impl Write {
        AutoStream::auto(io::stderr())
    }

    /// Width of the terminal on standard output; 80 without a terminal, so that a file is readable too.
    pub fn columns(&self) -> usize {
        self.terminal_columns().unwrap_or(COLUMNS)
    }

    /// Width of the terminal on standard output; `None` without a terminal, or if it does not report its width.
    pub fn terminal_columns(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
    }

    /// Sets the width of all further output to that of the terminal, if there is one.
    pub fn fit_terminal(&self) {
        let columns = |size: rustix::io::Result<rustix::termios::Winsize>| size.ok().map(|size| size.ws_col.into());
        let on_error = columns(rustix::termios::tcgetwinsize(io::stderr()));
        set_terminal_columns(on_error.or_else(|| columns(rustix::termios::tcgetwinsize(io::stdout()))));
    }

    /// Whether standard error is a terminal.
    pub fn error_is_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }
}

/// Writes and flushes at once: a partial line must not be buffered when a signal ends the process.
fn write_whole(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// A closed pipe is not an error.
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
    fn output_off_a_terminal_has_no_colour() {
        let mut file = tempfile::tempfile().unwrap();
        write_whole(AutoStream::auto(file.try_clone().unwrap()), "\u{1b}[31mred\u{1b}[0m\n").unwrap();
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "red\n");
    }

    #[test]
    fn a_closed_pipe_is_not_an_error_and_a_full_disk_is() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        assert!(quietly(write_whole(&writer, "nobody reads this")).is_ok());
        let full = std::fs::File::create("/dev/full").unwrap();
        let error = quietly(write_whole(&full, "no room for this")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}

//! Reads the lines of a record file in bounded memory.
use super::{Fault, FaultKind, RecordFile};
use std::io::{BufRead, Read};

/// Maximum length of a line in bytes, including its newline. Two paths of 4 KiB fit even if every byte is
/// escaped.
pub(super) const LINE_BYTES_MAX: usize = 128 << 10;

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// With a newline.
    Whole,
    /// With the end of the file.
    Torn,
    /// There are no more lines.
    None,
}

/// Reads lines and counts them.
pub(super) struct Lines<R> {
    input: R,
    record_file: RecordFile,
    /// The current line, without its newline.
    pub bytes: Vec<u8>,
    /// Its number, counted from 1.
    pub number: u64,
    /// Bytes of the file before it.
    pub start: u64,
    /// Bytes of the file up to the end of the line.
    pub end: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(record_file: RecordFile, input: R) -> Self {
        Lines { input, record_file, bytes: Vec::new(), number: 0, start: 0, end: 0 }
    }

    /// Reads the next line.
    pub(super) fn advance(&mut self) -> Result<Line, Fault> {
        self.bytes.clear();
        self.start = self.end;
        self.number += 1;
        let mut limited = self.input.by_ref().take(LINE_BYTES_MAX as u64);
        let read = limited.read_until(b'\n', &mut self.bytes).map_err(|source| self.fault(FaultKind::Io(source)))?;
        self.end += read as u64;
        if self.bytes.pop_if(|last| *last == b'\n').is_some() {
            return Ok(Line::Whole);
        }
        match read {
            0 => Ok(Line::None),
            LINE_BYTES_MAX => Err(self.fault(FaultKind::TooLong { bytes_max: LINE_BYTES_MAX })),
            _ => Ok(Line::Torn),
        }
    }

    /// A fault of the current line.
    pub(super) fn fault(&self, kind: FaultKind) -> Fault {
        Fault { record_file: self.record_file, line: self.number, kind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_the_last_may_be_torn() {
        let mut lines = Lines::new(RecordFile::Mapfile, &b"one\n\ntorn"[..]);
        let expected: [(Line, &[u8], u64); 4] =
            [(Line::Whole, b"one", 4), (Line::Whole, b"", 5), (Line::Torn, b"torn", 9), (Line::None, b"", 9)];
        for (number, (line, bytes, end)) in (1..).zip(expected) {
            assert_eq!(lines.advance().unwrap(), line);
            assert_eq!((&lines.bytes[..], lines.number, lines.end), (bytes, number, end));
        }
    }

    #[test]
    fn a_line_without_an_end_does_not_fill_memory() {
        let mut fits = vec![b'a'; LINE_BYTES_MAX];
        fits[LINE_BYTES_MAX - 1] = b'\n';
        assert_eq!(Lines::new(RecordFile::Manifest, &fits[..]).advance().unwrap(), Line::Whole);
        let fault =
            Lines::new(RecordFile::Manifest, std::io::BufReader::new(std::io::repeat(b'a'))).advance().unwrap_err();
        assert!(matches!(fault.kind, FaultKind::TooLong { .. }), "{fault}");
    }
}

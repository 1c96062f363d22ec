//! Reading a manifest, line by line.
use super::coverage::Coverage;
use super::line::Body;
use super::{Entry, Head, LastLine};
use crate::ledger::first_line::FirstLine;
use crate::ledger::lines::{Line, Lines};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};
use std::io::BufRead;

/// An iterator over what a manifest says, in the order of its lines and in bounded memory.
///
/// Nothing after the first fault is given, and everything before it is as it was written. That there was no fault is
/// known only at the end: only then is [`Reader::closing`] there, and only then did the lines speak of every byte once.
pub struct Reader<R> {
    lines: Lines<R>,
    seal: Seal,
    head: Head,
    coverage: Coverage,
    closing: Option<LastLine>,
    over: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    ///
    /// # Errors
    /// It is none of a manifest, of a newer one, or damaged.
    pub fn open(input: R) -> Result<Self, Fault> {
        let mut lines = Lines::new(RecordFile::Manifest, input);
        let (head, seal) = Head::read(&mut lines)?;
        let coverage = Coverage::new(&head);
        Ok(Reader { lines, seal, head, coverage, closing: None, over: false })
    }

    /// What the manifest is about.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The last line, once every entry was given and there was no fault.
    pub fn closing(&self) -> Option<&LastLine> {
        self.closing.as_ref()
    }

    fn advance(&mut self) -> Result<Option<Entry>, Fault> {
        match self.lines.advance()? {
            Line::Whole => {}
            Line::Torn | Line::None => return Err(self.lines.fault(FaultKind::Truncated)),
        }
        if !self.seal.holds(&self.lines.bytes) {
            return Err(self.lines.fault(FaultKind::Damaged));
        }
        let body = Body::parse(&self.lines.bytes).map_err(|kind| self.lines.fault(kind))?;
        match body {
            Body::Entry(entry) => {
                self.coverage.admit(&entry).map_err(|kind| self.lines.fault(kind))?;
                Ok(Some(entry))
            }
            Body::Closing(closing) => {
                self.finish(closing)?;
                Ok(None)
            }
        }
    }

    fn finish(&mut self, closing: LastLine) -> Result<(), Fault> {
        let expected = self.coverage.close(closing.whole).map_err(|kind| self.lines.fault(kind))?;
        if expected != closing {
            let (lines, bytes) = (expected.lines, expected.len_bytes);
            let words =
                format!("expected {lines} lines and {bytes} bytes, found {} and {}", closing.lines, closing.len_bytes);
            return Err(self.lines.fault(FaultKind::Senseless(words)));
        }
        if self.lines.advance()? != Line::None {
            return Err(self.lines.fault(FaultKind::Senseless("data after the last line".into())));
        }
        self.closing = Some(closing);
        Ok(())
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Entry, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.advance().transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}

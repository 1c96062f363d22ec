//! Reads a manifest, line by line.
use super::coverage::Coverage;
use super::line::Body;
use super::{Entry, Head, LastLine};
use crate::ledger::first_line::FirstLine;
use crate::ledger::lines::{Line, Lines};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};
use std::io::BufRead;

/// An iterator over the contents of a manifest, in the order of its lines and in bounded memory.
///
/// It returns nothing after the first fault, and everything before that is as it was written. Only at the end
/// is it known that there was no fault: then [`Reader::closing`] is available, and the lines have covered every
/// byte once.
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
    /// It is not that of a manifest, from a newer haul, or damaged.
    pub fn open(input: R) -> Result<Self, Fault> {
        let mut lines = Lines::new(RecordFile::Manifest, input);
        let (head, seal) = Head::read(&mut lines)?;
        let coverage = Coverage::new(&head);
        Ok(Reader { lines, seal, head, coverage, closing: None, over: false })
    }

    /// The first line.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The last line, after all entries were returned without a fault.
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
            return Err(self.lines.fault(FaultKind::Invalid(words)));
        }
        if self.lines.advance()? != Line::None {
            return Err(self.lines.fault(FaultKind::Invalid("data after the last line".into())));
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

//! Converts records that were read into the bytes to write.
use super::batch::{Batch, RecordMark};
use crate::apps::fronts::record_plan::{Framing, FramingKind, RecordPlan};
use std::sync::Arc;

/// The writing side has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

/// Receives finished batches.
pub(super) trait Sink {
    /// Takes `batch` and returns an empty one.
    fn put(&mut self, batch: Batch) -> Result<Batch, Stopped>;

    /// Takes the marks of records that were read but produced no output yet.
    fn note(&mut self, marks: Vec<RecordMark>, cuts: Vec<u64>) -> Result<(), Stopped>;
}

/// Swaps the two bytes of each pair.
fn swap(even: &mut [u8]) {
    even.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
}

/// Pads, converts and reblocks records, as planned.
pub(super) struct Converter {
    plan: Arc<RecordPlan>,
    /// Largest size of an output batch: whole records of the dest.
    out_bytes: usize,
    /// The batch being filled; `None` if each record read is one record written.
    filling: Option<Batch>,
    /// Bytes of output so far.
    made: u64,
    /// The first byte of an incomplete pair to swap.
    odd: Option<u8>,
    /// Bytes of the current line or record.
    column: u64,
    /// Spaces that are written only if other characters follow them.
    spaces: u64,
}

impl Converter {
    /// `filling` if the plan reblocks; `out_bytes` is a multiple of the dest's record size.
    pub(super) fn new(plan: Arc<RecordPlan>, out_bytes: usize, filling: Option<Batch>) -> Self {
        Converter { plan, out_bytes, filling, made: 0, odd: None, column: 0, spaces: 0 }
    }

    /// Takes the records in `batch`; returns an empty batch.
    pub(super) fn take(
        &mut self,
        mut batch: Batch,
        filled: (u64, Option<usize>),
        sink: &mut dyn Sink,
    ) -> Result<Batch, Stopped> {
        let (full, short) = filled;
        let record_bytes = self.plan.source.record_bytes as usize;
        batch.len = full as usize * record_bytes + short.unwrap_or(0);
        if let (Some(pad), Some(_)) = (self.plan.pad, short) {
            let end = (full as usize + 1) * record_bytes;
            let len = batch.len;
            batch.memory.bytes_mut()[len..end].fill(pad);
            batch.len = end;
        }
        let records = full + u64::from(short.is_some());
        if self.filling.is_none() {
            self.mark_records(&mut batch, record_bytes, records, short.is_some());
            self.made += batch.len as u64;
            return sink.put(batch);
        }
        let len = batch.len;
        if let Some(table) = &self.plan.table {
            batch.memory.bytes_mut()[..len].iter_mut().for_each(|byte| *byte = table[usize::from(*byte)]);
        }
        let is_empty = self
            .filling
            .as_ref()
            .is_some_and(|filling| filling.len == 0 && filling.marks.is_empty() && filling.cuts.is_empty());
        let obs = self.plan.dest.record_bytes as usize;
        let no_pair_is_cut = self.odd.is_none() && len.is_multiple_of(2);
        let passes = (!self.plan.swab || no_pair_is_cut) && self.plan.framing.is_none() && is_empty;
        if passes && len.is_multiple_of(obs) && len <= self.out_bytes {
            if self.plan.swab {
                swap(&mut batch.memory.bytes_mut()[..len]);
            }
            self.mark_records(&mut batch, record_bytes, records, short.is_some());
            self.made += len as u64;
            return sink.put(batch);
        }
        for record in 0..records {
            let start = record as usize * record_bytes;
            let end = (start + record_bytes).min(len);
            self.mark(short.is_some() && record + 1 == records);
            self.convert(&mut batch.memory.bytes_mut()[start..end], sink)?;
        }
        self.hand_over_whole(sink)?;
        batch.clear();
        Ok(batch)
    }

    /// Sends the rest of the output.
    pub(super) fn finish(mut self, sink: &mut dyn Sink) -> Result<(), Stopped> {
        if self.filling.is_none() {
            return Ok(());
        }
        if let Some(odd) = self.odd.take() {
            self.frame(&[odd], sink)?;
        }
        if let (Some(framing), true) = (self.plan.framing, self.column > 0) {
            match framing.kind {
                FramingKind::Block => {
                    let missing = framing.record_bytes.saturating_sub(self.column);
                    self.repeat(framing.space, missing, sink)?;
                }
                FramingKind::Unblock => self.push(&[framing.newline], sink)?,
            }
        }
        self.hand_over_whole(sink)?;
        let mut rest = self.filling.take().expect("checked above");
        rest.last = true;
        sink.put(rest).map(drop)
    }

    /// Marks records of one length, of which the last may have been short.
    fn mark_records(&mut self, batch: &mut Batch, record_bytes: usize, records: u64, last_short: bool) {
        let made = self.made;
        let mark = |record| RecordMark {
            out_start: made + record * record_bytes as u64,
            partial: last_short && record + 1 == records,
        };
        batch.marks.extend((0..records).map(mark));
    }

    fn mark(&mut self, partial: bool) {
        let out_start = self.made;
        if let Some(filling) = &mut self.filling {
            filling.marks.push(RecordMark { out_start, partial });
        }
    }

    fn convert(&mut self, bytes: &mut [u8], sink: &mut dyn Sink) -> Result<(), Stopped> {
        if !self.plan.swab || bytes.is_empty() {
            return self.frame(bytes, sink);
        }
        let mut rest = bytes;
        if let Some(odd) = self.odd {
            let (first, behind) = rest.split_at_mut(1);
            self.odd = None;
            self.frame(&[first[0], odd], sink)?;
            rest = behind;
        }
        let (even, last) = rest.split_at_mut(rest.len() & !1);
        swap(even);
        self.odd = last.first().copied();
        self.frame(even, sink)
    }

    fn frame(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), Stopped> {
        match self.plan.framing {
            None => self.push(bytes, sink),
            Some(framing) if framing.kind == FramingKind::Block => self.block(framing, bytes, sink),
            Some(framing) => self.unblock(framing, bytes, sink),
        }
    }

    /// Converts lines to records.
    fn block(&mut self, framing: Framing, mut bytes: &[u8], sink: &mut dyn Sink) -> Result<(), Stopped> {
        while !bytes.is_empty() {
            let line_len = bytes.iter().position(|byte| *byte == framing.newline);
            let (line, behind) = bytes.split_at(line_len.unwrap_or(bytes.len()));
            let fits = framing.record_bytes.saturating_sub(self.column).min(line.len() as u64) as usize;
            self.push(&line[..fits], sink)?;
            if self.column <= framing.record_bytes && self.column + line.len() as u64 > framing.record_bytes {
                let at = self.made;
                self.filling.as_mut().expect("only where records are refilled").cuts.push(at);
            }
            self.column += line.len() as u64;
            bytes = behind;
            if line_len.is_some() {
                let missing = framing.record_bytes.saturating_sub(self.column);
                self.repeat(framing.space, missing, sink)?;
                self.column = 0;
                bytes = &behind[1..];
            }
        }
        Ok(())
    }

    /// Converts records to lines.
    fn unblock(&mut self, framing: Framing, mut bytes: &[u8], sink: &mut dyn Sink) -> Result<(), Stopped> {
        while !bytes.is_empty() {
            if self.column == framing.record_bytes {
                self.push(&[framing.newline], sink)?;
                (self.column, self.spaces) = (0, 0);
            }
            let left = (framing.record_bytes - self.column).min(bytes.len() as u64) as usize;
            let (piece, behind) = bytes.split_at(left);
            let solid = piece.iter().rposition(|byte| *byte != framing.space).map_or(0, |last| last + 1);
            if solid > 0 {
                let spaces = std::mem::take(&mut self.spaces);
                self.repeat(framing.space, spaces, sink)?;
                self.push(&piece[..solid], sink)?;
            }
            self.spaces += (piece.len() - solid) as u64;
            self.column += piece.len() as u64;
            bytes = behind;
        }
        Ok(())
    }

    fn repeat(&mut self, byte: u8, mut times: u64, sink: &mut dyn Sink) -> Result<(), Stopped> {
        let piece = [byte; 256];
        while times > 0 {
            let now = times.min(piece.len() as u64);
            self.push(&piece[..now as usize], sink)?;
            times -= now;
        }
        Ok(())
    }

    fn push(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) -> Result<(), Stopped> {
        while !bytes.is_empty() {
            let filling = self.filling.as_mut().expect("only where records are refilled");
            if filling.len == self.out_bytes {
                self.hand_over_whole(sink)?;
                continue;
            }
            let room = (self.out_bytes - filling.len).min(bytes.len());
            let taken = filling.take(&bytes[..room]);
            self.made += taken as u64;
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    /// Sends the bytes that are whole records of the dest, and keeps the rest. The marks of the records that
    /// were read are sent in any case.
    fn hand_over_whole(&mut self, sink: &mut dyn Sink) -> Result<(), Stopped> {
        let Some(mut full) = self.filling.take() else { return Ok(()) };
        let obs = self.plan.dest.record_bytes as usize;
        let whole = full.len - full.len % obs;
        if whole == 0 {
            let marks = std::mem::take(&mut full.marks);
            let cuts = std::mem::take(&mut full.cuts);
            self.filling = Some(full);
            return if marks.is_empty() { Ok(()) } else { sink.note(marks, cuts) };
        }
        // A batch cannot be read after it is sent, so the rest is copied first.
        let rest: Vec<u8> = full.bytes()[whole..].to_vec();
        full.len = whole;
        let mut fresh = sink.put(full)?;
        fresh.take(&rest);
        self.filling = Some(fresh);
        Ok(())
    }
}

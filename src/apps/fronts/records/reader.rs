//! Reads records, as many as one call can return.
use super::batch::Memory;
use super::pattern::Maker;
use super::start::warns_of_short_reads;
use super::{OpenSides, SideKind, SkipResult};
use crate::apps::fronts::record_counts::RecordTally;
use crate::apps::fronts::record_plan::{Amount, Diagnostic, RecordPlan};
use crate::core::Extent;
pub(super) use crate::core::is_of_medium;
use rustix::fs::{Advice, SeekFrom};
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Bytes per call where records are smaller: enough to make the cost of the call negligible.
const BATCH_BYTES: u64 = 256 << 10;
/// The same if one side is a pipe: a pipe is nearly always full, and smaller reads let its other end continue
/// sooner. At least two pages, because the cost of smaller calls exceeds that gain.
const PIPE_BATCH_BYTES: u64 = 8 << 10;
/// Bytes of a nocache source that are evicted from the page cache at a time.
const GIVE_BACK_BYTES: u64 = 1 << 20;
/// Records that are read one by one after a batch failed, before batches are used again.
pub(super) const CAREFUL_RECORDS: u64 = 1024;
/// Direct I/O with records of a multiple of this size is aligned for any number of records.
const DIRECT_BYTES: u64 = 4096;

/// The result of one step of reading.
#[derive(Debug)]
pub(super) enum ReadStep {
    /// Whole records, and the size of a short one after them. `warn`: the record before them was short, which
    /// requires a warning if records are counted.
    Records { full: u64, short: Option<usize>, warn: Option<u64> },
    /// A read failed; the copy may continue after it.
    Failed(Diagnostic),
    /// The end of the source or of the count.
    End,
}

/// How many records one call may read.
pub(super) fn batch_records(sort: SideKind, record_bytes: u64, direct: bool) -> u64 {
    let batch_bytes = match sort {
        _ if direct && !record_bytes.is_multiple_of(DIRECT_BYTES) => 0,
        SideKind::File | SideKind::Block | SideKind::Commands | SideKind::Zeros | SideKind::Null => BATCH_BYTES,
        SideKind::Pipe => PIPE_BATCH_BYTES,
        // The unit of a call is unknown there: a line, a packet, a tape block.
        SideKind::ScsiGeneric | SideKind::Other => 0,
    };
    (batch_bytes / record_bytes).max(1)
}

pub(super) fn is_einval(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EINVAL)
}

/// Reads the source from its current offset.
pub(super) struct Reader {
    pub(super) plan: Arc<RecordPlan>,
    pub(super) ends: Arc<OpenSides>,
    pub(super) tally: Arc<RecordTally>,
    /// Generates the bytes of a source that is not read.
    maker: Option<Maker>,
    batch_records: u64,
    /// Records read so far, including short ones.
    pub(super) records: u64,
    /// Bytes of the last record if it was short: after a failed read, the rest of it is skipped.
    short_before: u64,
    /// The partial data of the record that failed, to be returned anyway.
    owes: Option<Vec<u8>>,
    /// The bytes of an incomplete record that were read before a call failed.
    pub(super) lost: Vec<u8>,
    /// The beginning of the next record from a pipe, if reads are full and the records before it have been
    /// returned.
    begun: Vec<u8>,
    /// A short record causes a warning, once.
    warns: bool,
    /// Bytes of the last read if it returned less than a record: the next read of more than that causes a
    /// warning.
    short_read: u64,
    /// Records still to be read one by one.
    pub(super) careful: u64,
    /// Records still to be read in one call, before the record that the disk reports as bad.
    pub(super) ahead: u64,
    /// The next record: a replacement for one that could not be read.
    pub(super) owes_record: Option<Vec<u8>>,
    /// The disk does not support READ LONG.
    pub(super) fetches_nothing: bool,
    /// The error of the next record, which was read but does not contain its number.
    pub(super) wrong_address: Option<Diagnostic>,
    /// Consecutive records that could not be read.
    pub(super) bad_in_a_row: u64,
    /// A failed read ended the copy.
    pub(super) failed: bool,
    ended: bool,
    /// Bytes read, and the part of them that was evicted from the page cache.
    read_bytes: u64,
    given_back: u64,
    pub(super) start: u64,
    /// Records that were read before `start`.
    pub(super) first: u64,
}

impl Reader {
    /// `records` were read before.
    pub(super) fn new(
        plan: Arc<RecordPlan>,
        ends: Arc<OpenSides>,
        tally: Arc<RecordTally>,
        records: u64,
        lead: SkipResult,
    ) -> Self {
        let source = &ends.source;
        let direct = source.flags.contains(rustix::fs::OFlags::DIRECT);
        let start = source.position().unwrap_or(0);
        let warns = !lead.warned && warns_of_short_reads(&plan);
        let record_bytes = plan.source.record_bytes;
        // Data for a pipe is read in pieces, so that its reader can process one while the next one is read.
        let sort = if ends.dest.sort == SideKind::Pipe { SideKind::Pipe } else { source.sort };
        let own = if ends.are_one() { 1 } else { batch_records(sort, record_bytes, direct) };
        let batch_records = plan.transfer_records.unwrap_or(own);
        let first = plan.source.skip.records + records;
        let maker = plan.pattern.map(|pattern| Maker::new(pattern, record_bytes, first));
        Reader {
            plan,
            ends,
            tally,
            maker,
            batch_records,
            records,
            short_before: lead.short_bytes,
            owes: None,
            lost: Vec::new(),
            begun: Vec::new(),
            warns,
            short_read: lead.short_bytes,
            careful: 0,
            ahead: 0,
            owes_record: None,
            fetches_nothing: false,
            wrong_address: None,
            bad_in_a_row: 0,
            failed: false,
            ended: false,
            read_bytes: 0,
            given_back: 0,
            start,
            first: records,
        }
    }

    /// Size of a buffer for one step, in bytes.
    pub(super) fn buffer_bytes(&self) -> Option<usize> {
        usize::try_from(self.batch_records.checked_mul(self.plan.source.record_bytes)?).ok()
    }

    /// Fills `memory` by one call, or by as many as a full record needs.
    pub(super) fn fill(&mut self, memory: &mut Memory) -> ReadStep {
        if let Some(bytes) = self.owes.take() {
            self.records += 1;
            memory.bytes_mut()[..bytes.len()].copy_from_slice(&bytes);
            return ReadStep::Records { full: 0, short: Some(bytes.len()), warn: None };
        }
        if let Some(bytes) = self.owes_record.take() {
            self.records += 1;
            memory.bytes_mut()[..bytes.len()].copy_from_slice(&bytes);
            return ReadStep::Records { full: 1, short: None, warn: None };
        }
        if let Some(complaint) = self.wrong_address.take() {
            return self.fail(complaint);
        }
        let want = if self.ended { 0 } else { self.want() };
        if want == 0 {
            self.evict(true);
            return ReadStep::End;
        }
        let record_bytes = self.plan.source.record_bytes;
        match self.read(&mut memory.bytes_mut()[..want as usize]) {
            Ok(0) => {
                self.ended = true;
                self.evict(true);
                ReadStep::End
            }
            Ok(got) => {
                let got = self.before_wrong_address(&memory.bytes_mut()[..got]);
                if got == 0 {
                    return self.fill(memory);
                }
                let (full, short) = (got as u64 / record_bytes, got as u64 % record_bytes);
                self.records += full + u64::from(short > 0);
                let asked = want.min(record_bytes);
                let warn = Some(self.short_read).filter(|before| (1..asked).contains(before) && self.warns);
                self.warns &= warn.is_none();
                self.went_well(full);
                (self.short_before, self.short_read) = (short, short);
                self.read_bytes += got as u64;
                self.evict(false);
                ReadStep::Records { full, short: (short > 0).then_some(short as usize), warn }
            }
            Err(error) if want > record_bytes => {
                // The records before the bad one are readable: smaller reads return them.
                self.look_closer(&error, want / record_bytes);
                self.fill(memory)
            }
            // What remains after a short direct read is too short for direct I/O.
            Err(error)
                if is_einval(&error)
                    && self.short_before > 0
                    && self.ends.source.flags.contains(rustix::fs::OFlags::DIRECT) =>
            {
                self.ended = true;
                ReadStep::End
            }
            Err(error) => self.failed_read(error),
        }
    }

    /// Bytes to read next; 0 when the count is reached.
    fn want(&self) -> u64 {
        let record_bytes = self.plan.source.record_bytes;
        let batch = match (self.ahead, self.careful) {
            (0, 0) => self.batch_records,
            (0, _) => 1,
            (ahead, _) => ahead,
        };
        let Some(Amount { records, bytes }) = self.plan.count else { return batch * record_bytes };
        match records.checked_sub(self.records) {
            Some(0) => bytes,
            Some(left) => left.min(batch) * record_bytes,
            None => 0,
        }
    }

    /// As [`Self::read_once`], with retries as planned.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(maker) = &mut self.maker {
            maker.fill(bytes);
            return Ok(bytes.len());
        }
        if self.plan.care.retries == 0 {
            return self.read_once(bytes);
        }
        let at = self.ends.source.position().ok();
        let mut left = if at.is_some() { self.plan.care.retries } else { 0 };
        loop {
            let result = self.read_once(bytes);
            let Err(error) = &result else { return result };
            if left == 0 || !is_of_medium(error) {
                return result;
            }
            left -= 1;
            self.tally.note_reread();
            self.go_to(at);
        }
    }

    /// Reads by one call; if reads are full, by as many as it takes to end with a whole record.
    fn read_once(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let ends = self.ends.clone();
        let record_bytes = self.plan.source.record_bytes as usize;
        let mut got = self.begun.len();
        bytes[..got].copy_from_slice(&self.begun);
        self.begun.clear();
        loop {
            match ends.source.read(&mut bytes[got..]) {
                Ok(0) => return Ok(got),
                Ok(moved) => got += moved,
                // Direct I/O cannot read at the unaligned offset after a short last record.
                Err(error) if got > 0 && self.plan.transfer_records.is_some() && is_einval(&error) => return Ok(got),
                Err(error) => return self.cut_off(&bytes[..got], bytes.len(), error),
            }
            // A read of /dev/zero is short only if a signal interrupted it: that is neither the end nor a
            // record.
            let full = self.plan.full_reads || self.ends.source.sort == SideKind::Zeros;
            if !full || got.is_multiple_of(record_bytes) || got == bytes.len() {
                return Ok(got);
            }
            if ends.source.sort == SideKind::Pipe && got > record_bytes && self.plan.transfer_records.is_none() {
                // The rest of the last record may take long to arrive; those before it are whole.
                let whole = got - got % record_bytes;
                self.begun.extend_from_slice(&bytes[whole..got]);
                return Ok(whole);
            }
        }
    }

    /// Handles a call that failed after earlier ones had returned `got`. Whole records are returned. A partial
    /// record is lost, as in dd, and its bytes count only if records are padded.
    fn cut_off(&mut self, got: &[u8], want: usize, error: io::Error) -> io::Result<usize> {
        let record_bytes = self.plan.source.record_bytes as usize;
        let rest = got.len() % record_bytes;
        if want <= record_bytes {
            self.lost = got.to_vec();
            return Err(error);
        }
        if rest > 0 {
            // The partial record is read again alone. Without offsets it is lost in any case.
            let _ = self.ends.source.seek(SeekFrom::Current(-(rest as i64)));
        }
        if got.len() > rest { Ok(got.len() - rest) } else { Err(error) }
    }

    fn failed_read(&mut self, error: io::Error) -> ReadStep {
        self.ahead = 0;
        let zeros = self.plan.care.zero_unreadable && self.ends.source.offset.is_some() && is_of_medium(&error);
        if zeros {
            return self.something_instead(error);
        }
        if !self.plan.keep_going {
            return self.fail(Diagnostic::Read(error));
        }
        self.short_read = 0;
        let read = self.short_before.max(self.lost.len() as u64);
        let bad = self.plan.source.record_bytes - read;
        if self.ends.source.offset.is_some() {
            // If the seek fails, the next read fails too and reports the error.
            let _ = self.ends.source.seek(SeekFrom::Current(bad as i64));
        }
        let lost = std::mem::take(&mut self.lost);
        self.owes = (self.plan.pad.is_some() && self.short_before == 0).then_some(lost);
        ReadStep::Failed(Diagnostic::Read(error))
    }

    pub(super) fn fail(&mut self, complaint: Diagnostic) -> ReadStep {
        (self.failed, self.ended) = (true, true);
        ReadStep::Failed(complaint)
    }

    /// Evicts the pages that were read, in large pieces; at the end all of them.
    fn evict(&mut self, end: bool) {
        if !self.plan.source.words.nocache {
            return;
        }
        let Ok(fd) = self.ends.source.fd() else { return };
        if self.read_bytes - self.given_back >= GIVE_BACK_BYTES || end {
            let extent = Extent::new(self.start + self.given_back, self.read_bytes - self.given_back);
            // Advisory: a failure is harmless.
            if let Some(len) = NonZeroU64::new(extent.len) {
                let _ = rustix::fs::fadvise(fd, extent.offset, Some(len), Advice::DontNeed);
            }
            self.given_back = self.read_bytes;
        }
    }
}

//! Reading records, as many as one call can bring.
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

/// Bytes that one call is to bring where records are smaller: enough that the call costs nothing beside them.
const BATCH_BYTES: u64 = 256 << 10;
/// The same where a pipe is on one side: it is nearly full all the time, and the smaller the pieces are, the sooner its
/// other end continues. Down to two pages, below which the calls cost more than that gains.
const PIPE_BATCH_BYTES: u64 = 8 << 10;
/// Of what was read past a nocache source, so much at a time is given back.
const GIVE_BACK_BYTES: u64 = 1 << 20;
/// Records that are read one by one after a batch failed, before batches are tried again.
pub(super) const CAREFUL_RECORDS: u64 = 1024;
/// Direct I/O of records that are multiples of this is aligned whether one or many are read.
const DIRECT_BYTES: u64 = 4096;

/// What one step of reading came to.
#[derive(Debug)]
pub(super) enum ReadStep {
    /// So many whole records, and behind them a short one of so many bytes.
    /// `warn`: the record before them was short, which those who count should know.
    Records { full: u64, short: Option<usize>, warn: Option<u64> },
    /// A read failed; the copy may go on behind it.
    Failed(Diagnostic),
    /// There is no more.
    End,
}

/// How many records one call may ask for.
pub(super) fn batch_records(sort: SideKind, record_bytes: u64, direct: bool) -> u64 {
    let batch_bytes = match sort {
        _ if direct && !record_bytes.is_multiple_of(DIRECT_BYTES) => 0,
        SideKind::File | SideKind::Block | SideKind::Commands | SideKind::Zeros | SideKind::Null => BATCH_BYTES,
        SideKind::Pipe => PIPE_BATCH_BYTES,
        // What a call means there it is unknown: a line, a packet, a block of a tape.
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
    /// Makes bytes up, where nothing is read.
    maker: Option<Maker>,
    batch_records: u64,
    /// Records that were read, short ones counted.
    pub(super) records: u64,
    /// Bytes of the last record, where it was short: what failed behind it is skipped up to its end.
    short_before: u64,
    /// The record that failed is to be handed over anyway, with what was read of it.
    owes: Option<Vec<u8>>,
    /// What calls had brought of a record that was to be full, before one of them failed.
    pub(super) lost: Vec<u8>,
    /// What a pipe has brought of the next record, where reads are full and those before it were handed over.
    begun: Vec<u8>,
    /// A short record is worth a warning, once.
    warns: bool,
    /// Bytes of the last read, where it did not bring a record and did not fail: those who are asked for more than that
    /// next are warned.
    short_read: u64,
    /// Records to read one by one.
    pub(super) careful: u64,
    /// Records to read at once, ahead of one that the disk blames.
    pub(super) ahead: u64,
    /// The next record, in place of one that could not be read.
    pub(super) owes_record: Option<Vec<u8>>,
    /// The disk fetches nothing that cannot be read: it does not know how.
    pub(super) fetches_nothing: bool,
    /// The record that comes next was read, and does not hold its number.
    pub(super) wrong_address: Option<Diagnostic>,
    /// Records that could not be read, consecutively.
    pub(super) bad_in_a_row: u64,
    /// It ended for a failed read.
    pub(super) failed: bool,
    ended: bool,
    /// Bytes read, and those of them given back to the cache.
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
        // What goes into a pipe goes in pieces that its reader can take while the next one is read.
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

    /// Bytes that a buffer for one step has to hold.
    pub(super) fn buffer_bytes(&self) -> Option<usize> {
        usize::try_from(self.batch_records.checked_mul(self.plan.source.record_bytes)?).ok()
    }

    /// Fills `memory` with what one call brings, or the calls that fill a record.
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
            return self.give_up(complaint);
        }
        let want = if self.ended { 0 } else { self.want() };
        if want == 0 {
            self.give_back(true);
            return ReadStep::End;
        }
        let record_bytes = self.plan.source.record_bytes;
        match self.read(&mut memory.bytes_mut()[..want as usize]) {
            Ok(0) => {
                self.ended = true;
                self.give_back(true);
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
                self.give_back(false);
                ReadStep::Records { full, short: (short > 0).then_some(short as usize), warn }
            }
            Err(error) if want > record_bytes => {
                // The records ahead of the bad one are fine: in smaller pieces they will come.
                self.look_closer(&error, want / record_bytes);
                self.fill(memory)
            }
            // What is left behind a short direct read is shorter than direct I/O can be.
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

    /// Bytes to ask for next; 0 when the count is reached.
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

    /// As [`Self::read_once`], and as often again as the plan says.
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

    /// One call; where reads are to be full, as many as it takes to end with a whole record.
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
                // The place behind a short last record is one that direct I/O cannot be asked for.
                Err(error) if got > 0 && self.plan.transfer_records.is_some() && is_einval(&error) => return Ok(got),
                Err(error) => return self.cut_off(&bytes[..got], bytes.len(), error),
            }
            // A read of zeros is short only where the kernel had something else to do between: no end, and no record.
            let full = self.plan.full_reads || self.ends.source.sort == SideKind::Zeros;
            if !full || got.is_multiple_of(record_bytes) || got == bytes.len() {
                return Ok(got);
            }
            if ends.source.sort == SideKind::Pipe && got > record_bytes && self.plan.transfer_records.is_none() {
                // The rest of the last record may be long in coming; those before it are whole.
                let whole = got - got % record_bytes;
                self.begun.extend_from_slice(&bytes[whole..got]);
                return Ok(whole);
            }
        }
    }

    /// A call failed after others had brought `got`. Whole records are handed over; a record that was
    /// to be full and is not is lost, as in dd, and what was read of it counts only where it is filled up.
    fn cut_off(&mut self, got: &[u8], want: usize, error: io::Error) -> io::Result<usize> {
        let record_bytes = self.plan.source.record_bytes as usize;
        let rest = got.len() % record_bytes;
        if want <= record_bytes {
            self.lost = got.to_vec();
            return Err(error);
        }
        if rest > 0 {
            // It is read again by itself. Where there are no offsets it is lost either way.
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
            return self.give_up(Diagnostic::Read(error));
        }
        self.short_read = 0;
        let read = self.short_before.max(self.lost.len() as u64);
        let bad = self.plan.source.record_bytes - read;
        if self.ends.source.offset.is_some() {
            // Where that fails, the next read fails too and says so.
            let _ = self.ends.source.seek(SeekFrom::Current(bad as i64));
        }
        let lost = std::mem::take(&mut self.lost);
        self.owes = (self.plan.pad.is_some() && self.short_before == 0).then_some(lost);
        ReadStep::Failed(Diagnostic::Read(error))
    }

    pub(super) fn give_up(&mut self, complaint: Diagnostic) -> ReadStep {
        (self.failed, self.ended) = (true, true);
        ReadStep::Failed(complaint)
    }

    /// Gives back to the page cache what was read, in large pieces; at the end all of it.
    fn give_back(&mut self, end: bool) {
        if !self.plan.source.words.nocache {
            return;
        }
        let Ok(fd) = self.ends.source.fd() else { return };
        if self.read_bytes - self.given_back >= GIVE_BACK_BYTES || end {
            let extent = Extent::new(self.start + self.given_back, self.read_bytes - self.given_back);
            // Advice: where it is not taken nothing is lost.
            if let Some(len) = NonZeroU64::new(extent.len) {
                let _ = rustix::fs::fadvise(fd, extent.offset, Some(len), Advice::DontNeed);
            }
            self.given_back = self.read_bytes;
        }
    }
}

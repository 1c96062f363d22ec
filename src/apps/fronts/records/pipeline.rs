//! Runs reader, converter and writer, in turn or in parallel.
use super::batch::{Batch, RecordMark};
use super::buffers::{Buffers, Sizes};
use super::convert::{Converter, Sink, Stopped};
use super::reader::{ReadStep, Reader};
use super::writer::Writer;
use super::{OpenSides, SideKind, SkipResult};
use crate::apps::fronts::{Diagnostic, RecordCounts, RecordListener, RecordPlan, RecordTally};
use crate::core::{IdleThread, Side};
use std::sync::{Arc, mpsc::Receiver, mpsc::Sender, mpsc::SyncSender, mpsc::channel, mpsc::sync_channel};

/// Shorter copies end before a thread would have started.
const TINY_BYTES: u64 = 1 << 20;
/// How a copy by records ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordsEnd {
    /// A read failed, and the plan does not continue after failed reads.
    pub read_failed: bool,
    /// A write failed.
    pub write_failed: bool,
    /// A whole record failed to be written during reblocking, at which dd exits at once.
    pub gave_up: bool,
    /// Allocating a buffer failed; nothing was read.
    pub no_memory: bool,
    /// The last record was skipped: the end of the dest must still be set.
    pub at_hole: bool,
}

impl RecordsEnd {
    fn written(failure: Option<&Diagnostic>, at_hole: bool) -> RecordsEnd {
        let gave_up = matches!(failure, Some(Diagnostic::Write { midway: true, .. }));
        RecordsEnd { write_failed: failure.is_some(), gave_up, at_hole, ..RecordsEnd::default() }
    }
}

/// Shared by all three steps.
#[derive(Clone)]
struct Shared {
    plan: Arc<RecordPlan>,
    listener: Arc<dyn RecordListener>,
}

/// Copies from the current offsets of both sides, after `before` was already copied, and reports failures.
pub fn run(
    plan: &Arc<RecordPlan>,
    ends: &Arc<OpenSides>,
    before: RecordCounts,
    lead: SkipResult,
    tally: &Arc<RecordTally>,
    listener: &Arc<dyn RecordListener>,
) -> RecordsEnd {
    tally.set(before);
    let shared = Shared { plan: plan.clone(), listener: listener.clone() };
    let reader = Reader::new(plan.clone(), ends.clone(), tally.clone(), before.read_full + before.read_partial, lead);
    let writer = Writer::new(plan.clone(), ends.clone(), tally.clone(), before, listener.clone());
    let sizes = match Sizes::of(plan, &reader) {
        Ok(sizes) => sizes,
        Err((side, bytes)) => {
            listener.report_failure(side, &Diagnostic::Memory(bytes), false);
            return RecordsEnd { no_memory: true, ..RecordsEnd::default() };
        }
    };
    let alone = plan.buffers == Some(1) || is_tiny(plan, ends, before) || ends.are_one();
    let side_by_side = !alone && both_gain(plan, ends);
    let lent = ends.shared_batch(sizes.each, &**listener);
    let buffers = sizes.allocate(plan, side_by_side);
    match buffers.map(|own| own.beginning_with(lent)) {
        Ok(buffers) => match Workers::start(&buffers) {
            Some(workers) => in_threads(shared, reader, writer, buffers, workers),
            None => on_the_spot(&shared, reader, writer, buffers),
        },
        Err((side, bytes)) => {
            listener.report_failure(side, &Diagnostic::Memory(bytes), false);
            RecordsEnd { no_memory: true, ..RecordsEnd::default() }
        }
    }
}

/// Whether the minimum of memory for a copy by records is available; reports an error if not. Called before blocks
/// are copied, because records follow them.
pub fn has_memory(plan: &Arc<RecordPlan>, ends: &Arc<OpenSides>, listener: &dyn RecordListener) -> bool {
    let reader = Reader::new(plan.clone(), ends.clone(), Arc::default(), 0, SkipResult::default());
    match Sizes::of(plan, &reader).and_then(|sizes| sizes.allocate(plan, false)) {
        Ok(_) => true,
        Err((side, bytes)) => {
            listener.report_failure(side, &Diagnostic::Memory(bytes), false);
            false
        }
    }
}

/// Whether the rest after `before` is too small to be worth a thread.
fn is_tiny(plan: &RecordPlan, ends: &OpenSides, before: RecordCounts) -> bool {
    let done = before.read_full.saturating_mul(plan.source.record_bytes);
    let by_count = plan.count.and_then(|count| count.in_bytes(plan.source.record_bytes));
    let by_count = by_count.map(|bytes| bytes.saturating_sub(done));
    let position = || ends.source.position().ok();
    let by_size = ends.source.size.map(|size| size.saturating_sub(position().unwrap_or(0)));
    let most = [by_count, by_size].into_iter().flatten().min();
    most.is_some_and(|bytes| bytes <= TINY_BYTES)
}

/// Whether the steps can overlap: there is a conversion, or one side waits for its medium while the other is busy.
/// Otherwise alternating in a cached buffer is faster.
fn both_gain(plan: &RecordPlan, ends: &OpenSides) -> bool {
    let converts = plan.table.is_some() || plan.swab || plan.framing.is_some() || plan.sparse;
    let more = plan.pattern.is_some() || plan.second.is_some() || plan.compare;
    let at_once = |sort| matches!(sort, SideKind::Zeros | SideKind::Null);
    let [source, dest] = [&ends.source, &ends.dest];
    converts
        || more
        || !at_once(source.sort) && !at_once(dest.sort) && (source.waits_to_read() || dest.waits_to_write())
}

/// Writes the converter's output immediately.
struct DirectWriter<'a> {
    shared: &'a Shared,
    writer: Writer,
    failed: Option<Diagnostic>,
}

impl DirectWriter<'_> {
    /// Ends the output.
    fn end(&mut self) {
        if let (None, Err(complaint)) = (&self.failed, self.writer.end()) {
            self.shared.listener.report_failure(Side::Dest, &complaint, false);
            self.failed = Some(complaint);
        }
    }
}

impl Sink for DirectWriter<'_> {
    fn put(&mut self, mut batch: Batch) -> Result<Batch, Stopped> {
        if let Err(complaint) = self.writer.write(&batch) {
            self.shared.listener.report_failure(Side::Dest, &complaint, false);
            self.failed = Some(complaint);
            return Err(Stopped);
        }
        batch.clear();
        Ok(batch)
    }

    fn note(&mut self, marks: Vec<RecordMark>, cuts: Vec<u64>) -> Result<(), Stopped> {
        self.writer.note(&marks, &cuts);
        Ok(())
    }
}

fn on_the_spot(shared: &Shared, mut reader: Reader, writer: Writer, buffers: Buffers) -> RecordsEnd {
    let Buffers { first, filling, out, .. } = buffers;
    let mut converter = Converter::new(shared.plan.clone(), out, filling);
    let mut sink = DirectWriter { shared, writer, failed: None };
    let mut batch = first;
    loop {
        match reader.fill(&mut batch.memory) {
            ReadStep::Records { full, short, warn } => {
                warn_of_short(shared, warn);
                match converter.take(batch, (full, short), &mut sink) {
                    Ok(empty) => batch = empty,
                    Err(Stopped) => break,
                }
            }
            ReadStep::Failed(complaint) => report_read_failure(shared, &complaint),
            ReadStep::End => {
                // A failure has been reported, and is recorded in the sink.
                let _ = converter.finish(&mut sink);
                sink.end();
                break;
            }
        }
    }
    RecordsEnd { read_failed: reader.failed, ..RecordsEnd::written(sink.failed.as_ref(), sink.writer.at_hole) }
}

/// A read failed. If the copy continues, the current counts are reported too.
fn report_read_failure(shared: &Shared, complaint: &Diagnostic) {
    shared.listener.report_failure(Side::Source, complaint, shared.plan.keep_going);
}

fn warn_of_short(shared: &Shared, warn: Option<u64>) {
    if let Some(bytes) = warn {
        shared.listener.report_failure(Side::Source, &Diagnostic::PartialRead(bytes), false);
    }
}

/// A message of the reading thread; `None`: the writing thread has ended, so do not wait for a read.
type ReadBatch = Option<(Batch, ReadStep)>;

/// A message to the writing thread.
enum WriterMessage {
    Batch(Batch),
    /// Marks of records without output yet, and the offsets at which lines were truncated.
    Note(Vec<RecordMark>, Vec<u64>),
    /// To be reported after everything before it has been written.
    ReadFailed(Diagnostic),
}

/// Sends batches to the writing thread.
struct BatchSender {
    work: SyncSender<WriterMessage>,
    empty: Receiver<Batch>,
}

impl Sink for BatchSender {
    fn put(&mut self, batch: Batch) -> Result<Batch, Stopped> {
        self.work.send(WriterMessage::Batch(batch)).map_err(|_| Stopped)?;
        self.empty.recv().map_err(|_| Stopped)
    }

    fn note(&mut self, marks: Vec<RecordMark>, cuts: Vec<u64>) -> Result<(), Stopped> {
        self.work.send(WriterMessage::Note(marks, cuts)).map_err(|_| Stopped)
    }
}

/// Threads that are started before their work is known, so that a copy alternates where there are none.
struct Workers {
    reader: IdleThread<(), Box<dyn FnOnce() + Send>>,
    writer: IdleThread<RecordsEnd, Box<dyn FnOnce() -> RecordsEnd + Send>>,
}

impl Workers {
    /// `None` if the steps do not overlap or the system gives no more threads: alternating needs no more than dd.
    fn start(buffers: &Buffers) -> Option<Workers> {
        if buffers.ring == 1 {
            return None;
        }
        let reader = IdleThread::start("haul-reader").ok()?;
        Some(Workers { reader, writer: IdleThread::start("haul-writer").ok()? })
    }
}

fn in_threads(shared: Shared, reader: Reader, writer: Writer, buffers: Buffers, workers: Workers) -> RecordsEnd {
    let Buffers { first, filling, mut more, ring, out } = buffers;
    let (to_read, for_reading) = channel();
    let (read, was_read) = sync_channel(ring);
    let (work, to_write) = sync_channel(ring + 1);
    let (written, empty) = channel();
    more.drain(..ring - 1).chain([first]).for_each(|batch| drop(to_read.send(batch)));
    more.drain(..).for_each(|batch| drop(written.send(batch)));

    let ended = read.clone();
    // Not joined: if the dest fails while the source blocks, dd exits at once.
    workers.reader.run(Box::new(move || read_all(reader, for_reading, read)));
    let for_writer = shared.clone();
    let writing = workers.writer.run(Box::new(move || write_all(&for_writer, writer, to_write, written, &ended)));
    let mut sink = BatchSender { work, empty };
    let converter = Converter::new(shared.plan.clone(), out, filling);
    let read_failed = convert_all(&shared, converter, was_read, &to_read, &mut sink);
    drop(sink);
    let panicked = RecordsEnd { write_failed: true, ..RecordsEnd::default() };
    let written = writing.join().ok().flatten().unwrap_or(panicked);
    RecordsEnd { read_failed, ..written }
}

fn read_all(mut reader: Reader, empty: Receiver<Batch>, read: SyncSender<ReadBatch>) {
    while let Ok(mut batch) = empty.recv() {
        let filled = reader.fill(&mut batch.memory);
        let ended = matches!(filled, ReadStep::End);
        if read.send(Some((batch, filled))).is_err() || ended {
            return;
        }
    }
}

/// Returns whether a read failed that ends the copy.
fn convert_all(
    shared: &Shared,
    mut converter: Converter,
    was_read: Receiver<ReadBatch>,
    to_read: &Sender<Batch>,
    sink: &mut BatchSender,
) -> bool {
    let mut read_failed = false;
    while let Ok(Some((batch, filled))) = was_read.recv() {
        let empty = match filled {
            ReadStep::Records { full, short, warn } => {
                warn_of_short(shared, warn);
                converter.take(batch, (full, short), sink)
            }
            ReadStep::Failed(complaint) => {
                let goes_on = matches!(&complaint, Diagnostic::Careful(what) if what.is_passed_over());
                read_failed |= !shared.plan.keep_going && !goes_on;
                sink.work.send(WriterMessage::ReadFailed(complaint)).map(|()| batch).map_err(|_| Stopped)
            }
            ReadStep::End => {
                // A failure is reported by the writing thread.
                let _ = converter.finish(sink);
                return read_failed;
            }
        };
        match empty {
            // The reader may have ended already.
            Ok(batch) => drop(to_read.send(batch)),
            Err(Stopped) => return read_failed,
        }
    }
    read_failed
}

/// Returns how writing ended.
fn write_all(
    shared: &Shared,
    mut writer: Writer,
    work: Receiver<WriterMessage>,
    written: Sender<Batch>,
    ended: &SyncSender<ReadBatch>,
) -> RecordsEnd {
    while let Ok(item) = work.recv() {
        match item {
            WriterMessage::Batch(mut batch) => {
                if let Err(complaint) = writer.write(&batch) {
                    shared.listener.report_failure(Side::Dest, &complaint, false);
                    // Dropped first: the converter may be waiting for either instead of the source.
                    drop((work, written));
                    let _ = ended.send(None);
                    return RecordsEnd::written(Some(&complaint), writer.at_hole);
                }
                batch.clear();
                // The converter may have ended.
                let _ = written.send(batch);
            }
            WriterMessage::Note(marks, cuts) => writer.note(&marks, &cuts),
            WriterMessage::ReadFailed(complaint) => report_read_failure(shared, &complaint),
        }
    }
    if let Err(complaint) = writer.end() {
        shared.listener.report_failure(Side::Dest, &complaint, false);
        return RecordsEnd::written(Some(&complaint), writer.at_hole);
    }
    RecordsEnd::written(None, writer.at_hole)
}

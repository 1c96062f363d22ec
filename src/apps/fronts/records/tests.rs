use super::*;
use crate::apps::fronts::record_counts::{RecordCounts, RecordTally};
use crate::apps::fronts::record_plan::{Diagnostic, RecordListener, RecordPlan};
use crate::core::Side;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Records the messages.
#[derive(Default)]
pub(super) struct MessageLog(Mutex<Vec<String>>);

impl MessageLog {
    pub(super) fn messages(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl RecordListener for MessageLog {
    fn report_failure(&self, side: Side, complaint: &Diagnostic, with_counts: bool) {
        self.0.lock().unwrap().push(format!("{} {complaint:?} {with_counts}", side.name()));
    }
}

/// Copies by records; returns how it ended, the counts and the messages.
fn copy(mut plan: RecordPlan, source: &Path, dest: &Path) -> (RecordsEnd, RecordCounts, Vec<String>) {
    plan.source.path = Some(source.into());
    plan.dest.path = Some(dest.into());
    let ear = Arc::new(MessageLog::default());
    let mut ends = open(&plan, [None, None]).unwrap();
    empty(&plan, &mut ends).unwrap();
    let ends = Arc::new(ends);
    let StartResult::Yes(lead) = begin(&plan, &ends, &*ear) else { panic!("it cannot begin") };
    let (plan, tally) = (Arc::new(plan), Arc::new(RecordTally::default()));
    let listener: Arc<dyn RecordListener> = ear.clone();
    let ran = run(&plan, &ends, RecordCounts::default(), lead, &tally, &listener);
    finish(&plan, &ends, ran.at_hole, ran.gave_up, &*ear);
    let messages = ear.0.lock().unwrap().clone();
    (ran, tally.get(), messages)
}

pub(super) fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(next).collect()
}

#[test]
fn a_long_threaded_copy_has_the_same_bytes_as_a_short_inline_one() {
    let dir = tempfile::tempdir().unwrap();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for len in [1000, 5 << 20, (5 << 20) + 1] {
        let bytes = noise(len);
        std::fs::write(&source, &bytes).unwrap();
        let mut expected = bytes.clone();
        expected.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        let mut plan = RecordPlan { swab: true, ..RecordPlan::default() };
        (plan.source.record_bytes, plan.dest.record_bytes) = (1000, 777);
        let (ran, counts, messages) = copy(plan, &source, &dest);
        assert_eq!((ran, messages), (RecordsEnd::default(), Vec::new()));
        assert!(std::fs::read(&dest).unwrap() == expected, "{len} bytes differ");
        assert_eq!(counts.read_full, len as u64 / 1000);
        assert_eq!(counts.written_full, len as u64 / 777);
        assert_eq!(counts.written_bytes, len as u64);
    }
}

#[test]
fn a_failed_write_counts_records_without_read_ahead() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("source");
    std::fs::write(&source, noise(4 << 20)).unwrap();
    let mut plan = RecordPlan::default();
    (plan.source.record_bytes, plan.dest.record_bytes) = (100, 1000);
    let (ran, counts, messages) = copy(plan, &source, Path::new("/dev/full"));
    assert!(ran.write_failed && ran.gave_up && !ran.read_failed);
    assert_eq!(counts, RecordCounts { read_full: 10, ..RecordCounts::default() });
    assert_eq!(messages.len(), 1, "{messages:?}");
}

#[test]
fn zeros_are_skipped_and_the_length_is_set() {
    let dir = tempfile::tempdir().unwrap();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let mut bytes = noise(1 << 20);
    bytes.resize(3 << 20, 0);
    std::fs::write(&source, &bytes).unwrap();
    let (ran, counts, _) = copy(RecordPlan { sparse: true, ..RecordPlan::default() }, &source, &dest);
    assert!(ran.at_hole);
    assert_eq!(counts.written_full, 3 << 11);
    assert!(std::fs::read(&dest).unwrap() == bytes);
}

#[test]
fn copies_within_memory_run_inline() {
    let dir = tempfile::tempdir().unwrap();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    std::fs::write(&source, noise(2 << 20)).unwrap();
    let ends = |direct: bool| {
        let mut plan = RecordPlan::default();
        (plan.source.path, plan.dest.path) = (Some(source.clone().into()), Some(dest.clone().into()));
        (plan.source.words.direct, plan.dest.words.direct) = (direct, direct);
        open(&plan, [None, None])
    };
    let buffered = ends(false).unwrap();
    assert!(!buffered.dest.waits_to_write());
    // If the kernel does not report what is cached, a read counts as one that waits.
    if crate::sys::page_cache::cachestat(buffered.source.fd().unwrap(), 0, 0).is_ok() {
        assert!(!buffered.source.waits_to_read());
    }
    // Not every file system supports direct I/O.
    if let Ok(direct) = ends(true) {
        assert!(direct.source.waits_to_read() && direct.dest.waits_to_write());
    }
}

#[test]
fn swab_works_with_odd_read_lengths() {
    let dir = tempfile::tempdir().unwrap();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for (record_bytes, len) in [(512u64, 6000usize), (512, 6001), (511, 6001), (511, 600_000), (512, 512), (2, 7)] {
        let bytes = noise(len);
        std::fs::write(&source, &bytes).unwrap();
        let mut expected = bytes.clone();
        expected.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        let mut plan = RecordPlan { swab: true, reblock: true, ..RecordPlan::default() };
        (plan.source.record_bytes, plan.dest.record_bytes) = (record_bytes, record_bytes);
        let (ran, ..) = copy(plan, &source, &dest);
        assert_eq!(ran, RecordsEnd::default());
        assert!(std::fs::read(&dest).unwrap() == expected, "{len} bytes in records of {record_bytes}");
    }
}

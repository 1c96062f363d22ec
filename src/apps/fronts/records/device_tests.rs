//! Copies by records of a disk that is reached by commands, with a disk in memory.
use super::tests::{MessageLog, noise};
use super::*;
use crate::apps::fronts::record_counts::{RecordCounts, RecordTally};
use crate::apps::fronts::record_plan::{Amount, ErrorPolicy, RecordListener, RecordPlan};
use crate::core::{DeviceCounts, DeviceError, Kind, RecordDevice};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

const BLOCK: usize = 512;

/// A disk in memory with bad blocks.
#[derive(Debug, Default)]
struct Disk {
    bytes: Mutex<Vec<u8>>,
    bad: Range<u64>,
    /// It reports which block is bad.
    blames: bool,
    /// The byte that READ LONG returns for any block; `None`: READ LONG is not supported.
    long: Option<u8>,
    /// It supports comparing.
    compares: bool,
    /// Maximum number of blocks per transfer.
    most: usize,
    /// The offset and the number of blocks of each requested transfer.
    asked: Mutex<Vec<(u64, usize)>>,
}

fn device_failure(kind: Kind, sense: [u8; 3], offset: Option<u64>) -> io::Error {
    let (words, of_medium) = ("said so".to_owned(), sense[0] == 3);
    DeviceError { kind, words, offset, of_medium, advice: "", sense: Some(sense) }.into()
}

impl Disk {
    fn new(bytes: Vec<u8>) -> Self {
        Disk { bytes: bytes.into(), most: 1000, ..Disk::default() }
    }

    /// The length of the transfer, if it has no bad block.
    fn transfer(&self, len: usize, offset: u64) -> io::Result<usize> {
        assert!(len.is_multiple_of(BLOCK) && offset.is_multiple_of(BLOCK as u64), "whole blocks only");
        let (first, blocks) = (offset / BLOCK as u64, len / BLOCK);
        self.asked.lock().unwrap().push((first, blocks));
        match (first..first + blocks as u64).find(|block| self.bad.contains(block)) {
            Some(bad) => Err(device_failure(Kind::Io, [3, 0x11, 0], self.blames.then_some(bad * BLOCK as u64))),
            None => Ok(len.min(self.most * BLOCK)),
        }
    }
}

impl RecordDevice for Disk {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = self.transfer(bytes.len(), offset)?;
        bytes[..len].copy_from_slice(&self.bytes.lock().unwrap()[offset as usize..][..len]);
        Ok(len)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let len = self.transfer(bytes.len(), offset)?;
        self.bytes.lock().unwrap()[offset as usize..][..len].copy_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn compare_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        match &self.bytes.lock().unwrap()[offset as usize..][..bytes.len()] {
            _ if !self.compares => Err(device_failure(Kind::Unsupported, [5, 0x20, 0], None)),
            own if own == bytes => Ok(()),
            _ => Err(device_failure(Kind::Io, [14, 0x1d, 0], None)),
        }
    }

    fn read_long(&self, block: &mut [u8], _offset: u64, correct: bool) -> io::Result<()> {
        let byte = self.long.ok_or_else(|| device_failure(Kind::Unsupported, [5, 0x20, 0], None))?;
        block.fill(byte + u8::from(correct));
        Ok(())
    }

    fn make_durable(&self) -> io::Result<()> {
        Ok(())
    }

    fn drop_cache(&self) -> io::Result<()> {
        Ok(())
    }

    fn counts(&self) -> DeviceCounts {
        DeviceCounts::default()
    }
}

/// A plan of sg_dd, with transfers of 100 blocks.
fn plan(care: ErrorPolicy) -> RecordPlan {
    let count = Some(Amount { records: 1000, bytes: 0 });
    let transfer_records = Some(100);
    RecordPlan {
        reblock: false,
        full_reads: true,
        pad: Some(0),
        count,
        transfer_records,
        care,
        ..RecordPlan::default()
    }
}

fn copy(plan: RecordPlan, source: &Arc<Disk>, dest: &Arc<Disk>) -> (RecordsEnd, RecordCounts, Vec<String>) {
    let opened = |disk: &Arc<Disk>| {
        let size = disk.bytes.lock().unwrap().len() as u64;
        Some(Opened::by_commands(disk.clone(), size, BLOCK as u32))
    };
    let (plan, ear) = (Arc::new(plan), Arc::new(MessageLog::default()));
    let ends = Arc::new(open(&plan, [opened(source), opened(dest)]).unwrap());
    let StartResult::Yes(lead) = begin(&plan, &ends, &*ear) else { panic!("it cannot begin") };
    let (tally, listener) = (Arc::new(RecordTally::default()), ear.clone() as Arc<dyn RecordListener>);
    let ran = run(&plan, &ends, RecordCounts::default(), lead, &tally, &listener);
    finish(&plan, &ends, ran.at_hole, ran.gave_up, &*ear);
    (ran, tally.get(), ear.messages())
}

fn disks(source: Disk) -> (Arc<Disk>, Arc<Disk>) {
    (Arc::new(source), Arc::new(Disk::new(vec![9; 1000 * BLOCK])))
}

#[test]
fn short_transfers_are_continued_on_both_sides() {
    let bytes = noise(1000 * BLOCK);
    let (source, dest) = disks(Disk { most: 7, ..Disk::new(bytes.clone()) });
    let dest = Arc::new(Disk { most: 3, ..Arc::into_inner(dest).unwrap() });
    let (ran, counts, _) = copy(plan(ErrorPolicy::default()), &source, &dest);
    assert!(!ran.read_failed && !ran.write_failed);
    assert_eq!((counts.read_full, counts.written_full), (1000, 1000));
    assert!(*dest.bytes.lock().unwrap() == bytes);
}

#[test]
fn only_the_block_that_sense_data_name_is_read_alone() {
    let bytes = noise(1000 * BLOCK);
    for blames in [true, false] {
        let (source, dest) = disks(Disk { bad: 250..252, blames, ..Disk::new(bytes.clone()) });
        let care = ErrorPolicy { zero_unreadable: true, ..ErrorPolicy::default() };
        let (_, counts, messages) = copy(plan(care), &source, &dest);
        let mut wanted = bytes.clone();
        wanted[250 * BLOCK..252 * BLOCK].fill(0);
        assert!(*dest.bytes.lock().unwrap() == wanted, "blames: {blames}");
        assert_eq!((counts.read_full, counts.unrecovered, counts.fetched), (1000, 2, 0));
        assert_eq!(messages.iter().filter(|line| line.contains("Unreadable")).count(), 2);
        let asked = source.asked.lock().unwrap();
        let around: Vec<_> =
            asked.iter().filter(|(first, blocks)| first + *blocks as u64 > 200 && *first < 260).collect();
        if blames {
            assert_eq!(around, [&(200, 100), &(200, 50), &(250, 1), &(251, 100), &(251, 1), &(252, 100)]);
        } else {
            assert!(around.len() > 60, "{around:?}");
        }
    }
}

#[test]
fn read_long_data_replace_zeros_and_its_length_is_requested_once() {
    for (long, fetched, byte) in [(Some(0x40), 2, 0x41), (None, 0, 0)] {
        let (source, dest) = disks(Disk { bad: 10..12, blames: true, long, ..Disk::new(noise(1000 * BLOCK)) });
        let care = ErrorPolicy { zero_unreadable: true, fetch_corrected: Some(true), ..ErrorPolicy::default() };
        let (_, counts, messages) = copy(plan(care), &source, &dest);
        assert_eq!((counts.unrecovered, counts.fetched), (2, fetched));
        assert!(dest.bytes.lock().unwrap()[10 * BLOCK..12 * BLOCK].iter().all(|found| *found == byte));
        let refused = messages.iter().filter(|line| line.contains("unfetched: Some")).count();
        assert_eq!(refused, usize::from(long.is_none()));
    }
}

#[test]
fn without_coe_blocks_before_a_bad_one_are_copied_and_it_is_reported() {
    let bytes = noise(1000 * BLOCK);
    let (source, dest) = disks(Disk { bad: 250..251, blames: true, ..Disk::new(bytes.clone()) });
    let (ran, counts, _) = copy(plan(ErrorPolicy::default()), &source, &dest);
    assert!(ran.read_failed);
    assert_eq!((counts.written_full, counts.unrecovered), (250, 0));
    assert!(dest.bytes.lock().unwrap()[..250 * BLOCK] == bytes[..250 * BLOCK]);
}

#[test]
fn blocks_that_cannot_be_written_are_skipped_and_the_others_are_written() {
    let bytes = noise(1000 * BLOCK);
    let (source, dest) = disks(Disk::new(bytes.clone()));
    let dest = Arc::new(Disk { bad: 99..101, ..Arc::into_inner(dest).unwrap() });
    let care = ErrorPolicy { pass_unwritable: true, ..ErrorPolicy::default() };
    let (ran, counts, _) = copy(plan(care), &source, &dest);
    let mut wanted = bytes;
    wanted[99 * BLOCK..101 * BLOCK].fill(9);
    assert!(!ran.write_failed && *dest.bytes.lock().unwrap() == wanted);
    assert_eq!((counts.written_full, counts.unrecovered), (1000, 2));
}

#[test]
fn a_disk_compares_by_command_and_a_read_finds_the_difference() {
    let bytes = noise(1000 * BLOCK);
    let mut other = bytes.clone();
    other[777 * BLOCK + 5] ^= 1;
    for compares in [true, false] {
        for (theirs, differing) in [(&bytes, 0), (&other, 1)] {
            let (source, _) = disks(Disk::new(bytes.clone()));
            let dest = Arc::new(Disk { compares, ..Disk::new(theirs.clone()) });
            let (ran, counts, messages) =
                copy(RecordPlan { compare: true, ..plan(ErrorPolicy::default()) }, &source, &dest);
            assert_eq!((ran.write_failed, counts.differing), (differing > 0, differing));
            let read = dest.asked.lock().unwrap().len();
            // If the disk compares, only the transfer that differs is read.
            assert!(if compares { read == differing as usize } else { read > 7 }, "{read} reads, compares: {compares}");
            let reported = |word| messages.iter().filter(|line| line.contains(word)).count();
            assert_eq!(
                (reported("ReadToCompare"), reported("record: 777, byte: 5")),
                (usize::from(!compares), differing as usize)
            );
        }
    }
}

//! What only sg_dd and its kin ask of the writing side: a second dest, comparing, passing over what cannot be written.
use super::Ends;
use super::batch::Memory;
use super::reader::{is_einval, is_of_medium};
use super::writer::Writer;
use crate::contract::{Careful, Complaint, Side};
use crate::sys;
use rustix::fs::SeekFrom;
use std::io;

/// Gives `bytes` to the second dest, where there is one.
pub(super) fn write_second(ends: &Ends, mut bytes: &[u8]) -> Result<(), Complaint> {
    let Some(second) = &ends.second else { return Ok(()) };
    while !bytes.is_empty() {
        match sys::retry(|| rustix::io::write(second, bytes)) {
            Ok(0) => return Err(Complaint::Careful(Careful::Second(io::ErrorKind::WriteZero.into()))),
            Ok(written) => bytes = &bytes[written..],
            Err(error) => return Err(Complaint::Careful(Careful::Second(error))),
        }
    }
    Ok(())
}

impl Writer {
    /// Number of the record that comes next, from the beginning of the dest.
    fn record(&self, obs: usize) -> u64 {
        self.first + self.done / obs as u64
    }

    /// Writes record by record, `written` bytes of the first being there already, and passes over those that the
    /// medium does not take.
    pub(super) fn write_singly(&mut self, bytes: &[u8], obs: usize, written: usize) -> Result<(), Complaint> {
        let ends = self.ends.clone();
        let fails = |error| Complaint::Write { midway: false, error };
        let fd = ends.dest.fd().map_err(fails)?;
        let back = sys::retry(|| rustix::fs::seek(fd, SeekFrom::Current(-(written as i64)))).map_err(fails)?;
        let mut at = back;
        for record in bytes.chunks(obs) {
            match write_at(fd, record, at) {
                Ok(()) => {}
                Err(error) if is_of_medium(&error) => {
                    let complaint = Complaint::Careful(Careful::Unwritable(self.record(obs), error));
                    self.listener.complain(Side::Dest, &complaint, false);
                    self.counts.unrecovered += 1;
                }
                Err(error) => return Err(fails(error)),
            }
            self.arrived(record.len() as u64, obs as u64);
            at += record.len() as u64;
        }
        sys::retry(|| rustix::fs::seek(fd, SeekFrom::Start(at))).map_err(fails)?;
        self.at_hole = false;
        Ok(())
    }

    /// Reads the dest and compares it with `bytes`.
    pub(super) fn compare_run(&mut self, bytes: &[u8], obs: usize) -> Result<(), Complaint> {
        // Whole records, as direct I/O wants them, though the last one may be short.
        let len = bytes.len().next_multiple_of(obs);
        let kept = self.theirs.take().filter(|memory| memory.bytes().len() >= len).or_else(|| Memory::of(len));
        let mut memory = kept.ok_or(Complaint::Memory(len as u64))?;
        let read = self.read_theirs(&mut memory.bytes_mut()[..len]);
        let result = read.map_err(|error| Complaint::Careful(Careful::Compare(error))).and_then(|len| {
            let theirs = &memory.bytes()[..len.min(bytes.len())];
            if bytes == theirs { Ok(()) } else { self.tell_difference(bytes, theirs, obs) }
        });
        self.theirs = Some(memory);
        result?;
        self.arrived(bytes.len() as u64, obs as u64);
        Ok(())
    }

    /// As much as there is, up to the length of `theirs`.
    fn read_theirs(&self, theirs: &mut [u8]) -> io::Result<usize> {
        let fd = self.ends.dest.fd()?;
        let mut got = 0;
        while got < theirs.len() {
            match sys::retry(|| rustix::io::read(fd, &mut theirs[got..])) {
                Ok(0) => break,
                Ok(moved) => got += moved,
                // The place behind a short end is one that direct I/O cannot be asked for.
                Err(error) if got > 0 && is_einval(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(got)
    }

    /// Tells every record that differs, where the copy goes on; otherwise the first one is the end.
    fn tell_difference(&mut self, ours: &[u8], theirs: &[u8], obs: usize) -> Result<(), Complaint> {
        let first = self.record(obs);
        for (at, record) in ours.chunks(obs).enumerate() {
            let start = at * obs;
            let other = &theirs[start.min(theirs.len())..(start + record.len()).min(theirs.len())];
            if record == other {
                continue;
            }
            let number = first + at as u64;
            self.counts.differing += 1;
            let byte = record.iter().zip(other).position(|(our, their)| our != their);
            let complaint = Complaint::Careful(match byte {
                Some(byte) => Careful::Differs { record: number, byte: byte as u64 },
                None => Careful::DestEnds(number),
            });
            // Behind its end there is nothing more to compare with.
            if byte.is_none() || !self.plan.care.pass_unwritable {
                self.arrived(start as u64, obs as u64);
                return Err(complaint);
            }
            self.listener.complain(Side::Dest, &complaint, false);
        }
        Ok(())
    }
}

fn write_at(fd: std::os::fd::BorrowedFd<'_>, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match sys::retry(|| rustix::io::pwrite(fd, bytes, offset))? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
        }
    }
    Ok(())
}

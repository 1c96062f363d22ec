//! An object that is written: it appears as a whole when all of it is there.
use super::parts::{Part, Parts, Sizing};
use super::sending::{Sending, State};
use super::source::repeated;
use super::store::Store;
use crate::core::{
    ClosingReport, Endpoint, Extent, ExtentSet, Facts, Kept, Kind, Op, Order, Request, SidePart, Upload, part_bytes,
};
use crate::disks::http::failure::{Failure, kind_of};
use crate::disks::zeros::with_zeros;
use object_store::ObjectMeta;
use std::io;
use std::sync::Arc;

/// An object that is written, in ascending order.
pub(super) struct ObjectDest {
    facts: Facts,
    sending: Arc<Sending>,
}

impl ObjectDest {
    /// `existing`: the object that it replaces.
    pub(super) fn new(facts: Facts, store: Arc<Store>, existing: Option<ObjectMeta>) -> Self {
        let (parts, upload) = match &facts.upload {
            Some(upload) => (Parts::of_upload(upload), Some(upload.id.clone())),
            None => (Parts::new(Sizing::Growing), None),
        };
        let facts = Facts { order: Order::Ascending, ..facts };
        ObjectDest { facts, sending: Arc::new(Sending::new(store, existing, State::new(parts, upload))) }
    }

    /// Adds bytes at `offset`, and sends the parts that are full then.
    fn add(&self, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let full = {
                let mut state = self.sending.usable()?;
                let (collected, room) =
                    state.parts.room(offset).map_err(|why| Failure::last(why, "Copy a part of it.").at(offset))?;
                let (now, later) = bytes.split_at(room.min(bytes.len()));
                collected.extend_from_slice(now);
                offset += now.len() as u64;
                bytes = later;
                state.parts.take_full(false)
            };
            if let Some(part) = full {
                Sending::send(&self.sending, part)?;
            }
        }
        Ok(())
    }

    /// The bytes that this copy writes, if others write the rest.
    fn shard(&self) -> Option<Extent> {
        self.facts.upload.as_ref()?.shard
    }

    /// Sends the last part of a shard, and waits until the store has all of them.
    fn finish_shard(&self, shard: Extent) -> io::Result<()> {
        let last = self.sending.usable()?.parts.take_full(true);
        if let Some(part) = last {
            Sending::send(&self.sending, part)?;
        }
        let mut missing: ExtentSet = [shard].into_iter().collect();
        missing.remove_all(&self.sending.all_stored()?.parts.bytes());
        match missing.iter().next() {
            Some(first) => Err(Failure::last("a part of the object was not written", "Copy again.").at(first.offset)),
            None => Ok(()),
        }
    }

    /// Sends the last part, and returns the tags of all once the store has them; `None`: the object is that part alone.
    fn finish_parts(&self, size: u64) -> io::Result<Result<(String, Vec<String>), Part>> {
        let (last, id) = {
            let mut state = self.sending.usable()?;
            (state.parts.take_full(true), state.upload.clone())
        };
        let Some(id) = id else { return Ok(Err(last.unwrap_or_default())) };
        if let Some(part) = last {
            Sending::send(&self.sending, part)?;
        }
        let tags = self.sending.all_stored()?.parts.whole(size);
        let missing = |at| Failure::last("a part of the object was not written", "Copy again.").at(at);
        tags.map(|tags| Ok((id, tags))).map_err(missing)
    }
}

impl Endpoint for ObjectDest {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let len = request.left();
        match request.op {
            Op::Read => return Err(io::Error::from_raw_os_error(libc::EBADF)),
            Op::Write => self.add(request.at(), request.rest())?,
            Op::Zero => {
                let mut done = 0;
                while done < u64::from(len) {
                    let at = request.at() + done;
                    done += with_zeros(u64::from(len) - done, |zeros| self.add(at, &zeros[0]).map(|()| zeros[0].len()))?
                        as u64;
                }
            }
        }
        Ok(len)
    }

    fn prepare(&self, extent: Extent) -> io::Result<()> {
        let bytes = part_bytes(extent.len).ok_or_else(|| io::Error::from_raw_os_error(libc::EFBIG))?;
        let mut state = self.sending.usable()?;
        if state.upload.is_none() {
            state.parts.sizing = Sizing::Equal(bytes);
        }
        Ok(())
    }

    fn complete(&self, size: u64) -> io::Result<()> {
        if let Some(shard) = self.shard() {
            return self.finish_shard(shard);
        }
        match self.finish_parts(size)? {
            Ok((id, tags)) => self.sending.complete(id, tags, size),
            Err(only) => self.sending.put(only.bytes),
        }
    }

    fn kept(&self, acknowledged: ExtentSet) -> Kept {
        let state = self.sending.state();
        if state.is_complete {
            return Kept { bytes: acknowledged, upload: None };
        }
        let from = self.shard().map_or(0, |shard| shard.offset);
        let stored = state.parts.bytes();
        let stored = stored.within(Extent::new(from, u64::MAX - from));
        let stored: ExtentSet = stored.map(|extent| Extent::new(extent.offset - from, extent.len)).collect();
        let bytes = stored.intersection(&acknowledged);
        let upload = state.upload.clone().zip(match state.parts.sizing {
            Sizing::Equal(bytes) => Some(bytes),
            Sizing::Growing => None,
        });
        let parts = state.parts.tags();
        Kept { bytes, upload: upload.map(|(id, part_bytes)| Upload { id, part_bytes, parts, shard: self.shard() }) }
    }

    fn cancel(&self) {
        self.sending.cancel();
    }

    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        kind_of(error)
    }

    fn slowest_part(&self) -> Option<SidePart> {
        Some(SidePart::Network)
    }

    fn closing(&self) -> ClosingReport {
        let state = self.sending.state();
        let mut notes: Vec<String> = repeated(&self.facts, self.sending.failed()).into_iter().collect();
        let parts = match state.parts.count() {
            0 => "one request".to_owned(),
            1 => "one part".to_owned(),
            count => format!("{count} parts"),
        };
        if let (Some(id), false) = (&state.upload, state.is_complete || self.shard().is_some()) {
            let address = &self.facts.address;
            notes.push(format!(
                "{address} is unchanged; its incomplete upload takes space in the store: 'haul journal abort \
                 {address} {id}' discards it"
            ));
        }
        ClosingReport { detail: Some(parts), notes, ..ClosingReport::default() }
    }
}

impl Drop for ObjectDest {
    /// Ends what is in flight: the process may do something else afterwards.
    fn drop(&mut self) {
        self.sending.cancel();
    }
}

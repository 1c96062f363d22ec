//! Copying within and between disks by EXTENDED COPY: queries the limits of a copy manager, and copies single segments.
use super::cdb::Cdb;
use super::node::{Data, Node};
use super::verdict::CommandRange;
use super::xcopy::{self, CopyLimits, LIMITS_BYTES, Segment};
use crate::core::{CopyName, Extent};
use std::io;

/// The copy manager of a disk, and its designator of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copying {
    limits: CopyLimits,
    name: CopyName,
}

impl Copying {
    /// Queries the copy manager of a disk that reports one. `None` if it does not support the requests used here, or
    /// this process has no permission: the command requires root.
    pub(super) fn query(node: &Node, name: CopyName) -> Option<Self> {
        let mut bytes = vec![0; LIMITS_BYTES as usize];
        let cdb = Cdb::receive_copy_parameters(LIMITS_BYTES);
        let moved = node.carry_out(&cdb, Data::From(&mut bytes), CommandRange::default()).ok()?;
        let limits = xcopy::limits(&bytes[..moved as usize])?;
        Some(Copying { limits, name })
    }

    /// Maximum bytes per segment, or 0 if none is possible, and the granularity of segments.
    pub(super) fn segment_bytes(&self, block_bytes: u32) -> (u32, u32) {
        (self.limits.command_bytes(block_bytes), self.limits.granularity_bytes)
    }

    /// Copies one segment from the unit `name`, which must have the same block size, to byte `to` of this disk.
    pub(super) fn copy(
        &self,
        node: &Node,
        name: &CopyName,
        from: Extent,
        to: u64,
        block_bytes: u32,
    ) -> io::Result<u32> {
        let block = u64::from(block_bytes);
        let (most, granularity) = self.segment_bytes(block_bytes);
        let len = from.len.min(most.into());
        let fits = [from.offset, to, len].into_iter().all(|bytes| bytes.is_multiple_of(block));
        if len == 0 || !fits || !len.is_multiple_of(granularity.into()) {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        let blocks = u16::try_from(len / block).map_err(io::Error::other)?;
        let segment = Segment { from_lba: from.offset / block, to_lba: to / block, blocks };
        let request = xcopy::request([name, &self.name], block_bytes, segment, self.limits.nameless);
        let cdb = Cdb::extended_copy(request.len() as u32);
        node.carry_out(&cdb, Data::To(&request), CommandRange::default())?;
        Ok(len as u32)
    }
}

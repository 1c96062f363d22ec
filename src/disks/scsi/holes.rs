//! Hole detection on thin-provisioned disks, by GET LBA STATUS.
use super::cdb::Cdb;
use super::lba_status::{self, ANSWER_BYTES};
use super::node::{Data, Intent, Node};
use super::verdict::CommandRange;
use crate::core::{CommandOptions, Extent, Passthrough, Run, RunKind};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Detects unmapped blocks of a disk on which they read as zeros.
#[derive(Debug)]
pub(super) struct Holes {
    /// A separate descriptor: the queue of the main one may be full of commands whose completions only the calling
    /// thread can receive.
    node: Node,
    start: u64,
    block_bytes: u64,
    /// Whether a query has failed; then everything counts as data.
    failed: AtomicBool,
}

impl Holes {
    /// Opens the node again; `None` if it is another device now, or not available.
    pub(super) fn open(node: &Passthrough, block_bytes: u32, options: CommandOptions) -> Option<Self> {
        let open = Node::open(&node.node, Intent::Reading, options).ok()?;
        let same = open.number().is_ok_and(|number| number == node.number);
        same.then(|| Holes {
            node: open,
            start: node.start,
            block_bytes: block_bytes.into(),
            failed: AtomicBool::new(false),
        })
    }

    /// The run that begins at `within.offset` of this side, limited to `within.end()`. If the disk does not report its
    /// status, it counts as data.
    pub(super) fn run_at(&self, within: Extent) -> Run {
        if self.failed.load(Relaxed) {
            return Run { extent: within, kind: RunKind::Data };
        }
        let lba = (self.start + within.offset) / self.block_bytes;
        match answer(&self.node, lba).map(|answer| lba_status::run_at(&answer, lba)) {
            Ok(Some(found)) => {
                let end = lba.saturating_add(found.blocks).saturating_mul(self.block_bytes).saturating_sub(self.start);
                let len = end.min(within.end()) - within.offset;
                let kind = if found.unmapped { RunKind::Zero } else { RunKind::Data };
                Run { extent: Extent::new(within.offset, len), kind }
            }
            _ => {
                self.failed.store(true, Relaxed);
                Run { extent: within, kind: RunKind::Data }
            }
        }
    }

    /// Its note for the report.
    pub(super) fn note(&self) -> Option<&'static str> {
        let failed = self.failed.load(Relaxed);
        failed.then_some("it stopped reporting unmapped blocks (GET LBA STATUS): they were read")
    }
}

/// Queries the status from a block on.
///
/// # Errors
/// As for [`Node::carry_out`].
pub(super) fn answer(node: &Node, lba: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; ANSWER_BYTES];
    let moved = node.carry_out(
        &Cdb::get_lba_status(lba, ANSWER_BYTES as u32),
        Data::From(&mut bytes),
        CommandRange::default(),
    )?;
    bytes.truncate(moved as usize);
    Ok(bytes)
}

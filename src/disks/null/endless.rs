//! An endless character device.
use crate::core::{Endpoint, Facts, Op, Request, Result};
use crate::disks::buffered::retry;
use crate::disks::opening::Opening;
use crate::disks::zeros::with_zeros;
use rustix::fs::OFlags;
use std::io;
use std::os::fd::OwnedFd;

/// An endless character device. It has no offsets: every read returns the next bytes.
#[derive(Debug)]
pub(super) struct Endless {
    facts: Facts,
    fd: OwnedFd,
}

impl Endless {
    pub(super) fn open(opening: Opening<'_>) -> Result<Self> {
        Ok(Endless { facts: opening.facts.clone(), fd: opening.open(OFlags::empty())? })
    }
}

impl Endpoint for Endless {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        match request.op {
            Op::Read => retry(|| rustix::io::read(&self.fd, request.rest_mut())),
            Op::Write => retry(|| rustix::io::write(&self.fd, request.rest())),
            Op::Zero => with_zeros(request.left().into(), |zeros| retry(|| rustix::io::writev(&self.fd, zeros))),
        }
    }
}

//! What remains of TLS in a build without it: a refusal.
use super::protocol::failure;
use super::stream::Stream;
use crate::core::{Kind, NbdAddress};
use std::convert::Infallible;
use std::io::{self, IoSlice, IoSliceMut};

/// A connection by TLS, of which there are none.
#[derive(Debug)]
pub(super) struct Secured(Infallible);

impl Secured {
    pub(super) fn negotiated(_: Stream, _: &NbdAddress) -> io::Result<Secured> {
        let advice = "Build it with its default features, or use an address without TLS (nbd:) on a trusted network.";
        Err(failure(Kind::Unsupported, "this haul was built without TLS (feature tls)", advice))
    }

    pub(super) fn version(&self) -> String {
        match self.0 {}
    }

    pub(super) fn send(&mut self, _: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.0 {}
    }

    pub(super) fn send_rest(&mut self) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn has_to_send(&self) -> bool {
        match self.0 {}
    }

    pub(super) fn receive(&mut self, _: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match self.0 {}
    }

    pub(super) fn close_notify(&mut self) {
        match self.0 {}
    }
}

//! A zstd frame by the reference library, in order.
use super::part::{Decoder, Step};
use crate::disks::image::fault::{Fault, MEMORY_MAX_BYTES};
use zstd::stream::raw::{self, DParameter, InBuffer, Operation, OutBuffer};

/// Bytes that one call of the library is given and makes, at most: it does not tell how far it came before damage.
pub(super) const STEP_BYTES: usize = 128 << 10;

/// The largest window, as a power of two.
const WINDOW_LOG_MAX: u32 = MEMORY_MAX_BYTES.ilog2();

/// A frame of any size, decoded in order.
pub(super) struct Zstd(raw::Decoder<'static>);

impl Zstd {
    pub(super) fn new() -> Result<Zstd, Fault> {
        let failed = |error: std::io::Error| Fault::Unsupported(format!("this zstd file ({error})"));
        let mut decoder = raw::Decoder::new().map_err(failed)?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).map_err(failed)?;
        Ok(Zstd(decoder))
    }
}

impl Decoder for Zstd {
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
        let len = out.len().min(STEP_BYTES);
        let mut from = InBuffer::around(&input[..input.len().min(STEP_BYTES)]);
        let mut to = OutBuffer::around(&mut out[..len]);
        let result = self.0.run(&mut from, &mut to);
        let is_end = matches!(result, Ok(0));
        let fault = result.err().map(|error| Fault::corrupt(error.to_string()));
        Step { used: from.pos(), made: to.pos(), is_end, fault }.or_truncated(is_last)
    }
}

//! zstd by its reference library.
use super::part::{Decoder, Next, Step, skip_frames};
use super::zstd_frames;
use crate::disks::image::detect::ZstdFrame;
use crate::disks::image::fault::{Fault, MEMORY_MAX_BYTES};
use crate::disks::image::input::Input;
use zstd::stream::raw::{self, DParameter, InBuffer, Operation, OutBuffer};

/// The largest window, as a power of two.
const WINDOW_LOG_MAX: u32 = MEMORY_MAX_BYTES.ilog2();

/// The next frame with content. Anything but a frame is an error, as in zstd.
pub(super) fn next(input: &mut Input) -> Result<Next, Fault> {
    skip_frames(input)?;
    let head = input.peek(ZstdFrame::HEADER_MAX).map_err(Fault::Read)?;
    if head.is_empty() {
        return Ok(Next::End);
    }
    let Some(frame) = ZstdFrame::parse(head) else {
        let is_short = head.len() < ZstdFrame::HEADER_MAX && is_zstd(head);
        return Err(if is_short { Fault::Truncated } else { Fault::corrupt("what follows is no zstd frame") });
    };
    if frame.window_bytes > MEMORY_MAX_BYTES {
        // A single segment has the size of its content as its window: a decoder of a stream needs that much.
        return Err(Fault::Memory(Some(frame.window_bytes)));
    }
    if zstd_frames::is_moderate(&frame) {
        return Ok(Next::Part(Box::new(zstd_frames::Frames::new())));
    }
    let failed = |error: std::io::Error| Fault::Unsupported(format!("this zstd file ({error})"));
    let mut decoder = raw::Decoder::new().map_err(failed)?;
    decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).map_err(failed)?;
    Ok(Next::Part(Box::new(Zstd(decoder))))
}

/// The magic number, or the beginning of it.
fn is_zstd(head: &[u8]) -> bool {
    let magic = [0x28, 0xb5, 0x2f, 0xfd];
    let len = head.len().min(magic.len());
    head[..len] == magic[..len]
}

struct Zstd(raw::Decoder<'static>);

impl Decoder for Zstd {
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Result<Step, Fault> {
        let mut from = InBuffer::around(input);
        let mut to = OutBuffer::around(out);
        let hint = self.0.run(&mut from, &mut to).map_err(|error| Fault::corrupt(error.to_string()))?;
        let step = Step { used: from.pos(), made: to.pos(), is_end: hint == 0 };
        if is_last && step == Step::default() { Err(Fault::Truncated) } else { Ok(step) }
    }
}

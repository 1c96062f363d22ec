//! A decoder of one part of a compressed file, and what comes after it.
use crate::disks::image::detect::skippable;
use crate::disks::image::fault::Fault;
use crate::disks::image::input::Input;
use std::io::Read;

/// What one call of a decoder did.
#[derive(Debug, Default)]
pub(in crate::disks::image) struct Step {
    /// Bytes of the input that were used.
    pub(in crate::disks::image) used: usize,
    /// Bytes of the output that were made.
    pub(in crate::disks::image) made: usize,
    /// The part of the file that the decoder was opened for has ended.
    pub(in crate::disks::image) is_end: bool,
    /// Why nothing follows these bytes.
    pub(in crate::disks::image) fault: Option<Fault>,
}

impl Step {
    /// Nothing but this fault.
    pub(super) fn failed(fault: Fault) -> Step {
        Step { fault: Some(fault), ..Step::default() }
    }

    /// This step, where `is_last` tells that no input follows: then it has to do something.
    pub(super) fn or_truncated(self, is_last: bool) -> Step {
        let is_idle = self.used == 0 && self.made == 0 && !self.is_end && self.fault.is_none();
        if is_last && is_idle { Step::failed(Fault::Truncated) } else { self }
    }
}

/// The decoder of one part of a compressed file that can be decoded by itself: a stream, a frame, a member.
pub(in crate::disks::image) trait Decoder: Send {
    /// Decodes some of `input` into `out`, which is not empty. `is_last`: no input follows. It is not called again
    /// after a fault.
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step;

    /// Bytes that the input of the next call has to have, unless the file ends before.
    fn needed(&self) -> usize {
        1
    }

    /// Bytes that were used and not decoded yet: damage is in them.
    fn undecoded(&self) -> u64 {
        0
    }

    /// Decodes bytes again from the first that was not decoded on, one after another, and returns how many of them were
    /// used before the damage; `None`: no decoder but this one can tell.
    fn find_damage(&self, _from: &mut dyn Read) -> Option<u64> {
        None
    }
}

/// What follows in a compressed file.
pub(in crate::disks::image) enum Next {
    /// A part with this decoder.
    Part(Box<dyn Decoder>),
    /// Nothing.
    End,
    /// Something else, which the program of the format ignores with a warning.
    Garbage,
}

/// Skips frames with user data.
pub(super) fn skip_frames(input: &mut Input) -> Result<(), Fault> {
    loop {
        let head = input.peek(8).map_err(Fault::Read)?;
        let Some(bytes) = skippable(head) else { return Ok(()) };
        if !input.skip(bytes).map_err(Fault::Read)? {
            return Err(Fault::Truncated);
        }
    }
}

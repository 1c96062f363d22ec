//! The content of a compressed file, part after part.
use super::decode::{self, Decoder, Next};
use super::fault::Fault;
use super::input::Input;
use crate::core::{Compression, ZipMember};
use std::io;

/// The content of a compressed file, from its first byte to its last.
pub(super) struct Content {
    input: Input,
    format: Compression,
    member: Option<ZipMember>,
    /// `None`: between parts.
    decoder: Option<Box<dyn Decoder>>,
    is_first: bool,
    state: State,
    /// Bytes that were made.
    made: u64,
    /// Where bytes begin that are no part of it.
    garbage_at: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Ended,
    Failed,
}

impl Content {
    pub(super) fn new(input: Input, format: Compression, member: Option<ZipMember>) -> Self {
        let (decoder, is_first, state, made, garbage_at) = (None, true, State::Open, 0, None);
        Content { input, format, member, decoder, is_first, state, made, garbage_at }
    }

    /// Bytes of the compressed file that were used.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.input.position()
    }

    /// Bytes of the content so far.
    pub(super) fn made_bytes(&self) -> u64 {
        self.made
    }

    /// Where bytes begin that were ignored.
    pub(super) fn garbage_at(&self) -> Option<u64> {
        self.garbage_at
    }

    /// The next bytes, one at least; 0 at the end.
    ///
    /// # Errors
    /// A [`crate::core::DeviceError`] with both places; the error of reading the file.
    pub(super) fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.state {
            State::Open => {}
            State::Ended => return Ok(0),
            State::Failed => return Err(io::Error::other("its data is corrupt")),
        }
        let result = self.decode(out);
        match result {
            Ok(0) => self.state = State::Ended,
            Ok(made) => self.made += made as u64,
            Err(_) => self.state = State::Failed,
        }
        result.map_err(|fault| fault.into_error(self.format, self.input.position(), self.made))
    }

    fn decode(&mut self, out: &mut [u8]) -> Result<usize, Fault> {
        loop {
            let Some(decoder) = &mut self.decoder else {
                match decode::next(self.format, self.member, &mut self.input, self.is_first)? {
                    Next::Part(decoder) => (self.decoder, self.is_first) = (Some(decoder), false),
                    Next::End => return Ok(0),
                    Next::Garbage if self.is_first => return Err(Fault::corrupt("its header is invalid")),
                    Next::Garbage => {
                        self.garbage_at = Some(self.input.position());
                        self.read_to_end()?;
                        return Ok(0);
                    }
                }
                continue;
            };
            let input = self.input.fill().map_err(Fault::Read)?;
            let step = decoder.step(input, out, input.is_empty())?;
            self.input.consume(step.used);
            if step.is_end {
                self.decoder = None;
            }
            if step.made > 0 {
                return Ok(step.made);
            }
        }
    }

    /// Reads what is ignored too, for the digest of the file.
    fn read_to_end(&mut self) -> Result<(), Fault> {
        while let len @ 1.. = self.input.fill().map_err(Fault::Read)?.len() {
            self.input.consume(len);
        }
        Ok(())
    }
}

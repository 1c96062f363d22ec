//! The content of a compressed file, part after part.
use super::decode::{self, Decoder, Next};
use super::fault::Fault;
use super::input::Input;
use crate::core::{Compression, ZipMember};
use std::io;
use std::time::Duration;

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
        self.input.position() - self.decoder.as_ref().map_or(0, |decoder| decoder.undecoded())
    }

    /// Bytes of the content so far.
    pub(super) fn made_bytes(&self) -> u64 {
        self.made
    }

    /// Time spent waiting for bytes of the file.
    pub(super) fn waited(&self) -> Duration {
        self.input.waited()
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
        result.map_err(|fault| fault.into_error(self.format, self.stored_bytes(), self.made))
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
            self.input.peek(decoder.needed()).map_err(Fault::Read)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;
    use zstd::bulk::Compressor;
    use zstd::zstd_safe::CParameter;

    /// The content of a zstd file that can be read, and the error.
    fn decoded(file: &[u8]) -> (Vec<u8>, Option<String>) {
        let input = Input::start(Cursor::new(file.to_vec()), None).unwrap();
        let mut content = Content::new(input, Compression::Zstd, None);
        let (mut all, mut part) = (Vec::new(), vec![0; 50_000]);
        loop {
            match content.read(&mut part) {
                Ok(0) => return (all, None),
                Ok(made) => all.extend_from_slice(&part[..made]),
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    }

    fn frame(content: &[u8], states_size: bool) -> Vec<u8> {
        let mut compressor = Compressor::new(1).unwrap();
        compressor.set_parameter(CParameter::ChecksumFlag(true)).unwrap();
        compressor.set_parameter(CParameter::ContentSizeFlag(states_size)).unwrap();
        compressor.compress(content).unwrap()
    }

    fn piece(number: usize, len: usize) -> Vec<u8> {
        (0..len).map(|at| ((at * at / 7 + number * 31) % 253) as u8).collect()
    }

    #[test]
    fn frames_of_any_size_are_decoded_in_their_order() {
        let user_data = [&0x184d_2a51u32.to_le_bytes()[..], &5u32.to_le_bytes(), b"hello"].concat();
        let (mut file, mut expected) = (Vec::new(), Vec::new());
        for number in 0..24 {
            let len = [70_000, 3 << 20, 100, 0, 65_536, 200_000][number % 6];
            let content = piece(number, len);
            file.extend(frame(&content, number % 5 != 4));
            if number % 7 == 3 {
                file.extend(&user_data);
            }
            expected.extend(content);
        }
        let (found, error) = decoded(&file);
        assert_eq!(error, None);
        assert!(found == expected);
    }

    #[test]
    fn damage_is_reported_at_its_frame_after_the_content_before_it() {
        let frames: Vec<Vec<u8>> = (0..9).map(|number| frame(&piece(number, 300_000), true)).collect();
        let starts: Vec<usize> = (0..9).map(|number| frames[..number].iter().map(Vec::len).sum()).collect();
        let file = frames.concat();
        for number in 0..9 {
            let mut damaged = file.clone();
            // The checksum, and the header of the first block.
            for at in [starts[number] + frames[number].len() - 1, starts[number] + 12] {
                damaged[at] ^= 0x06;
                let (found, error) = decoded(&damaged);
                damaged[at] ^= 0x06;
                let error = error.expect("it is damaged");
                let place = format!("at byte {} of the compressed file, byte {}", starts[number], number * 300_000);
                assert!(error.contains(&place), "{number}: {error}");
                assert_eq!(found.len(), number * 300_000);
            }
        }
        for len in [starts[1] - 1, starts[5] + 700, file.len() - 1] {
            let (found, error) = decoded(&file[..len]);
            let error = error.expect("it is truncated");
            assert!(error.contains("ends within its data") && error.contains(&format!("at byte {len} ")), "{error}");
            assert_eq!(found.len() % 300_000, 0);
        }
        let (found, error) = decoded(&[&file[..], b"garbage!"].concat());
        assert!(found.len() == 9 * 300_000 && error.unwrap().contains("what follows is no zstd frame"));
    }
}

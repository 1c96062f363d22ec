//! The content of a compressed file, part after part.
use super::decode::{self, Decoder, Next};
use super::fault::Fault;
use super::input::Input;
use crate::core::{Compression, ZipMember};
use std::io::{self, Read};
use std::time::Duration;

/// Reads a compressed file again, from a byte on.
pub(super) type Again = Box<dyn Fn(u64) -> io::Result<Box<dyn Read>> + Send>;

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
    /// Why nothing follows, and the byte of the file where that is.
    fault: Option<(Fault, u64)>,
    /// Reads the file again, where that is possible.
    again: Option<Again>,
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
        let (decoder, is_first, state, made) = (None, true, State::Open, 0);
        let (fault, again, garbage_at) = (None, None, None);
        Content { input, format, member, decoder, is_first, state, made, fault, again, garbage_at }
    }

    /// Where what `again` reads is the file as well, the place of damage is found by it if the decoder does not tell.
    pub(super) fn with_again(self, again: Option<Again>) -> Self {
        Content { again, ..self }
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
        result.map_err(|(fault, stored)| fault.into_error(self.format, stored, self.made))
    }

    /// The next bytes, or the fault with its place in the file: the one door of every decoder.
    fn decode(&mut self, out: &mut [u8]) -> Result<usize, (Fault, u64)> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        match self.try_decode(out) {
            Ok((made, None)) => Ok(made),
            Ok((made, Some(fault))) => {
                let place = self.place(&fault);
                // What was made before it comes first.
                if made > 0 {
                    self.fault = Some((fault, place));
                    return Ok(made);
                }
                Err((fault, place))
            }
            Err(fault) => Err((fault, self.stored_bytes())),
        }
    }

    fn try_decode(&mut self, out: &mut [u8]) -> Result<(usize, Option<Fault>), Fault> {
        loop {
            let Some(decoder) = &mut self.decoder else {
                match decode::next(self.format, self.member, &mut self.input, self.is_first)? {
                    Next::Part(decoder) => (self.decoder, self.is_first) = (Some(decoder), false),
                    Next::End => return Ok((0, None)),
                    Next::Garbage if self.is_first => return Err(Fault::corrupt("its header is invalid")),
                    Next::Garbage => {
                        self.garbage_at = Some(self.input.position());
                        self.read_to_end()?;
                        return Ok((0, None));
                    }
                }
                continue;
            };
            self.input.peek(decoder.needed()).map_err(Fault::Read)?;
            let input = self.input.fill().map_err(Fault::Read)?;
            let step = decoder.step(input, out, input.is_empty());
            self.input.consume(step.used);
            if step.is_end && step.fault.is_none() {
                self.decoder = None;
            }
            if step.made > 0 || step.fault.is_some() {
                return Ok((step.made, step.fault));
            }
        }
    }

    /// The byte of the file where this fault of the decoder is.
    fn place(&self, fault: &Fault) -> u64 {
        let known = self.stored_bytes();
        let (Fault::Corrupt(_), Some(decoder), Some(again)) = (fault, &self.decoder, &self.again) else { return known };
        if known == self.input.position() {
            return known;
        }
        let found = again(known).ok().and_then(|mut from| decoder.find_damage(&mut *from));
        known + found.unwrap_or(0)
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
            // The checksum, the header of the first block, and that of the second one.
            let second = starts[number] + 12 + {
                let head = &file[starts[number] + 9..];
                (u32::from_le_bytes([head[0], head[1], head[2], 0]) >> 3) as usize
            };
            let end = starts[number] + frames[number].len();
            for (at, made) in [(end - 1, 300_000), (starts[number] + 9, 0), (second, 128 << 10)] {
                // The type of a block becomes the reserved one.
                damaged[at] = if made == 300_000 { !file[at] } else { file[at] | 0x06 };
                let (found, error) = decoded(&damaged);
                damaged[at] = file[at];
                let error = error.expect("it is damaged");
                let words = format!(", byte {} of its content", found.len());
                assert!(error.contains(&words), "{number}: {error}");
                // What the last call of the library made is lost.
                let near = (number * 300_000 + made).saturating_sub(128 << 10).max(number * 300_000);
                assert!((near..=number * 300_000 + made).contains(&found.len()), "{number}: {error}");
                let place = error.split("at byte ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
                let place: usize = place.expect("the place is named");
                assert!((starts[number]..end).contains(&place), "{number}: {error}");
            }
        }
        for len in [starts[1] - 1, starts[5] + 700, file.len() - 1] {
            let (found, error) = decoded(&file[..len]);
            let error = error.expect("it is truncated");
            assert!(error.contains("ends within its data") && error.contains(&format!("at byte {len} ")), "{error}");
            assert!(error.contains(&format!(", byte {} of its content", found.len())), "{error}");
        }
        let (found, error) = decoded(&[&file[..], b"garbage!"].concat());
        assert!(found.len() == 9 * 300_000 && error.unwrap().contains("what follows is no zstd frame"));
    }
}

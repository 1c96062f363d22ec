//! gzip by zlib-rs.
use super::part::{Decoder, Next, Step};
use crate::disks::image::fault::Fault;
use crate::disks::image::input::Input;
use flate2::{Decompress, FlushDecompress, Status};

/// The next member. Zeros after the last one are padding, and other bytes are ignored with a warning, as in gzip.
pub(super) fn next(input: &mut Input, is_first: bool) -> Result<Next, Fault> {
    if !is_first {
        loop {
            let rest = input.fill().map_err(Fault::Read)?;
            let zeros = rest.iter().take_while(|byte| **byte == 0).count();
            if zeros == 0 {
                break;
            }
            input.consume(zeros);
        }
    }
    match input.peek(3).map_err(Fault::Read)? {
        [] => Ok(Next::End),
        [0x1f, 0x8b, 8] => Ok(Next::Part(Box::new(Gzip(Decompress::new_gzip(15))))),
        [0x1f] | [0x1f, 0x8b] => Err(Fault::Truncated),
        _ => Ok(Next::Garbage),
    }
}

struct Gzip(Decompress);

impl Decoder for Gzip {
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
        inflate(&mut self.0, input, out, is_last)
    }
}

/// One call of zlib.
pub(super) fn inflate(decoder: &mut Decompress, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
    let before = (decoder.total_in(), decoder.total_out());
    let result = decoder.decompress(input, out, FlushDecompress::None);
    let step = Step {
        used: (decoder.total_in() - before.0) as usize,
        made: (decoder.total_out() - before.1) as usize,
        is_end: matches!(result, Ok(Status::StreamEnd)),
        fault: result.err().map(|error| Fault::corrupt(error.message().unwrap_or("invalid data"))),
    };
    step.or_truncated(is_last)
}

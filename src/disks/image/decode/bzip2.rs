//! bzip2 by libbz2-rs.
use super::part::{Decoder, Next, Step};
use crate::disks::image::fault::Fault;
use crate::disks::image::input::Input;
use bzip2::{Decompress, Status};

/// The next stream. Bytes after the last one are ignored with a warning, as in bzip2.
pub(super) fn next(input: &mut Input, is_first: bool) -> Result<Next, Fault> {
    let head = input.peek(4).map_err(Fault::Read)?;
    match head {
        [] => Ok(Next::End),
        [b'B', b'Z', b'h', b'1'..=b'9'] => Ok(Next::Part(Box::new(Bzip2(Decompress::new(false))))),
        _ if is_first || b"BZh".starts_with(head) || head == b"BZh" => Err(Fault::Truncated),
        _ => Ok(Next::Garbage),
    }
}

struct Bzip2(Decompress);

impl Decoder for Bzip2 {
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
        let before = (self.0.total_in(), self.0.total_out());
        let result = self.0.decompress(input, out);
        let step = Step {
            used: (self.0.total_in() - before.0) as usize,
            made: (self.0.total_out() - before.1) as usize,
            is_end: matches!(result, Ok(Status::StreamEnd)),
            fault: result.err().map(|error| Fault::corrupt(error.to_string().trim_start_matches("bzip2: "))),
        };
        step.or_truncated(is_last)
    }
}

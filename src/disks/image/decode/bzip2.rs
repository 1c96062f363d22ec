//! bzip2: streams, one after another.
use super::bzip2_parallel::Blocks;
use super::part::Next;
use crate::disks::image::fault::Fault;
use crate::disks::image::input::Input;

/// The next streams. Bytes after the last one are ignored with a warning, as in bzip2.
pub(super) fn next(input: &mut Input, is_first: bool) -> Result<Next, Fault> {
    let head = input.peek(4).map_err(Fault::Read)?;
    match head {
        [] => Ok(Next::End),
        [b'B', b'Z', b'h', b'1'..=b'9'] => Ok(Next::Part(Box::new(Blocks::new()))),
        _ if is_first || b"BZh".starts_with(head) || head == b"BZh" => Err(Fault::Truncated),
        _ => Ok(Next::Garbage),
    }
}

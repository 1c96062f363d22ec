//! What a fuzzer and property tests do with compressed files: any bytes, however they are cut.
use super::content::Content;
use super::input::Input;
use super::{detect, directory, size};
use crate::core::Compression;
use std::io::{self, Read};

/// The format of a file with these bytes, by its whole content and by its first bytes.
pub fn formats(bytes: &[u8]) -> [Option<Compression>; 2] {
    let head = &bytes[..bytes.len().min(detect::HEAD_BYTES)];
    [detect::detect(bytes), detect::detect(head)]
}

/// The size that a file with these bytes states for its content in this format, and the least one.
pub fn size(bytes: &[u8], format: Compression) -> (Option<u64>, u64) {
    if format == Compression::Zip {
        let member = directory::only_member(&bytes, bytes.len() as u64).ok();
        return (member.map(|member| member.content_bytes), 0);
    }
    let found = size::of_file(&bytes, format, bytes.len() as u64).expect("memory can be read");
    (found.bytes, found.least_bytes)
}

/// Bytes that are read a few at a time.
struct Pieces(Vec<u8>, usize, usize);

impl Read for Pieces {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let rest = &self.0[self.1..];
        let len = rest.len().min(bytes.len()).min(self.2);
        bytes[..len].copy_from_slice(&rest[..len]);
        self.1 += len;
        Ok(len)
    }
}

/// The content of a file with these bytes, `most` bytes of it at most, read in pieces of `piece` bytes; and why it ends
/// before its end, if it does.
pub fn content(bytes: &[u8], format: Compression, piece: usize, most: usize) -> (Vec<u8>, Option<String>) {
    let member = match format {
        Compression::Zip => match directory::only_member(&bytes, bytes.len() as u64) {
            Ok(member) => Some(member),
            Err(why) => return (Vec::new(), Some(why)),
        },
        _ => None,
    };
    let input = Input::start(Pieces(bytes.to_vec(), 0, piece), None).expect("a thread is left");
    let mut content = Content::new(input, format, member);
    let mut made = Vec::new();
    let mut out = vec![0; piece.clamp(1, 1 << 16)];
    while made.len() < most {
        match content.read(&mut out) {
            Ok(0) => return (made, None),
            Ok(len) => made.extend_from_slice(&out[..len]),
            Err(error) => return (made, Some(error.to_string())),
        }
    }
    made.truncate(most);
    (made, None)
}

//! The bytes of a compressed file in their order, read ahead of the decoder by a thread, which also digests them.
use crate::core::stages::Hasher;
use crate::core::{HashKind, locked};
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of one read.
const PART_BYTES: usize = 1 << 20;

/// Parts that are read ahead: the decoder rarely waits, and memory stays small.
const PARTS: usize = 3;

/// The digest of a compressed file, in hexadecimal, once it was read to its end.
pub(super) type StoredDigest = Arc<Mutex<Option<String>>>;

/// The bytes of a compressed file in their order.
pub(super) struct Input {
    parts: Receiver<io::Result<Vec<u8>>>,
    /// To give parts back to the thread.
    empty: Sender<Vec<u8>>,
    part: Vec<u8>,
    at: usize,
    /// Bytes that were consumed.
    position: u64,
    is_ended: bool,
    /// Time spent waiting for the thread.
    waited: Duration,
}

impl Input {
    /// Reads `from` by a thread, to its end; `digest` gets the digest of all bytes.
    ///
    /// # Errors
    /// No thread is left.
    pub(super) fn start(
        from: impl Read + Send + 'static,
        digest: Option<(HashKind, StoredDigest)>,
    ) -> io::Result<Input> {
        let (to_decoder, parts) = sync_channel(PARTS - 1);
        let (empty, returned) = channel();
        thread::Builder::new()
            .name("haul-read".to_owned())
            .spawn(move || read(from, digest, &to_decoder, &returned))?;
        Ok(Input { parts, empty, part: Vec::new(), at: 0, position: 0, is_ended: false, waited: Duration::ZERO })
    }

    /// Bytes that were consumed.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Time spent waiting for bytes of the file.
    pub(super) fn waited(&self) -> Duration {
        self.waited
    }

    /// The next bytes: some, unless the file has ended.
    ///
    /// # Errors
    /// The error of reading it.
    pub(super) fn fill(&mut self) -> io::Result<&[u8]> {
        while self.at == self.part.len() && !self.is_ended {
            let part = self.next_part()?;
            // The thread ends before this does only where it has failed.
            let _ = self.empty.send(std::mem::replace(&mut self.part, part));
            self.at = 0;
        }
        Ok(&self.part[self.at..])
    }

    /// As many as `len` of the next bytes, fewer only at the end of the file.
    ///
    /// # Errors
    /// The error of reading it.
    pub(super) fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        self.fill()?;
        while self.part.len() - self.at < len && !self.is_ended {
            let part = self.next_part()?;
            self.part.drain(..self.at);
            self.at = 0;
            self.part.extend_from_slice(&part);
        }
        let rest = &self.part[self.at..];
        Ok(&rest[..rest.len().min(len)])
    }

    /// `len` of the bytes that [`Input::fill`] or [`Input::peek`] returned were used.
    pub(super) fn consume(&mut self, len: usize) {
        self.at += len;
        self.position += len as u64;
    }

    /// Skips `len` bytes; false where the file ends before.
    ///
    /// # Errors
    /// The error of reading it.
    pub(super) fn skip(&mut self, mut len: u64) -> io::Result<bool> {
        while len > 0 {
            let there = self.fill()?.len().min(usize::try_from(len).unwrap_or(usize::MAX));
            if there == 0 {
                return Ok(false);
            }
            self.consume(there);
            len -= there as u64;
        }
        Ok(true)
    }

    fn next_part(&mut self) -> io::Result<Vec<u8>> {
        let asked_at = Instant::now();
        let received = self.parts.recv();
        self.waited += asked_at.elapsed();
        let part = match received {
            Ok(part) => part?,
            Err(_) => return Err(io::Error::other("internal error in haul: the reading thread ended")),
        };
        self.is_ended = part.is_empty();
        Ok(part)
    }
}

/// What the thread does: an empty part is the end.
fn read(
    mut from: impl Read,
    digest: Option<(HashKind, StoredDigest)>,
    to_decoder: &SyncSender<io::Result<Vec<u8>>>,
    returned: &Receiver<Vec<u8>>,
) {
    let mut hasher = digest.map(|(kind, place)| (Hasher::new(kind), place));
    loop {
        let mut part = returned.try_recv().unwrap_or_default();
        part.resize(PART_BYTES, 0);
        let mut filled = 0;
        let result = loop {
            match from.read(&mut part[filled..]) {
                Ok(0) => break Ok(()),
                Ok(len) => filled += len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Err(error),
            }
            // What a pipe gives is decoded at once.
            if filled == part.len() || filled >= PART_BYTES / 16 {
                break Ok(());
            }
        };
        part.truncate(filled);
        if let Some((hasher, _)) = &mut hasher {
            hasher.update(&part);
        }
        let is_last = filled == 0 || result.is_err();
        if let (true, Some((hasher, place))) = (is_last && result.is_ok(), hasher.take_if(|_| is_last)) {
            *locked(&place) = Some(hasher.finish());
        }
        if filled > 0 && to_decoder.send(Ok(part)).is_err() {
            return;
        }
        if is_last {
            // The receiver may have ended: then nothing is missed.
            let _ = to_decoder.send(result.map(|()| Vec::new()));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, as the slowest pipe does.
    struct Trickle(Vec<u8>, usize);

    impl Read for Trickle {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let Some(byte) = self.0.get(self.1) else { return Ok(0) };
            bytes[0] = *byte;
            self.1 += 1;
            Ok(1)
        }
    }

    #[test]
    fn peeked_bytes_are_read_again_and_the_digest_is_of_all_bytes() {
        let bytes: Vec<u8> = (0..200_000u32).map(|at| (at % 251) as u8).collect();
        let place = StoredDigest::default();
        let digest = Some((HashKind::Sha256, place.clone()));
        let mut input = Input::start(Trickle(bytes.clone(), 0), digest).unwrap();
        assert_eq!(input.peek(100_000).unwrap(), &bytes[..100_000]);
        assert!(input.skip(70_000).unwrap());
        let mut rest = Vec::new();
        while let part @ [_, ..] = input.fill().unwrap() {
            rest.extend_from_slice(part);
            let len = part.len();
            input.consume(len);
        }
        assert_eq!((rest.as_slice(), input.position()), (&bytes[70_000..], 200_000));
        assert!(!input.skip(1).unwrap());
        let mut hasher = Hasher::new(HashKind::Sha256);
        hasher.update(&bytes);
        assert_eq!(*locked(&place), Some(hasher.finish()));
    }

    #[test]
    fn an_error_of_reading_comes_after_the_bytes_before_it() {
        struct Fails(bool);
        impl Read for Fails {
            fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::from_raw_os_error(libc::EIO));
                }
                bytes[..3].copy_from_slice(b"abc");
                Ok(3)
            }
        }
        let mut input = Input::start(Fails(false), None).unwrap();
        assert_eq!(input.fill().unwrap(), b"abc");
        input.consume(3);
        assert_eq!(input.fill().unwrap_err().raw_os_error(), Some(libc::EIO));
    }
}

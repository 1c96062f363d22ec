//! A compressed source as an endpoint: its content, in order.
use super::content::{Again, Content};
use super::detect::{HEAD_BYTES, detect};
use super::encode::{Frames, format};
use super::input::{Input, StoredDigest};
use super::sequential::Sequential;
use crate::core::stages::Hasher;
use crate::core::{
    ClosingReport, Compressed, Compression, DeviceError, Digest, Endpoint, EndpointChange, EndpointKind, Extent, Facts,
    Kind, Op, Request, SharedPart, SidePart, StoredBytes, byte_count, locked,
};
use std::io::{self, Cursor, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Bytes of a piece of the content that is not copied.
const DISCARDED_BYTES: usize = 64 << 10;

/// A source that is decompressed while it is read, or passed on as it is where its first bytes show that it is not
/// compressed.
pub(super) struct Decompressed {
    facts: Facts,
    compressed: Compressed,
    /// The file or stream itself.
    stored: Arc<dyn Endpoint>,
    reading: Mutex<Reading>,
    digest: StoredDigest,
    /// Where the frames are, of a dest that is not complete.
    frames: Option<Frames>,
    /// Bytes of the file that were decompressed, for progress, which does not wait for a block.
    decompressed: AtomicU64,
    /// What takes most of the time of reading.
    slowest_part: SharedPart,
    is_cancelled: AtomicBool,
}

struct Reading {
    by: By,
    /// Offset of the next byte.
    position: u64,
    /// What the next read returns: bytes before it were delivered.
    failed: Option<io::Error>,
    /// Time of all reads.
    took: Duration,
    /// What was found to be the format.
    format: Option<Compression>,
}

enum By {
    /// Nothing was read yet.
    Unknown,
    Content(Box<Content>),
    /// It is not compressed: these first bytes, of which some were delivered, and then what comes.
    Plain {
        head: Vec<u8>,
        hasher: Option<Box<Hasher>>,
    },
}

impl Decompressed {
    /// Over the file or stream itself, which is open.
    pub(super) fn new(facts: Facts, compressed: Compressed, stored: Arc<dyn Endpoint>) -> Self {
        let reading = Reading { by: By::Unknown, position: 0, failed: None, took: Duration::ZERO, format: None };
        let (digest, decompressed, is_cancelled) = (StoredDigest::default(), 0.into(), false.into());
        let frames = compressed.encoding.zip(facts.upload.as_ref());
        let frames = frames.and_then(|(encoding, upload)| Frames::of_upload(encoding, upload));
        Decompressed {
            facts,
            compressed,
            stored,
            reading: Mutex::new(reading),
            digest,
            frames,
            decompressed,
            slowest_part: SharedPart::default(),
            is_cancelled,
        }
    }

    /// Goes to the last place at or before `at` from which the content can be decompressed: the start of its frame
    /// where it is known, else that of the file. What was written can be read again.
    fn seek(&self, reading: &mut Reading, at: u64) -> io::Result<()> {
        let (format, encoding) = match (self.compressed.format, self.compressed.encoding) {
            (Some(format), Some(encoding)) => (format, encoding),
            _ => return Err(io::Error::other("internal error in haul: a compressed source is read backward")),
        };
        let (position, offset) = self.frames.as_ref().map_or((0, 0), |frames| frames.before(at, encoding));
        let header = if offset > 0 { self::format(encoding).header() } else { &[] };
        let from = Cursor::new(header).chain(Sequential::new(self.stored.clone(), offset)?);
        reading.by = By::Content(Box::new(Content::new(Input::start(from, None)?, format, None)));
        (reading.position, reading.failed, reading.took) = (position, None, Duration::ZERO);
        Ok(())
    }

    /// Reading is decoding, or waiting for the file.
    fn note_slowest(&self, reading: &Reading) {
        let By::Content(content) = &reading.by else { return };
        let waited = content.waited();
        let is_decoder = reading.took.saturating_sub(waited) >= waited;
        self.slowest_part.set(if is_decoder { Some(SidePart::Decoder) } else { self.stored.slowest_part() });
    }

    /// Finds out what it is, and starts to read it.
    fn begin(&self) -> io::Result<(By, Option<Compression>)> {
        let Compressed { format, member, digest, is_required, .. } = self.compressed;
        let digest = digest.map(|kind| (kind, self.digest.clone()));
        let content =
            |input, format| By::Content(Box::new(Content::new(input, format, member).with_again(self.again())));
        if let Some(format) = format {
            let from = Sequential::new(self.stored.clone(), 0)?;
            return Ok((content(Input::start(from, digest)?, format), Some(format)));
        }
        let mut head = vec![0; HEAD_BYTES];
        let mut from = Sequential::new(self.stored.clone(), 0)?;
        let mut filled = 0;
        while filled < head.len() {
            match from.read(&mut head[filled..])? {
                0 => break,
                len => filled += len,
            }
        }
        head.truncate(filled);
        match detect(&head) {
            Some(format) => {
                let from = Cursor::new(head).chain(from);
                Ok((content(Input::start(from, digest)?, format), Some(format)))
            }
            None if is_required => Err(not_compressed()),
            None => Ok((By::Plain { head, hasher: digest.map(|(kind, _)| Box::new(Hasher::new(kind))) }, None)),
        }
    }

    /// What reads the file itself again, unless its bytes come once.
    fn again(&self) -> Option<Again> {
        use EndpointKind::{File, Http, Nbd, Object};
        let stored = self.stored.clone();
        matches!(self.compressed.stored.kind, File | Http | Nbd | Object)
            .then(|| -> Again { Box::new(move |at| Ok(Box::new(Sequential::new(stored.clone(), at)?))) })
    }

    fn read(&self, reading: &mut Reading, request: &mut Request) -> io::Result<u32> {
        let at = request.at();
        let is_far = |frames: &Frames| at - reading.position > u64::from(frames.content_bytes());
        if reading.position > at || self.frames.as_ref().is_some_and(is_far) {
            self.seek(reading, at)?;
        }
        while reading.position < at {
            let before = usize::try_from(at - reading.position).unwrap_or(usize::MAX);
            let bytes = request.rest_mut();
            let len = bytes.len().min(before);
            if self.read_some(reading, &mut bytes[..len])? == 0 {
                return Ok(0);
            }
        }
        let bytes = request.rest_mut();
        let mut filled = 0;
        while filled < bytes.len() {
            match self.read_some(reading, &mut bytes[filled..]) {
                Ok(0) => break,
                Ok(made) => filled += made,
                Err(error) if filled > 0 => {
                    reading.failed = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        let ends = [self.facts.size, self.compressed.copied_to];
        if ends.contains(&Some(reading.position)) && filled > 0 {
            // Its checksum is at the end: before that is right, the last bytes are not delivered.
            self.expect_end(reading)?;
        }
        if let By::Content(content) = &reading.by {
            self.decompressed.store(content.stored_bytes(), Relaxed);
        }
        Ok(filled as u32)
    }

    fn read_some(&self, reading: &mut Reading, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = reading.failed.take() {
            return Err(error);
        }
        if self.is_cancelled.load(Relaxed) {
            return Err(rustix::io::Errno::CANCELED.into());
        }
        let By::Content(content) = &mut reading.by else { unreachable!("it is compressed") };
        let made = content.read(bytes)?;
        reading.position += made as u64;
        match self.facts.size {
            Some(size) if made == 0 && reading.position < size => Err(self.wrong_size(content)),
            Some(size) if reading.position > size => Err(self.wrong_size(content)),
            _ => Ok(made),
        }
    }

    /// Reads what follows, which is nothing after the last byte of its size.
    fn expect_end(&self, reading: &mut Reading) -> io::Result<()> {
        if matches!(reading.by, By::Plain { .. }) {
            return Ok(());
        }
        let mut rest = vec![0; DISCARDED_BYTES];
        while self.read_some(reading, &mut rest)? > 0 {}
        Ok(())
    }

    fn wrong_size(&self, content: &Content) -> io::Error {
        let words = format!(
            "{} a content of {}, but it has {}, at byte {} of the compressed file",
            if self.compressed.copied_to.is_some() { "the block map states" } else { "its headers state" },
            byte_count(self.facts.size.unwrap_or(0)),
            if content.made_bytes() < self.facts.size.unwrap_or(0) { "fewer" } else { "more" },
            content.stored_bytes()
        );
        let advice = "Obtain the file again and compare its checksum, then copy again.";
        let (kind, offset) = (Kind::Corrupt, Some(content.made_bytes()));
        DeviceError { kind, words, offset, of_medium: false, advice, sense: None }.into()
    }

    /// Passes a stream on that is not compressed.
    fn pass_on(&self, reading: &mut Reading, request: &mut Request) -> io::Result<u32> {
        let By::Plain { head, hasher } = &mut reading.by else { unreachable!("it is not compressed") };
        let at = usize::try_from(request.at()).unwrap_or(usize::MAX);
        let moved = match head.get(at..).filter(|rest| !rest.is_empty()) {
            Some(rest) => {
                let bytes = request.rest_mut();
                let len = rest.len().min(bytes.len());
                bytes[..len].copy_from_slice(&rest[..len]);
                len as u32
            }
            None => self.stored.perform(request)?,
        };
        if let Some(hasher) = hasher {
            hasher.update(&request.rest()[..moved as usize]);
        }
        if let (0, Some(hasher)) = (moved, hasher.take_if(|_| moved == 0)) {
            *locked(&self.digest) = Some(hasher.finish());
        }
        Ok(moved)
    }
}

fn not_compressed() -> io::Error {
    let formats: Vec<&str> = Compression::ALL.into_iter().map(Compression::name).collect();
    let words = format!("--decompress: it is in none of the formats that haul decompresses ({})", formats.join(", "));
    let advice = "Omit --decompress to copy it unchanged.";
    DeviceError { kind: Kind::Unsupported, words, offset: Some(0), of_medium: false, advice, sense: None }.into()
}

impl Endpoint for Decompressed {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        if request.op != Op::Read {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        let reading = &mut *locked(&self.reading);
        if matches!(reading.by, By::Unknown) {
            (reading.by, reading.format) = self.begin()?;
        }
        match reading.by {
            By::Plain { .. } => {
                self.slowest_part.set(self.stored.slowest_part());
                self.pass_on(reading, request)
            }
            _ => {
                let started_at = Instant::now();
                let read = self.read(reading, request);
                reading.took += started_at.elapsed();
                self.note_slowest(reading);
                read
            }
        }
    }

    fn stored(&self) -> Option<StoredBytes> {
        let done = self.decompressed.load(Relaxed);
        (done > 0).then_some(StoredBytes { done, total: self.compressed.stored.size })
    }

    fn slowest_part(&self) -> Option<SidePart> {
        self.slowest_part.get()
    }

    fn uncache(&self, _extent: Extent) -> Option<u64> {
        let size = self.stored.descriptor().and_then(|file| rustix::fs::fstat(file).ok())?.st_size;
        self.stored.uncache(Extent::new(0, size as u64))
    }

    fn cancel(&self) {
        self.is_cancelled.store(true, Relaxed);
        self.stored.cancel();
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        match DeviceError::of(error) {
            Some(error) => error.kind,
            None => self.stored.diagnose(op, offset, error),
        }
    }

    fn closing(&self) -> ClosingReport {
        let mut report = self.stored.closing();
        let reading = locked(&self.reading);
        if let (By::Content(content), Some(format)) = (&reading.by, reading.format) {
            let (stored, made) = (content.stored_bytes(), content.made_bytes());
            report.detail = Some(format!("decompressed {}", format.name()));
            let name = format.name();
            if self.compressed.format.is_none() {
                // Of a file it was reported before.
                let address = &self.facts.address;
                report.notes.push(format!(
                    "decompressed source {address} ({name}): {} contain {}",
                    byte_count(stored),
                    byte_count(made)
                ));
            }
            if let Some(at) = content.garbage_at() {
                report.notes.push(format!(
                    "source {} has bytes after its {name} data, from byte {at} on: haul ignored them",
                    self.facts.address
                ));
            }
        }
        let hex = locked(&self.digest).clone();
        report.stored_digest = self.compressed.digest.zip(hex).map(|(kind, hex)| Digest { kind, hex });
        report
    }

    fn change(&self) -> Option<EndpointChange> {
        self.stored.change()
    }
}

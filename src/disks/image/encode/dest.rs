//! A compressed dest as an endpoint: what is written is its content, in order.
use super::frames::Frames;
use super::pick::format;
use super::pool::Pool;
use crate::core::{
    ClosingReport, Compressed, DeviceError, Encoding, Endpoint, EndpointKind, Extent, ExtentSet, Facts, Kept, Kind, Op,
    Request, SidePart, StoredBytes, byte_count, count, locked,
};
use crate::disks::image::detect::detect;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A dest that is compressed while it is written.
struct CompressedDest {
    facts: Facts,
    encoding: Encoding,
    /// The file or stream itself.
    stored: Arc<dyn Endpoint>,
    pool: Pool,
    collecting: Mutex<Collecting>,
    /// Frames that survive a power loss.
    durable: AtomicU32,
    is_complete: AtomicBool,
}

/// The content of the next frame.
struct Collecting {
    content: Vec<u8>,
    /// Offset of the next byte of the content.
    position: u64,
}

/// A dest over the file or stream itself, which is open. It is not changed before the first frame is written.
///
/// # Errors
/// No memory is left, or what the journal of an interrupted copy records is damaged.
pub fn compressing(
    facts: &Facts,
    compressed: &Compressed,
    encoding: Encoding,
    stored: Arc<dyn Endpoint>,
) -> io::Result<Arc<dyn Endpoint>> {
    let frames = match &facts.upload {
        None => Frames::new(encoding),
        Some(upload) => {
            Frames::of_upload(encoding, upload).ok_or_else(|| io::Error::other("the list of its frames is damaged"))?
        }
    };
    let mut facts = facts.clone();
    (facts.exists, facts.id, facts.upload) = (true, stored.facts().id, None);
    facts.compressed = Some(Box::new(Compressed { stored: stored.facts().clone(), ..compressed.clone() }));
    let position = frames.content_end();
    let collecting = Mutex::new(Collecting { content: Vec::new(), position });
    let durable = frames.len().into();
    let pool = Pool::new(format(encoding), stored.clone(), frames)?;
    let is_complete = false.into();
    Ok(Arc::new(CompressedDest { facts, encoding, stored, pool, collecting, durable, is_complete }))
}

impl CompressedDest {
    /// Adds `len` bytes at `at` to the content, by `add`, which appends the number of bytes in its argument.
    fn add(&self, at: u64, len: usize, mut add: impl FnMut(&mut Vec<u8>, usize, usize)) -> io::Result<()> {
        let collecting = &mut *locked(&self.collecting);
        if at != collecting.position {
            // A bug in haul: it would be another content.
            let position = collecting.position;
            return Err(io::Error::other(format!("byte {at} would be written at the position of byte {position}")));
        }
        let frame_bytes = self.pool.frames(Frames::content_bytes) as usize;
        let mut done = 0;
        while done < len {
            let some = (frame_bytes - collecting.content.len()).min(len - done);
            collecting.content.reserve_exact(frame_bytes - collecting.content.len());
            add(&mut collecting.content, done, some);
            done += some;
            collecting.position += some as u64;
            if collecting.content.len() == frame_bytes {
                self.submit(collecting)?;
            }
        }
        Ok(())
    }

    fn submit(&self, collecting: &mut Collecting) -> io::Result<()> {
        let content = std::mem::take(&mut collecting.content);
        collecting.content = self.pool.submit(content)?;
        collecting.content.clear();
        Ok(())
    }

    /// A stream that is compressed already must not be compressed again because of the name of the dest.
    fn check_head(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let Some(found) = detect(bytes).filter(|_| at == 0 && self.encoding.is_by_name) else { return Ok(()) };
        let (found, name) = (found.name(), self.encoding.format.name());
        let words =
            format!("the source is already compressed ({found}), and the name of the destination ends as {name}");
        let advice = "Use --as-is to write it unchanged, --compress to compress it again, or --decompress to compress \
            its content.";
        Err(DeviceError { kind: Kind::Unsupported, words, offset: None, of_medium: false, advice, sense: None }.into())
    }
}

impl Endpoint for CompressedDest {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let (at, len) = (request.at(), request.left());
        match request.op {
            Op::Read => return Err(io::Error::from_raw_os_error(libc::EBADF)),
            Op::Write => {
                let bytes = request.rest();
                self.check_head(at, bytes)?;
                self.add(at, bytes.len(), |content, from, some| {
                    content.extend_from_slice(&bytes[from..from + some]);
                })?;
            }
            Op::Zero => self.add(at, len as usize, |content, _, some| content.resize(content.len() + some, 0))?,
        }
        Ok(len)
    }

    fn make_durable(&self) -> io::Result<()> {
        let written = self.pool.write_all()?;
        self.stored.make_durable()?;
        self.durable.store(written, Relaxed);
        Ok(())
    }

    fn complete(&self, size: u64) -> io::Result<()> {
        let collecting = &mut *locked(&self.collecting);
        if collecting.position != size {
            let position = collecting.position;
            return Err(io::Error::other(format!(
                "{} instead of {size}",
                count(position, "byte was compressed", "bytes were compressed")
            )));
        }
        // A file without content has one frame without content.
        if !collecting.content.is_empty() || size == 0 {
            self.submit(collecting)?;
        }
        let stored_bytes = self.pool.finish()?;
        self.stored.complete(stored_bytes)?;
        self.is_complete.store(true, Relaxed);
        Ok(())
    }

    fn kept(&self, acknowledged: ExtentSet) -> Kept {
        let durable = self.durable.load(Relaxed);
        let (frame_bytes, upload) =
            self.pool.frames(|frames| (frames.content_bytes(), frames.to_upload(self.encoding, durable)));
        if self.is_complete.load(Relaxed) {
            return Kept { bytes: acknowledged, upload: Some(upload) };
        }
        let whole: ExtentSet = [Extent::new(0, u64::from(durable) * u64::from(frame_bytes))].into_iter().collect();
        Kept { bytes: whole.intersection(&acknowledged), upload: Some(upload) }
    }

    fn stored(&self) -> Option<StoredBytes> {
        let done = self.pool.frames(Frames::end);
        Some(StoredBytes { done, total: None })
    }

    fn slowest_part(&self) -> Option<SidePart> {
        if self.pool.is_limit() { Some(SidePart::Encoder) } else { self.stored.slowest_part() }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.stored.descriptor()
    }

    /// Writing a file does not wait for other processes: what was read is compressed and written, so that it need not
    /// be copied again.
    fn cancel(&self) {
        if self.stored.facts().kind != EndpointKind::File {
            self.pool.cancel();
            self.stored.cancel();
        }
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        DeviceError::of(error).map_or_else(|| self.stored.diagnose(op, offset, error), |error| error.kind)
    }

    fn closing(&self) -> ClosingReport {
        let mut report = self.stored.closing();
        let (content, stored) = self.pool.frames(|frames| (frames.content_end(), frames.end()));
        let (name, level) = (self.encoding.format.name(), self.encoding.level);
        report.detail = Some(format!("{name}, level {level}"));
        if content > 0 {
            let share = stored as f64 / content as f64 * 100.0;
            report.notes.push(format!(
                "compressed ({name}): {} to {} ({share:.1} %)",
                byte_count(content),
                byte_count(stored)
            ));
        }
        report
    }
}

//! A haul that was built without decoders: it recognizes compressed files and streams, and says so.
use super::detect::{HEAD_BYTES, detect};
use crate::core::{
    ClosingReport, Compressed, Compression, DeviceError, Encoding, Endpoint, EndpointChange, Error, Facts, Kind, Op,
    Request, Result, Side, locked,
};
use std::io;
use std::sync::{Arc, Mutex};

/// Refuses the content of a compressed file.
///
/// # Errors
/// Unsupported, always.
pub fn content(stored: &Facts, format: Compression) -> Result<Facts> {
    let what = format!(
        "source {} is compressed ({}), and this haul was built without decoders",
        stored.address,
        format.name()
    );
    let advice = "Nothing was written. Decompress it with its own program and copy from a pipe, or use --as-is to copy \
        the file itself.";
    Err(Error::new(Kind::Unsupported, what).on(Side::Source).advise(advice))
}

/// Refuses a dest that is to be compressed.
///
/// # Errors
/// Unsupported, always.
pub fn check_encoding(dest: &Facts, encoding: Encoding) -> Result<()> {
    let (address, name) = (&dest.address, encoding.format.name());
    let what = format!("destination {address} is to be compressed ({name}), and this haul was built without encoders");
    let advice =
        "Nothing was written. Copy to a pipe to its own program, or use --as-is to write the bytes themselves.";
    Err(Error::new(Kind::Unsupported, what).on(Side::Dest).advise(advice))
}

/// Never called, as every such dest is refused.
///
/// # Errors
/// Always.
#[cfg(not(feature = "images"))]
pub fn compressing(
    _facts: &Facts,
    _compressed: &Compressed,
    encoding: Encoding,
    _stored: Arc<dyn Endpoint>,
) -> io::Result<Arc<dyn Endpoint>> {
    Err(io::Error::other(format!("this haul was built without encoders for {}", encoding.format.name())))
}

/// Nothing was compressed by an earlier run.
///
/// # Errors
/// Never.
#[cfg(not(feature = "images"))]
pub fn check_resumed(_dest: &Facts, _upload: &crate::core::Upload) -> Result<()> {
    Ok(())
}

/// A stream that may not be compressed: reading it fails where its first bytes show that it is.
///
/// # Errors
/// Unsupported where it has to be decompressed.
pub fn over(facts: &Facts, compressed: &Compressed, stored: Arc<dyn Endpoint>) -> Result<Arc<dyn Endpoint>> {
    if !compressed.is_required {
        return Ok(Arc::new(Uncompressed { stored, head: Mutex::default() }));
    }
    let what = format!("source {} cannot be decompressed: this haul was built without decoders", facts.address);
    Err(Error::new(Kind::Unsupported, what).on(Side::Source).advise("Nothing was written. Omit --decompress."))
}

/// A stream, as it is, as long as it is not compressed.
struct Uncompressed {
    stored: Arc<dyn Endpoint>,
    /// Its first bytes, as far as they were read.
    head: Mutex<Vec<u8>>,
}

impl Uncompressed {
    /// Reads the first bytes, as many as show the format and fit into the request.
    fn read_head(&self, head: &mut Vec<u8>, request: &mut Request) -> io::Result<u32> {
        let begin = request.done;
        let moved = loop {
            let moved = self.stored.perform(request)?;
            request.done += moved;
            if moved == 0 || request.done == request.until || head.len() + (request.done - begin) as usize >= HEAD_BYTES
            {
                break request.done - begin;
            }
        };
        request.done = begin;
        let missing = HEAD_BYTES - head.len();
        head.extend_from_slice(&request.rest()[..(moved as usize).min(missing)]);
        match detect(head) {
            None => Ok(moved),
            Some(format) => Err(is_compressed(format)),
        }
    }
}

fn is_compressed(format: Compression) -> io::Error {
    let words =
        format!("its first bytes are those of {} data, and this haul was built without decoders", format.name());
    let advice =
        "Decompress it before haul, such as xz -dc FILE | haul copy - DST, or use --as-is to copy it unchanged.";
    DeviceError { kind: Kind::Unsupported, words, offset: Some(0), of_medium: false, advice, sense: None }.into()
}

impl Endpoint for Uncompressed {
    fn facts(&self) -> &Facts {
        self.stored.facts()
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let head = &mut *locked(&self.head);
        if request.op == Op::Read && head.len() < HEAD_BYTES {
            return self.read_head(head, request);
        }
        self.stored.perform(request)
    }

    fn cancel(&self) {
        self.stored.cancel();
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        DeviceError::of(error).map_or_else(|| self.stored.diagnose(op, offset, error), |error| error.kind)
    }

    fn closing(&self) -> ClosingReport {
        self.stored.closing()
    }

    fn change(&self) -> Option<EndpointChange> {
        self.stored.change()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Arena, EndpointKind};

    /// A stream that returns a few bytes at a time.
    struct Pieces {
        facts: Facts,
        rest: Mutex<Vec<u8>>,
        most: usize,
    }

    impl Endpoint for Pieces {
        fn facts(&self) -> &Facts {
            &self.facts
        }

        fn perform(&self, request: &mut Request) -> io::Result<u32> {
            let rest = &mut *locked(&self.rest);
            let bytes = request.rest_mut();
            let len = bytes.len().min(self.most).min(rest.len());
            bytes[..len].copy_from_slice(&rest[..len]);
            rest.drain(..len);
            Ok(len as u32)
        }
    }

    /// All that is read of a stream in blocks of `block` bytes, or the error.
    fn read(stream: &[u8], most: usize, block: u32, is_required: bool) -> io::Result<Vec<u8>> {
        let facts = Facts::new("-", EndpointKind::Pipe);
        let stored = Arc::new(Pieces { facts: facts.clone(), rest: Mutex::new(stream.to_vec()), most });
        let facts = Compressed::of_stream(facts, is_required);
        let compressed = facts.compressed.clone().expect("it may be compressed");
        let end = over(&facts, &compressed, stored).map_err(io::Error::other)?;
        let (mut found, mut buffer) = (Vec::new(), Some(Arena::lone(block)?));
        loop {
            let buffer_of = buffer.take().expect("each request returns it");
            let (side, op, offset) = (Side::Source, Op::Read, found.len() as u64);
            let mut request =
                Request { slot: 0, ticket: 0, side, op, offset, len: block, done: 0, until: block, buffer: buffer_of };
            let moved = end.perform(&mut request)? as usize;
            found.extend_from_slice(&request.buffer.bytes()[..moved]);
            buffer = Some(request.buffer);
            if moved == 0 {
                return Ok(found);
            }
        }
    }

    #[test]
    fn a_stream_is_read_unchanged_unless_it_is_compressed() {
        let plain: Vec<u8> = (0..3000u32).map(|at| (at % 251) as u8).collect();
        let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        packed.extend_from_slice(&plain);
        for most in [1, 7, 100, 5000] {
            for block in [16, 512, 4096] {
                for stream in [&plain[..], b"abc", b""] {
                    assert_eq!(read(stream, most, block, false).unwrap(), stream, "{most} {block}");
                }
                let error = read(&packed, most, block, false).unwrap_err();
                assert!(error.to_string().contains("gzip data, and this haul was built without decoders"), "{error}");
                assert_eq!(DeviceError::of(&error).map(|error| error.kind), Some(Kind::Unsupported));
            }
        }
        assert!(read(&plain, 100, 512, true).unwrap_err().to_string().contains("cannot be decompressed"));
        let error = content(&Facts::new("disk.gz", EndpointKind::File), Compression::Gzip).unwrap_err();
        assert!(error.to_string().contains("is compressed (gzip)"), "{error}");
        let encoding = Encoding::parse("zstd").expect("it is a format");
        let error = check_encoding(&Facts::new("disk.zst", EndpointKind::File), encoding).unwrap_err();
        assert!(error.to_string().contains("is to be compressed (zstd)"), "{error}");
    }
}

use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Usual offset of the first partition. A disk whose partition table was wiped may still have data there.
pub(super) const FIRST_PARTITION: u64 = 1 << 20;

/// Number of bytes checked there and at the end before the content counts as empty.
pub(super) const SAMPLE_BYTES: usize = 64 << 10;

/// `ext4`, or `ext4 "root"` with a label, in which quotes and control characters are escaped.
pub(super) fn labelled(name: &str, label: Option<String>) -> String {
    match label {
        Some(label) => format!("{name} {label:?}"),
        None => name.to_owned(),
    }
}

/// The bytes available for identification: the start, and the rest if there is a file to read from.
pub(super) struct Seen<'a> {
    pub(super) start: &'a [u8],
    /// Total size in bytes, if known.
    pub(super) size: Option<u64>,
    pub(super) file: Option<&'a File>,
}

impl Seen<'_> {
    /// `len` bytes at `offset`; `None` if they are not all available.
    pub(super) fn bytes(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        let from = usize::try_from(offset).ok()?;
        if let Some(bytes) = self.start.get(from..from.checked_add(len)?) {
            return Some(Cow::Borrowed(bytes));
        }
        let mut bytes = vec![0; len];
        self.file?.read_exact_at(&mut bytes, offset).ok()?;
        Some(Cow::Owned(bytes))
    }

    /// Whether these bytes are at `offset`.
    pub(super) fn has(&self, offset: u64, magic: &[u8]) -> bool {
        self.bytes(offset, magic.len()).is_some_and(|bytes| *bytes == *magic)
    }

    pub(super) fn byte(&self, offset: u64) -> Option<u8> {
        Some(self.bytes(offset, 1)?[0])
    }

    /// A little-endian number.
    pub(super) fn u16(&self, offset: u64) -> Option<u16> {
        Some(u16::from_le_bytes(self.array(offset)?))
    }

    /// A little-endian number.
    pub(super) fn u32(&self, offset: u64) -> Option<u32> {
        Some(u32::from_le_bytes(self.array(offset)?))
    }

    /// A big-endian number.
    pub(super) fn u32_big(&self, offset: u64) -> Option<u32> {
        Some(u32::from_be_bytes(self.array(offset)?))
    }

    /// A label of at most `len` bytes, up to the first NUL and trimmed; `None` if it is empty.
    pub(super) fn label(&self, offset: u64, len: usize) -> Option<String> {
        let bytes = self.bytes(offset, len)?;
        let text = bytes.split(|&byte| byte == 0).next()?;
        some_text(&String::from_utf8_lossy(text))
    }

    /// The same for at most `len` UTF-16 code units, little-endian.
    pub(super) fn label_utf16(&self, offset: u64, len: usize) -> Option<String> {
        let bytes = self.bytes(offset, len.checked_mul(2)?)?;
        let letters = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let text: Vec<u16> = letters.take_while(|&letter| letter != 0).collect();
        some_text(&String::from_utf16_lossy(&text))
    }

    /// Whether there is data and all of the start is zero.
    pub(super) fn starts_empty(&self) -> bool {
        !self.start.is_empty() && all_zero(self.start)
    }

    /// Like [`Self::starts_empty`], and samples at the usual locations of partitions are also zero.
    pub(super) fn looks_empty(&self) -> bool {
        let size = self.size.unwrap_or(0);
        let sample = usize::try_from(size).map_or(SAMPLE_BYTES, |size| size.min(SAMPLE_BYTES));
        let last = size - sample as u64;
        let zero_at = |offset| self.bytes(offset, sample).is_some_and(|bytes| all_zero(&bytes));
        self.starts_empty() && zero_at(last) && zero_at(FIRST_PARTITION.min(last))
    }

    fn array<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        self.bytes(offset, N)?.as_ref().try_into().ok()
    }
}

fn all_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

fn some_text(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

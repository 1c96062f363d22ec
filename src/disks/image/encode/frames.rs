//! The frames of a compressed file: where each is, and what of them a journal records.
use super::format::Format;
use super::pick::format;
use crate::core::{Encoding, Error, Facts, Kind, Result, Side, Upload, byte_count};

/// The frames of a file, in order. Each has the same content size, but the last one, which may have less.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    content_bytes: u32,
    last_content_bytes: u32,
    listed_bytes: Vec<u32>,
    /// Where the next one begins in the file.
    end: u64,
}

impl Frames {
    pub(super) fn new(encoding: Encoding) -> Frames {
        let end = format(encoding).header().len() as u64;
        let content_bytes = encoding.frame_bytes();
        Frames { content_bytes, last_content_bytes: content_bytes, end, ..Frames::default() }
    }

    /// Those of an interrupted copy; `None`: the journal is damaged, or of another format.
    pub(in crate::disks::image) fn of_upload(encoding: Encoding, upload: &Upload) -> Option<Frames> {
        if upload.id != encoding.format.name() {
            return None;
        }
        let format = format(encoding);
        let mut frames = Frames::new(encoding);
        frames.content_bytes = u32::try_from(upload.part_bytes).ok().filter(|bytes| *bytes > 0)?;
        frames.last_content_bytes = frames.content_bytes;
        for (expected, (number, listed_bytes)) in upload.parts.iter().enumerate() {
            if *number as usize != expected {
                return None;
            }
            frames.add(&*format, listed_bytes.parse().ok()?, frames.content_bytes);
        }
        Some(frames)
    }

    /// The first `count` of them, as a journal records them.
    pub(super) fn to_upload(&self, encoding: Encoding, count: u32) -> Upload {
        let listed = self.listed_bytes.iter().take(count as usize).zip(0..);
        Upload {
            id: encoding.format.name().to_owned(),
            part_bytes: self.content_bytes.into(),
            parts: listed.map(|(bytes, number)| (number, bytes.to_string())).collect(),
            shard: None,
        }
    }

    /// Adds the next one.
    pub(super) fn add(&mut self, format: &dyn Format, listed_bytes: u32, content_bytes: u32) {
        self.end += format.stored_bytes(listed_bytes);
        self.last_content_bytes = content_bytes;
        self.listed_bytes.push(listed_bytes);
    }

    pub(super) fn len(&self) -> u32 {
        self.listed_bytes.len() as u32
    }

    /// Bytes of the content of a frame.
    pub(in crate::disks::image) fn content_bytes(&self) -> u32 {
        self.content_bytes
    }

    /// Where the frame after the last one begins in the file.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Where their content ends.
    pub(super) fn content_end(&self) -> u64 {
        match self.len() {
            0 => 0,
            len => u64::from(len - 1) * u64::from(self.content_bytes) + u64::from(self.last_content_bytes),
        }
    }

    /// Listed size and bytes of content of each.
    pub(super) fn each(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let last = self.listed_bytes.len().saturating_sub(1);
        let content = move |at| if at == last { self.last_content_bytes } else { self.content_bytes };
        self.listed_bytes.iter().enumerate().map(move |(at, bytes)| (*bytes, content(at)))
    }

    /// The frame that has this byte of the content, or the last one: where its content begins, and where it begins in
    /// the file.
    pub(in crate::disks::image) fn before(&self, at: u64, encoding: Encoding) -> (u64, u64) {
        let number = (at / u64::from(self.content_bytes)).min(u64::from(self.len().saturating_sub(1)));
        let format = format(encoding);
        let before = self.listed_bytes.iter().take(number as usize).map(|bytes| format.stored_bytes(*bytes));
        (number * u64::from(self.content_bytes), format.header().len() as u64 + before.sum::<u64>())
    }
}

/// Checks that a dest can have the frames that the journal of an interrupted copy lists.
///
/// # Errors
/// Refused if it cannot.
pub fn check_resumed(dest: &Facts, upload: &Upload) -> Result<()> {
    let Some((encoding, compressed)) = dest.encoding().zip(dest.compressed.as_ref()) else { return Ok(()) };
    let refused = |why: String| {
        let advice = "Nothing was written. Copy from the start with haul copy --restart.";
        let what = format!("cannot resume: destination {} {why}", dest.address);
        Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice))
    };
    let Some(frames) = Frames::of_upload(encoding, upload) else {
        return refused(format!("was compressed as {}, not {}", upload.id, encoding.format.name()));
    };
    let size = compressed.stored.size.unwrap_or(0);
    if size < frames.end() {
        return refused(format!("has {}, fewer than the {} that its journal records", byte_count(size), frames.end()));
    }
    Ok(())
}

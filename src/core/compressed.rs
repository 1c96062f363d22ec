//! Formats of compression, and how a dest is compressed.
use std::path::Path;

/// Formats of compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// XZ: streams of blocks, with an index.
    Xz,
    /// Zstandard: frames.
    Zstd,
    /// gzip: members.
    Gzip,
    /// bzip2: streams.
    Bzip2,
    /// LZ4: frames.
    Lz4,
    /// A ZIP archive with one file.
    Zip,
}

impl Compression {
    /// All of them.
    pub const ALL: [Compression; 6] =
        [Compression::Xz, Compression::Zstd, Compression::Gzip, Compression::Bzip2, Compression::Lz4, Compression::Zip];

    /// The word for messages and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Xz => "xz",
            Compression::Zstd => "zstd",
            Compression::Gzip => "gzip",
            Compression::Bzip2 => "bzip2",
            Compression::Lz4 => "lz4",
            Compression::Zip => "zip",
        }
    }
}

/// How a dest is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The format: xz, zstd or gzip.
    pub format: Compression,
    /// The level, as the program of the format counts.
    pub level: u32,
    /// The name of the dest decided it, and not an option.
    pub is_by_name: bool,
}

impl Encoding {
    /// The formats that haul writes, with their lowest, default and highest level.
    const FORMATS: [(Compression, [u32; 3]); 3] =
        [(Compression::Zstd, [1, 3, 22]), (Compression::Xz, [0, 6, 9]), (Compression::Gzip, [1, 6, 9])];

    /// The names of files, and the formats that they state.
    const ENDINGS: [(&str, Compression); 4] =
        [("zst", Compression::Zstd), ("zstd", Compression::Zstd), ("xz", Compression::Xz), ("gz", Compression::Gzip)];

    /// Parses `FORMAT` or `FORMAT:LEVEL`.
    ///
    /// # Errors
    /// Why it is invalid.
    pub fn parse(text: &str) -> Result<Encoding, String> {
        let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
        let known = Self::FORMATS.into_iter().find(|(format, _)| {
            format.name() == name || Self::ENDINGS.iter().any(|(ending, of)| of == format && *ending == name)
        });
        let Some((format, [least, default, most])) = known else {
            return Err("the formats are zstd, xz and gzip".to_owned());
        };
        let level = match level {
            None => default,
            Some(level) => level
                .parse()
                .ok()
                .filter(|level| (least..=most).contains(level))
                .ok_or_else(|| format!("the levels of {} are {least} to {most}", format.name()))?,
        };
        Ok(Encoding { format, level, is_by_name: false })
    }

    /// What the name of a file states.
    pub fn of_name(path: &Path) -> Option<Encoding> {
        let ending = path.extension()?.to_str()?;
        let (name, _) = Self::ENDINGS.into_iter().find(|(known, _)| ending.eq_ignore_ascii_case(known))?;
        Some(Encoding { is_by_name: true, ..Self::parse(name).ok()? })
    }

    /// Bytes of content that are compressed separately from the rest: a part can be read without what is before it, and
    /// a copy resumed there. At this size the result is less than 1 % larger than that of one piece.
    pub fn frame_bytes(self) -> u32 {
        if self.format == Compression::Xz { 16 << 20 } else { 8 << 20 }
    }
}

/// Where the only file of a ZIP archive lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZipMember {
    /// First byte of its data.
    pub offset: u64,
    /// Bytes of its data.
    pub stored_bytes: u64,
    /// Bytes of its content.
    pub content_bytes: u64,
    /// CRC-32 of its content.
    pub crc32: u32,
    /// Its data is compressed; otherwise they are the content.
    pub is_deflated: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_and_a_level_are_parsed_and_names_state_formats() {
        let of = |text| Encoding::parse(text).map(|it| (it.format, it.level));
        assert_eq!(of("zstd"), Ok((Compression::Zstd, 3)));
        assert_eq!(of("zst:22"), Ok((Compression::Zstd, 22)));
        assert_eq!((of("xz:0"), of("gz")), (Ok((Compression::Xz, 0)), Ok((Compression::Gzip, 6))));
        assert!(of("xz:10").unwrap_err().contains("0 to 9") && of("zstd:0").is_err() && of("gzip:x").is_err());
        assert!(of("bzip2").unwrap_err().contains("zstd, xz and gzip") && of("").is_err());
        let named = |name| Encoding::of_name(Path::new(name)).map(|it| it.format);
        assert_eq!(named("/a/disk.img.ZST"), Some(Compression::Zstd));
        assert_eq!((named("a.xz"), named("a.gz")), (Some(Compression::Xz), Some(Compression::Gzip)));
        assert_eq!((named("zst"), named("a.zst.bak"), named("a.bz2"), named(".xz")), (None, None, None, None));
    }
}

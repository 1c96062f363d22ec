//! Formats of compression.

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

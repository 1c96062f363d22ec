//! Options about compressed sources and their checksums.
use super::words::address;
use crate::core::Encoding;
use crate::plan::{self, BlockMapChoice, Checksum, Compress, Decompress};
use clap::error::ErrorKind;
use clap::{Args, ValueHint};
use std::ffi::OsString;

/// Why the command line is invalid.
type UsageText = (ErrorKind, String);

/// Whether a compressed source is decompressed, and what it has to be.
#[derive(Debug, Args)]
pub(crate) struct ImageArguments {
    /// Copy the content of a compressed source
    ///
    /// Decompress the source, to any destination. haul recognizes xz, zstd, gzip, bzip2, lz4 and a zip archive with one
    /// file by their first bytes, not by their name, and decompresses a file or stream by default if the destination is
    /// a block device or an NBD export. The source is refused if it is in none of these formats, or if its decoder
    /// needs more than 256 MiB of memory. Ranges, digests, --verify and --limit count the content.
    #[arg(long, conflicts_with = "as_is", help_heading = "Source")]
    decompress: bool,

    /// Copy a compressed source unchanged
    ///
    /// Do not decompress the source: copy the compressed file itself, also to a block device or an NBD export. Do not
    /// compress a destination because of its name either.
    #[arg(long, help_heading = "Source")]
    as_is: bool,

    /// Compress the destination: zstd, xz or gzip, with :LEVEL
    ///
    /// Compress what is written to a file or stream. By default haul does that for a file whose name ends as .zst, .xz
    /// or .gz, unless the source is already compressed; --as-is prevents it. FORMAT is zstd, xz or gzip; LEVEL is that
    /// of its program (zstd 1 to 22, default 3; xz 0 to 9, default 6; gzip 1 to 9, default 6). Several threads compress
    /// frames of 8 MiB (xz: blocks of 16 MiB), with up to 512 MiB of memory. The program of the format reads the file.
    #[arg(long, value_name = "FORMAT[:LEVEL]", value_parser = Encoding::parse, conflicts_with = "as_is")]
    #[arg(help_heading = "Destination")]
    compress: Option<Encoding>,

    /// Compare the source with a checksum: FILE or sha256:HEX
    ///
    /// Compute the digest of the source file as it is stored, compressed or not, while it is copied, and compare it at
    /// the end. The exit status is 1 if it differs; the destination then holds unverified data. FILE is a list as
    /// sha256sum, sha512sum or md5sum prints it, in which haul looks up the name of the source, or has one digest.
    /// sha256:HEX, sha512:HEX and md5:HEX give the digest itself. The whole source has to be copied.
    #[arg(long, value_name = "FILE|KIND:HEX", value_parser = plan::checksum, value_hint = ValueHint::FilePath)]
    #[arg(help_heading = "Source")]
    pub(crate) checksum: Option<Checksum>,

    /// Ignore lists of checksums beside the source
    ///
    /// Do not search for a checksum beside the source. By default, if the destination is a block device or an NBD
    /// export, or with --decompress, haul looks for the name of SRC in SRC.sha256, SHA256SUMS, and the same for SHA-512
    /// and MD5, in the directory of SRC or beside its web address, and compares it as --checksum does.
    #[arg(long, conflicts_with = "checksum", help_heading = "Source", hide_short_help = true)]
    pub(crate) no_checksum: bool,

    /// Copy only the ranges of this block map
    ///
    /// Copy only the parts of the image that have data according to FILE, a block map (.bmap, version 1.2 to 2.0) as
    /// bmaptool makes it, and compare each range with its checksum while it is read. DST has to be a block device or an
    /// NBD export, whose other bytes keep their content. By default haul uses the map SRC.bmap in the directory of SRC
    /// or beside its web address, also with the endings of SRC left out, for a copy of a whole image to a device.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Source")]
    #[arg(conflicts_with_all = ["as_is", "skip", "seek", "count", "ranges", "source_ranges", "destination_ranges"])]
    #[arg(hide_short_help = true)]
    bmap: Option<OsString>,

    /// Ignore a block map beside the source
    ///
    /// Do not search for a block map beside the source: copy all of the image.
    #[arg(long, conflicts_with = "bmap", help_heading = "Source", hide_short_help = true)]
    no_bmap: bool,
}

impl ImageArguments {
    /// Which block map is used.
    pub(crate) fn bmap(&self) -> Result<BlockMapChoice, UsageText> {
        bmap(self.bmap.clone(), self.no_bmap)
    }

    /// What happens to a compressed source.
    pub(crate) fn decompress(&self) -> Decompress {
        decompress(self.decompress, self.as_is)
    }

    /// What happens to the destination.
    pub(crate) fn compress(&self) -> Compress {
        self.compress.map_or(Compress::Auto, Compress::As)
    }
}

/// Whether a compressed source is compared by its content, and with a block map.
#[derive(Debug, Args)]
pub(crate) struct ComparedImageArguments {
    /// Compare the content of a compressed source
    ///
    /// Decompress the source, and compare its content with any destination. By default haul does that if the
    /// destination is a block device or an NBD export, and compares the bytes of the compressed file with a file.
    #[arg(long, conflicts_with = "as_is", help_heading = "Source", hide_short_help = true)]
    decompress: bool,

    /// Compare a compressed source unchanged
    ///
    /// Compare the bytes of the compressed file itself, also with a block device or an NBD export.
    #[arg(long, help_heading = "Source", hide_short_help = true)]
    as_is: bool,

    /// Compare only the ranges of this block map
    ///
    /// Compare only the parts of the image that have data according to FILE, a block map (.bmap). By default haul uses
    /// a map beside the source as haul copy does.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Source")]
    #[arg(conflicts_with_all = ["as_is", "skip", "seek", "count", "ranges", "source_ranges", "destination_ranges"])]
    #[arg(hide_short_help = true)]
    bmap: Option<OsString>,

    /// Ignore a block map beside the source
    ///
    /// Do not search for a block map beside the source: compare all of the image.
    #[arg(long, conflicts_with = "bmap", help_heading = "Source", hide_short_help = true)]
    no_bmap: bool,
}

impl ComparedImageArguments {
    /// What happens to a compressed source.
    pub(crate) fn decompress(&self) -> Decompress {
        decompress(self.decompress, self.as_is)
    }

    /// Which block map is used.
    pub(crate) fn bmap(self) -> Result<BlockMapChoice, UsageText> {
        bmap(self.bmap, self.no_bmap)
    }
}

fn decompress(always: bool, never: bool) -> Decompress {
    match (always, never) {
        (true, _) => Decompress::Always,
        (_, true) => Decompress::Never,
        _ => Decompress::Auto,
    }
}

fn bmap(file: Option<OsString>, never: bool) -> Result<BlockMapChoice, UsageText> {
    match file {
        Some(file) => Ok(BlockMapChoice::At(address("--bmap", file)?)),
        None if never => Ok(BlockMapChoice::Never),
        None => Ok(BlockMapChoice::Auto),
    }
}

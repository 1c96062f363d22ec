//! Makes a block map of a manifest.
use crate::core::{BlockDigest, BlockHash, BlockMap, Error, Extent, HashKind, Kind, MappedRange, Result};
use crate::files::{self, DirectoryEntry, FileError, NewFile, Visibility};
use crate::ledger::bmap;
use crate::ledger::manifest::Manifest;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Granularity of the map, as bmaptool writes it. All blocks of manifests are larger.
const BLOCK_BYTES: u64 = 4096;

/// What of a manifest is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MapExport {
    /// The image, of which the checksums are computed.
    pub(crate) image: String,
    /// Blocks of zeros are not mapped.
    pub(crate) omit_zeros: bool,
}

/// The block map of the copy of a whole image that `manifest`, at `path`, describes.
///
/// # Errors
/// Usage where the manifest is of a part or has unreadable bytes; Corrupt where the image is another one.
pub(crate) fn block_map(manifest: &Manifest, path: &str, asked: &MapExport) -> Result<BlockMap> {
    let image_bytes = manifest.closing.len_bytes;
    let source = &manifest.head.source;
    let is_part = manifest.is_listed()
        || source.offset_bytes > 0
        || manifest.head.dest.offset_bytes > 0
        || source.size_bytes.is_some_and(|size| size != image_bytes);
    if is_part {
        return Err(impossible(path, "it describes a copy of a part, and block maps are of whole images"));
    }
    if !manifest.unread.is_empty() {
        return Err(impossible(path, "it lists unreadable bytes"));
    }
    let image = Image::open(&asked.image)?;
    let mut ranges = Vec::new();
    for &(extent, digest) in manifest.pieces() {
        for extent in blocks_of(extent, manifest.head.block_bytes) {
            if digest.is_none() && asked.omit_zeros {
                continue;
            }
            let digest = image.digest(extent, digest, manifest.head.algorithm)?;
            ranges.push(MappedRange { extent, digest: Some(digest.into()) });
        }
    }
    if ranges.is_empty() {
        return Err(impossible(path, "no block would be mapped"));
    }
    Ok(BlockMap {
        address: path.to_owned(),
        version: bmap::VERSION.to_owned(),
        image_bytes,
        block_bytes: BLOCK_BYTES,
        algorithm: Some(HashKind::Sha256),
        ranges,
    })
}

/// A run of zeros may be long; a block has one checksum.
fn blocks_of(extent: Extent, block_bytes: u64) -> impl Iterator<Item = Extent> {
    (0..extent.len)
        .step_by(block_bytes as usize)
        .map(move |at| Extent { offset: extent.offset + at, len: block_bytes.min(extent.len - at) })
}

fn impossible(path: &str, why: &str) -> Error {
    Error::new(Kind::Usage, format!("manifest {path} cannot become a block map: {why}"))
}

/// The image of a manifest.
struct Image<'a> {
    path: &'a str,
    file: File,
}

impl Image<'_> {
    fn open(path: &str) -> Result<Image<'_>> {
        let file = files::open_to_read(Path::new(path));
        let file = file.map_err(|cause| Error::new(Kind::Open, format!("cannot read image {path}: {cause}")))?;
        Ok(Image { path, file })
    }

    /// The SHA-256 of a block, which is compared with its digest in the manifest.
    fn digest(&self, extent: Extent, expected: Option<BlockDigest>, hash: BlockHash) -> Result<String> {
        let mut bytes = vec![0; extent.len as usize];
        self.file.read_exact_at(&mut bytes, extent.offset).map_err(|cause| {
            let what = format!("cannot read image {}", self.path);
            Error { offset: Some(extent.offset), ..Error::new(Kind::Io, what).because(cause) }
        })?;
        let is_same = match expected {
            Some(expected) => hash.digest(extent.offset, &bytes) == expected,
            None => bytes.iter().all(|byte| *byte == 0),
        };
        if is_same {
            return Ok(BlockHash::Sha256.digest(extent.offset, &bytes).to_string());
        }
        let what = format!("{} is not the image of the manifest: a block differs", self.path);
        let error = Error { offset: Some(extent.offset), ..Error::new(Kind::Corrupt, what) };
        Err(error.advise("No block map was written. haul verify --manifest lists all differences."))
    }
}

/// Writes `map` to a new file, durably.
///
/// # Errors
/// `path` exists, or cannot be written; then there is no file.
pub(crate) fn write(map: &BlockMap, path: &str) -> Result<()> {
    let failed = |cause: FileError| Error::new(Kind::Open, format!("cannot write block map {path}: {cause}"));
    let place = DirectoryEntry::following(Path::new(path)).map_err(failed)?;
    let file = NewFile::begin(&place).map_err(failed)?;
    file.file()
        .write_all(bmap::text(map).as_bytes())
        .map_err(|cause| Error::new(Kind::Io, format!("cannot write block map {path}")).because(cause))?;
    file.publish(Visibility::Umask).map_err(failed).map(drop)
}

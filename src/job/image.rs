//! Compressed sources: whether their content is copied.
use super::block_map;
use crate::core::{Compressed, Compression, Error, Facts, Kind, Result, Side};
use crate::disks::image::{self, Format};
use crate::plan::{self, Decompression, Options};

/// The facts of what is copied: of the content of a compressed source, where that is to be copied.
///
/// # Errors
/// Usage for `--decompress` of what is not compressed; Open where the source cannot be read; Unsupported for an archive
/// that has not exactly one file.
pub(super) fn settle(options: &Options, source: Facts, dests: &[Facts]) -> Result<Facts> {
    Ok(match plan::decompression(options, &source, dests)? {
        Decompression::No => source,
        Decompression::InStream { is_required } => Compressed::of_stream(source, is_required),
        Decompression::IfCompressed { is_required } => match image::format(&source)? {
            Format::Compressed(format) => image::content(&source, format)?,
            _ if is_required => return Err(not_compressed(&source)),
            Format::Disk(name) => Facts { content: Some(name), ..source },
            Format::Plain => source,
        },
    })
}

/// What of a source is compared.
pub(crate) struct ComparedImage {
    /// With the ranges of a block map.
    pub(crate) options: Options,
    pub(crate) source: Facts,
    pub(crate) warnings: Vec<String>,
}

/// What is compared with `dest`: the content of a compressed source, and the ranges of a block map of it, as a copy to
/// `dest` would write them.
///
/// # Errors
/// As for [`settle`]; the block map is damaged.
pub(crate) fn image_content(options: &Options, source: Facts, dest: &Facts) -> Result<ComparedImage> {
    let dests = std::slice::from_ref(dest);
    let mut source = settle(options, source, dests)?;
    let (options, warnings) = block_map::apply(options.clone(), &mut source, dests)?;
    Ok(ComparedImage { options, source, warnings })
}

fn not_compressed(source: &Facts) -> Error {
    let formats: Vec<&str> = Compression::ALL.into_iter().map(Compression::name).collect();
    let formats = formats.join(", ");
    let what =
        format!("--decompress: source {} is in none of the formats that haul decompresses ({formats})", source.address);
    Error::new(Kind::Usage, what)
        .on(Side::Source)
        .advise("Nothing was written. Omit --decompress to copy it unchanged.")
}

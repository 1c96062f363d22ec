//! Compressed sources and dests: whether their content is copied.
use super::block_map;
use crate::core::{Compressed, Compression, Encoding, EndpointKind, Error, Facts, Kind, Result, Side};
use crate::disks::image::{self, Format};
use crate::plan::{self, Compressing, Decompression, Options};

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

/// The facts of the dests, of which some are compressed.
///
/// # Errors
/// Usage for `--compress` where that is not possible; Refused for a file that has other data than its name says; Open
/// where a file cannot be read.
pub(super) fn settle_dests(options: &Options, source: &Facts, dests: Vec<Facts>) -> Result<Vec<Facts>> {
    dests.into_iter().map(|dest| settle_dest(options, source, dest)).collect()
}

fn settle_dest(options: &Options, source: &Facts, dest: Facts) -> Result<Facts> {
    let encoding = match plan::compressing(options, &dest)? {
        Compressing::No => return Ok(dest),
        Compressing::RefusedIfPlain(_) if source.kind.is_stream() || is_compressed(source)? => return Ok(dest),
        Compressing::RefusedIfPlain(encoding) => return refuse_to_compress(&dest, encoding),
        Compressing::Always(encoding) => encoding,
        Compressing::IfPlain(_) if is_compressed(source)? => return Ok(dest),
        Compressing::IfPlain(encoding) => {
            let has_data = dest.exists && dest.size != Some(0) && !options.resume;
            if has_data && image::format(&dest)? != Format::Compressed(encoding.format) {
                return refuse_other_data(&dest, encoding);
            }
            encoding
        }
    };
    image::check_encoding(&dest, encoding)?;
    Ok(image::compressed(dest, encoding))
}

fn refuse_other_data(dest: &Facts, encoding: Encoding) -> Result<Facts> {
    let (address, name) = (&dest.address, encoding.format.name());
    let what = format!("destination {address} exists and is not in the format that its name states ({name})");
    let advice = format!("Nothing was written. Use --as-is to write the bytes themselves, or --compress {name}.");
    Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice))
}

fn refuse_to_compress(dest: &Facts, encoding: Encoding) -> Result<Facts> {
    let (address, name) = (&dest.address, encoding.format.name());
    let what = format!("destination {address} is named as {name}, but haul does not compress objects");
    let advice = format!(
        "Nothing was written. To compress: haul copy --compress {name} SRC - | haul copy --yes - {address}\nTo write \
         the bytes themselves, use --as-is."
    );
    Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice))
}

/// Whether a file that is copied as it is stored is compressed already.
fn is_compressed(source: &Facts) -> Result<bool> {
    let is_file = matches!(source.kind, EndpointKind::File | EndpointKind::Http | EndpointKind::Object);
    let is_stored = is_file && source.compressed.is_none() && source.size != Some(0);
    Ok(is_stored && matches!(image::format(source)?, Format::Compressed(_)))
}

/// What of a source is compared.
pub(crate) struct ComparedImage {
    /// With the ranges of a block map.
    pub(crate) options: Options,
    pub(crate) source: Facts,
    pub(crate) dest: Facts,
    pub(crate) warnings: Vec<String>,
}

/// What is compared: the content of a compressed source, the ranges of a block map of it, and the content of a dest
/// that a copy compresses, as a copy to `dest` would read and write them.
///
/// # Errors
/// As for [`settle`]; the block map is damaged.
pub(crate) fn image_content(options: &Options, source: Facts, dest: Facts) -> Result<ComparedImage> {
    let dests = std::slice::from_ref(&dest);
    let mut source = settle(options, source, dests)?;
    let (options, warnings) = block_map::apply(options.clone(), &mut source, dests)?;
    let dest = compared_dest(&options, &source, dest)?;
    Ok(ComparedImage { options, source, dest, warnings })
}

fn compared_dest(options: &Options, source: &Facts, dest: Facts) -> Result<Facts> {
    let encoding = match plan::compressing(options, &dest)? {
        Compressing::Always(encoding) => encoding,
        Compressing::IfPlain(encoding) if dest.exists && !is_compressed(source)? => encoding,
        Compressing::No | Compressing::IfPlain(_) | Compressing::RefusedIfPlain(_) => return Ok(dest),
    };
    match image::format(&dest)? {
        Format::Compressed(format) if format == encoding.format => image::content(&dest, format),
        _ => Ok(dest),
    }
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

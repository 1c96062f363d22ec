//! Whether a dest is compressed while it is written.
use super::check::Range;
use super::plan_input::{PlanInput, named};
use super::{Compress, Decompress, Options};
use crate::core::{Encoding, EndpointKind, Error, Facts, Kind, Result, Side};
use std::path::Path;

/// What is to be found out about a dest before it is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressing {
    /// Nothing: it gets the bytes of the source.
    No,
    /// It is compressed.
    Always(Encoding),
    /// It is compressed because of its name, unless the source already is, or refused if it has other data.
    IfPlain(Encoding),
    /// Its name says so, but haul does not compress there: refused, unless the source already is compressed.
    RefusedIfPlain(Encoding),
}

/// Settles whether `dest` is compressed: by an option, or a file by its name.
///
/// # Errors
/// Usage for `--compress` where no file or stream is written.
pub fn compressing(options: &Options, dest: &Facts) -> Result<Compressing> {
    match options.compress {
        Compress::Auto if dest.kind == EndpointKind::Object && options.decompress != Decompress::Never => {
            let encoding = Encoding::of_name(Path::new(&dest.address));
            Ok(encoding.map_or(Compressing::No, Compressing::RefusedIfPlain))
        }
        Compress::Auto if dest.kind != EndpointKind::File || options.decompress == Decompress::Never => {
            Ok(Compressing::No)
        }
        Compress::Auto => Ok(Encoding::of_name(&dest.path).map_or(Compressing::No, Compressing::IfPlain)),
        Compress::As(encoding) if dest.kind == EndpointKind::File || dest.kind.is_stream() => {
            Ok(Compressing::Always(encoding))
        }
        Compress::As(_) => {
            let what =
                format!("--compress: {} is a {}, not a file or stream", named(Side::Dest, dest), dest.kind.name());
            Err(Error::new(Kind::Usage, what).on(Side::Dest).advise("Nothing was written. Omit --compress."))
        }
    }
}

/// Refuses what a compressed dest cannot be: changed in part.
pub(super) fn check(asked: &PlanInput, range: &Range) -> Result<()> {
    let Some(encoding) = asked.dest.encoding() else { return Ok(()) };
    let options = asked.options;
    let in_part = asked.range_given() && asked.dest.exists && asked.dest.is_file() && !options.resume;
    let option = if options.ranges[Side::Dest.index()].is_some() {
        options.ranges_option(Side::Dest)
    } else if range.seek > 0 {
        "--seek"
    } else if options.delta.is_some() {
        "--delta"
    } else if options.mapfile.is_some() {
        "--mapfile"
    } else if in_part && asked.dest.compressed.as_ref().and_then(|it| it.stored.size) != Some(0) {
        "--skip or --count"
    } else {
        return Ok(());
    };
    let name = named(Side::Dest, asked.dest);
    let format = encoding.format.name();
    let what = format!("{option}: {name} is compressed ({format}), and a part of its content cannot be replaced");
    let advice = match option {
        "--skip or --count" => "Nothing was written. Name a new file, or remove this one.".to_owned(),
        option => format!("Nothing was written. Omit {option}, or write an uncompressed file with --as-is."),
    };
    Err(Error::new(Kind::Usage, what).on(Side::Dest).advise(advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Compression;

    #[test]
    fn a_file_is_compressed_by_its_name_and_any_file_or_stream_by_an_option() {
        let found = |options: &Options, name, kind| compressing(options, &Facts::new(name, kind)).ok();
        let plain = Options::default();
        let by_name = Encoding { is_by_name: true, ..Encoding::parse("zstd").unwrap() };
        assert_eq!(found(&plain, "a.zst", EndpointKind::File), Some(Compressing::IfPlain(by_name)));
        assert_eq!(found(&plain, "a.img", EndpointKind::File), Some(Compressing::No));
        for kind in [EndpointKind::Block, EndpointKind::Pipe] {
            assert_eq!(found(&plain, "a.zst", kind), Some(Compressing::No));
        }
        let refused = Compressing::RefusedIfPlain(by_name);
        assert_eq!(found(&plain, "s3://vault/a.zst", EndpointKind::Object), Some(refused));
        assert_eq!(found(&plain, "s3://vault/a.img", EndpointKind::Object), Some(Compressing::No));
        let as_is = Options { decompress: Decompress::Never, ..Options::default() };
        for kind in [EndpointKind::File, EndpointKind::Object] {
            assert_eq!(found(&as_is, "a.zst", kind), Some(Compressing::No));
        }
        let encoding = Encoding::parse("xz:1").unwrap();
        assert_eq!(encoding.format, Compression::Xz);
        let options = Options { compress: Compress::As(encoding), ..Options::default() };
        for kind in [EndpointKind::File, EndpointKind::Pipe, EndpointKind::FileStream] {
            assert_eq!(found(&options, "a.zst", kind), Some(Compressing::Always(encoding)));
        }
        for kind in [EndpointKind::Block, EndpointKind::Nbd, EndpointKind::Null, EndpointKind::Object] {
            assert_eq!(found(&options, "a.zst", kind), None);
        }
    }
}

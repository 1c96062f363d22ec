//! Whether the content of a compressed source is copied, or the source itself.
use super::plan_input::named;
use super::{Decompress, Options};
use crate::core::{EndpointKind, Error, Facts, Kind, Result, Side};

/// What is to be found out about a source before it is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decompression {
    /// Nothing: its bytes are copied.
    No,
    /// Whether the file is compressed; its content is copied then.
    IfCompressed {
        /// It has to be.
        is_required: bool,
    },
    /// The same of a stream, whose first bytes come when it is read.
    InStream {
        /// It has to be.
        is_required: bool,
    },
}

/// Settles what of a source that may be compressed is copied: to a device its content, to a file the file.
///
/// # Errors
/// Usage for `--decompress` where nothing can be compressed.
pub fn decompression(options: &Options, source: &Facts, dests: &[Facts]) -> Result<Decompression> {
    let is_required = match options.decompress {
        Decompress::Never => return Ok(Decompression::No),
        Decompress::Auto if !dests.iter().any(|dest| dest.kind.is_fixed_size()) => return Ok(Decompression::No),
        Decompress::Auto => false,
        Decompress::Always => true,
    };
    match source.kind {
        EndpointKind::File | EndpointKind::Http | EndpointKind::HttpStream | EndpointKind::Object => {
            Ok(Decompression::IfCompressed { is_required })
        }
        kind if kind.is_stream() => Ok(Decompression::InStream { is_required }),
        _ if !is_required => Ok(Decompression::No),
        kind => {
            let what = format!("--decompress: {} is a {}, not a file", named(Side::Source, source), kind.name());
            let advice = "Omit --decompress, or decompress it with its own program and copy from a pipe.";
            Err(Error::new(Kind::Usage, what).on(Side::Source).advise(advice))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_goes_to_a_device_and_the_file_to_a_file_unless_an_option_says_otherwise() {
        let facts = |kind| Facts::new("x", kind);
        let found = |decompress, source, dest| {
            let options = Options { decompress, ..Options::default() };
            decompression(&options, &facts(source), &[facts(EndpointKind::File), facts(dest)]).ok()
        };
        use Decompress::{Always, Auto, Never};
        use Decompression::{IfCompressed, InStream, No};
        use EndpointKind::{Block, File, Nbd, Pipe};
        assert_eq!(found(Auto, File, Block), Some(IfCompressed { is_required: false }));
        assert_eq!(found(Auto, File, Nbd), Some(IfCompressed { is_required: false }));
        for web in [EndpointKind::Http, EndpointKind::HttpStream, EndpointKind::Object] {
            assert_eq!(found(Auto, web, Block), Some(IfCompressed { is_required: false }));
            assert_eq!(found(Auto, web, File), Some(No));
        }
        assert_eq!(found(Auto, File, File), Some(No));
        assert_eq!(found(Always, File, File), Some(IfCompressed { is_required: true }));
        assert_eq!(found(Never, File, Block), Some(No));
        assert_eq!(found(Auto, Pipe, Block), Some(InStream { is_required: false }));
        assert_eq!(found(Auto, Block, Block), Some(No));
        assert_eq!(found(Always, Block, File), None);
    }
}

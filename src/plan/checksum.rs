//! Digests as they are written in lists and on the command line.
use super::{Checksum, Decompress, Delta, Options};
use crate::core::{Digest, Facts, HashKind};

/// The kinds that lists of checksums have.
const KINDS: [(HashKind, usize); 3] = [(HashKind::Sha256, 64), (HashKind::Sha512, 128), (HashKind::Md5, 32)];

/// The kind of a digest with as many hexadecimal digits.
pub fn kind_of_len(digits: usize) -> Option<HashKind> {
    KINDS.into_iter().find(|(_, len)| *len == digits).map(|(kind, _)| kind)
}

/// The digest of `kind` in hexadecimal; `None`: it is malformed.
pub fn digest_of(kind: HashKind, hex: &str) -> Option<Digest> {
    let is_valid = kind_of_len(hex.len()) == Some(kind) && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_valid.then(|| Digest { kind, hex: hex.to_ascii_lowercase() })
}

/// What `--checksum` is given: `sha256:HEX`, or the name of a file.
///
/// # Errors
/// The digest is malformed: a clause.
pub fn checksum(text: &str) -> Result<Checksum, String> {
    let named = text.split_once(':').and_then(|(name, hex)| {
        KINDS.into_iter().find(|(kind, _)| kind.name() == name).map(|(kind, len)| (kind, len, hex))
    });
    let digest = match named {
        None => None,
        Some((kind, len, hex)) => {
            let digest = digest_of(kind, hex);
            Some(digest.ok_or_else(|| format!("a {} digest has {len} hexadecimal digits", kind.name()))?)
        }
    };
    Ok(Checksum { given: text.to_owned(), digest, is_found: false })
}

/// Whether a list of checksums beside `source` is used without an option: for copies of whole images to devices. A copy
/// of a file to a file is that of any program, and a list that is older than the file does not make it fail.
pub fn uses_checksum_beside(options: &Options, source: &Facts, dests: &[Facts]) -> bool {
    let is_of_image = options.decompress == Decompress::Always || dests.iter().any(|dest| dest.kind.is_fixed_size());
    // A compressed file is read from its first byte to its last for each part of its content.
    let is_whole = match source.compressed {
        Some(_) if options.block_map.is_some() => true,
        Some(_) => options.count_bytes.is_none() && !options.is_listed(),
        None => options.count_bytes.is_none() && !options.is_listed() && options.skip_bytes.is_none(),
    };
    // These would read the source once more, or accept bytes that it lacks.
    let is_plain = !options.resume && !options.on_error.skip && !matches!(options.delta, Some(Delta::Manifest(_)));
    options.checksum.is_none() && !options.no_checksum && is_of_image && is_whole && is_plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{EndpointKind, OnError};

    #[test]
    fn lists_beside_the_source_are_used_for_copies_of_whole_images_to_devices() {
        let facts = |kind| Facts::new("x", kind);
        let used = |options: Options, dest| {
            uses_checksum_beside(&options, &facts(EndpointKind::File), &[facts(EndpointKind::File), facts(dest)])
        };
        let plain = Options::default;
        assert!(used(plain(), EndpointKind::Block) && used(plain(), EndpointKind::Nbd));
        assert!(!used(plain(), EndpointKind::File));
        assert!(used(Options { decompress: Decompress::Always, ..plain() }, EndpointKind::File));
        let unused = [
            Options { no_checksum: true, ..plain() },
            Options { checksum: checksum("sums").ok(), ..plain() },
            Options { skip_bytes: Some(0), ..plain() },
            Options { count_bytes: Some(1), ..plain() },
            Options { resume: true, ..plain() },
            Options { on_error: OnError { skip: true, retries: 0 }, ..plain() },
            Options { delta: Some(Delta::Manifest("m".to_owned())), ..plain() },
        ];
        for options in unused {
            assert!(!used(options.clone(), EndpointKind::Block), "{options:?}");
        }
        let packed = crate::core::Compressed::of_stream(facts(EndpointKind::File), true);
        let rest = Options { skip_bytes: Some(512), ..plain() };
        assert!(uses_checksum_beside(&rest, &packed, &[facts(EndpointKind::Block)]));
    }
}

use crate::core::{Digest, HashKind};

/// The digests in the format of `sha256sum --tag`, `b3sum --tag` and `xxhsum --tag`, which can check them;
/// `name` is the address of the source. Without colour, for standard output.
pub fn digest_lines(digests: &[Digest], name: &str) -> String {
    digests.iter().map(|digest| line(digest, name)).collect()
}

/// A name with a newline is escaped and the line begins with a backslash, as in coreutils.
fn line(digest: &Digest, name: &str) -> String {
    let escaped = name.replace('\\', r"\\").replace('\n', r"\n").replace('\r', r"\r");
    let mark = if escaped == name { "" } else { "\\" };
    format!("{mark}{} ({escaped}) = {}\n", tag(digest.kind), digest.hex)
}

fn tag(kind: HashKind) -> &'static str {
    match kind {
        HashKind::Blake3 => "BLAKE3",
        HashKind::Sha256 => "SHA256",
        HashKind::Sha512 => "SHA512",
        HashKind::Sha1 => "SHA1",
        HashKind::Md5 => "MD5",
        HashKind::Xxh3 => "XXH128",
    }
}

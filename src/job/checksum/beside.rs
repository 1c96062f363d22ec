//! Lists of checksums beside a source, which are used without an option.
use super::list::{About, find_beside};
use crate::core::Facts;
use crate::disks::{Beside, Neighbour};
use crate::plan::{self, Checksum, Options};

/// The digests of which lists are used, the one to prefer first: the endings of the list of one file, and the names of
/// lists of directories.
const LISTS: [(&[&str], &[&str]); 3] = [
    (&[".sha256", ".sha256sum"], &["SHA256SUMS", "sha256sums", "SHA256SUMS.txt", "sha256sums.txt", "sha256sum.txt"]),
    (&[".sha512", ".sha512sum"], &["SHA512SUMS", "sha512sums"]),
    (&[".md5", ".md5sum"], &["MD5SUMS", "md5sums"]),
];

/// The same options with the digest that a list beside the source has for it, if the copy is one of an image to a
/// device; also the lists that could not be read, as warnings.
pub(in crate::job) fn look_beside(options: Options, source: &Facts, dests: &[Facts]) -> (Options, Vec<String>) {
    let mut warnings = Vec::new();
    if !plan::uses_checksum_beside(&options, source, dests) {
        return (options, warnings);
    }
    let stored = source.compressed.as_ref().map_or(source, |compressed| &compressed.stored);
    let found = Beside::of(stored).iter_mut().find_map(|beside| look(beside, &mut warnings));
    let checksum = found.or(options.checksum);
    (Options { checksum, ..options }, warnings)
}

/// The same options without a checksum that was found.
pub(in crate::job) fn forget(options: &Options) -> Options {
    let checksum = options.checksum.clone().filter(|checksum| !checksum.is_found);
    Options { checksum, ..options.clone() }
}

fn look(beside: &mut Beside, warnings: &mut Vec<String>) -> Option<Checksum> {
    let name = beside.name().to_owned();
    for (list, about) in names(&name, beside.is_remote()) {
        let found = match beside.read(&list) {
            Ok(found) => found,
            Err(error) => {
                warnings.push(format!("cannot search for a checksum of the source: {error}"));
                // A server that fails once would be waited for again and again.
                if beside.is_remote() {
                    return None;
                }
                continue;
            }
        };
        let Some(Neighbour { shown, text }) = found else { continue };
        if let Some(digest) = find_beside(&text, &name, about) {
            return Some(Checksum { given: shown, digest: Some(digest), is_found: true });
        }
    }
    None
}

/// The names of lists that may have a source of this name; of a remote one only the most common, as each costs a
/// request.
fn names(name: &str, is_remote: bool) -> Vec<(String, About)> {
    let mut names = Vec::new();
    for (endings, lists) in LISTS {
        let (endings, lists) = if is_remote { (&endings[..1], &lists[..lists.len().min(2)]) } else { (endings, lists) };
        names.extend(endings.iter().map(|ending| (format!("{name}{ending}"), About::Source)));
        // `disk.sha256` beside `disk.img.xz`.
        let stems = std::iter::successors(stem(name), |name| stem(name)).take(if is_remote { 0 } else { 2 });
        names.extend(stems.map(|stem| (format!("{stem}{}", endings[0]), About::Directory)));
        names.extend(lists.iter().map(|list| ((*list).to_owned(), About::Directory)));
    }
    names
}

/// The name without its last ending.
fn stem(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| !stem.is_empty())
}

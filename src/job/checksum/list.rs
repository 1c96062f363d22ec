//! Lists of checksums, as sha256sum prints them.
use crate::core::{Digest, HashKind};
use crate::plan;
use std::path::Path;

/// The digest of `source` in a list as sha256sum prints it, with `--tag` or without. A list with one digest and no name
/// is that of the source.
pub(super) fn find(list: &str, source: &str) -> Option<Digest> {
    let name = |path: &str| Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let wanted = name(source)?;
    let lines: Vec<(Digest, &str)> = list.lines().filter_map(line).collect();
    if let [(digest, "")] = lines.as_slice() {
        return Some(digest.clone());
    }
    let found = lines.into_iter().find(|(_, path)| name(path).is_some_and(|name| name == wanted));
    found.map(|(digest, _)| digest)
}

/// Which lines of a list beside the source `name` are about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// The list is that of the source: a line without a name, or with its name in any directory.
    Source,
    /// It may have files of other directories: a line with exactly this name.
    Directory,
}

/// The digest of the file `name` in a list beside it.
pub(super) fn find_beside(list: &str, name: &str, about: About) -> Option<Digest> {
    let mut lines = list.lines().filter_map(line);
    match about {
        About::Source => find(list, name),
        About::Directory => {
            let found = lines.find(|(_, path)| path.trim_start_matches("./") == name);
            found.map(|(digest, _)| digest)
        }
    }
}

/// A line of a list: the digest, and the path that it is of.
fn line(line: &str) -> Option<(Digest, &str)> {
    let line = line.trim_end();
    if let Some((tag, rest)) = line.split_once(" (") {
        let (path, hex) = rest.rsplit_once(") = ")?;
        let kind = [HashKind::Sha256, HashKind::Sha512, HashKind::Md5];
        let kind = kind.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(tag))?;
        return plan::digest_of(kind, hex).map(|digest| (digest, path));
    }
    let (hex, path) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let kind = plan::kind_of_len(hex.len())?;
    // A mark of binary mode is before the name.
    let path = path.trim_start().trim_start_matches('*');
    plan::digest_of(kind, hex).map(|digest| (digest, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_checksums_is_searched_for_the_name_of_the_source() {
        let [one, two] = ["1", "2"].map(|digit| digit.repeat(64));
        let list = format!("{one}  other.img\n{two} *./images/disk.img.xz\nMD5 (disk.img) = {}\n", "a".repeat(32));
        let found = |list: &str, source| find(list, source).map(|digest| (digest.kind, digest.hex));
        assert_eq!(found(&list, "/srv/disk.img.xz"), Some((HashKind::Sha256, two.clone())));
        assert_eq!(found(&list, "disk.img"), Some((HashKind::Md5, "a".repeat(32))));
        assert_eq!(found(&list, "disk"), None);
        assert_eq!(found(&one, "any"), Some((HashKind::Sha256, one.clone())));
        assert_eq!(found(&"g".repeat(64), "any"), None);
        let upper = "AB".repeat(64);
        assert_eq!(found(&format!("{upper}\n"), "any"), Some((HashKind::Sha512, upper.to_lowercase())));
        assert_eq!(found(&format!("{one}  x\n"), "y"), None);
    }

    #[test]
    fn a_list_of_a_directory_has_the_source_by_exactly_its_name() {
        let [one, two] = ["1", "2"].map(|digit| digit.repeat(64));
        let list = format!("{one}  other/disk.img\n{two} *./disk.img\n");
        let hex = |about| find_beside(&list, "disk.img", about).map(|digest| digest.hex);
        assert_eq!((hex(About::Directory), hex(About::Source)), (Some(two.clone()), Some(one.clone())));
        assert_eq!(find_beside(&one, "disk.img", About::Directory), None, "it may be that of another file");
        assert_eq!(find_beside(&one, "disk.img", About::Source).map(|digest| digest.hex), Some(one));
    }
}

//! Reading sysfs with few system calls: a machine with a hundred disks has thousands of attributes.
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Maximum size of a sysfs attribute.
const PAGE_BYTES: usize = 4096;

/// The content of a sysfs attribute, which a single read(2) returns completely. Not for files in /proc, where a read
/// may return a part.
///
/// # Errors
/// The error of open(2) or read(2).
pub fn attribute(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = [0; PAGE_BYTES];
    let mut read = file.read(&mut bytes)?;
    let mut contents = Vec::with_capacity(read);
    // A short read has reached the end.
    while read == PAGE_BYTES {
        contents.extend_from_slice(&bytes);
        read = file.read(&mut bytes)?;
    }
    contents.extend_from_slice(&bytes[..read]);
    Ok(contents)
}

/// The directory that `path` leads to. Uses one readlink(2), whereas canonicalize(3) uses one per path component: in
/// sysfs only the last component is a link, and its target contains no links.
///
/// # Errors
/// The error of readlink(2), usually ENOENT.
pub fn resolved(path: &Path) -> io::Result<PathBuf> {
    let target = match fs::read_link(path) {
        Ok(target) => target,
        // Not a link; a parent directory may be one.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return fs::canonicalize(path),
        Err(error) => return Err(error),
    };
    let mut resolved = path.parent().unwrap_or(Path::new("/")).to_owned();
    for part in target.components() {
        match part {
            Component::ParentDir => drop(resolved.pop()),
            Component::CurDir => {}
            // An absolute target replaces the path so far.
            _ => resolved.push(part),
        }
    }
    debug_assert_eq!(fs::canonicalize(path).ok(), Some(resolved.clone()).filter(|resolved| resolved.exists()));
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn an_attribute_of_any_length_is_read_completely() {
        let dir = tempfile::tempdir().unwrap();
        for len in [0, 1, PAGE_BYTES - 1, PAGE_BYTES, PAGE_BYTES + 1, 3 * PAGE_BYTES] {
            let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
            fs::write(dir.path().join("file"), &bytes).unwrap();
            assert_eq!(attribute(&dir.path().join("file")).unwrap(), bytes);
        }
        assert_eq!(attribute(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn resolved_links_match_canonicalize() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("devices/pci/disk")).unwrap();
        fs::create_dir_all(root.join("dev/block")).unwrap();
        symlink("../../devices/./pci/disk", root.join("dev/block/8:0")).unwrap();
        symlink(root.join("devices/pci"), root.join("dev/block/8:1")).unwrap();
        symlink("../../devices/pci", root.join("dev/block/8:2")).unwrap();
        for path in ["dev/block/8:0", "dev/block/8:1", "devices/pci/disk", "dev/block/8:2/disk"] {
            assert_eq!(resolved(&root.join(path)).unwrap(), root.join(path).canonicalize().unwrap(), "{path}");
        }
        assert!(resolved(&root.join("dev/block/9:9")).is_err());
    }
}

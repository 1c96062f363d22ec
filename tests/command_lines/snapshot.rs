//! Every file below a directory, before and after: its identity and content.
use crate::support::first_difference;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The properties of one name.
#[derive(Clone, PartialEq)]
pub struct Entry {
    pub inode: (u64, u64),
    pub mode: u32,
    pub links: u64,
    pub owner: (u32, u32),
    pub size: u64,
    pub modified_ns: i128,
    pub changed_ns: i128,
    /// The bytes of a file, or the target of a symbolic link.
    pub content: Vec<u8>,
}

impl Entry {
    fn of(path: &Path) -> Option<Entry> {
        let it = fs::symlink_metadata(path).ok()?;
        let content = match () {
            () if it.is_symlink() => fs::read_link(path).ok()?.into_os_string().into_encoded_bytes(),
            () if it.is_file() => fs::read(path).ok()?,
            () => Vec::new(),
        };
        let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
        // The files in a directory are compared separately, and change its times, as data changes those of a FIFO.
        let (size, modified_ns, changed_ns, links) = if it.is_dir() || it.file_type().is_fifo() {
            (0, 0, 0, 0)
        } else {
            (it.size(), ns(it.mtime(), it.mtime_nsec()), ns(it.ctime(), it.ctime_nsec()), it.nlink())
        };
        let (inode, owner) = ((it.dev(), it.ino()), (it.uid(), it.gid()));
        Some(Entry { inode, mode: it.mode(), links, owner, size, modified_ns, changed_ns, content })
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFREG
    }

    /// The differences, in words.
    pub fn difference(&self, after: &Entry) -> String {
        let mut messages = Vec::new();
        let mut compare = |what: &str, same: bool, from: String, to: String| {
            if !same {
                messages.push(format!("{what} {from} → {to}"));
            }
        };
        let show = |value: &dyn std::fmt::Debug| format!("{value:?}");
        compare("inode", self.inode == after.inode, show(&self.inode), show(&after.inode));
        compare("mode", self.mode == after.mode, format!("{:o}", self.mode), format!("{:o}", after.mode));
        compare("links", self.links == after.links, show(&self.links), show(&after.links));
        compare("owner", self.owner == after.owner, show(&self.owner), show(&after.owner));
        compare("size", self.size == after.size, show(&self.size), show(&after.size));
        compare("mtime", self.modified_ns == after.modified_ns, show(&self.modified_ns), show(&after.modified_ns));
        compare("ctime", self.changed_ns == after.changed_ns, show(&self.changed_ns), show(&after.changed_ns));
        let at = first_difference(&self.content, &after.content);
        compare("bytes", at.is_none(), format!("{at:?}"), String::new());
        messages.join(", ")
    }
}

/// Every name below a directory.
pub type Snapshot = BTreeMap<PathBuf, Entry>;

/// Examines everything below `dir`, except below `unseen`.
pub fn look(dir: &Path, unseen: &[PathBuf]) -> Snapshot {
    let mut found = Snapshot::new();
    let mut directories = vec![dir.to_owned()];
    while let Some(directory) = directories.pop() {
        for path in fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if unseen.contains(&path) {
                continue;
            }
            let Some(entry) = Entry::of(&path) else { continue };
            if entry.mode & libc::S_IFMT == libc::S_IFDIR {
                directories.push(path.clone());
            }
            found.insert(path, entry);
        }
    }
    found
}

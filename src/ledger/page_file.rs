//! The file of a report's page: examined before anything else is done, written at the end.
use crate::core::{Error, Facts, FileId, Kind, Result, Side};
use crate::files::{DirectoryEntry, FileError, NewFile, Opening, Visibility, canonical};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file that a page may replace: it does not exist, is empty, or is another haul page.
#[derive(Debug)]
pub struct PageFile {
    /// As the user wrote it.
    path: PathBuf,
    new: NewFile,
    /// The file to be replaced.
    old: Option<File>,
}

impl PageFile {
    /// Checks whether a page that begins with `mark` may be written to `path`, and begins its file. `used` are
    /// the sides that the page describes.
    ///
    /// # Errors
    /// Usage for a path that cannot be a file; Refused for a file that is not a page, is one of `used`, or is
    /// being written by another haul process; Open if it cannot be created.
    pub fn check(path: &Path, mark: &str, used: &[(Side, &Facts)]) -> Result<PageFile> {
        let shown = path.display();
        let cannot = |error: FileError| match error {
            FileError::Io(error) => Error::new(Kind::Open, format!("cannot create the report {shown}")).because(error),
            other => Error::new(Kind::Refused, format!("cannot create the report {shown}: {other}")),
        };
        let refused = |what: String| Error::new(Kind::Refused, what).advise("Name another file.");
        let name = path.file_name().filter(|_| path.as_os_str() != "-");
        let name = name.ok_or_else(|| {
            Error::new(Kind::Usage, format!("--report {shown}: not a file name")).advise("Name a file: report.html.")
        })?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let parent = canonical(parent).map_err(|error| cannot(error.into()).advise("Create its directory first."))?;
        if parent.starts_with("/dev") && !parent.starts_with("/dev/shm") {
            return Err(refused(format!("--report {shown}: haul creates no file under /dev")));
        }
        let place = DirectoryEntry::following(path).map_err(cannot)?;
        let full = parent.join(name);
        let used = |id: Option<FileId>| {
            let is = |facts: &Facts| facts.path == full || (id.is_some() && facts.id == id);
            let side = used.iter().find(|(_, facts)| is(facts));
            side.map(|(side, facts)| {
                refused(format!("--report {shown} is the {} {}", side.name(), facts.address)).on(*side)
            })
        };
        let old = match place.open(Opening::Read) {
            Err(FileError::NotRegular(what)) => {
                return Err(refused(format!("--report {shown} is {what}: haul does not overwrite it")));
            }
            old => old.map_err(cannot)?,
        };
        let existing = old.as_ref().map(File::metadata).transpose().map_err(|error| cannot(error.into()))?;
        if let Some(error) = used(existing.as_ref().map(|existing| FileId::File(existing.dev(), existing.ino()))) {
            return Err(error);
        }
        if let (Some(old), Some(existing)) = (&old, &existing)
            && existing.len() > 0
            && !is_page(old, mark).map_err(|error| cannot(error.into()))?
        {
            let what = format!("--report {shown} exists and is not a haul report: haul does not overwrite it");
            return Err(Error::new(Kind::Refused, what).advise("Name another file, or remove that one."));
        }
        let new = NewFile::begin(&place).map_err(cannot)?;
        Ok(PageFile { path: path.to_owned(), new, old })
    }

    /// Writes the page, completely or not at all.
    ///
    /// # Errors
    /// Io, with the kernel's error, or because another file has the name now; the previous file is not changed.
    pub fn write(self, page: &str) -> Result<()> {
        let PageFile { path, new, old } = self;
        let written = new.file().write_all(page.as_bytes()).map_err(FileError::from).and_then(|()| match old {
            Some(old) => new.replace(old),
            None => new.publish(Visibility::Umask),
        });
        written.map(drop).map_err(|error| {
            Error::new(Kind::Io, format!("cannot write the report {}", path.display()))
                .because(error.into())
                .advise("Only this page is missing; everything else is as reported.")
        })
    }

    /// As the user wrote it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn is_page(file: &File, mark: &str) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(mark.len() as u64).read_to_end(&mut start)?;
    Ok(start == mark.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::EndpointKind;
    use std::fs;
    use std::os::unix::fs::symlink;

    const MARK: &str = "<!-- ours -->";

    #[test]
    fn a_page_replaces_only_an_older_page_and_leaves_no_other_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page.html");
        for text in ["<!-- ours --> 1", "<!-- ours --> 2"] {
            let page = PageFile::check(&path, MARK, &[]).unwrap();
            page.write(text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::write(dir.path().join("empty"), "").unwrap();
        PageFile::check(&dir.path().join("empty"), MARK, &[]).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn no_foreign_file_is_overwritten_under_any_name() {
        let dir = tempfile::tempdir().unwrap();
        let (thesis, link) = (dir.path().join("thesis.html"), dir.path().join("link.html"));
        fs::write(&thesis, "<html>years of work").unwrap();
        symlink(&thesis, &link).unwrap();
        for path in [&thesis, &link, dir.path()] {
            assert_eq!(PageFile::check(path, MARK, &[]).unwrap_err().kind, Kind::Refused, "{path:?}");
        }
        for (path, kind) in [("-", Kind::Usage), ("/dev/haul.html", Kind::Refused), ("/dev/null", Kind::Refused)] {
            assert_eq!(PageFile::check(Path::new(path), MARK, &[]).unwrap_err().kind, kind, "{path}");
        }
        assert_eq!(PageFile::check(&dir.path().join("no/page.html"), MARK, &[]).unwrap_err().kind, Kind::Open);
    }

    #[test]
    fn a_side_of_the_copy_is_refused_as_page_even_if_it_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let (source, new) = (dir.path().join("source.html"), dir.path().join("new.html"));
        fs::write(&source, MARK).unwrap();
        let hard = dir.path().join("hard.html");
        fs::hard_link(&source, &hard).unwrap();
        let existing = fs::metadata(&source).unwrap();
        let mut facts = Facts::new("source.html", EndpointKind::File);
        (facts.path, facts.id) = (source.clone(), Some(FileId::File(existing.dev(), existing.ino())));
        let mut dest = Facts::new("new.html", EndpointKind::File);
        dest.path = new.clone();
        let used = [(Side::Source, &facts), (Side::Dest, &dest)];
        for path in [&source, &hard, &new] {
            let error = PageFile::check(path, MARK, &used).unwrap_err();
            assert!(error.kind == Kind::Refused && error.what.contains(" is the "), "{error}");
        }
    }
}

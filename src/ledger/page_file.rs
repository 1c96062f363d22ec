//! The file that a report's page goes to: looked at before anything is done, written when all is done.
use crate::contract::{Error, Facts, FileId, Kind, Result, Side};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file that a page can go to: it is not there yet, or is empty, or is another page of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFile {
    /// As the user named it.
    path: PathBuf,
    /// What is made or replaced, links resolved.
    place: PathBuf,
}

impl PageFile {
    /// Looks whether a page that begins with `mark` can go to `path`, without leaving anything there. `used` are the
    /// sides of what the page is about.
    ///
    /// # Errors
    /// Usage for what can be no file; Refused for a file that is no page, or one of `used`; Open where it cannot be.
    pub fn check(path: &Path, mark: &str, used: &[(Side, &Facts)]) -> Result<PageFile> {
        let shown = path.display();
        let cannot = |error| Error::new(Kind::Open, format!("cannot make the report {shown}")).because(error);
        let name = path.file_name().filter(|_| path.as_os_str() != "-");
        let name = name.ok_or_else(|| {
            Error::new(Kind::Usage, format!("--report {shown}: no name of a file")).advise("Name a file: report.html.")
        })?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let parent = parent.canonicalize().map_err(|error| cannot(error).advise("Make its directory first."))?;
        let mut place = parent.join(name);
        if path.is_symlink() {
            place = path.canonicalize().map_err(cannot)?;
        }
        if place.starts_with("/dev") && !place.starts_with("/dev/shm") {
            let what = format!("--report {shown}: no file is made under /dev");
            return Err(Error::new(Kind::Refused, what).advise("Name a file elsewhere."));
        }
        let there = match fs::metadata(&place) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(cannot(error)),
        };
        let id = there.as_ref().map(|there| FileId::File(there.dev(), there.ino()));
        let is = |facts: &Facts| facts.path == place || (id.is_some() && facts.id == id);
        if let Some((side, facts)) = used.iter().find(|(_, facts)| is(facts)) {
            let what = format!("--report {shown} is the {} {}", side.name(), facts.address);
            return Err(Error::new(Kind::Refused, what).on(*side).advise("Name another file."));
        }
        if let Some(there) = there {
            let replaceable = there.is_file() && (there.len() == 0 || is_page(&place, mark).map_err(cannot)?);
            if !replaceable {
                let what = format!("--report {shown} is there and is no report of haul's: it is not overwritten");
                return Err(Error::new(Kind::Refused, what).advise("Name another file, or remove that one."));
            }
        }
        let page = PageFile { path: path.to_owned(), place };
        let trial = page.beside();
        new_file(&trial).and_then(|_| fs::remove_file(&trial)).map_err(cannot)?;
        Ok(page)
    }

    /// Puts the page there, whole or not at all.
    ///
    /// # Errors
    /// Io, with what the kernel said; what was there before is there still.
    pub fn write(&self, page: &str) -> Result<()> {
        let beside = self.beside();
        let written = new_file(&beside).and_then(|mut file| {
            file.write_all(page.as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, &self.place)
        });
        written.map_err(|error| {
            // Half a page is of no use; where it cannot be removed it cannot be helped.
            let _ = fs::remove_file(&beside);
            Error::new(Kind::Io, format!("cannot write the report {}", self.path.display()))
                .because(error)
                .advise("Only that page is missing; all else ended as told.")
        })
    }

    /// As the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the page is made before it takes its name.
    fn beside(&self) -> PathBuf {
        let name = self.place.file_name().unwrap_or_default().to_string_lossy();
        self.place.with_file_name(format!(".{name}.{}.haul-report", std::process::id()))
    }
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn is_page(path: &Path, mark: &str) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(mark.len() as u64).read_to_end(&mut start)?;
    Ok(start == mark.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::EndpointKind;
    use std::os::unix::fs::symlink;

    const MARK: &str = "<!-- ours -->";

    #[test]
    fn a_page_goes_where_nothing_is_or_an_older_page_and_leaves_nothing_beside() {
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
    fn no_file_of_anybody_else_is_overwritten_whatever_its_name() {
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
    fn neither_side_is_taken_for_the_page_even_if_it_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let (source, new) = (dir.path().join("source.html"), dir.path().join("new.html"));
        fs::write(&source, MARK).unwrap();
        let hard = dir.path().join("hard.html");
        fs::hard_link(&source, &hard).unwrap();
        let there = fs::metadata(&source).unwrap();
        let mut facts = Facts::new("source.html", EndpointKind::File);
        (facts.path, facts.id) = (source.clone(), Some(FileId::File(there.dev(), there.ino())));
        let mut dest = Facts::new("new.html", EndpointKind::File);
        dest.path = new.clone();
        let used = [(Side::Source, &facts), (Side::Dest, &dest)];
        for path in [&source, &hard, &new] {
            let error = PageFile::check(path, MARK, &used).unwrap_err();
            assert!(error.kind == Kind::Refused && error.what.contains(" is the "), "{error}");
        }
    }
}

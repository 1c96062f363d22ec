//! Small files beside a source: in the directory of a file, or beside the address of a web resource.
use crate::core::{Address, EndpointKind, Facts, Side};
use rustix::fs::{FileType, Mode, OFlags};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

#[cfg(feature = "http")]
use super::http::SmallResources;
#[cfg(feature = "http")]
use crate::core::HttpAddress;

/// Bytes of such a file, at most: the lists of the largest archives have some MiB. A longer one is none.
const BYTES_MAX: usize = 16 << 20;

/// The place of a source, where other files belong to it by their names.
pub struct Beside {
    /// The name of the source there.
    name: String,
    place: Place,
}

enum Place {
    Directory(PathBuf),
    #[cfg(feature = "http")]
    Server(Box<(HttpAddress, SmallResources)>),
}

/// A file beside a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its path or address, for messages.
    pub shown: String,
    /// Its content.
    pub text: String,
}

impl Beside {
    /// The places of a file or web resource: that of the name that the user gave, and that of the file it links to.
    /// None for other kinds, and for an address with a query, which may be a permission for this resource alone.
    pub fn of(source: &Facts) -> Vec<Beside> {
        match source.kind {
            EndpointKind::File => {
                let Ok(Address::Path(given)) = Address::parse(&source.address, Side::Source) else { return Vec::new() };
                let given = PathBuf::from(given);
                let is_link = given.file_name() != source.path.file_name()
                    || given.symlink_metadata().is_ok_and(|found| found.is_symlink());
                let paths = [Some(given), is_link.then(|| source.path.clone())];
                paths.into_iter().flatten().filter_map(|path| Beside::path(&path)).collect()
            }
            EndpointKind::Http | EndpointKind::HttpStream => Beside::resource(source).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn path(path: &Path) -> Option<Beside> {
        let name = path.file_name()?.to_str()?.to_owned();
        Some(Beside { name, place: Place::Directory(path.parent()?.to_owned()) })
    }

    #[cfg(feature = "http")]
    fn resource(source: &Facts) -> Option<Beside> {
        let address = HttpAddress::parse(&source.address).ok()?;
        let name = address.file_name()?;
        Some(Beside { name, place: Place::Server(Box::new((address, SmallResources::new()))) })
    }

    #[cfg(not(feature = "http"))]
    fn resource(_source: &Facts) -> Option<Beside> {
        None
    }

    /// The name of the source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A server has it, and each file costs a request.
    pub fn is_remote(&self) -> bool {
        !matches!(self.place, Place::Directory(_))
    }

    /// The file of this name; `None` where there is none, or it is no text.
    ///
    /// # Errors
    /// It exists and cannot be read; the server does not answer. The error has the place.
    pub fn read(&mut self, name: &str) -> io::Result<Option<Neighbour>> {
        let (shown, bytes) = match &mut self.place {
            Place::Directory(directory) => {
                let path = directory.join(name);
                (path.display().to_string(), small_file(&path))
            }
            #[cfg(feature = "http")]
            Place::Server(server) => {
                let (address, reader) = &mut **server;
                let Ok(address) = address.sibling(name) else { return Ok(None) };
                (address.to_string(), reader.read(&address, BYTES_MAX))
            }
        };
        match bytes {
            Ok(bytes) => {
                Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()).map(|text| Neighbour { shown, text }))
            }
            Err(error) => Err(io::Error::new(error.kind(), format!("{shown}: {error}"))),
        }
    }
}

/// The bytes of a regular file; `None` where there is none, or it is longer than such files are.
fn small_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    use rustix::io::Errno;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => file,
        // Names of sockets and names that are too long are no files either.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::NXIO | Errno::LOOP) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::from(file).take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= BYTES_MAX).then_some(bytes))
}

//! The directory of a case: sides, and unrelated files beside them.
use super::case::{Before, By, Case, Dest, Source};
use super::lists::{gathered, scattered};
use super::snapshot::{Snapshot, look};
use crate::support::{FailingDisk, Fails, LoopDevice, Mount, ScratchDir, memory_dir, noise, repeated, scratch};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Names of unrelated files, some of which programs use for temporary files.
const BYSTANDERS: [&str; 6] =
    ["bystander", "manifest.new", ".dst.haul-journal.new", "dst~", "map.tmp", ".journal.haul-new"];

/// One dest, ready to be written to.
pub struct Place {
    /// Its name on the command line.
    pub address: String,
    /// A file with its bytes; `None`: a stream.
    pub file: Option<PathBuf>,
    /// Its name with symbolic links resolved; `None`: it is not a regular file.
    pub named: Option<PathBuf>,
    /// Its former contents; `None`: it did not exist, or is a stream.
    pub before: Option<Vec<u8>>,
}

/// The environment of a case. Fields are dropped in order: devices before the files below them.
pub struct Scene {
    loops: Vec<LoopDevice>,
    _failing: Vec<FailingDisk>,
    _mounts: Vec<Mount>,
    pub source: String,
    /// All readable bytes of the source.
    pub bytes: Vec<u8>,
    /// The bytes that its list selects.
    listed: Option<Vec<u8>>,
    pub dests: Vec<Place>,
    /// The working directory of the commands.
    pub place: PathBuf,
    /// XDG_STATE_HOME and TMPDIR.
    pub state: PathBuf,
    pub temporary: PathBuf,
    unseen: Vec<PathBuf>,
    dir: ScratchDir,
}

impl Scene {
    /// Creates the scene; `None`, with a message: this machine cannot.
    pub fn new(case: &Case) -> Option<Scene> {
        let dir = if case.in_memory { memory_dir() } else { scratch() };
        let [place, state, temporary] = ["place", "state", "temporary"].map(|name| dir.path().join(name));
        for directory in [&place, &state, &temporary] {
            fs::create_dir(directory).expect("the directory can be created");
        }
        let mut scene = Scene {
            loops: Vec::new(),
            _failing: Vec::new(),
            _mounts: Vec::new(),
            source: String::new(),
            bytes: Vec::new(),
            listed: None,
            dests: Vec::new(),
            place,
            state,
            temporary,
            unseen: Vec::new(),
            dir,
        };
        scene.put_bystanders();
        for (name, text) in case.lists.files(case.number) {
            fs::write(scene.place.join(name), text).expect("the file can be written");
        }
        scene.make_source(case)?;
        let places = case.lists.of_side[0].as_ref();
        scene.listed = places.map(|places| gathered(&scene.bytes, places).expect("they are within the source"));
        for (number, dest) in case.dests.iter().enumerate() {
            let made = scene.make_dest(case, number, dest)?;
            scene.dests.push(made);
        }
        Some(scene)
    }

    /// Everything in it.
    pub fn look(&self) -> Snapshot {
        look(self.dir.path(), &self.unseen)
    }

    /// The bytes to be copied, as far as the source has them.
    pub fn wanted(&self, case: &Case) -> &[u8] {
        if let Some(listed) = &self.listed {
            return listed;
        }
        let skip = case.skip.unwrap_or(0).min(self.bytes.len() as u64) as usize;
        let rest = &self.bytes[skip..];
        let count = case.listed_bytes().map(|bytes| bytes as u64).or(case.count);
        let count = count.unwrap_or(u64::MAX).min(rest.len() as u64) as usize;
        &rest[..count]
    }

    /// The file below dest `number`, which is a device.
    pub fn backing(&self, number: usize) -> PathBuf {
        self.dir.path().join(format!("bed-{number}/backing"))
    }

    /// Waits until the kernel has closed the files of a killed program.
    pub fn wait_until_free(&self) {
        self.loops.iter().for_each(LoopDevice::wait_until_free);
    }

    fn put_bystanders(&self) {
        for name in BYSTANDERS {
            fs::write(self.place.join(name), format!("{name} of another program")).expect("the file can be written");
        }
        fs::write(self.place.join("empty"), "").expect("the file can be written");
        let mode = Permissions::from_mode(0o444);
        fs::set_permissions(self.place.join("map.tmp"), mode).expect("this test created it");
        symlink("bystander", self.place.join("bystander-link")).expect("the test directory supports links");
        symlink("nowhere", self.place.join("dangling")).expect("the test directory supports links");
        make_fifo(&self.place.join("fifo"));
        fs::create_dir(self.place.join("folder")).expect("the directory can be created");
        fs::write(self.place.join("folder/in-it"), "in it").expect("the file can be written");
    }

    fn make_source(&mut self, case: &Case) -> Option<()> {
        let is_device = matches!(case.source, Source::Loop | Source::Failing { .. });
        let len = if is_device { case.len.next_multiple_of(512).max(4096) } else { case.len };
        self.bytes = noise(len, case.seed ^ case.number);
        if matches!(case.source, Source::File { holes: true, .. }) || case.number.is_multiple_of(5) {
            make_holes(&mut self.bytes, case.number);
        }
        let bed = self.dir.path().join("bed-of-source");
        let backing = if is_device { bed.join("backing") } else { self.place.join("src") };
        fs::create_dir(&bed).expect("the directory can be created");
        let is_file = matches!(case.source, Source::File { .. } | Source::Redirected);
        if is_device || is_file {
            write_sparsely(&backing, &self.bytes, matches!(case.source, Source::File { holes: true, .. }));
        }
        let link = |name: &str| self.place.join(name);
        self.source = match &case.source {
            Source::File { by: By::Name, .. } => "src".to_owned(),
            Source::File { by: By::Absolute, .. } => backing.display().to_string(),
            Source::File { by: By::Symlink, .. } => {
                symlink("src", link("src-link")).expect("the test directory supports links");
                "src-link".to_owned()
            }
            Source::File { by: By::HardLink, .. } => {
                fs::hard_link(&backing, link("src-hard")).expect("the test directory supports links");
                "src-hard".to_owned()
            }
            Source::Pipe { .. } | Source::Redirected => "-".to_owned(),
            Source::Fifo => {
                make_fifo(&link("src-fifo"));
                "src-fifo".to_owned()
            }
            Source::Loop => self.attach(&backing)?,
            Source::Zero => {
                let count = case.count.unwrap_or(len as u64);
                self.bytes = vec![0; (case.skip.unwrap_or(0) + count) as usize];
                "/dev/zero".to_owned()
            }
            Source::Failing { bad, device } => {
                let disk = FailingDisk::with(&bed, &backing, Fails::Reads, bad)?;
                self.unseen.push(bed.join("failing"));
                let path = disk.path();
                self._failing.push(disk);
                if *device { self.attach(&path)? } else { path.display().to_string() }
            }
        };
        Some(())
    }

    fn attach(&mut self, backing: &Path) -> Option<String> {
        let device = LoopDevice::over(backing)?;
        let name = device.path().display().to_string();
        self.loops.push(device);
        Some(name)
    }

    fn make_dest(&mut self, case: &Case, number: usize, dest: &Dest) -> Option<Place> {
        let bed = self.dir.path().join(format!("bed-{number}"));
        fs::create_dir(&bed).expect("the directory can be created");
        let stream = |address: &str| Place { address: address.to_owned(), file: None, named: None, before: None };
        let other = noise(self.bytes.len() + 200_000, case.number + 7 + number as u64);
        Some(match dest {
            Dest::File { by, name, before } => self.make_file(case, *by, name, *before, &other),
            Dest::Pipe { .. } => stream("-"),
            Dest::Redirected => {
                let file = self.dir.path().join("redirected");
                File::create(&file).expect("the file can be written");
                Place { address: "-".to_owned(), file: Some(file), named: None, before: Some(Vec::new()) }
            }
            Dest::Fifo => {
                make_fifo(&self.place.join("dst-fifo"));
                stream("dst-fifo")
            }
            Dest::Loop { more } => {
                let needed = case.dest_end(self.wanted(case).len()) as i64;
                let size = ((needed + more).max(4096) as usize).next_multiple_of(512);
                let backing = bed.join("backing");
                let before = repeated(&other, size);
                fs::write(&backing, &before).expect("the file can be written");
                let address = self.attach(&backing)?;
                Place { file: Some(address.clone().into()), address, named: None, before: Some(before) }
            }
            Dest::Null => stream("/dev/null"),
            Dest::Full => stream("/dev/full"),
            Dest::Small { room } => {
                let at = self.dir.path().join("small");
                fs::create_dir(&at).expect("the directory can be created");
                self._mounts.push(Mount::tmpfs(&at, *room)?);
                let file = at.join("dst");
                Place { address: file.display().to_string(), named: Some(file.clone()), file: Some(file), before: None }
            }
            Dest::Failing { bad } => {
                let backing = bed.join("backing");
                let size = case.dest_end(self.wanted(case).len()).next_multiple_of(4096).max(4096);
                let before = repeated(&other, size);
                fs::write(&backing, &before).expect("the file can be written");
                let disk = FailingDisk::over(&bed, &backing, Fails::Writes, bad.clone())?;
                self.unseen.push(bed.join("failing"));
                let path = disk.path();
                self._failing.push(disk);
                Place { address: self.attach(&path)?, file: Some(backing), named: None, before: Some(before) }
            }
            Dest::Same => {
                let (file, before) = (Some(self.place.join("src")), Some(self.bytes.clone()));
                Place { address: "src".to_owned(), named: file.clone(), file, before }
            }
        })
    }

    fn make_file(&self, case: &Case, by: By, name: &str, before: Option<Before>, other: &[u8]) -> Place {
        let file = self.place.join(name);
        let before = before.map(|before| match before {
            Before::Other(len) => other[..len.min(other.len())].to_vec(),
            Before::Nearly(more) => {
                let wanted = self.wanted(case);
                let end = case.dest_end(wanted.len());
                let bytes = repeated(other, end);
                let mut bytes = scattered(&bytes, &case.places(1, wanted.len()), wanted);
                bytes.iter_mut().step_by(70_003).for_each(|byte| *byte ^= 1);
                let len = (bytes.len() as i64 + more).max(0) as usize;
                bytes.resize(len, 9);
                bytes
            }
        });
        if let Some(bytes) = &before {
            fs::write(&file, bytes).expect("the file can be written");
        }
        let link = self.place.join(format!("link-{}", &name[..3.min(name.len())]));
        let address = match by {
            By::Name => name.to_owned(),
            By::Absolute => file.display().to_string(),
            By::Symlink => {
                symlink(name, &link).expect("the test directory supports links");
                link.display().to_string()
            }
            By::HardLink => {
                fs::hard_link(&file, &link).expect("the test directory supports links");
                link.display().to_string()
            }
        };
        let named = Some(if by == By::HardLink { link } else { file.clone() });
        Place { address, file: Some(file), named, before }
    }
}

fn make_fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("the test directory supports FIFOs");
}

/// Fills runs with zeros, of whole pages and of odd lengths.
fn make_holes(bytes: &mut [u8], number: u64) {
    let step = [65_536, 131_072, 100_000, 1 << 20][number as usize % 4];
    bytes.chunks_mut(step).skip(number as usize % 3).step_by(2).for_each(|chunk| chunk.fill(0));
}

/// Writes a file, with holes in place of all pages of zeros if `holes`.
fn write_sparsely(path: &Path, bytes: &[u8], holes: bool) {
    if !holes {
        return fs::write(path, bytes).expect("the file can be written");
    }
    let file = File::create(path).expect("the file can be written");
    for (number, page) in bytes.chunks(4096).enumerate() {
        if *page != [0; 4096][..page.len()] {
            file.write_all_at(page, number as u64 * 4096).expect("there is enough space");
        }
    }
    file.set_len(bytes.len() as u64).expect("this test created it");
}

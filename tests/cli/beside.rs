//! Files beside a copy: other files in the directory are never touched, whatever their names.
use crate::support::{Running, ScratchDir, copied_bytes, haul, is_root, noise, scratch, skip, stderr};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const MIB: usize = 1 << 20;

/// The options that name files beside a copy.
const FILES: [&str; 5] = ["--manifest", "--mapfile", "--journal", "--report", "--delta"];

/// A directory with a source, and all files in it.
struct Place(ScratchDir);

impl Place {
    fn new() -> Self {
        let directory = Place(scratch());
        fs::write(directory.path("source"), noise(2 * MIB + 77, 901)).unwrap();
        directory
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str) {
        fs::write(self.path(name), format!("{name} of another program")).unwrap();
    }

    /// Every name with its contents: the bytes, or its type.
    fn content(&self) -> BTreeMap<String, Vec<u8>> {
        let entry = |entry: fs::DirEntry| {
            let kind = entry.file_type().unwrap();
            let bytes = match () {
                () if kind.is_symlink() => fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes(),
                () if kind.is_file() => fs::read(entry.path()).unwrap(),
                () if kind.is_fifo() => b"a FIFO".to_vec(),
                () => b"something else".to_vec(),
            };
            (entry.file_name().into_string().unwrap(), bytes)
        };
        fs::read_dir(self.0.path()).unwrap().map(|it| entry(it.unwrap())).collect()
    }

    /// Runs `haul` in the directory.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let assert = haul().current_dir(self.0.path()).args(words).assert();
        (assert.get_output().status.code().expect("no signal ended it"), stderr(&assert))
    }

    /// Runs it, and asserts that it is refused with status 3 and that the directory is unchanged.
    #[track_caller]
    fn refused(&self, words: &[&str], why: &str) {
        let before = self.content();
        let (status, messages) = self.run(words);
        assert_eq!(status, 3, "{words:?}: {messages}");
        assert!(messages.contains(why), "{words:?}: {why:?} is not in: {messages}");
        assert!(self.content() == before, "{words:?} changed {:?}", self.content().keys());
    }
}

fn option(option: &str, file: &str) -> Vec<String> {
    if option == "--delta" { vec![format!("--delta={file}")] } else { vec![option.to_owned(), file.to_owned()] }
}

fn copy<'a>(options: &'a [String], sides: [&'a str; 2]) -> Vec<&'a str> {
    let options = options.iter().map(String::as_str);
    ["copy", "--progress", "none", "--checkpoint", "0"].into_iter().chain(options).chain(sides).collect()
}

#[test]
fn existing_files_with_the_suffix_of_a_record_file_are_kept() {
    for name in FILES.into_iter().filter(|name| *name != "--delta") {
        let directory = Place::new();
        let others = ["v.new", "v.compact", ".out.haul-journal.new", ".out.haul-journal.compact", "v.tmp", "v~"];
        others.iter().for_each(|name| directory.put(name));
        let before = directory.content();
        let options = option(name, "v");
        // As source, as unrelated file and as destination.
        let (status, messages) = directory.run(&copy(&options, ["v.new", "out"]));
        assert_eq!(status, 0, "{name}: {messages}");
        let after = directory.content();
        assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "{name}: {:?}", after.keys());
        assert_eq!(after["out"], before["v.new"], "{name}");
        fs::remove_file(directory.path("v")).ok();
        let (status, messages) = directory.run(&copy(&options, ["source", "v.new"]));
        assert_eq!((status, &directory.content()["v.new"]), (0, &before["source"]), "{name}: {messages}");
    }
    // The manifest that --delta updates.
    let directory = Place::new();
    assert_eq!(directory.run(&["copy", "--manifest", "v", "source", "out"]).0, 0);
    directory.put("v.new");
    let bystander = directory.content()["v.new"].clone();
    fs::write(directory.path("source"), noise(2 * MIB + 77, 902)).unwrap();
    let (status, messages) = directory.run(&["copy", "--delta=v", "source", "out"]);
    assert_eq!((status, &directory.content()["v.new"]), (0, &bystander), "{messages}");
    assert_eq!(directory.content()["out"], directory.content()["source"]);
}

#[test]
fn planted_symbolic_links_are_not_followed() {
    let directory = Place::new();
    directory.put("victim");
    for planted in [".out.haul-journal.new", ".out.haul-journal.compact", "m.new", "m.tmp"] {
        symlink("victim", directory.path(planted)).unwrap();
    }
    let before = directory.content();
    let (status, messages) = directory.run(&copy(&option("--manifest", "m"), ["source", "out"]));
    assert_eq!(status, 0, "{messages}");
    let after = directory.content();
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
    // At the name itself: links are not followed, and files are not replaced.
    for name in ["--manifest", "--mapfile", "--journal"] {
        let directory = Place::new();
        directory.put("victim");
        symlink("victim", directory.path("link")).unwrap();
        symlink("nowhere", directory.path("dangling")).unwrap();
        directory.refused(&copy(&option(name, "link"), ["source", "out"]), "link");
        directory.refused(&copy(&option(name, "dangling"), ["source", "out"]), "dangling");
    }
    let directory = Place::new();
    directory.put("victim");
    symlink("victim", directory.path(".out.haul-journal")).unwrap();
    directory.refused(&copy(&[], ["source", "out"]), "a symbolic link");
}

#[test]
fn a_record_file_that_is_a_side_of_the_copy_is_refused_under_any_name() {
    let directory = Place::new();
    directory.put("out");
    for (name, of) in [("hard-source", "source"), ("hard-out", "out")] {
        fs::hard_link(directory.path(of), directory.path(name)).unwrap();
        symlink(of, directory.path(&name.replace("hard", "soft"))).unwrap();
    }
    for name in FILES {
        for side in ["source", "out", "./out", "hard-source", "hard-out", "soft-source", "soft-out"] {
            let options = option(name, side);
            if name == "--delta" {
                // It is read first, and is not a manifest.
                let before = directory.content();
                assert_ne!(directory.run(&copy(&options, ["source", "out"])).0, 0);
                assert!(directory.content() == before);
            } else {
                directory.refused(&copy(&options, ["source", "out"]), " of the copy");
            }
        }
        // A destination that does not exist yet.
        if name != "--delta" {
            directory.refused(&copy(&option(name, "new"), ["source", "new"]), "is the destination");
            let also = ["also".to_owned(), "--also".to_owned()];
            let options = [option(name, "two"), vec![format!("--{}", also[0]), "two".to_owned()]].concat();
            if matches!(name, "--manifest" | "--report") {
                directory.refused(&copy(&options, ["source", "one"]), "is the destination");
            }
        }
    }
    // The default journal of the destination, as a source.
    assert_eq!(directory.run(&["copy", "source", ".new.haul-journal"]).0, 0);
    directory.refused(&copy(&[], [".new.haul-journal", "new"]), "is the source");
}

#[test]
fn two_record_files_of_one_copy_with_the_same_path_are_refused() {
    let directory = Place::new();
    fs::create_dir(directory.path("sub")).unwrap();
    symlink("sub", directory.path("way")).unwrap();
    for (at, first) in FILES.iter().enumerate() {
        for second in FILES[at + 1..].iter().filter(|second| **second != "--delta") {
            if *first == "--delta" {
                continue;
            }
            let options = [option(first, "sub/x"), option(second, "way/x")].concat();
            directory.refused(&copy(&options, ["source", "out"]), "is also");
        }
    }
    let options = option("--manifest", ".out.haul-journal");
    directory.refused(&copy(&options, ["source", "out"]), "is also");
    let named = option("--journal", ".out.haul-journal");
    assert_eq!(directory.run(&copy(&named, ["source", "out"])).0, 0, "the default journal may be named");
}

#[test]
fn a_fifo_or_a_directory_in_place_of_a_record_file_is_refused_at_once() {
    let directory = Place::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, directory.path("fifo"), rustix::fs::Mode::RWXU).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, directory.path(".piped.haul-journal"), rustix::fs::Mode::RWXU).unwrap();
    fs::create_dir(directory.path("folder")).unwrap();
    for name in FILES {
        for (thing, what) in [("fifo", "a FIFO"), ("folder", "a directory"), ("/dev/null", "/dev/null")] {
            directory.refused(&copy(&option(name, thing), ["source", "out"]), what);
        }
    }
    directory.refused(&["copy", "source", "piped"], "a FIFO");
    directory.refused(&["copy", "--resume", "source", "piped"], "a FIFO");
    directory.refused(&["copy", "--resume", "--journal", "fifo", "source", "out"], "a FIFO");
    directory.refused(&["manifest", "show", "fifo"], "a FIFO");
    directory.refused(&["manifest", "show", "folder"], "a directory");
    directory.refused(&["manifest", "show", "/dev/null"], "a character device");
    directory.refused(&["manifest", "diff", "fifo", "fifo"], "a FIFO");
    directory.refused(&["verify", "--manifest", "fifo", "source"], "a FIFO");
    directory.refused(&["journal", "export", "fifo", "map"], "a FIFO");
    directory.refused(&["journal", "import", "fifo", "source", "source2"], "a FIFO");
}

#[test]
fn a_missing_record_file_and_an_unusable_one_have_different_errors() {
    let directory = Place::new();
    for words in [&["manifest", "show", "nosuch"][..], &["verify", "--manifest", "nosuch", "source"]] {
        let (status, messages) = directory.run(words);
        assert_eq!(status, 1, "{messages}");
        assert!(messages.contains("nosuch") && messages.contains("no such file"), "{messages}");
        assert!(!messages.contains("full"), "{messages}");
    }
}

#[test]
fn a_journal_of_another_user_in_a_shared_directory_is_refused() {
    if !is_root() {
        return skip("only root can give files away");
    }
    let directory = Place::new();
    let (source, out, journal) = (directory.path("source"), directory.path("out"), directory.path(".out.haul-journal"));
    let slow =
        ["copy", "--limit", "256K", "--block-size", "64K", "--depth", "2", "--checkpoint", "0", "--progress", "json"];
    let names = [source.to_str().unwrap(), out.to_str().unwrap()];
    let mut running = Running::start(&[&slow[..], &names].concat(), Stdio::null(), Stdio::piped());
    running.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    running.signal(Signal::INT);
    running.end();
    assert!(journal.exists(), "{}", running.messages);
    fs::set_permissions(directory.0.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    std::os::unix::fs::chown(&journal, Some(65534), None).unwrap();
    directory.refused(&["copy", "--resume", "source", "out"], "owned by user 65534");
    directory.refused(&["copy", "source", "out"], "owned by user 65534");
    std::os::unix::fs::chown(&journal, Some(0), None).unwrap();
    assert_eq!(directory.run(&["copy", "--resume", "source", "out"]).0, 0);
    assert_eq!(directory.content()["out"], directory.content()["source"]);
}

#[test]
fn temporary_files_are_removed_however_the_copy_ends_and_are_never_shared() {
    let directory = Place::new();
    let path = |name: &str| directory.path(name).to_str().unwrap().to_owned();
    let (manifest, mapfile, report) = (path("m"), path("map"), path("r.html"));
    let files = ["--manifest", &manifest, "--mapfile", &mapfile, "--report", &report];
    let slow = ["copy", "--limit", "64K", "--block-size", "16K", "--no-journal", "--progress", "json"];
    let sides = [path("source"), path("out")];
    let words: Vec<&str> = slow.into_iter().chain(files).chain(sides.iter().map(String::as_str)).collect();
    let mut running = Running::start(&words, Stdio::null(), Stdio::piped());
    running.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    let unfinished = |directory: &Place| directory.content().keys().filter(|name| name.ends_with(".haul-new")).count();
    assert_eq!(unfinished(&directory), 3);
    for file in files.chunks(2) {
        let (status, messages) = directory.run(&["copy", file[0], file[1], "source", "other"]);
        assert_eq!(status, 3, "{messages}");
        assert!(messages.contains("another process is using it"), "{messages}");
    }
    // A second signal ends it at once, with nothing written and no temporary files.
    running.signal(Signal::INT);
    running.signal(Signal::INT);
    running.end();
    assert_eq!(unfinished(&directory), 0, "{:?}", directory.content().keys());
    // It may have ended in an orderly way before the second signal arrived.
    fs::remove_file(directory.path("map")).ok();
    fs::remove_file(directory.path("r.html")).ok();
    // Temporary files of a killed copy do not block later ones, and other files of such a name are not mistaken
    // for them.
    let mut running = Running::start(&words[..], Stdio::null(), Stdio::piped());
    running.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    running.signal(Signal::KILL);
    running.end();
    assert_eq!(unfinished(&directory), 3);
    let leftover = directory.content().into_keys().find(|name| name.starts_with(".m.")).expect("one is the manifest's");
    let (status, messages) = directory.run(&["copy", "--manifest", "m", "--mapfile", "map", &leftover, "third"]);
    assert_eq!(status, 0, "{messages}");
    assert_eq!((unfinished(&directory), &directory.content()["third"]), (3, &directory.content()[&leftover]));
}

#[test]
fn paths_that_are_not_utf_8_are_accepted() {
    use std::os::unix::ffi::OsStrExt;
    let directory = Place::new();
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"m\xff\xfe"));
    let status =
        haul().current_dir(directory.0.path()).args(["copy", "--report"]).arg(odd).args(["source", "out"]).assert();
    assert!(status.get_output().status.success(), "{}", stderr(&status));
    assert!(directory.0.path().join(odd).exists());
}

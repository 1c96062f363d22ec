//! Files beside a copy: what else is in the folder is nobody's to touch, whatever its name.
use crate::support::{Folder, Running, copied_bytes, haul, is_root, noise, scratch, skip, stderr};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const MIB: usize = 1 << 20;

/// The option with which each file beside a copy is named.
const FILES: [&str; 5] = ["--manifest", "--mapfile", "--journal", "--report", "--delta"];

/// A folder with a source, and everything that is in it.
struct Place(Folder);

impl Place {
    fn new() -> Self {
        let folder = Place(scratch());
        fs::write(folder.path("source"), noise(2 * MIB + 77, 901)).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str) {
        fs::write(self.path(name), format!("{name} of somebody")).unwrap();
    }

    /// Every name with what it leads to: the bytes, or what it is.
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

    /// Runs `haul` in the folder.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let assert = haul().current_dir(self.0.path()).args(words).assert();
        (assert.get_output().status.code().expect("no signal ended it"), stderr(&assert))
    }

    /// Runs it, and makes sure that it is refused with status 3 and nothing in the folder has changed.
    #[track_caller]
    fn refused(&self, words: &[&str], why: &str) {
        let before = self.content();
        let (status, said) = self.run(words);
        assert_eq!(status, 3, "{words:?}: {said}");
        assert!(said.contains(why), "{words:?}: {why:?} is not in: {said}");
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
fn names_with_a_suffix_belong_to_whoever_made_them() {
    for name in FILES.into_iter().filter(|name| *name != "--delta") {
        let folder = Place::new();
        let others = ["v.new", "v.compact", ".out.haul-journal.new", ".out.haul-journal.compact", "v.tmp", "v~"];
        others.iter().for_each(|name| folder.put(name));
        let before = folder.content();
        let options = option(name, "v");
        // As source, as bystander and as destination.
        let (status, said) = folder.run(&copy(&options, ["v.new", "out"]));
        assert_eq!(status, 0, "{name}: {said}");
        let after = folder.content();
        assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "{name}: {:?}", after.keys());
        assert_eq!(after["out"], before["v.new"], "{name}");
        fs::remove_file(folder.path("v")).ok();
        let (status, said) = folder.run(&copy(&options, ["source", "v.new"]));
        assert_eq!((status, &folder.content()["v.new"]), (0, &before["source"]), "{name}: {said}");
    }
    // The manifest that --delta brings up to date.
    let folder = Place::new();
    assert_eq!(folder.run(&["copy", "--manifest", "v", "source", "out"]).0, 0);
    folder.put("v.new");
    let bystander = folder.content()["v.new"].clone();
    fs::write(folder.path("source"), noise(2 * MIB + 77, 902)).unwrap();
    let (status, said) = folder.run(&["copy", "--delta=v", "source", "out"]);
    assert_eq!((status, &folder.content()["v.new"]), (0, &bystander), "{said}");
    assert_eq!(folder.content()["out"], folder.content()["source"]);
}

#[test]
fn a_link_that_somebody_planted_leads_nowhere() {
    let folder = Place::new();
    folder.put("victim");
    for planted in [".out.haul-journal.new", ".out.haul-journal.compact", "m.new", "m.tmp"] {
        symlink("victim", folder.path(planted)).unwrap();
    }
    let before = folder.content();
    let (status, said) = folder.run(&copy(&option("--manifest", "m"), ["source", "out"]));
    assert_eq!(status, 0, "{said}");
    let after = folder.content();
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
    // At the name itself: nothing is followed, nothing is replaced.
    for name in ["--manifest", "--mapfile", "--journal"] {
        let folder = Place::new();
        folder.put("victim");
        symlink("victim", folder.path("link")).unwrap();
        symlink("nowhere", folder.path("dangling")).unwrap();
        folder.refused(&copy(&option(name, "link"), ["source", "out"]), "link");
        folder.refused(&copy(&option(name, "dangling"), ["source", "out"]), "dangling");
    }
    let folder = Place::new();
    folder.put("victim");
    symlink("victim", folder.path(".out.haul-journal")).unwrap();
    folder.refused(&copy(&[], ["source", "out"]), "a symbolic link");
}

#[test]
fn no_file_beside_a_copy_is_a_side_of_it_under_any_name() {
    let folder = Place::new();
    folder.put("out");
    for (name, of) in [("hard-source", "source"), ("hard-out", "out")] {
        fs::hard_link(folder.path(of), folder.path(name)).unwrap();
        symlink(of, folder.path(&name.replace("hard", "soft"))).unwrap();
    }
    for name in FILES {
        for side in ["source", "out", "./out", "hard-source", "hard-out", "soft-source", "soft-out"] {
            let options = option(name, side);
            if name == "--delta" {
                // It is read first, and is no manifest.
                let before = folder.content();
                assert_ne!(folder.run(&copy(&options, ["source", "out"])).0, 0);
                assert!(folder.content() == before);
            } else {
                folder.refused(&copy(&options, ["source", "out"]), " of the copy");
            }
        }
        // A destination that is not there yet.
        if name != "--delta" {
            folder.refused(&copy(&option(name, "new"), ["source", "new"]), "is the destination");
            let also = ["also".to_owned(), "--also".to_owned()];
            let options = [option(name, "two"), vec![format!("--{}", also[0]), "two".to_owned()]].concat();
            if matches!(name, "--manifest" | "--report") {
                folder.refused(&copy(&options, ["source", "one"]), "is the destination");
            }
        }
    }
    // The journal of the destination, as a source.
    assert_eq!(folder.run(&["copy", "source", ".new.haul-journal"]).0, 0);
    folder.refused(&copy(&[], [".new.haul-journal", "new"]), "is the source");
}

#[test]
fn no_file_beside_a_copy_is_another_one_of_it() {
    let folder = Place::new();
    fs::create_dir(folder.path("sub")).unwrap();
    symlink("sub", folder.path("way")).unwrap();
    for (at, first) in FILES.iter().enumerate() {
        for second in FILES[at + 1..].iter().filter(|second| **second != "--delta") {
            if *first == "--delta" {
                continue;
            }
            let options = [option(first, "sub/x"), option(second, "way/x")].concat();
            folder.refused(&copy(&options, ["source", "out"]), "is also");
        }
    }
    let options = option("--manifest", ".out.haul-journal");
    folder.refused(&copy(&options, ["source", "out"]), "is also");
    let named = option("--journal", ".out.haul-journal");
    assert_eq!(folder.run(&copy(&named, ["source", "out"])).0, 0, "the default journal may be named");
}

#[test]
fn a_fifo_or_a_folder_in_the_place_of_a_file_is_refused_without_waiting() {
    let folder = Place::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path("fifo"), rustix::fs::Mode::RWXU).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path(".piped.haul-journal"), rustix::fs::Mode::RWXU).unwrap();
    fs::create_dir(folder.path("folder")).unwrap();
    for name in FILES {
        for thing in ["fifo", "folder"] {
            folder.refused(&copy(&option(name, thing), ["source", "out"]), thing);
        }
    }
    folder.refused(&["copy", "source", "piped"], "a FIFO");
    folder.refused(&["copy", "--resume", "source", "piped"], "a FIFO");
    folder.refused(&["copy", "--resume", "--journal", "fifo", "source", "out"], "a FIFO");
    folder.refused(&["manifest", "show", "fifo"], "a FIFO");
    folder.refused(&["manifest", "show", "folder"], "a directory");
    folder.refused(&["manifest", "show", "/dev/null"], "a character device");
    folder.refused(&["manifest", "diff", "fifo", "fifo"], "a FIFO");
    folder.refused(&["verify", "--manifest", "fifo", "source"], "a FIFO");
    folder.refused(&["journal", "export", "fifo", "map"], "a FIFO");
    folder.refused(&["journal", "import", "fifo", "source", "source2"], "a FIFO");
}

#[test]
fn a_missing_file_is_told_from_one_that_cannot_be_used() {
    let folder = Place::new();
    for words in [&["manifest", "show", "nosuch"][..], &["verify", "--manifest", "nosuch", "source"]] {
        let (status, said) = folder.run(words);
        assert_eq!(status, 1, "{said}");
        assert!(said.contains("nosuch") && said.contains("no such file"), "{said}");
        assert!(!said.contains("full"), "{said}");
    }
}

#[test]
fn in_a_folder_of_everybody_a_journal_of_somebody_else_is_refused() {
    if !is_root() {
        return skip("only root can give files away");
    }
    let folder = Place::new();
    let (source, out, journal) = (folder.path("source"), folder.path("out"), folder.path(".out.haul-journal"));
    let slow =
        ["copy", "--limit", "256K", "--block-size", "64K", "--depth", "2", "--checkpoint", "0", "--progress", "json"];
    let names = [source.to_str().unwrap(), out.to_str().unwrap()];
    let mut running = Running::start(&[&slow[..], &names].concat(), Stdio::null(), Stdio::piped());
    running.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    running.signal(Signal::INT);
    running.end();
    assert!(journal.exists(), "{}", running.said);
    fs::set_permissions(folder.0.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    std::os::unix::fs::chown(&journal, Some(65534), None).unwrap();
    folder.refused(&["copy", "--resume", "source", "out"], "owned by user 65534");
    folder.refused(&["copy", "source", "out"], "owned by user 65534");
    std::os::unix::fs::chown(&journal, Some(0), None).unwrap();
    assert_eq!(folder.run(&["copy", "--resume", "source", "out"]).0, 0);
    assert_eq!(folder.content()["out"], folder.content()["source"]);
}

#[test]
fn nothing_is_left_beside_a_copy_however_it_ends_and_two_never_make_one_file() {
    let folder = Place::new();
    let path = |name: &str| folder.path(name).to_str().unwrap().to_owned();
    let (manifest, mapfile, report) = (path("m"), path("map"), path("r.html"));
    let files = ["--manifest", &manifest, "--mapfile", &mapfile, "--report", &report];
    let slow = ["copy", "--limit", "64K", "--block-size", "16K", "--no-journal", "--progress", "json"];
    let sides = [path("source"), path("out")];
    let words: Vec<&str> = slow.into_iter().chain(files).chain(sides.iter().map(String::as_str)).collect();
    let mut running = Running::start(&words, Stdio::null(), Stdio::piped());
    running.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    let unfinished = |folder: &Place| folder.content().keys().filter(|name| name.ends_with(".haul-new")).count();
    assert_eq!(unfinished(&folder), 3);
    for file in files.chunks(2) {
        let (status, said) = folder.run(&["copy", file[0], file[1], "source", "other"]);
        assert_eq!(status, 3, "{said}");
        assert!(said.contains("another process is using it"), "{said}");
    }
    // A second signal ends it at once, with nothing written and nothing left.
    running.signal(Signal::INT);
    running.signal(Signal::INT);
    running.end();
    assert_eq!(unfinished(&folder), 0, "{:?}", folder.content().keys());
    // It may have ended in order before the second one came.
    fs::remove_file(folder.path("map")).ok();
    fs::remove_file(folder.path("r.html")).ok();
    // What a killed one leaves is in nobody's way, and no file of such a name is taken for it.
    let mut running = Running::start(&words[..], Stdio::null(), Stdio::piped());
    running.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    running.signal(Signal::KILL);
    running.end();
    assert_eq!(unfinished(&folder), 3);
    let leftover = folder.content().into_keys().find(|name| name.starts_with(".m.")).expect("one is the manifest's");
    let (status, said) = folder.run(&["copy", "--manifest", "m", "--mapfile", "map", &leftover, "third"]);
    assert_eq!(status, 0, "{said}");
    assert_eq!((unfinished(&folder), &folder.content()["third"]), (3, &folder.content()[&leftover]));
}

#[test]
fn a_path_that_is_no_utf_8_is_a_name_like_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Place::new();
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"m\xff\xfe"));
    let status =
        haul().current_dir(folder.0.path()).args(["copy", "--report"]).arg(odd).args(["source", "out"]).assert();
    assert!(status.get_output().status.success(), "{}", stderr(&status));
    assert!(folder.0.path().join(odd).exists());
}

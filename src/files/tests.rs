//! Tests of auxiliary files next to files that must not be changed.
use super::*;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        Scene(tempfile::tempdir().unwrap())
    }

    fn place(&self, name: &str) -> DirectoryEntry {
        DirectoryEntry::of(&self.0.path().join(name)).unwrap()
    }

    fn put(&self, name: &str, bytes: &str) {
        fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(self.0.path()).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn begun(place: &DirectoryEntry, text: &str) -> NewFile {
    let new = NewFile::begin(place).unwrap();
    new.file().write_all(text.as_bytes()).unwrap();
    new
}

#[test]
fn a_new_file_is_private_until_it_is_published_with_its_mode() {
    let scene = Scene::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let new = begun(&scene.place("m"), "whole");
    let [temporary] = &scene.names()[..] else { panic!("{:?}", scene.names()) };
    assert!(temporary.starts_with(".m.") && temporary.ends_with(".haul-new"), "{temporary}");
    assert_eq!(mode(&scene.0.path().join(temporary)), 0o600);
    new.publish(Visibility::Owner).unwrap();
    assert_eq!((scene.names(), scene.text("m")), (vec!["m".to_owned()], "whole".to_owned()));
    assert_eq!(mode(&scene.0.path().join("m")), 0o600);
    File::create(scene.0.path().join("by-umask")).unwrap();
    begun(&scene.place("open"), "").publish(Visibility::Umask).unwrap();
    assert_eq!(mode(&scene.0.path().join("open")), mode(&scene.0.path().join("by-umask")));
}

#[test]
fn publishing_never_replaces_and_discarding_removes() {
    let scene = Scene::new();
    let new = begun(&scene.place("m"), "ours");
    scene.put("m", "somebody's");
    assert!(matches!(new.publish(Visibility::Owner).unwrap_err(), FileError::Exists));
    assert_eq!((scene.names(), scene.text("m")), (vec!["m".to_owned()], "somebody's".to_owned()));
    drop(begun(&scene.place("other"), "half"));
    assert_eq!(scene.names(), ["m"]);
}

#[test]
fn only_the_named_file_is_replaced() {
    let scene = Scene::new();
    scene.put("m", "old");
    let old = scene.place("m").open(Opening::Own).unwrap().unwrap();
    fs::set_permissions(scene.0.path().join("m"), fs::Permissions::from_mode(0o640)).unwrap();
    begun(&scene.place("m"), "new").replace(&old).unwrap();
    assert_eq!(fs::metadata(scene.0.path().join("m")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!((scene.names(), scene.text("m")), (vec!["m".to_owned()], "new".to_owned()));
    // The name no longer leads to `old`.
    let refused = begun(&scene.place("m"), "newer").replace(&old).unwrap_err();
    assert!(matches!(refused, FileError::Changed));
    assert!(matches!(scene.place("m").remove(&old).unwrap_err(), FileError::Changed));
    assert_eq!((scene.names(), scene.text("m")), (vec!["m".to_owned()], "new".to_owned()));
}

#[test]
fn the_second_creator_of_one_file_is_refused() {
    let scene = Scene::new();
    let first = begun(&scene.place("m"), "first");
    assert!(matches!(NewFile::begin(&scene.place("m")).unwrap_err(), FileError::Busy));
    drop(NewFile::begin(&scene.place("m2")).unwrap());
    first.publish(Visibility::Owner).unwrap();
    drop(NewFile::begin(&scene.place("m")).unwrap());
}

#[test]
fn leftovers_of_killed_processes_are_removed_only_in_private_directories() {
    let scene = Scene::new();
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    // A killed process drops no values; its locks are released with its descriptors.
    let first = begun(&scene.place("m"), "");
    let temporary = scene.names()[0].clone();
    drop(first);
    let left = |name: &str, mode| {
        scene.put(name, "half");
        set(&scene.0.path().join(name), mode);
    };
    let begin = || drop(NewFile::begin(&scene.place("m")).unwrap());
    // Names similar to temporary names, and a file with another mode.
    let others = [temporary.replace(".haul-new", "0.haul-new"), temporary.replace(".haul-new", "-my-notes.haul-new")];
    for other in &others {
        left(other, 0o600);
    }
    left(&temporary, 0o644);
    begin();
    assert_eq!(scene.names().len(), 3);
    left(&temporary, 0o600);
    set(scene.0.path(), 0o755);
    begin();
    assert_eq!(scene.names().len(), 3, "others may keep files here");
    set(scene.0.path(), 0o700);
    begin();
    let mut others = others.to_vec();
    others.sort();
    assert_eq!(scene.names(), others);
}

#[test]
fn file_names_of_maximum_length_work() {
    let scene = Scene::new();
    for letter in ["n", "ü"] {
        let name = letter.repeat(255 / letter.len());
        begun(&scene.place(&name), "whole").publish(Visibility::Owner).unwrap();
        assert_eq!(scene.names(), std::slice::from_ref(&name));
        fs::remove_file(scene.0.path().join(name)).unwrap();
    }
}

#[test]
fn a_special_file_is_refused_without_blocking() {
    let scene = Scene::new();
    let path = |name: &str| scene.0.path().join(name);
    rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo"), rustix::fs::Mode::RWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    fs::create_dir(path("folder")).unwrap();
    symlink("fifo", path("link")).unwrap();
    for (name, what) in [("fifo", "a FIFO"), ("socket", "a socket"), ("folder", "a directory"), ("link", "a FIFO")] {
        let FileError::NotRegular(found) = scene.place(name).open(Opening::Read).unwrap_err() else { panic!("{name}") };
        assert_eq!(found, what);
    }
    let null = DirectoryEntry::of(Path::new("/dev/null")).unwrap().open(Opening::Read).unwrap_err();
    assert!(matches!(null, FileError::NotRegular("a character device")));
    assert!(scene.place("nothing").open(Opening::Read).unwrap().is_none());
}

#[test]
fn a_symbolic_link_is_followed_for_reading_only() {
    let scene = Scene::new();
    scene.put("victim", "precious");
    symlink("victim", scene.0.path().join("link")).unwrap();
    let mut text = String::new();
    scene.place("link").open(Opening::Read).unwrap().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "precious");
    assert!(matches!(scene.place("link").open(Opening::Own).unwrap_err(), FileError::NotRegular("a symbolic link")));
    assert!(matches!(begun(&scene.place("link"), "x").publish(Visibility::Owner).unwrap_err(), FileError::Exists));
    assert_eq!(scene.text("victim"), "precious");
}

#[test]
fn in_a_shared_directory_only_own_files_are_trusted() {
    let scene = Scene::new();
    let path = scene.0.path().join("j");
    fs::write(&path, "journal").unwrap();
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let open = || scene.place("j").open(Opening::Own).map(|file| file.is_some());
    set(&path, 0o666);
    assert!(open().unwrap(), "nobody else can write to the folder");
    set(scene.0.path(), 0o1777);
    assert!(open().unwrap_err().to_string().contains("mode 666"));
    set(&path, 0o600);
    assert!(open().unwrap());
    fs::hard_link(&path, scene.0.path().join("second")).unwrap();
    assert!(open().unwrap_err().to_string().contains("2 hard links"));
    fs::remove_file(scene.0.path().join("second")).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
        assert!(open().unwrap_err().to_string().contains("owned by user 65534"));
    } else {
        eprintln!("skipped: only root can give files away");
    }
}

#[test]
fn two_names_of_one_file_are_equal_even_if_it_is_missing() {
    let scene = Scene::new();
    let path = |name: &str| scene.0.path().join(name);
    fs::create_dir(path("sub")).unwrap();
    scene.put("a", "");
    fs::hard_link(path("a"), path("hard")).unwrap();
    symlink("a", path("soft")).unwrap();
    symlink("not-yet", path("dangling")).unwrap();
    symlink("sub", path("folder")).unwrap();
    let found = |name: &str| scene.place(name).found().unwrap();
    assert!(found("a") == found("hard") && found("a") == found("soft") && found("a") != found("sub"));
    assert_eq!(found("not-yet"), found("dangling"));
    assert_eq!(found("sub/x"), found("folder/x"));
    assert_ne!(found("sub/x"), found("x"));
}

#[test]
fn an_unnamed_file_leaves_no_name() {
    let scene = Scene::new();
    let mut file = nameless(scene.0.path()).unwrap();
    file.write_all(b"x").unwrap();
    assert_eq!(scene.names(), Vec::<String>::new());
}

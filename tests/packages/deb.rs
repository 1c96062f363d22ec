//! The Debian package: its contents, and installing, running and removing it on Debian 12.
use crate::root::{VERSION, assert_haul_works, inside, package, run};
use crate::support::{ScratchDir, has, is_root, memory_dir, scratch, skip};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn debian_package() -> Option<PathBuf> {
    package("haul_", ".deb").filter(|_| has("dpkg-deb"))
}

/// The files and links of the package, unpacked into `dir`.
fn unpack(package: &Path, dir: &Path) -> BTreeSet<String> {
    run(Command::new("dpkg-deb").arg("--raw-extract").arg(package).arg(dir));
    let found = run(Command::new("find").args(["usr", "!", "-type", "d"]).current_dir(dir));
    found.lines().map(str::to_owned).collect()
}

/// Names of the files in a directory of the repository that end with `suffix`.
fn checked_in(directory: &str, suffix: &'static str) -> impl Iterator<Item = String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(move |name| name.ends_with(suffix))
}

#[test]
fn lintian_finds_nothing_wrong_with_the_debian_package() {
    let Some(package) = debian_package() else { return };
    if !has("lintian") {
        return;
    }
    let fails = ["--fail-on", "error,warning", "--allow-root"];
    // lintian leaves files in TMPDIR.
    let dir = scratch();
    let found = run(Command::new("lintian").args(fails).arg(package).env("TMPDIR", dir.path()));
    assert_eq!(found, "");
}

#[test]
fn the_debian_package_has_all_installed_files_and_the_required_documents() {
    let Some(package) = debian_package() else { return };
    let dir = scratch();
    let files = unpack(&package, &dir.path().join("unpacked"));
    let mut wanted: BTreeSet<String> = [
        "usr/bin/haul",
        "usr/share/bash-completion/completions/haul",
        "usr/share/zsh/vendor-completions/_haul",
        "usr/share/fish/vendor_completions.d/haul.fish",
        "usr/share/doc/haul/copyright",
        "usr/share/doc/haul/changelog.gz",
        "usr/share/doc/haul/CHANGELOG.md.gz",
        "usr/share/doc/haul/third-party.gz",
        "usr/share/man/man1/haul-sgp_dd.1.gz",
        "usr/share/man/man1/haul-sgm_dd.1.gz",
    ]
    .map(str::to_owned)
    .into();
    wanted.extend(checked_in("contrib", ".1").map(|name| format!("usr/share/man/man1/{name}.gz")));
    wanted.extend(checked_in("contrib", ".7").map(|name| format!("usr/share/man/man7/{name}.gz")));
    wanted.extend(checked_in("docs/schema", ".json").map(|name| format!("usr/share/haul/schema/{name}")));
    let missing: Vec<_> = wanted.difference(&files).collect();
    let unknown: Vec<_> = files.difference(&wanted).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "missing {missing:?}, unknown {unknown:?}");
    for page in files.iter().filter(|name| name.contains("/man/")) {
        assert!(run(Command::new("zcat").arg(page).current_dir(dir.path().join("unpacked"))).contains(".TH"), "{page}");
    }
}

#[test]
fn the_debian_package_has_valid_md5sums_and_the_version_of_haul() {
    let Some(package) = debian_package() else { return };
    let dir = scratch();
    let root = dir.path().join("unpacked");
    let files = unpack(&package, &root);
    let sums = fs::read_to_string(root.join("DEBIAN/md5sums")).unwrap();
    let summed: BTreeSet<String> = sums.lines().map(|line| line[34..].to_owned()).collect();
    let regular = |name: &&String| !root.join(name).is_symlink();
    assert_eq!(summed, files.iter().filter(regular).cloned().collect());
    run(Command::new("md5sum").args(["--check", "--strict", "DEBIAN/md5sums"]).current_dir(&root));
    let version = run(Command::new("dpkg-deb").arg("--field").arg(&package).arg("Version"));
    assert_eq!(version.trim(), VERSION);
}

/// A new Debian 12 with only the essential packages, from the mirror that this machine's apt uses.
fn debian_12() -> Option<ScratchDir> {
    if !is_root() {
        skip("only root installs packages");
        return None;
    }
    if !has("mmdebstrap") || !has("apt-get") {
        return None;
    }
    let targets = ["indextargets", "--format", "$(REPO_URI) $(ORIGIN)", "Created-By: Packages"];
    let repositories = run(Command::new("apt-get").args(targets));
    let of_debian = |line: &str| Some(line.strip_suffix(" Debian")?.to_owned());
    let Some(mirror) = repositories.lines().find_map(of_debian) else {
        skip("apt has no mirror of Debian here, or no lists of it; run: apt-get update");
        return None;
    };
    let dir = memory_dir();
    let mut command = Command::new("mmdebstrap");
    command.args(["--quiet", "--variant=essential", "bookworm"]).arg(dir.path().join("debian")).arg(mirror);
    let output = command.output().expect("it is installed");
    if !output.status.success() {
        // Names of mirrors must not appear in logs of test runs.
        let messages = String::from_utf8_lossy(&output.stderr);
        let why: Vec<&str> = messages.lines().filter(|line| !line.contains("://")).collect();
        skip(&format!("mmdebstrap cannot make a Debian 12: {}", why.join("; ")));
        return None;
    }
    Some(dir)
}

/// All names in a root, except the files of dpkg itself and of the tests.
fn names(root: &Path) -> BTreeSet<String> {
    let found = run(Command::new("find").args([".", "-mindepth", "1"]).current_dir(root));
    let own = |name: &&str| ["./var/lib/dpkg", "./var/log", "./var/cache"].iter().any(|own| name.starts_with(own));
    found.lines().filter(|name| !own(name)).map(str::to_owned).collect()
}

#[test]
fn debian_12_installs_runs_and_removes_the_package_completely() {
    let Some(package) = debian_package() else { return };
    let Some(dir) = debian_12() else { return };
    let root = dir.path().join("debian");
    let dpkg = |words: &[&str]| {
        let mut command = inside(&root, None, words);
        run(command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let before = names(&root);
    fs::copy(package, root.join("haul.deb")).expect("there is enough space");
    dpkg(&["dpkg", "--install", "/haul.deb"]);
    fs::remove_file(root.join("haul.deb")).unwrap();
    assert!(root.join("usr/share/man/man1/haul.1.gz").is_file());

    fs::create_dir(root.join("copies")).unwrap();
    assert_haul_works(&root, None, "/usr/bin/haul", "/copies");
    fs::remove_dir_all(root.join("copies")).unwrap();
    assert!(dpkg(&["dpkg", "--verify", "haul"]).is_empty(), "a file is not as it was packed");

    dpkg(&["dpkg", "--remove", "haul"]);
    let after = names(&root);
    assert_eq!(after.difference(&before).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(before.difference(&after).collect::<Vec<_>>(), Vec::<&String>::new());
    let listed = dpkg(&["dpkg-query", "--show", "--showformat=${Package} ${Status}\n"]);
    assert!(!listed.lines().any(|line| line.starts_with("haul ")), "dpkg still lists haul");
}

//! The static binary, in an otherwise empty root.
use crate::root::{VERSION, assert_haul_works, inside, messages, package, run};
use crate::support::{ScratchDir, cmp, engines, is_root, memory_dir, scratch, skip, write_noise};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The unpacked tarball: the temporary directory, and the directory in it.
fn unpacked() -> Option<(ScratchDir, PathBuf)> {
    let tarball = package("haul-", ".tar.gz")?;
    let dir = scratch();
    run(Command::new("tar").arg("-C").arg(dir.path()).arg("-xzf").arg(tarball));
    let machine = std::env::consts::ARCH;
    let root = dir.path().join(format!("haul-{VERSION}-linux-{machine}"));
    Some((dir, root))
}

/// A root with only the static binary, as `/haul`.
fn empty_root() -> Option<ScratchDir> {
    if !is_root() {
        skip("only root changes its root");
        return None;
    }
    let (_dir, unpacked) = unpacked()?;
    let root = memory_dir();
    fs::copy(unpacked.join("bin/haul"), root.path().join("haul")).expect("there is enough space");
    Some(root)
}

#[test]
fn the_tarball_has_the_binary_its_man_pages_completions_and_licenses() {
    let Some((_dir, root)) = unpacked() else { return };
    let files = [
        "bin/haul",
        "share/man/man1/haul.1",
        "share/man/man7/haul-fleet.7",
        "share/bash-completion/completions/haul",
        "share/zsh/site-functions/_haul",
        "share/fish/vendor_completions.d/haul.fish",
        "share/doc/haul/LICENSE-MIT",
        "share/doc/haul/LICENSE-APACHE",
        "share/doc/haul/third-party",
    ];
    for name in files {
        assert!(fs::metadata(root.join(name)).is_ok_and(|file| file.len() > 0), "{name} is missing or empty");
    }
    // Notices of libraries, as their licenses require; each of these is in the binary.
    let notices = fs::read_to_string(root.join("share/doc/haul/third-party")).unwrap();
    for name in ["clap", "blake3", "serde_json", "rustix", "The GNU C Library"] {
        assert!(notices.contains(&format!("\n{name} ")), "{name} has no notice");
    }
}

#[test]
fn the_static_binary_copies_and_verifies_in_an_empty_root_with_each_engine() {
    let Some(root) = empty_root() else { return };
    assert_haul_works(root.path(), None, "/haul", "");
    for engine in engines() {
        let copy = format!("/by-{engine}");
        run(&mut inside(root.path(), None, &["/haul", "copy", "--verify", "--engine", engine, "/source", &copy]));
        cmp(root.path().join("source"), root.path().join(&copy[1..]));
    }
}

/// Without HOME, haul looks up its user's home directory: this is where name services fail in static binaries.
#[test]
fn the_static_binary_reports_a_missing_home_or_sysfs() {
    let Some(root) = empty_root() else { return };
    write_noise(&root.path().join("source"), 4 << 20, 1);
    let refused = |words: &[&str], reason: &str| {
        let output = inside(root.path(), None, words).output().expect("chroot runs");
        let messages = messages(&output);
        assert!(output.status.code().is_some_and(|code| code > 0 && code < 125), "{words:?}: {messages}");
        assert!(messages.contains(reason), "{words:?}: {messages}");
    };
    refused(&["/haul", "list"], "/sys");
    refused(&["/haul", "tune", "--save", "/source"], "HOME");
}

#[test]
fn the_static_binary_needs_no_shared_library() {
    let Some((_dir, root)) = unpacked() else { return };
    let header =
        run(Command::new("readelf").args(["--wide", "--dynamic", "--program-headers"]).arg(root.join("bin/haul")));
    assert!(!header.contains("NEEDED") && !header.contains("INTERP"), "{header}");
    assert!(Path::new(&root.join("bin/haul")).is_file());
}

//! Comparing the content of compressed images, and the ranges of block maps.
use crate::compressed_files::formats;
use crate::support::{
    LoopDevice, compressed_forms, filled, has, haul, in_one_line, name, repeated, scratch, write_noise,
};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::Command;

const MIB: usize = 1 << 20;

/// Runs `haul verify`; returns the status and the messages.
fn verify(arguments: &[&str]) -> (Option<i32>, String) {
    let output = haul().arg("verify").args(arguments).output().unwrap();
    (output.status.code(), in_one_line(&output.stderr))
}

#[test]
fn the_content_of_a_compressed_image_is_compared_with_a_device() {
    let dir = scratch();
    let (source, backing) = (dir.path().join("disk.img"), dir.path().join("disk"));
    write_noise(&source, 3 * MIB + 512, 1);
    filled(&backing, 8 * MIB, 0);
    let Some(device) = LoopDevice::over(&backing) else { return };
    haul().args(["copy", "--yes", name(&source), name(device.path())]).assert().success();
    for form in compressed_forms(&source) {
        let (code, messages) = verify(&[name(&form), name(device.path())]);
        assert!(code == Some(0) && messages.contains("decompressing source"), "{}: {messages}", form.display());
        let stdin = fs::File::open(&form).unwrap();
        let mut piped = Command::new(crate::support::haul_path());
        let piped = piped.args(["verify", "-", name(device.path())]).stdin(stdin).output().unwrap();
        assert!(piped.status.success(), "{}: {}", form.display(), in_one_line(&piped.stderr));
        assert_eq!(verify(&["--decompress", name(&form), name(&source)]).0, Some(0));
        assert_eq!(verify(&["--decompress", "--skip", "1M", "--seek", "1M", name(&form), name(&source)]).0, Some(0));
        // The bytes of the file itself are others.
        assert_eq!(verify(&["--as-is", name(&form), name(device.path())]).0, Some(1));
        assert_eq!(verify(&[name(&form), name(&source)]).0, Some(1));
        assert_eq!(verify(&[name(&form), name(&form)]).0, Some(0));
        let disk = File::options().read(true).write(true).open(device.path()).unwrap();
        let (mut byte, at) = ([0], 2 * MIB as u64 + 77);
        disk.read_exact_at(&mut byte, at).unwrap();
        disk.write_all_at(&[byte[0] ^ 1], at).unwrap();
        let (code, messages) = verify(&[name(&form), name(device.path())]);
        assert!(code == Some(1) && messages.contains("differ"), "{messages}");
        disk.write_all_at(&byte, at).unwrap();
        // A file that ends within its data is not equal.
        let bytes = fs::read(&form).unwrap();
        fs::write(&form, &bytes[..bytes.len() - 3]).unwrap();
        let (code, messages) = verify(&[name(&form), name(device.path())]);
        assert!(code == Some(1) && !messages.contains("equal"), "{}: {messages}", form.display());
    }
    let (code, messages) = verify(&["--decompress", name(&source), name(device.path())]);
    assert!(code == Some(2) && messages.contains("in none of the formats"), "{messages}");
}

#[test]
fn a_file_that_is_longer_or_shorter_than_the_content_differs() {
    let dir = scratch();
    let (source, other) = (dir.path().join("disk.img"), dir.path().join("other"));
    fs::write(&source, repeated(b"some text ", 100_000)).unwrap();
    for form in compressed_forms(&source) {
        for len in [99_999, 100_001] {
            fs::write(&other, repeated(b"some text ", len)).unwrap();
            let (code, messages) = verify(&["--decompress", name(&form), name(&other)]);
            assert_eq!(code, Some(1), "{} and {len} bytes: {messages}", form.display());
        }
    }
}

#[test]
fn only_the_ranges_of_a_block_map_are_compared() {
    if !has("bmaptool") {
        return crate::support::skip("bmaptool is not installed");
    }
    let dir = scratch();
    let (source, backing) = (dir.path().join("disk.img"), dir.path().join("disk"));
    let file = File::create(&source).unwrap();
    file.set_len(4 * MIB as u64).unwrap();
    file.write_all_at(&repeated(b"data", MIB), MIB as u64).unwrap();
    filled(&backing, 4 * MIB, 0xa5);
    let bmap = dir.path().join("disk.bmap");
    assert!(
        Command::new("bmaptool").args(["-q", "create", name(&source), "-o", name(&bmap)]).status().unwrap().success()
    );
    let Some(device) = LoopDevice::over(&backing) else { return };
    haul().args(["copy", "--yes", name(&source), name(device.path())]).assert().success();
    let mut forms = compressed_forms(&source);
    forms.push(source);
    for form in forms {
        let (code, messages) = verify(&[name(&form), name(device.path())]);
        assert!(code == Some(0) && messages.contains("block map"), "{}: {messages}", form.display());
        assert_eq!(verify(&["--bmap", name(&bmap), name(&form), name(device.path())]).0, Some(0));
        let (code, messages) = verify(&["--no-bmap", name(&form), name(device.path())]);
        assert!(code == Some(1) && !messages.contains("block map"), "{messages}");
    }
}

/// The source and what `haul copy` made of it: content of no whole frame or block, more than one of each.
#[test]
fn a_destination_that_a_copy_compressed_is_compared_by_its_content() {
    let dir = scratch();
    let source = dir.path().join("disk.img");
    write_noise(&source, 17 * MIB + 777, 3);
    for (end, _) in formats() {
        let packed = dir.path().join(format!("disk.img.{end}"));
        haul().args(["copy", name(&source), name(&packed)]).assert().success();
        let compared = |options: &[&str]| {
            let arguments = [options, &[name(&source), name(&packed)]].concat();
            verify(&arguments)
        };
        let (code, messages) = compared(&[]);
        assert!(code == Some(0) && messages.contains("decompressing destination"), "{end}: {messages}");
        for engine in ["sync", "threads"] {
            let (code, messages) = compared(&["--engine", engine]);
            assert_eq!(code, Some(0), "{end}, {engine}: {messages}");
        }
        // From a pipe, whose length is unknown, too.
        let stdin = File::open(&source).unwrap();
        let mut piped = Command::new(crate::support::haul_path());
        let piped = piped.args(["verify", "-", name(&packed)]).stdin(stdin).output().unwrap();
        assert!(piped.status.success(), "{end}: {}", in_one_line(&piped.stderr));
        assert_eq!(compared(&["--as-is"]).0, Some(1), "{end}");
        // A byte that changed, and sources that are longer and shorter than the content.
        let file = File::options().read(true).write(true).open(&source).unwrap();
        let (mut byte, at) = ([0], 9 * MIB as u64 + 77);
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at).unwrap();
        let (code, messages) = compared(&[]);
        assert!(code == Some(1) && messages.contains("differ"), "{end}: {messages}");
        file.write_all_at(&byte, at).unwrap();
        file.set_len(17 * MIB as u64 + 778).unwrap();
        let (code, messages) = compared(&[]);
        assert!(
            code == Some(1) && messages.contains("destination") && messages.contains("shorter"),
            "{end}: {messages}"
        );
        file.set_len(17 * MIB as u64 + 777).unwrap();
        file.set_len(17 * MIB as u64 + 776).unwrap();
        let (code, messages) = compared(&[]);
        assert!(code == Some(1) && messages.contains("source") && messages.contains("shorter"), "{end}: {messages}");
        write_noise(&source, 17 * MIB + 777, 3);
        assert_eq!(compared(&[]).0, Some(0), "{end}");
        // A file that ends within its data is an error.
        let bytes = fs::read(&packed).unwrap();
        fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
        let (code, messages) = compared(&[]);
        assert!(code == Some(1) && !messages.contains("equal"), "{end}: {messages}");
        fs::remove_file(&packed).unwrap();
    }
}

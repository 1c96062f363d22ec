//! What is refused of compressed sources, and checksums of sources.
use crate::support::{
    LoopDevice, NbdServer, checksum, cmp, filled, gzip, has, haul, name, noise, scratch, stderr, write_noise,
};
use serde_json::Value;
use std::fs;
use std::process::Command;

const MIB: usize = 1 << 20;

fn copy(arguments: &[&str]) -> assert_cmd::assert::Assert {
    haul().args(["copy", "--yes"]).args(arguments).assert()
}

#[test]
fn a_right_checksum_is_reported_and_a_wrong_one_fails_the_copy() {
    let dir = scratch();
    let (source, out) = (dir.path().join("disk.img"), dir.path().join("out"));
    write_noise(&source, 2 * MIB + 5, 1);
    let packed = gzip(&source);
    for (file, option) in [(&source, "--as-is"), (&packed, "--decompress"), (&packed, "--as-is")] {
        for (kind, program) in [("sha256", "sha256sum"), ("sha512", "sha512sum"), ("md5", "md5sum")] {
            let hex = checksum(program, file);
            let right = format!("{kind}:{hex}");
            let assert = copy(&[option, "--checksum", &right, name(file), name(&out)]).success();
            assert!(stderr(&assert).contains(&format!("matches its {kind} checksum")), "{}", stderr(&assert));
            assert_eq!(assert.get_output().stdout, b"", "no digest was requested");
            let digit = if hex.starts_with('0') { '1' } else { '0' };
            let other = format!("{digit}{}", &hex[1..]);
            let wrong = format!("{kind}:{}", other.to_uppercase());
            let messages = stderr(&copy(&[option, "--checksum", &wrong, name(file), name(&out)]).code(1));
            assert!(messages.contains(&hex) && messages.contains(&other), "{messages}");
            assert!(messages.contains("The destination holds unverified data"), "{messages}");
        }
    }
    let list = dir.path().join("SHA256SUMS");
    let lines = format!("{}  other\n{} *disk.img.gz\n", checksum("sha256sum", &source), checksum("sha256sum", &packed));
    fs::write(&list, lines).unwrap();
    let arguments = ["--decompress", "--verify", "--checksum", name(&list), name(&packed), name(&out)];
    assert!(stderr(&copy(&arguments).success()).contains("matches its sha256 checksum"));
    cmp(&source, &out);
    assert!(stderr(&copy(&["--checksum", name(&list), name(&source), name(&out)]).code(2)).contains("has no SHA-256"));
    assert!(stderr(&copy(&["--checksum", "nowhere", name(&source), name(&out)]).code(1)).contains("cannot read"));
    copy(&["--checksum", "sha256:12", name(&source), name(&out)]).code(2);
    let right = format!("sha256:{}", checksum("sha256sum", &packed));
    let part = ["--checksum", &right, "--count", "1M", "--decompress", name(&packed), name(&out)];
    assert!(stderr(&copy(&part).code(2)).contains("--checksum with --count"));
    let rest = ["--checksum", &right, "--skip", "1M", "--seek", "1M", "--decompress", name(&packed), name(&out)];
    assert!(stderr(&copy(&rest).success()).contains("matches"));
}

#[test]
fn the_checksum_of_a_stream_is_that_of_its_bytes() {
    let dir = scratch();
    let (source, backing) = (dir.path().join("disk.img"), dir.path().join("disk"));
    write_noise(&source, 2 * MIB + 5, 1);
    let packed = gzip(&source);
    filled(&backing, 4 * MIB, 0);
    let Some(device) = LoopDevice::over(&backing) else { return };
    for file in [&source, &packed] {
        let right = format!("sha256:{}", checksum("sha256sum", file));
        let piped = |checksum: &str| {
            let mut command = haul();
            command.args(["copy", "--yes", "--checksum", checksum, "-", name(device.path())]);
            command.pipe_stdin(file).unwrap();
            command.assert()
        };
        assert!(stderr(&piped(&right).success()).contains("matches its sha256 checksum"));
        assert!(stderr(&piped(&format!("sha256:{}", "0".repeat(64))).code(1)).contains("does not match its checksum"));
    }
}

#[test]
fn options_that_need_random_access_are_refused_before_the_first_write() {
    let dir = scratch();
    let (source, out, list) = (dir.path().join("disk.img"), dir.path().join("out"), dir.path().join("list"));
    write_noise(&source, 2 * MIB, 1);
    let packed = gzip(&source);
    fs::write(&list, "0 4096\n").unwrap();
    let journal = dir.path().join("journal");
    let mapfile = dir.path().join("mapfile");
    let refused: [(&[&str], &str); 6] = [
        (&["--resume"], "--resume: no journal is possible: the source is compressed"),
        (&["--journal", name(&journal)], "--journal: no journal is possible: the source is compressed"),
        (&["--source-ranges", name(&list)], "is a compressed file, which has no offsets"),
        (&["--on-error", "skip"], "is a compressed file, where haul cannot read again or skip"),
        (&["--mapfile", name(&mapfile)], "is a compressed file, which has no offsets"),
        (&["--reflink", "always"], "is a compressed file, not a file"),
    ];
    for (options, words) in refused {
        let arguments = [&["--decompress"], options, &[name(&packed), name(&out)]].concat();
        let messages = stderr(&copy(&arguments).code(2));
        assert!(messages.contains(words), "{options:?}: {messages}");
        assert!(!out.exists() && !journal.exists() && !mapfile.exists());
    }
    let messages = stderr(&copy(&["--decompress", name(&source), name(&out)]).code(2));
    assert!(messages.contains("in none of the formats that haul decompresses"), "{messages}");
    copy(&["--decompress", "--as-is", name(&packed), name(&out)]).code(2);
    let before = fs::read(&packed).unwrap();
    let messages = stderr(&copy(&["--decompress", name(&packed), name(&packed)]).code(3));
    assert!(messages.contains("same"), "{messages}");
    let range = ["--decompress", "--skip", "0", "--seek", "1M", "--count", "1K", name(&packed), name(&packed)];
    copy(&range).code(3);
    assert!(fs::read(&packed).unwrap() == before);
}

#[test]
fn a_zip_archive_has_to_contain_exactly_one_file() {
    if !has("zip") {
        return;
    }
    let dir = scratch();
    let out = dir.path().join("out");
    fs::create_dir(dir.path().join("sub")).unwrap();
    let file = dir.path().join("sub/disk.img");
    fs::write(&file, [noise(70_000, 1), vec![0; 70_000]].concat()).unwrap();
    fs::write(dir.path().join("sub/other"), b"x").unwrap();
    let zip = |archive: &str, arguments: &[&str]| {
        let status = Command::new("zip").arg("-q").arg(archive).args(arguments).current_dir(dir.path()).status();
        assert!(status.unwrap().success());
        dir.path().join(archive)
    };
    for (archive, options) in [("stored.zip", &["-0"][..]), ("deflated.zip", &["-9"]), ("large.zip", &["-fz"])] {
        let archive = zip(archive, &[options, &["sub/", "sub/disk.img"]].concat());
        copy(&["--decompress", name(&archive), name(&out)]).success();
        cmp(&file, &out);
    }
    let refused = [
        (zip("two.zip", &["sub/disk.img", "sub/other"]), "it has several files"),
        (zip("none.zip", &["sub/"]), "it has no file"),
        (zip("secret.zip", &["-P", "x", "sub/disk.img"]), "its file is encrypted"),
    ];
    fs::remove_file(&out).unwrap();
    for (archive, words) in refused {
        let messages = stderr(&copy(&["--decompress", name(&archive), name(&out)]).code(1));
        assert!(messages.contains(words) && messages.contains("Nothing was written"), "{messages}");
        assert!(!out.exists());
    }
}

#[test]
fn a_dry_run_shows_the_content_and_writes_nothing() {
    let dir = scratch();
    let (source, out) = (dir.path().join("disk.img"), dir.path().join("out"));
    write_noise(&source, 2 * MIB, 1);
    let packed = gzip(&source);
    let arguments = ["copy", "--dry-run", "--decompress", name(&packed), name(&out)];
    let assert = haul().args(arguments).assert().success();
    let text = crate::support::in_one_line(&assert.get_output().stdout);
    assert!(text.contains("compressed file") && text.contains("decompressed (gzip) --decompress"), "{text}");
    let output = haul().args(arguments).arg("--json").output().unwrap();
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["source"]["kind"], "compressed_file");
    assert_eq!(plan["source"]["compressed"]["format"], "gzip");
    assert_eq!(plan["source"]["compressed"]["stored_bytes"], fs::metadata(&packed).unwrap().len());
    assert!(!out.exists());
}

#[test]
fn an_export_receives_the_content_of_a_compressed_file() {
    let dir = scratch();
    let (source, there) = (dir.path().join("disk.img"), dir.path().join("there"));
    write_noise(&source, 2 * MIB, 1);
    let packed = gzip(&source);
    let Some(server) = NbdServer::nbdkit(dir.path(), &["memory", "2M"]) else { return };
    copy(&[name(&packed), &server.address("")]).success();
    server.saved_to(&there);
    cmp(&source, &there);
}

#[test]
fn the_content_of_a_compressed_image_is_scattered_to_ranges_of_the_destination() {
    let dir = scratch();
    let (source, out, list) = (dir.path().join("disk.img"), dir.path().join("out"), dir.path().join("list"));
    let bytes = noise(300_000, 1);
    fs::write(&source, &bytes).unwrap();
    let packed = gzip(&source);
    for (ranges, lens) in [("500000 100000\n0 200000\n", [100_000, 200_000]), ("500000 100\n0 200\n", [100, 200])] {
        fs::write(&list, ranges).unwrap();
        filled(&out, 700_000, 7);
        copy(&["--decompress", "--destination-ranges", name(&list), name(&packed), name(&out)]).success();
        let mut expected = vec![7; 700_000];
        expected[500_000..500_000 + lens[0]].copy_from_slice(&bytes[..lens[0]]);
        expected[..lens[1]].copy_from_slice(&bytes[lens[0]..lens[0] + lens[1]]);
        assert!(fs::read(&out).unwrap() == expected, "{ranges}");
    }
    // A list with more bytes than the content is an error, and not a copy that looks complete.
    fs::write(&list, "0 300001\n").unwrap();
    copy(&["--decompress", "--destination-ranges", name(&list), name(&packed), name(&out)]).code(1);
}

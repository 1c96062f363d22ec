//! Lists of checksums beside a source, which are used without an option.
use crate::support::{
    FaultyServer, LoopDevice, Reply, checksum, cmp, cmp_ranges, filled, gzip, haul, in_one_line, name, scratch, stderr,
    web_haul, write_noise,
};
use std::fs;
use std::os::unix::fs::symlink;

const MIB: usize = 1 << 20;

fn copy(arguments: &[&str]) -> assert_cmd::assert::Assert {
    haul().args(["copy", "--yes"]).args(arguments).assert()
}

#[test]
fn a_list_beside_a_compressed_image_is_compared_without_an_option() {
    let dir = scratch();
    let (source, out) = (dir.path().join("disk.img"), dir.path().join("out"));
    write_noise(&source, MIB + 5, 1);
    let packed = gzip(&source);
    let wrong = |kind: &str| "0".repeat(checksum(&format!("{kind}sum"), &packed).len());
    let lists = [
        ("disk.img.gz.sha256", "sha256", "{}  disk.img.gz\n"),
        ("disk.img.gz.sha256", "sha256", "{}\n"),
        ("disk.img.gz.sha256sum", "sha256", "{} */elsewhere/disk.img.gz\n"),
        ("disk.img.sha256", "sha256", "{}  disk.img.gz\n"),
        ("disk.sha256", "sha256", "SHA256 (disk.img.gz) = {}\n"),
        ("SHA256SUMS", "sha256", "1234  other\n{} *./disk.img.gz\n"),
        ("sha256sums", "sha256", "{}  disk.img.gz\n"),
        ("SHA512SUMS", "sha512", "{}  disk.img.gz\n"),
        ("disk.img.gz.md5", "md5", "{}  disk.img.gz\n"),
        ("MD5SUMS", "md5", "{}  disk.img.gz\n"),
    ];
    let arguments = ["--decompress", "--verify", name(&packed), name(&out)];
    for (list, kind, line) in lists {
        let list = dir.path().join(list);
        fs::write(&list, line.replace("{}", &checksum(&format!("{kind}sum"), &packed))).unwrap();
        let messages = stderr(&copy(&arguments).success());
        let matches = format!("matches its {kind} checksum ({})", name(&list));
        assert!(messages.contains(&matches) && messages.contains("--no-checksum ignores"), "{messages}");
        assert!(messages.contains("verified"), "{messages}");
        cmp(&source, &out);
        fs::write(&list, line.replace("{}", &wrong(kind))).unwrap();
        let messages = stderr(&copy(&arguments).code(1));
        assert!(messages.contains("does not match its checksum") && messages.contains(name(&list)), "{messages}");
        assert!(messages.contains("--no-checksum"), "{messages}");
        let messages = stderr(&copy(&[&["--no-checksum"], &arguments[..]].concat()).success());
        assert!(!messages.contains("checksum"), "{messages}");
        fs::remove_file(&list).unwrap();
    }
    // The strongest digest of the nearest list.
    fs::write(dir.path().join("MD5SUMS"), format!("{}  disk.img.gz\n", wrong("md5"))).unwrap();
    fs::write(dir.path().join("SHA256SUMS"), format!("{}  disk.img.gz\n", checksum("sha256sum", &packed))).unwrap();
    assert!(stderr(&copy(&arguments).success()).contains("matches its sha256 checksum"));
}

/// What was copied of a damaged image is not continued from the right one, which has the same size.
#[test]
fn a_copy_with_a_wrong_checksum_leaves_no_journal_to_resume() {
    let dir = scratch();
    let [source, out, journal] = ["disk.img", "out", "journal"].map(|file| dir.path().join(file));
    let mut image = write_noise(&source, 3 * MIB, 2);
    let right = format!("--checksum=sha256:{}", checksum("sha256sum", &source));
    // Far from every sample of the source by which a journal recognizes it.
    image[MIB + 12345] ^= 1;
    fs::write(&source, &image).unwrap();
    let sides = ["--journal", name(&journal), name(&source), name(&out)];
    let interrupted = haul()
        .args(["copy", "--yes", "--time", "1", "--limit", "512K", "--checkpoint", "0.2", "--block-size", "64K"])
        .args([&right])
        .args(sides)
        .assert()
        .code(4);
    assert!(journal.exists(), "{}", stderr(&interrupted));
    let messages = stderr(&copy(&[&["--resume", &right], &sides[..]].concat()).code(1));
    assert!(messages.contains("does not match its checksum") && !journal.exists(), "{messages}");
    image[MIB + 12345] ^= 1;
    fs::write(&source, &image).unwrap();
    copy(&[&["--resume", &right], &sides[..]].concat()).code(3);
    copy(&[&[right.as_str()], &sides[..]].concat()).success();
    cmp(&source, &out);
}

#[test]
fn lists_without_the_source_are_ignored() {
    let dir = scratch();
    let (source, out) = (dir.path().join("disk.img"), dir.path().join("out"));
    write_noise(&source, MIB + 5, 1);
    let packed = gzip(&source);
    let zeros = "0".repeat(64);
    let lists = [
        ("disk.img.gz.sha256", format!("{zeros}  disk.img\n")),
        ("disk.img.sha256", format!("{zeros}\n")),
        ("SHA256SUMS", format!("{zeros}  disk.img\n{zeros}  sub/disk.img.gz\nno list at all\n")),
        ("sha256sums.txt", "<html>not found</html>".to_owned()),
    ];
    for (list, text) in lists {
        fs::write(dir.path().join(list), text).unwrap();
    }
    fs::create_dir(dir.path().join("SHA512SUMS")).unwrap();
    fs::write(dir.path().join("MD5SUMS"), [0xff, 0xfe, b'\n']).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, dir.path().join("md5sums"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    let messages = stderr(&copy(&["--decompress", name(&packed), name(&out)]).success());
    assert!(!messages.contains("checksum"), "{messages}");
    cmp(&source, &out);
}

#[test]
fn a_list_beside_a_plain_image_is_compared_for_a_device_and_not_for_a_file() {
    let dir = scratch();
    let (source, out, backing) = (dir.path().join("disk.img"), dir.path().join("out"), dir.path().join("disk"));
    write_noise(&source, MIB, 1);
    let list = dir.path().join("disk.img.sha256");
    fs::write(&list, format!("{}  disk.img\n", "0".repeat(64))).unwrap();
    let messages = stderr(&copy(&[name(&source), name(&out)]).success());
    assert!(!messages.contains("checksum"), "an outdated list does not end a copy of a file: {messages}");
    cmp(&source, &out);
    filled(&backing, 2 * MIB, 0);
    let Some(device) = LoopDevice::over(&backing) else { return };
    let to_device = ["--verify", name(&source), name(device.path())];
    assert!(stderr(&copy(&to_device).code(1)).contains("does not match its checksum"));
    fs::write(&list, format!("{}  disk.img\n", checksum("sha256sum", &source))).unwrap();
    let messages = stderr(&copy(&to_device).success());
    assert!(messages.contains("matches its sha256 checksum"), "{messages}");
    cmp_ranges(&source, 0, device.path(), 0, MIB as u64);
    let assert = haul().args(["copy", "--dry-run"]).args(to_device).assert().success();
    let text = in_one_line(&assert.get_output().stdout);
    assert!(text.contains("compared with its sha256 checksum"), "{text}");
    let part = stderr(&copy(&["--count", "4K", name(&source), name(device.path())]).success());
    assert!(!part.contains("checksum"), "{part}");
    // The list of a link's directory, else that of its file.
    let links = dir.path().join("links");
    fs::create_dir(&links).unwrap();
    let link = links.join("latest.img");
    symlink(&source, &link).unwrap();
    let messages = stderr(&copy(&[name(&link), name(device.path())]).success());
    assert!(messages.contains(&format!("matches its sha256 checksum ({})", name(&list))), "{messages}");
    fs::write(links.join("SHA256SUMS"), format!("{}  latest.img\n", "0".repeat(64))).unwrap();
    assert!(stderr(&copy(&[name(&link), name(device.path())]).code(1)).contains("links/SHA256SUMS"));
}

#[test]
fn a_list_beside_a_web_resource_is_compared_without_an_option() {
    let dir = scratch();
    let (source, out) = (dir.path().join("disk.img"), dir.path().join("out"));
    write_noise(&source, MIB + 5, 1);
    let packed = gzip(&source);
    let (bytes, right) = (fs::read(&packed).unwrap(), checksum("sha256sum", &packed));
    let served = |list: &'static str, hex: String| {
        let bytes = bytes.clone();
        FaultyServer::start(move |asked| match asked.target.as_str() {
            "/images/my%20disk.gz" => Reply::ranged(asked, &bytes),
            target if target == format!("/images/{list}") => Reply::whole(format!("{hex}  my disk.gz\n").as_bytes()),
            "/images/SHA256SUMS" => Reply::status(302).with("location", "/moved"),
            "/moved" => Reply { body: vec![b'x'; 200_000], ..Reply::status(404) },
            _ => Reply::status(403),
        })
    };
    let copied = |server: &FaultyServer, options: &[&str]| {
        let url = server.url("images/my disk.gz");
        let output = web_haul().args(["copy", "--yes", "--decompress"]).args(options).args([&url, name(&out)]).output();
        let output = output.unwrap();
        (output.status.code(), in_one_line(&output.stderr))
    };
    for list in ["my%20disk.gz.sha256", "SHA256SUMS", "sha256sums"] {
        let (code, messages) = copied(&served(list, right.clone()), &["--verify"]);
        assert!(code == Some(0) && messages.contains("matches its sha256 checksum (http://"), "{list}: {messages}");
        cmp(&source, &out);
        let server = served(list, "0".repeat(64));
        let (code, messages) = copied(&server, &[]);
        assert!(code == Some(1) && messages.contains("does not match its checksum"), "{list}: {messages}");
        assert_eq!(copied(&server, &["--no-checksum"]).0, Some(0));
        let elsewhere = format!("{}?token=1", server.url("images/my disk.gz"));
        let asked = server.asked().len();
        let output = web_haul().args(["copy", "--yes", "--decompress", &elsewhere, name(&out)]).output().unwrap();
        assert!(!output.status.success(), "403");
        assert!(server.asked()[asked..].iter().all(|asked| asked.target.starts_with("/images/my%20disk.gz?")));
    }
}

#[test]
fn a_server_that_fails_beside_the_image_does_not_fail_the_copy() {
    let dir = scratch();
    let (source, out) = (dir.path().join("disk.img"), dir.path().join("out"));
    write_noise(&source, MIB + 5, 1);
    let bytes = fs::read(gzip(&source)).unwrap();
    let replies = [Reply::status(500), Reply { cut_at: Some(3), ..Reply::whole(&[b'0'; 66]) }, Reply::whole(&bytes)];
    for reply in replies {
        let fails = reply.status == 500 || reply.cut_at.is_some();
        let bytes = bytes.clone();
        let server = FaultyServer::start(move |asked| match asked.target.as_str() {
            "/disk.gz" => Reply::ranged(asked, &bytes),
            _ => reply.clone(),
        });
        let url = server.url("disk.gz");
        let output = web_haul().args(["copy", "--yes", "--decompress", &url, name(&out)]).output().unwrap();
        let messages = in_one_line(&output.stderr);
        assert!(output.status.success(), "{messages}");
        assert_eq!(messages.contains("cannot search for a checksum of the source"), fails, "{messages}");
        cmp(&source, &out);
    }
}

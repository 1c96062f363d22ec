//! NBD servers that haul starts: those between brackets, and qemu-nbd for images.
use crate::support::{cmp, filled, has, haul, name, scratch, skip, stderr, write_noise};
use std::fs;
use std::path::Path;
use std::process::Command;

const MIB: usize = 1 << 20;

/// A copy that ends well.
fn copy(arguments: &[&str]) {
    haul().args(["copy", "-q", "--yes"]).args(arguments).assert().success();
}

#[test]
fn a_server_between_brackets_is_started_and_ends_with_haul() {
    if !has("nbdkit") {
        return skip("nbdkit is not installed");
    }
    let dir = scratch();
    let (source, there, back) = (dir.path().join("source"), dir.path().join("there"), dir.path().join("back"));
    write_noise(&source, 5 * MIB + 512, 8);
    filled(&there, 5 * MIB + 512, 0);
    let (from, to) = (format!("file={}", name(&source)), format!("file={}", name(&there)));
    // The same words on both sides are two servers; a server that ends beside haul would leave its file of the process.
    let pids = [dir.path().join("first pid"), dir.path().join("second pid")];
    let server = |pid: &Path, file: &str| ["[", "nbdkit", "-f", "-P", name(pid), "file", file, "]"].map(str::to_owned);
    let (from, to) = (server(&pids[0], &from), server(&pids[1], &to));
    haul().args(["copy", "--yes", "--verify"]).args(&from).args(&to).assert().success();
    cmp(&source, &there);
    haul().args(["verify"]).args(&from).args(&to).assert().success();
    haul().args(["copy", "-q"]).args(&to).arg(&back).assert().success();
    cmp(&source, &back);
    for pid in pids {
        let number = fs::read_to_string(pid).expect("nbdkit wrote its process number");
        assert!(!Path::new("/proc").join(number.trim()).exists(), "a server did not end");
    }
    copy(&["[", "nbdkit", "memory", "1M", "]", "[", "nbdkit", "memory", "1M", "]"]);
    let failed = haul().args(["copy", "[", "no-such-server", "]"]).arg(&back).assert().code(1);
    let messages = stderr(&failed);
    assert!(messages.contains("its server no-such-server ended with") && messages.contains("Install it"), "{messages}");
    cmp(&source, &back);
}

#[test]
fn a_server_that_ends_with_its_first_connection_is_copied_from_and_to() {
    if !has("qemu-nbd") || !has("qemu-img") {
        return skip("qemu-nbd and qemu-img are not installed");
    }
    let dir = scratch();
    let (raw, image, back) = (dir.path().join("raw"), dir.path().join("image"), dir.path().join("back"));
    write_noise(&raw, 8 * MIB, 9);
    let made = Command::new("qemu-img").args(["create", "-q", "-f", "qcow2", name(&image), "8M"]).status();
    assert!(made.unwrap().success());
    let server = ["[", "qemu-nbd", "-f", "qcow2", name(&image), "]"];
    haul().args(["copy", "-q", "--yes", name(&raw)]).args(server).assert().success();
    haul().args(["copy", "-q"]).args(server).arg(&back).assert().success();
    cmp(&raw, &back);
    haul().args(["verify", "-q"]).args(server).arg(&back).assert().success();
    haul().args(["copy", "--dry-run"]).args(server).arg(dir.path().join("other")).assert().success();
}

#[test]
fn the_disk_in_an_image_is_copied_through_qemu_nbd() {
    if !has("qemu-nbd") || !has("qemu-img") {
        return skip("qemu-nbd and qemu-img are not installed");
    }
    let dir = scratch();
    let (raw, image, back) = (dir.path().join("raw"), dir.path().join("an image"), dir.path().join("back"));
    write_noise(&raw, 8 * MIB, 9);
    for format in ["qcow2", "vmdk", "vhdx"] {
        let _ = fs::remove_file(&image);
        let made = Command::new("qemu-img").args(["create", "-q", "-f", format, name(&image), "8M"]).status();
        assert!(made.unwrap().success());
        let address = format!("{format}:{}", name(&image));
        copy(&["--verify", name(&raw), &address]);
        let convert = ["convert", "-f", format, "-O", "raw", name(&image), name(&back)];
        assert!(Command::new("qemu-img").args(convert).status().unwrap().success());
        cmp(&raw, &back);
        fs::remove_file(&back).unwrap();
        copy(&[&address, name(&back)]);
        cmp(&raw, &back);
    }
    let missing = format!("qcow2:{}", name(&dir.path().join("missing")));
    let messages = stderr(&haul().args(["copy", &missing, name(&back)]).assert().code(1));
    assert!(messages.contains("its server qemu-nbd ended with exit status: 1"), "{messages}");
    // Another format is not guessed.
    let wrong = format!("qcow2:{}", name(&raw));
    haul().args(["copy", &wrong, name(&back)]).assert().code(1);
    // A file of such a name is named as a path.
    fs::write(dir.path().join("qcow2:x"), "text").unwrap();
    haul().current_dir(dir.path()).args(["copy", "-q", "./qcow2:x", "out"]).assert().success();
    assert_eq!(fs::read(dir.path().join("out")).unwrap(), b"text");
}

//! Compressed resources of web servers: their content goes to a device, the resource itself to a file.
use crate::support::{
    FaultyServer, LoopDevice, Reply, cmp, cmp_ranges, filled, has, in_one_line, name, scratch, skip, web_haul,
    write_noise,
};
use std::fs;
use std::process::Command;

const MIB: usize = 1 << 20;

#[test]
fn a_compressed_resource_is_decompressed_to_a_device_with_and_without_ranges() {
    if !has("xz") {
        return skip("xz is not installed");
    }
    let dir = scratch();
    let [plain, backing, copy] = ["plain", "backing", "copy"].map(|name| dir.path().join(name));
    write_noise(&plain, 5 * MIB, 31);
    filled(&backing, 8 * MIB, 7);
    assert!(Command::new("xz").args(["-0", "-k"]).arg(&plain).status().unwrap().success());
    let packed = dir.path().join("plain.xz");
    let Some(disk) = LoopDevice::over(&backing) else { return };
    let bytes = fs::read(&packed).unwrap();
    for has_ranges in [true, false] {
        let served = bytes.clone();
        let server = FaultyServer::start(move |asked| match has_ranges {
            true => Reply::ranged(asked, &served),
            false => Reply::whole(&served),
        });
        let (url, device) = (server.url("plain.xz"), name(disk.path()).to_owned());
        let run = |arguments: &[&str]| web_haul().args(["copy", "--yes"]).args(arguments).output().unwrap();
        let output = run(&["--verify", &url, &device]);
        let messages = in_one_line(&output.stderr);
        assert!(output.status.success() && messages.contains("decompressing source"), "{messages}");
        assert!(!messages.contains("Content-Length"), "{messages}");
        cmp_ranges(&plain, 0, disk.path(), 0, 5 * MIB as u64);
        assert!(run(&[&url, name(&copy)]).status.success());
        cmp(&packed, &copy);
        fs::remove_file(&copy).unwrap();
        assert!(run(&["--as-is", &url, &device]).status.success());
        cmp_ranges(&packed, 0, disk.path(), 0, bytes.len() as u64);
        assert!(!run(&["--resume", &url, &device]).status.success());
        // A body that ends before its length is no success, whatever the decoder has of it.
        let (served, cut_at) = (bytes.clone(), Some(bytes.len() - 10));
        let server = FaultyServer::start(move |_| Reply { cut_at, ..Reply::whole(&served) });
        let output = run(&[&server.url("plain.xz"), &device]);
        assert_eq!(output.status.code(), Some(1), "{}", in_one_line(&output.stderr));
    }
}

//! Disk images that are not raw: recognized, never taken for their content without being asked.
use crate::support::{
    FaultyServer, LoopDevice, Reply, cmp, cmp_ranges, filled, has, haul, in_one_line, name, scratch, skip, stderr,
    web_haul,
};
use std::fs;
use std::process::Command;

const MIB: usize = 1 << 20;

#[test]
fn an_image_that_is_not_raw_is_copied_to_a_device_with_a_warning() {
    if !has("qemu-img") {
        return skip("qemu-img is not installed");
    }
    let dir = scratch();
    let (backing, out) = (dir.path().join("disk"), dir.path().join("out"));
    filled(&backing, 8 * MIB, 0);
    let Some(device) = LoopDevice::over(&backing) else { return };
    for (format, words, advice) in [
        ("qcow2", "qcow2 image", "qcow2:"),
        ("vmdk", "VMDK image", "vmdk:"),
        ("vhdx", "VHDX image", "vhdx:"),
        ("vdi", "VDI image", "qemu-img convert"),
        ("vpc", "VHD image", "qemu-img convert"),
        ("raw", "", ""),
    ] {
        let image = dir.path().join(format!("image.{format}"));
        let output =
            Command::new("qemu-img").args(["create", "-q", "-f", format, name(&image), "2M"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let run = |arguments: &[&str]| haul().args(["copy", "--yes"]).args(arguments).assert().success();
        let messages = stderr(&run(&[name(&image), name(device.path())]));
        cmp_ranges(&image, 0, device.path(), 0, fs::metadata(&image).unwrap().len());
        let warned = messages.contains("looks like a");
        assert_eq!(warned, !words.is_empty(), "{messages}");
        if warned {
            assert!(messages.contains(words) && messages.contains(advice), "{messages}");
        }
        let bytes = fs::read(&image).unwrap();
        let server = FaultyServer::start(move |asked| match asked.target.as_str() {
            "/image" => Reply::ranged(asked, &bytes),
            _ => Reply::status(404),
        });
        let output = web_haul().args(["copy", "--yes", &server.url("image"), name(device.path())]).output().unwrap();
        assert!(output.status.success());
        assert_eq!(in_one_line(&output.stderr).contains("looks like a"), warned, "{format}");
        // A file is copied as any other, and --as-is says that it is intended.
        assert!(!stderr(&run(&[name(&image), name(&out)])).contains("looks like a"));
        cmp(&image, &out);
        assert!(!stderr(&run(&["--as-is", name(&image), name(device.path())])).contains("looks like a"));
    }
}

//! The OCI image: its configuration, and running it as the configured user.
use crate::root::{VERSION, assert_haul_works, inside, messages, package, run};
use crate::support::{ScratchDir, has, is_root, memory_dir, scratch, skip};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

/// The layout of the image, unpacked from its archive.
fn layout() -> Option<ScratchDir> {
    let archive = package("haul-", ".tar").filter(|_| has("sha256sum"))?;
    let dir = scratch();
    run(Command::new("tar").arg("-C").arg(dir.path()).arg("-xf").arg(archive));
    Some(dir)
}

fn json(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&fs::read(path).expect("it exists")).expect("it is JSON")
}

/// The blob of a descriptor; asserts that its digest is that of its name.
fn blob(layout: &Path, descriptor: &Value) -> std::path::PathBuf {
    let digest = descriptor["digest"].as_str().and_then(|digest| digest.strip_prefix("sha256:")).expect("it has one");
    let path = layout.join("blobs/sha256").join(digest);
    assert_eq!(run(Command::new("sha256sum").arg(&path)).split(' ').next(), Some(digest));
    assert_eq!(descriptor["size"], fs::metadata(&path).unwrap().len());
    path
}

#[test]
fn the_image_has_this_version_a_non_root_user_and_labels() {
    let Some(layout) = layout() else { return };
    let index = json(layout.path().join("index.json"));
    assert_eq!(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], VERSION);
    let manifest = json(blob(layout.path(), &index["manifests"][0]));
    let image = json(blob(layout.path(), &manifest["config"]));
    for layer in manifest["layers"].as_array().expect("it has layers") {
        blob(layout.path(), layer);
    }
    let config = &image["config"];
    assert_eq!(config["User"], "65532:65532");
    assert_eq!(config["Entrypoint"], serde_json::json!(["/usr/bin/haul"]));
    assert_eq!(config["WorkingDir"], "/data");
    assert_eq!(image["os"], "linux");
    for (label, value) in [("title", "haul"), ("version", VERSION), ("licenses", "MIT OR Apache-2.0")] {
        assert_eq!(config["Labels"][format!("org.opencontainers.image.{label}")], value);
    }
    // No unused blob remains from earlier builds of the image.
    let blobs = fs::read_dir(layout.path().join("blobs/sha256")).unwrap().count();
    assert_eq!(blobs, 2 + manifest["layers"].as_array().map_or(0, Vec::len));
}

#[test]
fn the_unpacked_image_copies_and_verifies_as_its_user() {
    let Some(layout) = layout() else { return };
    if !has("umoci") {
        return;
    }
    if !is_root() {
        return skip("only root changes its root and user");
    }
    let dir = memory_dir();
    let bundle = dir.path().join("bundle");
    let image = format!("{}:{VERSION}", layout.path().display());
    run(Command::new("umoci").args(["unpack", "--image", &image]).arg(&bundle));
    let process = &json(bundle.join("config.json"))["process"];
    let user = format!("{}:{}", process["user"]["uid"], process["user"]["gid"]);
    let program = process["args"][0].as_str().expect("it has an entry point");
    let root = bundle.join("rootfs");

    assert_haul_works(&root, Some(&user), program, "/data");
    assert_eq!(fs::metadata(root.join("data/copy")).unwrap().uid(), 65532);
    let output = inside(&root, Some(&user), &[program, "copy", "/data/copy", "/usr/bin/copy"]).output().unwrap();
    assert!(!output.status.success() && messages(&output).contains("/usr/bin/copy"), "{}", messages(&output));
    assert!(!root.join("usr/bin/copy").exists());
}

//! The checksums and the bill of materials that `make dist` creates.
use crate::root::{dist, package, run};
use crate::support::skip;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

#[test]
fn each_package_has_its_checksum() {
    let Ok(sums) = fs::read_to_string(dist().join("SHA256SUMS")) else {
        return skip("there are no checksums in target/dist; make them with: make dist");
    };
    run(Command::new("sha256sum").args(["--check", "--strict", "--quiet", "SHA256SUMS"]).current_dir(dist()));
    let summed: BTreeSet<&str> = sums.lines().filter_map(|line| line.split("  ").nth(1)).collect();
    let names: Vec<String> =
        fs::read_dir(dist()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    let packages = names.iter().map(String::as_str).filter(|name| name.starts_with("haul"));
    assert_eq!(summed, packages.collect());
}

#[test]
fn the_sbom_has_each_library_of_the_binary_and_no_local_path() {
    let Some(path) = package("haul-", ".cdx.json") else { return };
    let text = fs::read_to_string(path).unwrap();
    let bill: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(bill["bomFormat"], "CycloneDX");
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "it names a place on this machine");
    let components = bill["components"].as_array().expect("it has components");
    let listed: BTreeSet<String> =
        components.iter().map(|one| format!("{} v{}", text_of(&one["name"]), text_of(&one["version"]))).collect();

    let tree = ["tree", "--locked", "-p", "haul", "-e", "normal", "--prefix", "none", "--format", "{p}"];
    let used = run(Command::new(env!("CARGO")).args(tree).current_dir(env!("CARGO_MANIFEST_DIR")));
    let used = used.lines().filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        let name = format!("{name} {}", rest.split(' ').next()?);
        // Procedural macros run in the compiler and are not part of the binary.
        (!line.contains("proc-macro") && !line.starts_with("haul ")).then_some(name)
    });
    let missing: BTreeSet<String> = used.filter(|name| !listed.contains(name)).collect();
    assert!(listed.len() > 40 && missing.is_empty(), "missing: {missing:?}");
}

fn text_of(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or_default()
}

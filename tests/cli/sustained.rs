//! `haul profile --write --sustained` as users run it. Its results are tested on modelled disks, in bench.
use crate::support::{LoopDevice, haul, memory_dir, scratch, stderr, write_noise};
use serde_json::Value;
use std::fs;
use std::path::Path;

const MIB: u64 = 1 << 20;

fn sustained(state: &Path) -> assert_cmd::Command {
    let mut command = haul();
    command.env("XDG_STATE_HOME", state).args(["profile", "--write", "--yes", "--sustained", "64M"]);
    command
}

fn report(command: &mut assert_cmd::Command) -> (Value, String) {
    let run = command.arg("--json").assert().success();
    (serde_json::from_slice(&run.get_output().stdout).unwrap(), stderr(&run))
}

#[test]
fn a_new_file_is_written_continuously_and_removed() {
    let dir = scratch();
    let (found, _) = report(sustained(dir.path()).arg(dir.path().join("new")));
    assert_eq!((&found["report"], &found["ended"]), (&"sustained".into(), &"complete".into()));
    assert_eq!((&found["written"]["ground"], &found["went_round"]), (&"new file".into(), &false.into()));
    assert_eq!(found["written"]["bytes"], 64 * MIB);
    let written = found["written_bytes"].as_u64().unwrap();
    assert!(written == 64 * MIB || found["settled"] == true, "{found}");
    let (steps, stages) = (found["steps"].as_array().unwrap(), found["stages"].as_array().unwrap());
    let last = steps.last().unwrap();
    assert!(steps.len() >= 4 && last["bytes"].as_u64() <= Some(written), "{found}");
    assert_eq!((&stages[0]["from_bytes"], &stages.last().unwrap()["to_bytes"]), (&0.into(), &last["bytes"]));
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none(), "the file is still there");
    let text = sustained(dir.path()).arg(dir.path()).assert().success();
    let text = String::from_utf8_lossy(&text.get_output().stdout).into_owned();
    for words in ["rate\n", "rate over time", "sustained  ", "total ", "flushing", "temporary file"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let csv = sustained(dir.path()).arg("--csv").arg(dir.path()).assert().success();
    let csv = String::from_utf8_lossy(&csv.get_output().stdout).into_owned();
    assert!(csv.starts_with("bytes,seconds,bytes_per_s\n") && csv.lines().count() > 4, "{csv}");
}

#[test]
fn a_device_is_overwritten_from_its_start_after_a_warning() {
    let dir = memory_dir();
    let image = dir.path().join("image");
    let bytes = write_noise(&image, 24 << 20, 1);
    let Some(disk) = LoopDevice::over(&image) else { return };
    let (kept, warned) = report(sustained(dir.path()).arg(disk.path()));
    assert_eq!((&kept["written"]["ground"], &kept["went_round"]), (&"kept".into(), &true.into()));
    assert!(kept["written"]["put_back_bytes"].as_u64() > Some(0), "{kept}");
    assert!(warned.replace('\n', " ").contains("repeatedly"), "{warned}");
    disk.wait_until_free();
    assert!(fs::read(&image).unwrap() == bytes, "what was kept is not back");
    let (all, warned) = report(sustained(dir.path()).arg("--destroy").arg(disk.path()));
    assert_eq!((&all["written"]["ground"], &all["went_round"]), (&"all".into(), &true.into()));
    assert!(warned.contains("overwritten repeatedly"), "{warned}");
    disk.wait_until_free();
    let now = fs::read(&image).unwrap();
    assert!(now.chunks(4096).zip(bytes.chunks(4096)).all(|(now, then)| now != then), "it was not all written over");
}

#[test]
fn invalid_options_of_sustained_writing_are_refused() {
    let dir = scratch();
    let path = dir.path().to_str().unwrap();
    for words in [
        &["profile", "--sustained", "64M", path][..],
        &["profile", "--write", "--sustained", "1M", path],
        &["profile", "--write", "--sustained", "64M", "--positions", "9", path],
    ] {
        haul().args(words).assert().code(2);
    }
}

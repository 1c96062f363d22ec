//! The users of a device or file.
use super::guards::{Image, Loop, Mapped, Mounted, or_skip, run};
use haul::core::InUse;
use haul::disks::probe;
use std::fs::OpenOptions;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn held(device: &str, by: &str) -> InUse {
    InUse::Held { device: device.to_owned(), by: by.to_owned() }
}

#[test]
fn a_mounted_device_and_its_file_are_in_use() {
    let image = Image::new(16);
    let Some(device) = Loop::over(&image.path, &[]) else { return };
    let Some(mounted) = Mounted::new(&device.path, &image.beside("a mount point")) else { return };
    let mut expected = vec![InUse::Mounted { device: device.name().to_owned(), at: mounted.at.clone() }];
    assert_eq!(probe::dest(&device.path).unwrap().in_use, expected);
    assert_eq!(probe::source(&device.path).unwrap().in_use, expected);
    expected.push(held(&image.path, device.name()));
    assert_eq!(probe::dest(&image.path).unwrap().in_use, expected);
}

#[test]
fn a_mounted_partition_blocks_itself_and_the_disk_but_not_its_neighbour() {
    let image = Image::new(16);
    let Some(device) = Loop::partitioned(&image.path) else { return };
    let (one, two) = (format!("{}p1", device.path), format!("{}p2", device.path));
    let Some(mounted) = Mounted::new(&one, &image.beside("at")) else { return };
    let expected = [InUse::Mounted { device: device.name().to_owned() + "p1", at: mounted.at.clone() }];
    assert_eq!(probe::dest(&device.path).unwrap().in_use, expected);
    assert_eq!(probe::dest(&one).unwrap().in_use, expected);
    assert_eq!(probe::dest(&two).unwrap().in_use, []);
}

#[test]
fn a_loop_device_over_a_range_of_a_device_blocks_only_that_range() {
    let image = Image::new(16);
    let Some(device) = Loop::partitioned(&image.path) else { return };
    let range = ["--offset", "8388608", "--sizelimit", "4194304"];
    let Some(upper) = Loop::over(&device.path, &range) else { return };
    let expected = [held(device.name(), upper.name())];
    assert_eq!(probe::dest(&device.path).unwrap().in_use, expected);
    assert_eq!(probe::dest(&format!("{}p2", device.path)).unwrap().in_use, expected);
    assert_eq!(probe::dest(&format!("{}p1", device.path)).unwrap().in_use, []);
    assert_eq!(probe::dest(&upper.path).unwrap().in_use, [], "its own backing device does not hold it");
    let Some(mounted) = Mounted::new(&format!("{}p2", device.path), &image.beside("at")) else { return };
    let beneath = InUse::Mounted { device: device.name().to_owned() + "p2", at: mounted.at.clone() };
    assert_eq!(probe::dest(&upper.path).unwrap().in_use, [beneath], "the same bytes are mounted below");
}

#[test]
fn a_second_loop_device_over_one_file_counts_as_a_user() {
    let image = Image::new(4);
    let Some(one) = Loop::over(&image.path, &[]) else { return };
    assert_eq!(probe::dest(&one.path).unwrap().in_use, []);
    let Some(two) = Loop::over(&image.path, &[]) else { return };
    assert_eq!(probe::dest(&one.path).unwrap().in_use, [held(&image.path, two.name())]);
}

#[test]
fn a_mapped_device_holds_its_parts_and_is_free_itself() {
    let image = Image::new(4);
    let Some(device) = Loop::over(&image.path, &[]) else { return };
    let Some(mapped) = Mapped::linear(&device.path) else { return };
    let users = probe::dest(&device.path).unwrap().in_use;
    assert!(matches!(&users[..], [InUse::Held { device: part, by }] if part == device.name() && by.starts_with("dm-")));
    assert_eq!(probe::dest(&mapped.node).unwrap().in_use, []);
}

#[test]
fn a_hidden_claim_is_found_by_an_exclusive_open_of_the_dest_only() {
    let image = Image::new(4);
    let Some(device) = Loop::over(&image.path, &[]) else { return };
    let claim = OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(&device.path).unwrap();
    assert_eq!(probe::dest(&device.path).unwrap().in_use, [InUse::Exclusive]);
    assert_eq!(probe::source(&device.path).unwrap().in_use, []);
    drop(claim);
    // A program that another test is just starting inherits the claim until it executes.
    let users = || probe::dest(&device.path).unwrap().in_use;
    let until = Instant::now() + Duration::from_secs(60);
    while !users().is_empty() && Instant::now() < until {
        sleep(Duration::from_millis(2));
    }
    assert_eq!(users(), []);
}

#[test]
fn swap_space_is_in_use_as_a_file_and_as_a_device() {
    let dir = crate::support::ScratchDir::below("/var/tmp").unwrap();
    let file = dir.path().join("swap file");
    let file = file.to_str().unwrap();
    std::fs::write(file, vec![0; 1 << 20]).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
    if or_skip(run(&["mkswap", file]).and_then(|_| run(&["swapon", file]))).is_none() {
        return;
    }
    let users = probe::dest(file).unwrap().in_use;
    run(&["swapoff", file]).unwrap();
    assert_eq!(users, [InUse::Swap { device: file.to_owned() }]);
}

#[test]
fn the_disk_of_the_running_system_is_in_use() {
    let Ok(source) = run(&["findmnt", "-n", "-o", "MAJ:MIN", "/"]) else { return };
    let Ok(dir) = std::fs::canonicalize(format!("/sys/dev/block/{}", source.trim())) else {
        eprintln!("SKIPPED: / is on no block device here");
        return;
    };
    let node = format!("/dev/{}", dir.file_name().unwrap().to_str().unwrap());
    // Probed as a source: the test never treats it as a dest.
    let Ok(facts) = probe::source(&node) else { return eprintln!("SKIPPED: {node} may not be read") };
    let system = InUse::System { at: "/".into() };
    assert_eq!(facts.in_use.first(), Some(&system), "{:?}", facts.in_use);
}

//! What `haul rescue` refuses, and maps of other programs and sources.
use crate::rescue::areas;
use crate::support::{LoopDevice, haul, scratch, stderr, write_noise};
use std::fs;

#[test]
fn values_that_are_no_sizes_times_or_files_are_refused() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 70_000, 5);
    let wrong: [&[&str]; 12] = [
        &["-K", ","],
        &["-K", "0,"],
        &["-K", "0,65535"],
        &["-K", "128K,64K"],
        &["-K", "1,128K"],
        &["-K", "64K,128K,"],
        &["--stop-after", "1.5.5d"],
        &["--stop-after", "-1"],
        &["--stop-after", "1e3"],
        &["--stop-after", "366d"],
        &["--log-events", "-"],
        &["--domain", "-"],
    ];
    for options in wrong {
        haul().current_dir(dir.path()).arg("rescue").args(options).args([&source, &dest]).assert().code(2);
        assert!(!dest.exists() && !dir.path().join("-").exists(), "{options:?}");
    }
    haul().current_dir(dir.path()).arg("rescue").args([&source, &dest]).arg("-").assert().code(2);
    for options in [["-K", ",128K"], ["-K", "0,64K"], ["--stop-after", "1.5d"], ["--stop-after", "0.5m"]] {
        haul().arg("rescue").args(options).args([&source, &dest]).assert().code(0);
    }
}

/// Another program may have had smaller sectors than the source has.
#[test]
fn a_map_with_borders_within_sectors_is_continued() {
    let dir = scratch();
    let (source, dest, map) = (dir.path().join("source"), dir.path().join("dest"), dir.path().join("map"));
    write_noise(&source, 16_384, 5);
    let data = fs::read(&source).unwrap();
    let rescued = [0..100, 4_200..4_300, 9_000..16_384_usize];
    let mut begun = vec![0; 16_384];
    rescued.iter().for_each(|part| begun[part.clone()].copy_from_slice(&data[part.clone()]));
    fs::write(&dest, begun).unwrap();
    let blocks = "0 100 +\n100 300 /\n400 100 ?\n500 3700 *\n4200 100 +\n4300 4700 /\n9000 7384 +\n";
    fs::write(&map, format!("0 ? 1\n{blocks}")).unwrap();
    haul().arg("rescue").args([&source, &dest, &map]).assert().code(0);
    assert!(fs::read(&dest).unwrap() == data);
    assert_eq!(areas(&map, '+').first(), Some(&(0..16_384)));
}

#[test]
fn files_that_are_named_twice_under_any_name_are_refused() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 70_000, 5);
    let map = "0 ? 1\n0 70000 +\n";
    fs::write(dir.path().join("domain"), map).unwrap();
    fs::hard_link(dir.path().join("domain"), dir.path().join("link")).unwrap();
    let wrong: [&[&str]; 5] = [
        &["--domain", "domain", "source", "dest", "./domain"],
        &["--domain", "domain", "source", "dest", "link"],
        &["--log-reads", "domain", "--domain", "link", "source", "dest", "map"],
        &["--log-reads", "./map", "source", "dest", "map"],
        &["--domain", "source", "source", "dest", "map"],
    ];
    for words in wrong {
        let refused = haul().current_dir(dir.path()).arg("rescue").args(words).assert().failure();
        assert!([2, 3].contains(&refused.get_output().status.code().unwrap()), "{words:?}: {}", stderr(&refused));
        assert!(!dest.exists() && !dir.path().join("map").exists(), "{words:?}");
        assert_eq!(fs::read_to_string(dir.path().join("domain")).unwrap(), map);
    }
}

#[test]
fn a_domain_of_another_source_is_refused() {
    let dir = scratch();
    let (source, dest, domain) = (dir.path().join("source"), dir.path().join("dest"), dir.path().join("domain"));
    write_noise(&source, 70_000, 5);
    for blocks in ["", "0 1000 ?\n", "0 100000 ?\n100000 10 +\n", "0 70001 +\n"] {
        fs::write(&domain, format!("0 ? 1\n{blocks}")).unwrap();
        let refused = haul().arg("rescue").arg("--domain").args([&domain, &source, &dest]).assert().code(3);
        assert!(stderr(&refused).contains("domain"), "{}", stderr(&refused));
        assert!(!dest.exists());
    }
}

#[test]
fn a_stream_is_no_destination_because_it_is_written_in_order() {
    let dir = scratch();
    let (source, map) = (dir.path().join("source"), dir.path().join("map"));
    write_noise(&source, 70_000, 5);
    let refused = haul().arg("rescue").arg(&source).arg("-").arg(&map).assert().code(2).stdout("");
    assert!(stderr(&refused).contains("cannot rescue into"), "{}", stderr(&refused));
    assert!(!map.exists());
}

#[test]
fn a_map_of_a_longer_source_is_continued_with_a_warning() {
    let dir = scratch();
    let (source, map) = (dir.path().join("source"), dir.path().join("map"));
    write_noise(&source, 70_000, 5);
    for (end, warns) in [(140_000_u64, true), (i64::MAX as u64, false), (70_000, false), (60_000, false)] {
        let dest = dir.path().join(format!("dest{end}"));
        fs::write(&map, format!("0 ? 1\n0 {end} ?\n")).unwrap();
        let messages = stderr(&haul().arg("rescue").args([&source, &dest, &map]).assert().code(0));
        assert_eq!(messages.contains("this one has 70000"), warns, "{messages}");
        assert_eq!(areas(&map, '+').first(), Some(&(0..70_000)));
    }
}

#[test]
fn advice_names_no_option_that_a_rescue_lacks() {
    let dir = scratch();
    let (source, backing, map) = (dir.path().join("source"), dir.path().join("backing"), dir.path().join("map"));
    write_noise(&source, 70_000, 5);
    let same = stderr(&haul().arg("rescue").args([&source, &source, &map]).assert().code(3));
    assert!(same.contains("the same data") && !same.contains("--s"), "{same}");
    // What remains says what to do.
    assert!(same.contains("Name another destination."), "{same}");
    fs::write(&backing, vec![7; 65_536]).unwrap();
    if let Some(small) = LoopDevice::over(&backing) {
        let small = stderr(&haul().args(["rescue", "--yes"]).arg(&source).arg(small.path()).arg(&map).assert().code(3));
        assert!(small.contains("too small") && small.contains("Use a larger device."), "{small}");
    }
    fs::remove_file(&backing).unwrap();
    let endless = stderr(&haul().arg("rescue").arg("/dev/zero").args([&backing, &map]).assert().code(2));
    assert!(!endless.contains("--count"), "{endless}");
}

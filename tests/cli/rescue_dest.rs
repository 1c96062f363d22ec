//! Destinations of `haul rescue` that fail, are full, or are not those of the map.
use crate::rescue::areas;
use crate::support::{FailingDisk, Fails, Running, haul, in_one_line, scratch, stderr, write_noise};
use rustix::process::Signal;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

const LEN: u64 = 3 << 20;

/// A disk whose middle has data, and most of which is zeros.
fn write_source(path: &Path) -> Vec<u8> {
    let data = write_noise(path, LEN as usize, 29);
    let mut mostly_zeros = vec![0; LEN as usize];
    mostly_zeros[1_000_000..1_500_000].copy_from_slice(&data[1_000_000..1_500_000]);
    fs::write(path, &mostly_zeros).unwrap();
    mostly_zeros
}

#[test]
fn a_map_is_not_continued_on_another_destination() {
    let dir = scratch();
    let [source, dest, map, moved] = ["source", "dest", "map", "moved"].map(|name| dir.path().join(name));
    let data = write_source(&source);
    let run = |dest: &Path| haul().arg("rescue").args([source.as_path(), dest, &map]).assert();
    let begin = dir.path().join("begin");
    fs::write(&begin, format!("0 ? 1\n0 2000000 +\n2000000 {} ?\n", LEN - 2_000_000)).unwrap();
    haul().args(["rescue", "--domain"]).args([&begin, &source, &dest, &map]).assert().code(0);
    assert_eq!(areas(&map, '+'), std::slice::from_ref(&(0..2_000_000)));
    // A file may have another name, and the map names the new one.
    fs::rename(&dest, &moved).unwrap();
    run(&moved).code(0);
    assert!(fs::read(&moved).unwrap() == data);
    let text = fs::read_to_string(&map).unwrap();
    assert!(text.contains("# Destination: ") && text.contains("/moved\""), "{text}");
    // An empty one of the same length is another, and so is one with other data.
    let mut others = vec![7; LEN as usize];
    for _ in 0..2 {
        fs::write(&dest, &others).unwrap();
        let refused = stderr(&run(&dest).code(3));
        assert!(refused.contains("does not have what mapfile") && refused.contains("at byte"), "{refused}");
        assert!(refused.contains("# Destination:") && refused.contains("/dest"), "{refused}");
        assert!(fs::read(&dest).unwrap() == others && fs::read_to_string(&map).unwrap() == text);
        others.fill(0);
    }
    // As the advice has it.
    let unnamed: String =
        text.lines().filter(|line| !line.contains("# Dest")).map(|line| format!("{line}\n")).collect();
    fs::write(&map, unnamed).unwrap();
    run(&dest).code(0);
    let named = fs::read_to_string(&map).unwrap();
    assert!(named.contains("# Destination: ") && named.contains("/dest\""), "{named}");
}

#[test]
fn a_map_that_cannot_be_written_at_the_end_is_said_to_lack_the_rest() {
    let dir = scratch();
    let [source, dest, map] = ["source", "dest", "map"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    write_noise(source.as_ref(), LEN as usize, 29);
    let arguments = ["rescue", "--max-read-rate", "2M", &source, &dest, &map];
    let mut running = Running::start(&arguments, Stdio::null(), Stdio::null());
    running.wait_for_handler(libc::SIGINT);
    running.read_until(|line| line.contains("rescuing"));
    while fs::read(&dest).map_or(true, |dest| dest.iter().all(|byte| *byte == 0)) {
        thread::sleep(Duration::from_millis(10));
    }
    // Another program has put its own file there.
    fs::remove_file(&map).unwrap();
    fs::write(&map, "of another program").unwrap();
    running.signal(Signal::INT);
    running.end_by(libc::SIGINT);
    let messages = in_one_line(&running.messages);
    assert!(messages.contains("does not list what was rescued since its last writing"), "{messages}");
    assert_eq!(fs::read_to_string(&map).unwrap(), "of another program");
}

#[test]
fn a_destination_that_fails_loses_nothing_and_the_rescue_continues() {
    let dir = scratch();
    let [source, backing, map, gate] = ["source", "backing", "map", "gate"].map(|name| dir.path().join(name));
    let data = write_noise(&source, LEN as usize, 29);
    for bad in [0..4096, 1_503_232..1_507_328, LEN - 4096..LEN] {
        let below = dir.path().join(format!("at{}", bad.start));
        fs::create_dir(&below).unwrap();
        File::create(&backing).unwrap().set_len(LEN).unwrap();
        fs::write(&map, "").unwrap();
        fs::write(&gate, "").unwrap();
        let fails = [Fails::Writes];
        let Some(disk) = FailingDisk::while_gate_exists(&below, &backing, &fails, bad.clone(), &gate) else { return };
        let run = || haul().args(["rescue", "--yes"]).arg(&source).arg(disk.path()).arg(&map).assert();
        let failed = stderr(&run().code(1));
        assert!(
            failed.contains("cannot write destination")
                && failed.contains("at byte")
                && failed.contains("continue haul rescue"),
            "{bad:?}: {failed}"
        );
        let written = fs::read(&backing).unwrap();
        for area in areas(&map, '+') {
            let area = area.start as usize..area.end as usize;
            assert!(written[area.clone()] == data[area.clone()], "{bad:?}: {area:?} is not there");
        }
        fs::remove_file(&gate).unwrap();
        run().code(0);
        assert!(fs::read(&backing).unwrap() == data, "{bad:?}");
    }
}

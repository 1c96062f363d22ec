//! A copy to a compressed file that is repeatedly killed at any moment and resumed. The programs of the formats check
//! the files.
//!
//! HAUL_CRASH_KILLS sets the number of kills, HAUL_CRASH_SEED their moments.
use crate::compressed_files::{claimed, formats, unpacked};
use crate::support::{haul, haul_path, name, noise, repeated, scratch, wait_until};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

const MIB: usize = 1 << 20;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Kills copies to a file that ends as `end` `kills` times, and lets the last one end.
fn kill_again_and_again(end: &str, program: &str, kills: u64, seed: u64) {
    let dir = scratch();
    let (source, packed) = (dir.path().join("image"), dir.path().join(format!("disk.{end}")));
    let journal = dir.path().join(format!(".disk.{end}.haul-journal"));
    // Three frames of zstd and gzip, or two blocks of xz, and a part of one.
    let len = if end == "xz" { 36 * MIB + 321 } else { 26 * MIB + 321 };
    let mut bytes = repeated(&noise(5000, 91), len);
    bytes[9 * MIB..18 * MIB].fill(0);
    bytes[2 * MIB..3 * MIB].copy_from_slice(&noise(MIB, 92));
    fs::write(&source, &bytes).unwrap();
    let levels = [format!("{end}:1"), format!("{end}:2")];
    let (mut random, mut resumed) = (fastrand::Rng::with_seed(seed), 0);
    let command = |compress: &str, resume: bool| {
        let mut command = Command::new(haul_path());
        command.args(["copy", "--limit", "80M", "--block-size", "64K", "--progress", "none", "--checkpoint", "0.02"]);
        command.args(["--compress", compress]).args(resume.then_some("--resume"));
        command.args([&source, &packed]).stderr(Stdio::null());
        command
    };
    for kill in 0..kills {
        let before = claimed(&journal);
        let last = before.unwrap_or(0);
        // Another level changes the size of the frames that follow.
        let mut copy = command(&levels[random.usize(..2)], before.is_some()).spawn().unwrap();
        if !random.u8(..).is_multiple_of(4) {
            let more = || claimed(&journal).is_some_and(|durable| durable > last);
            wait_until(|| more() || copy.try_wait().unwrap().is_some());
        }
        std::thread::sleep(Duration::from_millis(random.u64(..120)));
        copy.kill().unwrap();
        let is_completed = copy.wait().unwrap().success();
        resumed += u64::from(before.is_some());
        let (found, content) = unpacked(program, &packed);
        let now = claimed(&journal);
        assert!(bytes.starts_with(&content), "{end}: kill {kill} of {seed}: it has another content");
        if found || is_completed {
            // Otherwise it is incomplete for its program, too.
            assert!(found && content == bytes, "{end}: kill {kill} of {seed}: it looks complete");
        }
        match now {
            Some(now) => {
                assert!(content.len() as u64 >= now, "{end}: kill {kill} of {seed}: {} of {now}", content.len());
            }
            // The next copy begins without an old file that is complete.
            None => drop(fs::remove_file(&packed)),
        }
    }
    let options: &[&str] = if journal.exists() { &["--resume"] } else { &[] };
    // The usual level of xz would take seconds.
    let level = ["--compress", &levels[0]];
    haul().arg("copy").args(options).args(level).args([name(&source), name(&packed)]).assert().success();
    assert!(unpacked(program, &packed) == (true, bytes), "{end}: the last copy");
    assert!(!journal.exists(), "{end}: a complete copy needs no journal");
    assert!(resumed > 0, "{end}: nothing was ever resumed");
    println!("{end}: {kills} kills, {resumed} of copies that continued");
}

#[test]
fn a_copy_to_a_compressed_file_killed_at_any_moment_and_resumed_has_the_content_of_its_source() {
    let (kills, seed) = (number("HAUL_CRASH_KILLS", 15), number("HAUL_CRASH_SEED", 1));
    let formats: Vec<_> = formats().collect();
    for (round, (end, program)) in formats.iter().enumerate() {
        kill_again_and_again(end, program, kills.div_ceil(formats.len() as u64), seed + round as u64);
    }
}

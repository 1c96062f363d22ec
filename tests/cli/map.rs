//! `haul map`: the operations of ddrescuelog, on maps drawn at random, and what it shows and refuses.
use crate::support::{Terminal, has, haul, haul_command, in_one_line, noise, scratch, skip};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A map of blocks with random sizes and statuses from a random offset; the same for the same `seed`.
fn random_map(seed: u64) -> String {
    let random = noise(256, seed);
    let mut map = format!(
        "# Mapfile. Of seed {seed}\n0x{:X} {} {}\n",
        random[0],
        ['?', '*', '/', '-'][random[1] as usize % 4],
        2
    );
    let (mut offset, mut before) = (u64::from(random[2] % 4) * 512, ' ');
    for pair in random[4..4 + 2 * (2 + random[3] as usize % 60)].chunks(2) {
        let status = ['?', '*', '/', '-', '+', '+'][pair[0] as usize % 6];
        // ddrescuelog keeps neighbours of the same status apart where it does not change them.
        if status == before {
            continue;
        }
        let len = 512 * (1 + u64::from(pair[1] % 16));
        map += &format!("{offset:#X} {len:#X} {status}\n").replace("0X", "0x");
        (offset, before) = (offset + len, status);
    }
    map
}

/// The map without every third block, but with the last.
fn without_some_blocks(map: &str) -> String {
    let lines: Vec<&str> = map.lines().collect();
    let kept = lines.iter().enumerate().filter(|(at, _)| at % 3 != 0 || *at == 0 || at + 1 == lines.len());
    kept.map(|(_, line)| format!("{line}\n")).collect()
}

/// The blocks of a map, without its comments and its status line.
fn blocks(map: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(map).into_owned();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split_ascii_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[track_caller]
fn made(dir: &Path, words: &[&str]) -> Vec<String> {
    let output = haul().current_dir(dir).arg("map").args(words).output().expect("it runs");
    assert!(output.status.success(), "{words:?}: {}", in_one_line(&output.stderr));
    blocks(&output.stdout)
}

#[test]
fn operations_give_the_maps_of_ddrescuelog() {
    if !has("ddrescuelog") {
        return skip("ddrescuelog is not installed");
    }
    let dir = scratch();
    let dir = dir.path();
    let peer = |words: &[&str]| {
        let output = Command::new("ddrescuelog").current_dir(dir).args(words).output().expect("it is installed");
        assert!(output.status.success(), "{words:?}: {}", in_one_line(&output.stderr));
        blocks(&output.stdout)
    };
    for seed in 0..12 {
        fs::write(dir.join("a"), random_map(2 * seed)).expect("the file can be written");
        fs::write(dir.join("b"), random_map(2 * seed + 1)).expect("the file can be written");
        assert_eq!(made(dir, &["and", "a", "b", "-"]), peer(&["-y", "b", "a"]), "and, seed {seed}");
        assert_eq!(made(dir, &["or", "a", "b", "-"]), peer(&["-z", "b", "a"]), "or, seed {seed}");
        assert_eq!(made(dir, &["xor", "a", "b", "-"]), peer(&["-x", "b", "a"]), "xor, seed {seed}");
        assert_eq!(made(dir, &["not", "a", "-"]), peer(&["-n", "a"]), "not, seed {seed}");
        let mut gaps = without_some_blocks(&random_map(2 * seed));
        if seed % 2 == 1 {
            let lines: Vec<&str> = gaps.lines().collect();
            // The comment and the status line stay first.
            gaps = lines[..2].iter().chain(lines[2..].iter().rev()).map(|line| format!("{line}\n")).collect();
        }
        fs::write(dir.join("gaps"), gaps).expect("the file can be written");
        let [mut ours, mut theirs] = [made(dir, &["complete", "gaps", "-"]), peer(&["-C", "gaps"])];
        if theirs.last().is_some_and(|block| block.ends_with('?')) {
            // ddrescuelog extends a last block that is not tried to the largest size that a map can have.
            ours.pop();
            theirs.pop();
        }
        assert_eq!(ours, theirs, "complete, seed {seed}");
        let status = |program: Command| {
            let mut program = program;
            program.current_dir(dir).output().expect("it runs").status.code()
        };
        let mut done = Command::new("ddrescuelog");
        done.args(["-D", "a"]);
        let mut ours = Command::new(crate::support::haul_path());
        ours.args(["map", "done", "a"]);
        assert_eq!(status(ours), status(done), "done, seed {seed}");
    }
}

#[test]
fn a_new_map_is_one_of_the_same_source_and_replaces_no_file() {
    let dir = scratch();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("a"), "# of disk X\n0x0 + 1\n0x0 0x1000 +\n").expect("the file can be written");
    fs::write(path("b"), "0x0 + 1\n0x0 0x800 +\n0x800 0x800 -\n").expect("the file can be written");
    let run = |words: &[&str]| haul().current_dir(dir.path()).arg("map").args(words).assert();
    run(&["and", "a", "b", "new"]).success().stdout("");
    let new = fs::read_to_string(path("new")).expect("it was made");
    assert!(new.starts_with("# of disk X\n"), "{new}");
    run(&["compare", "new", "b"]).success().stdout("");
    for existing in ["a", "b", "new"] {
        let before = fs::read(path(existing)).expect("it exists");
        run(&["not", "a", existing]).code(3);
        assert_eq!(fs::read(path(existing)).expect("it exists"), before, "{existing}");
    }
    let compared = run(&["compare", "a", "b"]).code(1);
    let text = in_one_line(&compared.get_output().stdout);
    assert!(
        text.contains("differ, first at byte 2048") && text.contains("rescued bad sectors 2.05 kB 1 area"),
        "{text}"
    );
    run(&["compare", "--quiet", "a", "b"]).code(1).stdout("");
    run(&["done", "a"]).success().stdout("");
    run(&["done", "b"]).code(1).stdout("");
    run(&["complete", "--size", "4095", "a", "-"]).code(2);
    run(&["show", "nosuch"]).code(1);
    fs::write(path("damaged"), "0x0 + 1\n0x0 0x1000 +\n0x2000 0x1000 +\n").expect("the file can be written");
    for words in [&["show", "damaged"][..], &["or", "a", "damaged", "other"], &["compare", "damaged", "a"]] {
        let refused = run(words).code(1);
        assert!(in_one_line(&refused.get_output().stderr).contains("line 3"), "{words:?}");
    }
    assert!(!path("other").exists());
}

#[test]
fn show_draws_as_wide_as_the_terminal() {
    let dir = scratch();
    let map = dir.path().join("a");
    fs::write(&map, "0x80000 - 3\n0x0 0x80000 +\n0x80000 0x200 -\n0x80200 0xFFE00 ?\n").expect("it fits");
    for columns in [60, 200] {
        let words = ["map", "show", map.to_str().expect("scratch paths are UTF-8")];
        let (shown, status) = Terminal::sized(columns, 40, haul_command(&words)).end();
        let lines = shown.lines();
        let drawn: Vec<&str> = lines.lines().filter(|line| line.ends_with(['+', '-', '?'])).collect();
        assert_eq!(status, 0, "{lines}");
        assert!((2..=16).contains(&drawn.len()) && drawn.iter().any(|line| line.contains("+-?")), "{lines}");
        assert!(drawn.iter().all(|line| line.len() <= columns as usize), "{lines}");
        assert!(drawn[0].len() + 4 > columns as usize, "{lines}");
        assert!(shown.text.contains("retrying, pass 3, at byte 524288"), "{lines}");
    }
}

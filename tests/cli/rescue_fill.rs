//! `haul rescue --fill` beside `ddrescue --fill-mode`: the same bytes, and nothing but the areas of the map.
use crate::support::{LoopDevice, has, haul, haul_path, in_one_line, scratch, stderr, write_noise};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A repeatable source of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_of<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// The blocks of a map, of any size and status, sometimes in whole sectors; and their end.
fn map(numbers: &mut Numbers) -> (String, u64) {
    let mut text = "0x0 ? 1\n".to_owned();
    let (unit, mut at) = (*numbers.one_of(&[&1, &512, &4096]), 0);
    for _ in 0..1 + numbers.below(12) {
        let most = *numbers.one_of(&[&4, &(200_000 / unit), &70]);
        let len = unit * (1 + numbers.below(most));
        text += &format!("{at:#x} {len:#x} {}\n", numbers.one_of(&["+", "-", "/", "*", "?"]));
        at += len;
    }
    for status in ["-", "*"] {
        text += &format!("{at:#x} 0x200 {status}\n");
        at += 512;
    }
    (text, at)
}

fn filled(command: &mut Command, data: &[u8]) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // More than the program takes: it closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(data);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", in_one_line(&output.stderr));
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

#[test]
fn the_same_bytes_are_filled_as_by_ddrescue() {
    if !has("ddrescue") {
        return;
    }
    let runs = std::env::var("HAUL_FILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let dir = scratch();
    let at = |name: &str| dir.path().join(name);
    let mut numbers = Numbers(7);
    for run in 0..runs {
        let (text, end) = map(&mut numbers);
        let data = match numbers.below(3) {
            0 => b"BAD-SECTOR ".to_vec(),
            1 => vec![0xA5],
            _ => (0..70_000u32).flat_map(u32::to_le_bytes).collect(),
        };
        let statuses = numbers.one_of(&["-", "?*/-", "l-", "/l*", "*?", "l?*-/"]);
        // The image of a disk whose end was not read may be shorter than the disk.
        let len = end + 1000 - numbers.below(2000).min(end);
        write_noise(&at("ours"), len as usize, run);
        fs::copy(at("ours"), at("theirs")).unwrap();
        fs::write(at("data"), &data).unwrap();
        ["map", "their-map"].iter().for_each(|name| fs::write(at(name), &text).unwrap());
        let data_from = if run % 2 == 0 { at("data") } else { "-".into() };
        let mut ours = Command::new(haul_path());
        ours.args(["rescue", "--progress", "none", "--fill", statuses]).args([&data_from, &at("ours"), &at("map")]);
        filled(&mut ours, &data);
        let mut theirs = Command::new("ddrescue");
        theirs.args(["-q", "-F", statuses]).args([at("data"), at("theirs"), at("their-map")]);
        filled(&mut theirs, b"");
        let (ours, theirs) = (read(&at("ours")), read(&at("theirs")));
        let differs = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
        assert_eq!((ours.len(), differs), (theirs.len(), None), "run {run}: {statuses} of\n{text}");
        assert_eq!(fs::read_to_string(at("map")).unwrap(), text, "the map was changed");
    }
}

#[test]
fn only_the_areas_of_a_device_are_filled_and_only_with_permission() {
    let dir = scratch();
    let at = |name: &str| dir.path().join(name);
    write_noise(&at("backing"), 1 << 20, 3);
    let before = read(&at("backing"));
    fs::write(at("map"), "0x0 ? 1\n0 0x10200 +\n0x10200 0x400 -\n0x10600 0xEFA00 +\n").unwrap();
    fs::write(at("data"), "BAD ").unwrap();
    let Some(device) = LoopDevice::over(&at("backing")) else { return };
    let fill = |yes: &[&str]| {
        let mut command = haul();
        command.args(["rescue", "--fill", "-"]).args(yes).arg(at("data")).arg(device.path()).arg(at("map"));
        command.assert()
    };
    let refused = stderr(&fill(&[]).code(3));
    assert!(refused.contains("no terminal to confirm"), "{refused}");
    assert!(read(&at("backing")) == before);
    fill(&["--yes"]).code(0);
    let mut expected = before;
    expected[0x10200..0x10600].copy_from_slice(&b"BAD ".repeat(256));
    assert!(fs::read(device.path()).unwrap() == expected);
}

#[test]
fn nothing_is_filled_that_is_not_the_destination_of_a_rescue() {
    let dir = scratch();
    let at = |name: &str| dir.path().join(name);
    let name = |name: &str| at(name).to_str().unwrap().to_owned();
    write_noise(&at("source"), 100_000, 3);
    fs::write(at("data"), "BAD ").unwrap();
    fs::write(at("empty"), "").unwrap();
    haul().args(["rescue", &name("source"), &name("image")]).assert().code(0);
    let (source, image, map) = (read(&at("source")), read(&at("image")), name("image.map"));
    let (data, empty) = (name("data"), name("empty"));
    let refused: [(&[&str], i32, &str); 8] = [
        (&["--fill=+", &data, &name("image")], 2, "rescued areas (+) are never filled"),
        (&["--fill=l", &data, &name("image")], 2, "accepted: letters of"),
        (&["--fill=-", "--retries=1", &data, &name("image")], 2, "--retries"),
        (&["--fill=-", &data, &name("source"), &map], 3, "is the source of map"),
        (&["--fill=-", &data, &map, &map], 3, "a side of the rescue"),
        (&["--fill=-", &data, &name("none"), &map], 2, "is neither an existing file"),
        (&["--fill=-", &data, &name("image"), &name("none")], 1, "cannot open map"),
        (&["--fill=-", &name("image"), &name("image"), &map], 3, "a side of the rescue"),
    ];
    // Nothing of this map was rescued.
    let text = fs::read_to_string(&map).unwrap().replace("  +", "  -");
    fs::write(&map, text).unwrap();
    for (words, status, message) in refused {
        let ended = haul().arg("rescue").args(words).assert().code(status);
        assert!(stderr(&ended).contains(message), "{words:?}: {}", stderr(&ended));
    }
    let ended = haul().args(["rescue", "--fill=-", &empty, &name("image"), &map]).assert().code(2);
    assert!(stderr(&ended).contains("has no data"), "{}", stderr(&ended));
    let ended = haul().args(["rescue", "--fill=*", &data, &name("image"), &map]).assert().code(2);
    assert!(stderr(&ended).contains("has no area with this status"), "{}", stderr(&ended));
    assert!(read(&at("source")) == source && read(&at("image")) == image);
    assert!(!at("none").exists());
    // The filled image is still that of the rescue: it continues.
    haul().args(["rescue", "--fill=-", &data, &name("image"), &map]).assert().code(0);
    assert_eq!(read(&at("image"))[..8], *b"BAD BAD ");
    haul().args(["rescue", "--retries=1", &name("source"), &name("image"), &map]).assert().code(0);
    assert!(read(&at("image")) == source);
}

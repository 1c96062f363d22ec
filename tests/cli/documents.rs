//! Every command in the README, in the guides and in the examples of the man pages is run: on loop devices in place of
//! its disks, in a folder with the files that it names, on a terminal where "yes" is typed.
use crate::support::{Folder, LoopDevice, Terminal, filled, has, memory_dir, noise, scratch, skip, with_haul_in_path};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const DISK_BYTES: usize = 8 << 20;
const IMAGE_BYTES: usize = 4 << 20;

const GUIDES: &[&str] = &[
    "README.md",
    "docs/user/usb-sticks.md",
    "docs/user/failing-disks.md",
    "docs/user/many-destinations.md",
    "docs/user/forensic-images.md",
];

/// Beginnings of commands that are not run here: they build or install, or name a program of the user. tests/tidy
/// knows the targets of the Makefile.
const NOT_RUN: &[&str] = &["make ", "sudo ", "cargo ", "ln -s"];

/// Devices that no loop device can stand for. Such a command has to be understood, and to fail for them alone.
const NOT_THERE: &[&str] = &["/dev/sg", "/dev/disk/by-id/"];

/// Parts of commands with the status that they end with here; 0 for all others.
const STATUSES: &[(&str, i32)] = &[
    // A loop device has no serial number.
    ("--expect serial=", 3),
    ("haul verify /dev/zero", 1),
    // It was not written before.
    ("pattern write /dev/sdc &&", 0),
    ("pattern check /dev/sdc", 1),
    ("pattern check --json --run 7", 1),
    // Nothing is to be restored.
    ("tune --restore", 0),
];

/// What is shortened: measurements take a minute by default, and the disks here are small.
const SHORTENED: &[(&str, &str)] = &[
    ("haul tune --quick ", "haul tune --time 1 "),
    ("--time 5m", "--time 1"),
    ("--sustained 50G", "--sustained 64M"),
    ("--count 512M", "--count 512K"),
    ("--count 1G", "--count 4M"),
    ("/srv/backup", "backup"),
    ("/dev/nvme0n1", "/dev/sdb"),
    ("/dev/sda", "/dev/sdd"),
];

/// The lines of the code blocks of a document that are for a shell.
fn in_code_blocks(document: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut inside = false;
    for line in document.lines().map(str::trim) {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            "" => {}
            line if inside => commands.push(line.to_owned()),
            _ => {}
        }
    }
    commands
}

/// The command lines among the examples of a man page.
fn in_examples(page: &str) -> Vec<String> {
    let page = page.replace(".SH \"EXAMPLES\"", ".SH EXAMPLES");
    let examples = page.split(".SH EXAMPLES").nth(1).unwrap_or_default();
    let plain = |line: &str| {
        line.replace("\\fB", "").replace("\\fR", "").replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
    };
    let blocks = examples.split(".nf\n").skip(1).filter_map(|rest| rest.split_once("\n.fi"));
    blocks.flat_map(|(block, _)| block.lines().map(plain).collect::<Vec<_>>()).collect()
}

/// A folder with what the commands name, and the disks that stand for theirs.
struct Bench {
    // On a disk: a copy to a file in memory keeps no journal.
    dir: Folder,
    _backing: Folder,
    disks: [LoopDevice; 3],
}

impl Bench {
    /// `None`, and a line that says so, where there are no loop devices.
    fn new() -> Option<Bench> {
        let (dir, backing) = (scratch(), memory_dir());
        let disk = |name: &str| {
            let file = backing.path().join(name);
            filled(&file, DISK_BYTES, 0xAA);
            LoopDevice::over(&file)
        };
        let disks = [disk("sdb")?, disk("sdc")?, disk("sdd")?];
        Some(Bench { dir, _backing: backing, disks })
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The folder of a command as it is before, with the files that `line` reads: `/dev/sdb` and `sdb.img` are equal,
    /// and so are `/dev/sdc`, `/dev/sdd` and `disk.img`, which begin with `debian.img`.
    fn prepare(&self, line: &str) -> PathBuf {
        let folder = self.dir.path().join("work");
        for made in [&folder, &self.home()] {
            let _ = fs::remove_dir_all(made);
            fs::create_dir(made).expect("scratch takes folders");
        }
        let (source, dest) = (noise(DISK_BYTES, 1), noise(DISK_BYTES, 2));
        let contents = [&source, &dest, &dest];
        self.disks
            .iter()
            .zip(contents)
            .for_each(|(disk, bytes)| fs::write(disk.path(), bytes).expect("disks take bytes"));
        let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("scratch takes files");
        for name in ["debian.img", "monday.img", "tuesday.img", "a.img", "b.img"] {
            write(name, &dest[..IMAGE_BYTES]);
        }
        write("disk.img", &dest);
        write("list", b"0 64K\n1M 4K\n");
        fs::create_dir(folder.join("backup")).expect("scratch takes folders");
        if line.contains("journal import") {
            write("sdb.map", format!("# Mapfile.\n0x0 + 1\n0x0 {DISK_BYTES:#x} +\n").as_bytes());
        }
        // A copy makes its image anew.
        if !line.starts_with("haul copy") || line.contains("sdb.img /") {
            write("sdb.img", &source);
        }
        if line.contains(".xz") {
            self.run("xz -c debian.img >image.xz", &folder);
        }
        for (name, sides) in [
            ("sdb", "/dev/sdb of.img"),
            ("debian", "debian.img /dev/sdc"),
            ("monday", "monday.img of.img"),
            ("tuesday", "tuesday.img of.img"),
        ] {
            // A copy makes the manifest that it names, too, and replaces none.
            let makes = line.starts_with("haul copy") && line.contains("--manifest ");
            if line.contains(&format!("{name}.manifest")) && !makes {
                self.run(&format!("haul copy --yes --manifest {name}.manifest {sides}"), &folder);
            }
        }
        for name in ["disk", "sdb"] {
            let continues = line.contains("--resume") && line.contains(&format!(" {name}.img"));
            if line.contains(&format!(".{name}.img.haul-journal")) || (continues && line.starts_with("haul copy")) {
                let _ = fs::remove_file(folder.join(format!("{name}.img")));
                let begun = "haul copy --time 1 --limit 4M --checkpoint 0.2 --block-size 64K /dev/sdb";
                self.run(&format!("{begun} {name}.img || test $? = 4"), &folder);
            }
        }
        folder
    }

    /// Runs `line` in a shell on a terminal where "yes" is typed; what it showed, and its status.
    fn tried(&self, line: &str, folder: &Path) -> (String, i32) {
        let named = ["/dev/sdb", "/dev/sdc", "/dev/sdd"].iter().zip(&self.disks);
        let line = named.fold(line.to_owned(), |line, (name, disk)| {
            line.replace(name, disk.path().to_str().expect("its name is text"))
        });
        let mut command = Command::new("sh");
        command.args(["-c", &format!("cd {} && {{ {line}\n}}", folder.display())]);
        command.env("PATH", with_haul_in_path()).env("HOME", self.home()).env_remove("XDG_CONFIG_HOME");
        command.env("XDG_STATE_HOME", self.home().join("state"));
        let mut terminal = Terminal::sized(100, 40, command);
        // Once for each destination.
        (0..3).for_each(|_| terminal.answer("yes"));
        let (shown, status) = terminal.end();
        (shown.text, status)
    }

    #[track_caller]
    fn run(&self, line: &str, folder: &Path) {
        let (shown, status) = self.tried(line, folder);
        assert_eq!(status, 0, "{line}\n{shown}");
    }
}

/// Runs all commands, each in a folder of its own; complaints of those that did not work.
fn complaints(commands: &[String]) -> Vec<String> {
    let Some(bench) = Bench::new() else { return Vec::new() };
    let mut complaints = Vec::new();
    for command in commands.iter().filter(|command| !NOT_RUN.iter().any(|start| command.starts_with(start))) {
        let shorter = |line: String, (long, short): &(&str, &str)| line.replace(long, short);
        let mut line = SHORTENED.iter().fold(command.clone(), shorter);
        for verb in ["haul tune ", "haul profile "] {
            if line.starts_with(verb) && !line.contains("--time") && !line.contains("--restore") {
                line = line.replacen(verb, &format!("{verb}--time 1 "), 1);
            }
        }
        let folder = bench.prepare(&line);
        let (shown, status) = bench.tried(&line, &folder);
        let as_expected = if NOT_THERE.iter().any(|device| line.contains(device)) {
            status != 0 && status != 2 && shown.to_lowercase().contains("no such")
        } else {
            let known = STATUSES.iter().find(|(part, _)| line.contains(part));
            status == known.map_or(0, |(_, status)| *status)
        };
        if !as_expected {
            complaints.push(format!("{command}\n  (as: {line})\n  status {status}: {shown}\n"));
        }
    }
    complaints
}

fn root() -> PathBuf {
    env!("CARGO_MANIFEST_DIR").into()
}

#[test]
fn the_commands_of_the_readme_and_of_the_guides_work() {
    if !has("xz") {
        return skip("xz is not installed");
    }
    let read = |path: &&str| fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let commands: Vec<String> = GUIDES.iter().flat_map(|path| in_code_blocks(&read(path))).collect();
    assert!(commands.len() > 40, "only {} commands were found; this test is blind", commands.len());
    let complaints = complaints(&commands);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_examples_of_the_man_pages_work() {
    if !has("xz") {
        return skip("xz is not installed");
    }
    let pages = fs::read_dir(root().join("contrib")).expect("it is there").flatten().map(|entry| entry.path());
    let mut commands = Vec::new();
    for page in pages.filter(|path| path.extension().is_some_and(|extension| extension == "1")) {
        let examples = in_examples(&fs::read_to_string(&page).expect("it is text"));
        assert!(!examples.is_empty(), "{} has no examples", page.display());
        commands.extend(examples);
    }
    assert!(commands.len() > 40, "only {} commands were found; this test is blind", commands.len());
    let complaints = complaints(&commands);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Guides that the test above does not know are not tested.
#[test]
fn every_guide_is_run() {
    let formats = ["journal.md", "json.md", "manifest.md", "reliability.md"];
    for entry in fs::read_dir(root().join("docs/user")).expect("it is there").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let guide = format!("docs/user/{name}");
        assert!(formats.contains(&name.as_str()) || GUIDES.contains(&guide.as_str()), "{guide} is not run");
    }
}

//! Runs every command in the README, the guides and the examples of the man pages: with loop devices as disks,
//! in a directory with the files that it names, on a terminal where "yes" is typed.
use crate::support::{
    FaultyServer, LoopDevice, NbdServer, ObjectServer, Reply, ScratchDir, Terminal, filled, has, make_certificates,
    memory_dir, noise, scratch, skip, with_haul_in_path,
};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const DISK_BYTES: usize = 4 << 20;
const IMAGE_BYTES: usize = 2 << 20;

const GUIDES: &[&str] = &[
    "README.md",
    "docs/user/usb-sticks.md",
    "docs/user/failing-disks.md",
    "docs/user/many-destinations.md",
    "docs/user/forensic-images.md",
    "docs/user/network.md",
    "docs/user/compressed-images.md",
    "docs/user/fleet.md",
];

/// Prefixes of commands that are not run here: they build or install, or run programs of the user. tests/tidy
/// checks the targets of the Makefile.
const NOT_RUN: &[&str] = &["make ", "sudo ", "cargo ", "ln -s"];

/// Devices that cannot be replaced by loop devices. A command with them must be valid, and fail only because of
/// them.
const NOT_THERE: &[&str] = &["/dev/sg", "/dev/disk/by-id/"];

/// Parts of commands with the expected status; 0 for all others.
const STATUSES: &[(&str, i32)] = &[
    // That of another image.
    ("--checksum sha256:", 1),
    // A loop device has no serial number.
    ("--expect serial=", 3),
    ("haul verify /dev/zero", 1),
    // The disk has no pattern yet.
    ("pattern write /dev/sdc &&", 0),
    ("pattern check /dev/sdc", 1),
    ("pattern check --json --run 7", 1),
    // A loop device takes no commands, and has no temperature.
    ("rescue --passthrough", 1),
    ("--max-temperature", 1),
    // There is nothing to restore.
    ("tune --restore", 0),
];

/// Replacements for shorter runs: measurements take a minute by default, and the disks here are small.
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

/// The shell commands in the code blocks of a document.
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

/// The commands in the examples of a man page.
fn in_examples(page: &str) -> Vec<String> {
    let page = page.replace(".SH \"EXAMPLES\"", ".SH EXAMPLES");
    let examples = page.split(".SH EXAMPLES").nth(1).unwrap_or_default();
    let plain = |line: &str| {
        line.replace("\\fB", "").replace("\\fR", "").replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
    };
    let blocks = examples.split(".nf\n").skip(1).filter_map(|rest| rest.split_once("\n.fi"));
    blocks.flat_map(|(block, _)| block.lines().map(plain).collect::<Vec<_>>()).collect()
}

/// The address of the guide of a server with TLS.
const TLS_ADDRESS: &str = "\"nbds://nas/vm1?tls-certificates=/etc/pki/haul\"";

/// A directory with the files that the commands name, and disks in place of theirs.
struct Bench {
    // On a disk: no journal is kept for a copy to a file in memory.
    dir: ScratchDir,
    _backing: ScratchDir,
    disks: [LoopDevice; 3],
    /// The contents of the source and of the destinations before each command.
    source: Vec<u8>,
    dest: Vec<u8>,
    /// Replaces the server `nas`; `None`: nbdkit is not installed.
    server: Option<NbdServer>,
    /// Stands for `https://example.org`, and has `debian.img`.
    web: FaultyServer,
    /// Has the bucket `vault`; `None`: versitygw is not installed.
    objects: Option<ObjectServer>,
}

/// A map of an image that has data everywhere.
fn block_map() -> String {
    let last = IMAGE_BYTES.div_ceil(4096) - 1;
    let sizes = format!("<ImageSize>{IMAGE_BYTES}</ImageSize><BlockSize>4096</BlockSize>");
    format!("<bmap version=\"1.2\">{sizes}<BlockMap><Range>0-{last}</Range></BlockMap></bmap>")
}

impl Bench {
    /// `None`, with a message, without loop devices.
    fn new() -> Option<Bench> {
        let (dir, backing) = (scratch(), memory_dir());
        let disk = |name: &str| {
            let file = backing.path().join(name);
            filled(&file, DISK_BYTES, 0xAA);
            LoopDevice::over(&file)
        };
        let disks = [disk("sdb")?, disk("sdc")?, disk("sdd")?];
        let certificates = dir.path().join("certificates");
        fs::create_dir(&certificates).expect("the directory can be created");
        if has("openssl") {
            make_certificates(&certificates);
        }
        let [folder, size] = [format!("--tls-certificates={}", certificates.display()), DISK_BYTES.to_string()];
        let tls = if has("openssl") { "--tls=on" } else { "--tls=off" };
        let server = NbdServer::nbdkit(dir.path(), &[tls, &folder, "memory", &size]);
        let (source, dest) = (noise(DISK_BYTES, 1), noise(DISK_BYTES, 2));
        let image = dest[..IMAGE_BYTES].to_vec();
        let web = FaultyServer::start(move |asked| Reply::ranged(asked, &image));
        let objects = ObjectServer::start(backing.path());
        Some(Bench { dir, _backing: backing, disks, source, dest, server, web, objects })
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The plan of a fleet that `line` uses; its shards are copied before it is finished.
    fn plan(&self, line: &str, directory: &Path) {
        if line.contains("plan.json") && !line.contains(">plan.json") {
            let finishes = line.starts_with("haul finish plan");
            let shards = if finishes { 8 } else { 64 };
            self.run(&format!("haul plan sdb.img big.img --shards {shards} >plan.json"), directory);
            if finishes {
                let each = "do haul copy -q --plan plan.json --shard $k/8 || exit 1";
                self.run(&format!("for k in $(seq 8); {each}; done"), directory);
            }
        }
    }

    /// The initial directory of a command, with the files that `line` reads: `/dev/sdb` and `sdb.img` are
    /// equal, and so are `/dev/sdc`, `/dev/sdd` and `disk.img`, which begin with `debian.img`.
    fn prepare(&self, line: &str) -> PathBuf {
        let directory = self.dir.path().join("work");
        for made in [&directory, &self.home()] {
            let _ = fs::remove_dir_all(made);
            fs::create_dir(made).expect("the directory can be created");
        }
        let (source, dest) = (&self.source, &self.dest);
        for (disk, bytes) in self.disks.iter().zip([source, dest, dest]) {
            fs::write(disk.path(), bytes).expect("disks can be written");
        }
        let write = |name: &str, bytes: &[u8]| fs::write(directory.join(name), bytes).expect("the file can be written");
        let images = ["monday", "tuesday", "a", "b"].into_iter().filter(|name| line.contains(name));
        for name in images.chain(["debian"]) {
            write(&format!("{name}.img"), &dest[..IMAGE_BYTES]);
        }
        write("disk.img", dest);
        write("list", b"0 64K\n1M 4K\n");
        write("from", b"1M 64K\n0 4K\n");
        write("to", b"64K 68K\n");
        fs::create_dir(directory.join("backup")).expect("the directory can be created");
        maps(line).iter().for_each(|(name, text)| write(name, text.as_bytes()));
        let creates = line.starts_with("haul copy") || line.starts_with("haul rescue");
        if !creates || line.contains("sdb.img /") || line.contains("--plan") {
            write("sdb.img", source);
        }
        if line.contains(".xz") {
            self.write_packed(&directory);
            self.run("sha256sum image.img.xz >SHA256SUMS", &directory);
        }
        if line.contains("elsewhere/image.bmap") {
            fs::create_dir(directory.join("elsewhere")).expect("the directory can be created");
            write("elsewhere/image.bmap", block_map().as_bytes());
        }
        if line.contains("verify vm1.img") {
            write("vm1.img", source);
        }
        if let Some(server) = &self.objects {
            let _ = fs::remove_file(server.file("debian.img"));
            if line.starts_with("haul verify") && line.contains("s3://vault/debian.img") {
                self.run("haul copy -q debian.img s3://vault/debian.img", &directory);
            }
        }
        for (name, sides) in [
            ("sdb", "/dev/sdb of.img"),
            ("debian", "debian.img /dev/sdc"),
            ("monday", "monday.img of.img"),
            ("tuesday", "tuesday.img of.img"),
        ] {
            // A copy creates the manifest that it names, too, and does not replace one.
            let makes = line.starts_with("haul copy") && line.contains("--manifest ");
            if line.contains(&format!("{name}.manifest")) && !makes {
                self.run(&format!("haul copy --yes --manifest {name}.manifest {sides}"), &directory);
            }
        }
        for name in ["disk", "sdb"] {
            let continues = line.contains("--resume") && line.contains(&format!(" {name}.img"));
            if line.contains(&format!(".{name}.img.haul-journal")) || (continues && line.starts_with("haul copy")) {
                let _ = fs::remove_file(directory.join(format!("{name}.img")));
                let begun = "haul copy --time 1 --limit 1M --checkpoint 0.2 --block-size 64K /dev/sdb";
                self.run(&format!("{begun} {name}.img || test $? = 4"), &directory);
            }
        }
        directory
    }

    /// Writes `debian.img` compressed, which takes a second, and is done once.
    fn write_packed(&self, directory: &Path) {
        let packed = self.dir.path().join("packed.xz");
        if !packed.exists() {
            self.run(&format!("xz -0 -c debian.img >{}", packed.display()), directory);
        }
        for name in ["image.xz", "image.img.xz"] {
            fs::copy(&packed, directory.join(name)).expect("the file can be copied");
        }
    }

    /// Runs `line` in a shell on a terminal where "yes" is typed; returns its output, and its status.
    fn tried(&self, line: &str, directory: &Path) -> (String, i32) {
        let named = ["/dev/sdb", "/dev/sdc", "/dev/sdd"].iter().zip(&self.disks);
        let line = named.fold(line.to_owned(), |line, (name, disk)| {
            line.replace(name, disk.path().to_str().expect("its name is UTF-8"))
        });
        let named = |word: &str| match (word.strip_prefix("nbd://nas/"), &self.server) {
            (Some(export), Some(server)) => server.address(export),
            _ if word == TLS_ADDRESS => self.server.as_ref().map_or_else(String::new, |server| {
                let (address, folder) = (server.address("").replacen("nbd", "nbds", 1), self.dir.path());
                format!("\"{address}&tls-certificates={}/certificates\"", folder.display())
            }),
            _ => match word.strip_prefix("https://example.org/") {
                Some(path) => self.web.url(path),
                None => word.to_owned(),
            },
        };
        let line = line.split(' ').map(named).collect::<Vec<_>>().join(" ");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("cd {} && {{ {line}\n}}", directory.display())]);
        command.env("PATH", with_haul_in_path()).env("HOME", self.home()).env_remove("XDG_CONFIG_HOME");
        command.env("XDG_STATE_HOME", self.home().join("state"));
        command.envs(self.objects.iter().flat_map(ObjectServer::environment));
        let mut terminal = Terminal::sized(100, 40, command);
        // One answer per destination.
        (0..3).for_each(|_| terminal.answer("yes"));
        let (shown, status) = terminal.end();
        (shown.text, status)
    }

    #[track_caller]
    fn run(&self, line: &str, directory: &Path) {
        let (shown, status) = self.tried(line, directory);
        assert_eq!(status, 0, "{line}\n{shown}");
    }
}

/// The maps that `line` reads: of a disk that was rescued, or of which the first part was.
fn maps(line: &str) -> Vec<(&'static str, String)> {
    let whole = || format!("# Mapfile.\n0x0 + 1\n0x0 {DISK_BYTES:#x} +\n");
    let part = || format!("0x0 + 1\n0x0 0x10000 +\n0x10000 {:#x} ?\n", DISK_BYTES - 65536);
    let mut maps = Vec::new();
    if line.contains("journal import") || line.starts_with("haul map ") {
        let names = ["sdb.map", "sdb.img.map", "monday.map", "tuesday.map", "first.map", "second.map"];
        maps.extend(names.map(|name| (name, whole())));
    }
    let of_part = [("used.map", "used.map"), ("--fill ", "sdb.img.map")];
    maps.extend(of_part.into_iter().filter(|(word, _)| line.contains(word)).map(|(_, name)| (name, part())));
    maps
}

/// Runs every command once, each in a separate directory; returns the failures.
fn complaints(commands: &[String]) -> Vec<String> {
    let Some(bench) = Bench::new() else { return Vec::new() };
    let mut complaints = Vec::new();
    let mut known = HashSet::new();
    let is_run = |command: &&String| !NOT_RUN.iter().any(|start| command.starts_with(start));
    for command in commands.iter().filter(is_run).filter(|command| known.insert(*command)) {
        let is_by_tls = command.contains(TLS_ADDRESS);
        if (command.contains("nbd://nas/") || is_by_tls) && bench.server.is_none() || is_by_tls && !has("openssl") {
            continue;
        }
        if command.contains("s3://vault") && bench.objects.is_none() {
            continue;
        }
        let shorter = |line: String, (long, short): &(&str, &str)| line.replace(long, short);
        let mut line = SHORTENED.iter().fold(command.clone(), shorter);
        for verb in ["haul tune ", "haul profile "] {
            if line.starts_with(verb) && !line.contains("--time") && !line.contains("--restore") {
                line = line.replacen(verb, &format!("{verb}--time 1 "), 1);
            }
        }
        let directory = bench.prepare(&line);
        bench.plan(&line, &directory);
        let (shown, status) = bench.tried(&line, &directory);
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
    let pages = fs::read_dir(root().join("contrib")).expect("it exists").flatten().map(|entry| entry.path());
    let mut commands = Vec::new();
    for page in pages.filter(|path| path.extension().is_some_and(|extension| extension == "1" || extension == "7")) {
        let examples = in_examples(&fs::read_to_string(&page).expect("it is UTF-8"));
        assert!(!examples.is_empty(), "{} has no examples", page.display());
        commands.extend(examples);
    }
    assert!(commands.len() > 40, "only {} commands were found; this test is blind", commands.len());
    let complaints = complaints(&commands);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Guides missing from the test above are not tested.
#[test]
fn every_guide_has_commands_that_are_run() {
    let references = ["journal.md", "json.md", "manifest.md", "pages.md", "reliability.md"];
    for entry in fs::read_dir(root().join("docs/user")).expect("it exists").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let guide = format!("docs/user/{name}");
        assert!(references.contains(&name.as_str()) || GUIDES.contains(&guide.as_str()), "{guide} is not run");
    }
}

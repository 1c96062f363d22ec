//! Defaults from the configuration file and the environment, and `haul config`, which shows them.
use crate::support::{
    Folder, LoopDevice, cmp, filled, haul_path, in_one_line, memory_dir, noise, scratch, write_noise,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const USAGE: i32 = 2;

fn name(path: &Path) -> &str {
    path.to_str().expect("scratch names are text")
}

/// A user with a configuration file, a source and a destination.
struct User {
    dir: Folder,
    source: PathBuf,
    dest: PathBuf,
}

impl User {
    fn new(dir: Folder, config: &str) -> User {
        let [source, dest] = ["source", "dest"].map(|name| dir.path().join(name));
        write_noise(&source, MIB, 151);
        let user = User { dir, source, dest };
        user.configure(config);
        user
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("config/haul/config.toml")
    }

    fn configure(&self, text: &str) {
        fs::create_dir_all(self.file().parent().expect("it has one")).expect("scratch takes folders");
        fs::write(self.file(), text).expect("scratch takes files");
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(haul_path());
        command.args(words).env("XDG_CONFIG_HOME", self.dir.path().join("config")).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.dir.path().join("state"));
        command
    }

    /// The status, what was printed, and what was said in one line.
    fn run(&self, words: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
        let output = self.command(words).envs(variables.iter().copied()).output().expect("it runs");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code().expect("no signal ended it"), printed, in_one_line(output.stderr))
    }

    fn copy(&self, options: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
        self.run(&[&["copy"], options, &[name(&self.source), name(&self.dest)]].concat(), variables)
    }

    /// The limit in the plan of a copy.
    fn limit(&self, options: &[&str], variables: &[(&str, &str)]) -> Value {
        let (status, printed, said) = self.copy(&[&["--dry-run", "--json"], options].concat(), variables);
        assert_eq!(status, 0, "{said}");
        serde_json::from_str::<Value>(&printed).expect("it is JSON")["limit_bytes_per_s"].clone()
    }
}

#[test]
fn the_command_line_goes_before_the_environment_and_that_before_the_file() {
    let user = User::new(scratch(), "limit = \"40MB\"\n");
    let variable = [("HAUL_LIMIT", "30MB")];
    assert_eq!(user.limit(&[], &[]), 40_000_000);
    assert_eq!(user.limit(&[], &variable), 30_000_000);
    assert_eq!(user.limit(&["--limit", "20MB"], &variable), 20_000_000);
    assert_eq!(user.limit(&["--limit", "none"], &variable), Value::Null);
    assert_eq!(user.limit(&[], &[("HAUL_LIMIT", "none")]), Value::Null);
    fs::remove_file(user.file()).expect("it was made");
    assert_eq!(user.limit(&[], &[]), Value::Null);
}

#[test]
fn configured_units_lead_unless_the_command_line_names_others() {
    let user = User::new(scratch(), "units = \"iec\"\n");
    let plan = |options: &[&str], variables: &[(&str, &str)]| {
        let (status, printed, said) = user.copy(&[&["--dry-run"], options].concat(), variables);
        assert_eq!(status, 0, "{said}");
        printed
    };
    assert!(plan(&[], &[]).starts_with("copy 1.00 MiB "), "{}", plan(&[], &[]));
    for (options, variables) in [(&["--units", "si"][..], &[][..]), (&[], &[("HAUL_UNITS", "si")])] {
        let said = plan(options, variables);
        assert!(said.starts_with("copy 1.05 MB "), "{said}");
    }
}

#[test]
fn every_default_is_shown_with_where_it_comes_from() {
    let user = User::new(scratch(), "# mine\nlimit = \"40MB\"\nhash = [\"sha256\", \"xxh3\"]\n");
    let (status, printed, said) = user.run(&["config"], &[("HAUL_PROGRESS", "plain")]);
    assert_eq!(status, 0, "{said}");
    let words = in_one_line(&printed);
    for wanted in [
        name(&user.file()),
        "limit 40MB configuration file, line 2",
        "hash sha256,xxh3 configuration file, line 3",
        "progress plain environment variable HAUL_PROGRESS",
        "units si built in",
        "choose_max 300GB built in",
        &format!("journal_folder {} built in", name(&user.dir.path().join("state/haul"))),
    ] {
        assert!(words.contains(wanted), "no '{wanted}' in: {printed}");
    }
    let (_, printed, _) = user.run(&["config", "--json"], &[]);
    let config: Value = serde_json::from_str(&printed).expect("it is JSON");
    assert_eq!((&config["report"], config["file"].as_str()), (&"config".into(), user.file().to_str()));
    let hash = config["values"].as_array().expect("a list").iter().find(|value| value["key"] == "hash");
    let hash = hash.unwrap_or_else(|| panic!("no hash in {config:#}"));
    assert_eq!((&hash["value"], &hash["source"], &hash["line"]), (&"sha256,xxh3".into(), &"file".into(), &3.into()));
}

#[test]
fn a_bad_file_is_named_with_line_and_key_and_nothing_is_copied() {
    let table = [
        ("limit = \"1M\"\nlimt = \"2M\"\n", "line 2: limt: unknown key"),
        ("\nlimit = \"fast\"\n", "line 2: limit: bad value 'fast'"),
        ("limit = \n", "line 1: not valid TOML"),
    ];
    for (text, wanted) in table {
        let user = User::new(scratch(), text);
        for options in [&[][..], &["--limit", "1G"]] {
            let (status, _, said) = user.copy(options, &[]);
            assert_eq!(status, USAGE, "{text:?}: {said}");
            assert!(said.contains(&format!("configuration file {}, {wanted}", name(&user.file()))), "{said}");
        }
        assert!(!user.dest.exists(), "{text:?}: it was copied");
        let (status, printed, _) = user.copy(&["--json"], &[]);
        let report: Value = serde_json::from_str(&printed).expect("every end has its JSON");
        assert_eq!((status, &report["report"]), (USAGE, &"copy".into()), "{report:#}");
        // Help and what packages install do not depend on it.
        assert_eq!(user.run(&["copy", "--help"], &[]).0, 0);
        assert_eq!(user.run(&["generate", "bash"], &[]).0, 0);
    }
    let user = User::new(scratch(), "");
    let (status, _, said) = user.copy(&[], &[("HAUL_HASH", "crc7")]);
    assert_eq!(status, USAGE, "{said}");
    assert!(said.contains("environment variable HAUL_HASH: bad value 'crc7'") && !user.dest.exists(), "{said}");
}

#[test]
fn a_file_that_is_a_link_is_followed_and_a_folder_is_an_error() {
    let user = User::new(scratch(), "");
    let dotfiles = user.dir.path().join("dotfiles.toml");
    fs::write(&dotfiles, "limit = \"10MB\"\n").expect("scratch takes files");
    fs::remove_file(user.file()).expect("it was made");
    std::os::unix::fs::symlink(&dotfiles, user.file()).expect("scratch takes links");
    assert_eq!(user.limit(&[], &[]), 10_000_000);
    fs::remove_file(user.file()).expect("it was made");
    fs::create_dir(user.file()).expect("scratch takes folders");
    let (status, _, said) = user.copy(&[], &[]);
    assert!(status == 1 && said.contains("cannot read configuration file"), "{status}: {said}");
}

#[test]
fn a_default_digest_is_printed_and_forbids_nothing() {
    let user = User::new(scratch(), "hash = \"md5\"\n");
    let (status, printed, said) = user.copy(&["--progress", "none"], &[]);
    assert!(status == 0 && printed.starts_with("MD5 ("), "{printed} {said}");
    let (_, printed, _) = user.copy(&["--hash", "none"], &[]);
    assert_eq!(printed, "");
    let (_, printed, _) = user.copy(&["--hash", "xxh3"], &[]);
    assert!(printed.contains("XXH128") && !printed.contains("MD5"), "{printed}");
    let (status, _, said) = user.copy(&["--hash", "none,md5"], &[]);
    assert!(status == USAGE && said.contains("'none' stands alone"), "{said}");
    // What a rest cannot have is not asked of it by a default.
    let map = user.dir.path().join("map");
    fs::write(&map, format!("0 ? 1\n0 0x{0:x} +\n0x{0:x} 0x{0:x} ?\n", MIB / 2)).expect("scratch takes files");
    fs::write(&user.dest, &noise(MIB, 151)[..MIB / 2]).expect("scratch takes files");
    let words = ["journal", "import", name(&map), name(&user.source), name(&user.dest)];
    assert_eq!(user.run(&words, &[]).0, 0);
    let (status, printed, said) = user.copy(&["--resume"], &[]);
    assert_eq!((status, printed.as_str()), (0, ""), "{said}");
    cmp(&user.source, &user.dest);
}

#[test]
fn journals_of_devices_are_kept_in_the_folder_of_the_configuration_and_found_in_the_usual_one() {
    let user = User::new(memory_dir(), "");
    let (file, folder, map) =
        (user.dir.path().join("disk"), user.dir.path().join("journals"), user.dir.path().join("map"));
    filled(&file, MIB, 0);
    let Some(disk) = LoopDevice::over(&file) else { return };
    let begin = || {
        fs::write(&file, noise(MIB, 151)).expect("scratch takes files");
        fs::write(&map, format!("0 ? 1\n0 0x{0:x} +\n0x{0:x} 0x{0:x} ?\n", MIB / 2)).expect("scratch takes files");
        let words = ["journal", "import", name(&map), name(&user.source), name(disk.path())];
        let (status, _, said) = user.run(&words, &[]);
        assert_eq!(status, 0, "{said}");
    };
    let journals = |folder: &Path| fs::read_dir(folder).map_or(0, |files| files.count());
    let usual = user.dir.path().join("state/haul");
    begin();
    assert_eq!((journals(&usual), journals(&folder)), (1, 0));
    // The folder is another one from now on: what waits in the usual one is not given up without a word.
    user.configure(&format!("journal_folder = \"{}\"\n", name(&folder)));
    let (status, _, said) = user.run(&["copy", "--yes", name(&user.source), name(disk.path())], &[]);
    assert!(status == 3 && said.contains("unfinished copy"), "{status}: {said}");
    let resume = ["copy", "--yes", "--resume", name(&user.source), name(disk.path())];
    let (status, _, said) = user.run(&resume, &[]);
    assert_eq!(status, 0, "{said}");
    assert_eq!((journals(&usual), journals(&folder)), (0, 0));
    begin();
    assert_eq!((journals(&usual), journals(&folder)), (0, 1));
    // dd ends a journal of what it overwrites wherever it is, and other lines of the configuration mean nothing to it.
    user.configure(&format!("limt = 3\njournal_folder = \"{}\"\n", name(&folder)));
    let dest = format!("of={}", name(disk.path()));
    let (status, _, said) = user.run(&["dd", "if=/dev/zero", &dest, "bs=64k", "count=1"], &[]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(journals(&folder), 0, "{said}");
}

#[test]
fn the_fronts_take_no_default_and_no_error_of_the_configuration() {
    for config in ["limit = \"1\"\nprogress = \"json\"\nhash = \"md5\"\n", "limt = 3\n"] {
        let user = User::new(scratch(), config);
        let [source, dest] =
            [("if", &user.source), ("of", &user.dest)].map(|(key, path)| format!("{key}={}", name(path)));
        for front in [&["dd"][..], &["sg_dd", "bs=512"]] {
            let (status, printed, said) = user.run(&[front, &[&source, &dest]].concat(), &[("HAUL_LIMIT", "1")]);
            assert_eq!((status, printed.as_str()), (0, ""), "{front:?}: {said}");
            assert!(said.contains("records out") && !said.contains("configuration"), "{front:?}: {said}");
            cmp(&user.source, &user.dest);
            fs::remove_file(&user.dest).expect("it was made");
        }
    }
}

#[test]
fn progress_is_shown_as_configured() {
    let user = User::new(scratch(), "progress = \"json\"\n");
    let (status, _, said) = user.copy(&[], &[]);
    assert!(status == 0 && said.starts_with('{'), "{said}");
    let (_, _, said) = user.copy(&["--progress", "none"], &[]);
    assert!(said.starts_with("haul: copied"), "{said}");
}

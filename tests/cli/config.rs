//! Defaults from the configuration file and the environment, and `haul config`, which shows them.
use crate::support::{
    LoopDevice, ScratchDir, cmp, filled, haul_path, in_one_line, memory_dir, name, noise, scratch, write_noise,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const USAGE: i32 = 2;

/// A user with a configuration file, a source and a destination.
struct User {
    dir: ScratchDir,
    source: PathBuf,
    dest: PathBuf,
}

impl User {
    fn new(dir: ScratchDir, config: &str) -> User {
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
        fs::create_dir_all(self.file().parent().expect("it has one")).expect("the directory can be created");
        fs::write(self.file(), text).expect("the file can be written");
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(haul_path());
        command.args(words).env("XDG_CONFIG_HOME", self.dir.path().join("config")).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.dir.path().join("state"));
        command
    }

    /// The status, standard output, and the messages on one line.
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
        let (status, printed, messages) = self.copy(&[&["--dry-run", "--json"], options].concat(), variables);
        assert_eq!(status, 0, "{messages}");
        serde_json::from_str::<Value>(&printed).expect("it is JSON")["limit_bytes_per_s"].clone()
    }
}

#[test]
fn the_command_line_overrides_the_environment_which_overrides_the_file() {
    let user = User::new(scratch(), "limit = \"40MB\"\n");
    let variable = [("HAUL_LIMIT", "30MB")];
    assert_eq!(user.limit(&[], &[]), 40_000_000);
    assert_eq!(user.limit(&[], &variable), 30_000_000);
    assert_eq!(user.limit(&["--limit", "20MB"], &variable), 20_000_000);
    assert_eq!(user.limit(&["--limit", "none"], &variable), Value::Null);
    assert_eq!(user.limit(&[], &[("HAUL_LIMIT", "none")]), Value::Null);
    fs::remove_file(user.file()).expect("it was created");
    assert_eq!(user.limit(&[], &[]), Value::Null);
}

#[test]
fn configured_units_apply_unless_the_command_line_names_others() {
    let user = User::new(scratch(), "units = \"iec\"\n");
    let plan = |options: &[&str], variables: &[(&str, &str)]| {
        let (status, printed, messages) = user.copy(&[&["--dry-run"], options].concat(), variables);
        assert_eq!(status, 0, "{messages}");
        printed
    };
    assert!(plan(&[], &[]).starts_with("copy 1.00 MiB "), "{}", plan(&[], &[]));
    for (options, variables) in [(&["--units", "si"][..], &[][..]), (&[], &[("HAUL_UNITS", "si")])] {
        let messages = plan(options, variables);
        assert!(messages.starts_with("copy 1.05 MB "), "{messages}");
    }
}

#[test]
fn every_default_is_shown_with_its_origin() {
    let user = User::new(scratch(), "# mine\nlimit = \"40MB\"\nhash = [\"sha256\", \"xxh3\"]\n");
    let (status, printed, messages) = user.run(&["config"], &[("HAUL_PROGRESS", "plain")]);
    assert_eq!(status, 0, "{messages}");
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
            let (status, _, messages) = user.copy(options, &[]);
            assert_eq!(status, USAGE, "{text:?}: {messages}");
            assert!(messages.contains(&format!("configuration file {}, {wanted}", name(&user.file()))), "{messages}");
        }
        assert!(!user.dest.exists(), "{text:?}: it was copied");
        let (status, printed, _) = user.copy(&["--json"], &[]);
        let report: Value = serde_json::from_str(&printed).expect("every run ends with JSON");
        assert_eq!((status, &report["report"]), (USAGE, &"copy".into()), "{report:#}");
        // Help and packaged files do not depend on it.
        assert_eq!(user.run(&["copy", "--help"], &[]).0, 0);
        assert_eq!(user.run(&["generate", "bash"], &[]).0, 0);
    }
    let user = User::new(scratch(), "");
    let (status, _, messages) = user.copy(&[], &[("HAUL_HASH", "crc7")]);
    assert_eq!(status, USAGE, "{messages}");
    assert!(messages.contains("environment variable HAUL_HASH: bad value 'crc7'") && !user.dest.exists(), "{messages}");
}

#[test]
fn a_link_to_a_configuration_file_is_followed_and_a_directory_is_an_error() {
    let user = User::new(scratch(), "");
    let dotfiles = user.dir.path().join("dotfiles.toml");
    fs::write(&dotfiles, "limit = \"10MB\"\n").expect("the file can be written");
    fs::remove_file(user.file()).expect("it was created");
    std::os::unix::fs::symlink(&dotfiles, user.file()).expect("the test directory supports links");
    assert_eq!(user.limit(&[], &[]), 10_000_000);
    fs::remove_file(user.file()).expect("it was created");
    fs::create_dir(user.file()).expect("the directory can be created");
    let (status, _, messages) = user.copy(&[], &[]);
    assert!(status == 1 && messages.contains("cannot read configuration file"), "{status}: {messages}");
}

#[test]
fn a_configured_digest_is_printed_and_excludes_no_option() {
    let user = User::new(scratch(), "hash = \"md5\"\n");
    let (status, printed, messages) = user.copy(&["--progress", "none"], &[]);
    assert!(status == 0 && printed.starts_with("MD5 ("), "{printed} {messages}");
    let (_, printed, _) = user.copy(&["--hash", "none"], &[]);
    assert_eq!(printed, "");
    let (_, printed, _) = user.copy(&["--hash", "xxh3"], &[]);
    assert!(printed.contains("XXH128") && !printed.contains("MD5"), "{printed}");
    let (status, _, messages) = user.copy(&["--hash", "none,md5"], &[]);
    assert!(status == USAGE && messages.contains("'none' cannot be combined"), "{messages}");
    // Options that a continued copy does not support are not taken from the defaults.
    let map = user.dir.path().join("map");
    fs::write(&map, format!("0 ? 1\n0 0x{0:x} +\n0x{0:x} 0x{0:x} ?\n", MIB / 2)).expect("the file can be written");
    fs::write(&user.dest, &noise(MIB, 151)[..MIB / 2]).expect("the file can be written");
    let words = ["journal", "import", name(&map), name(&user.source), name(&user.dest)];
    assert_eq!(user.run(&words, &[]).0, 0);
    let (status, printed, messages) = user.copy(&["--resume"], &[]);
    assert_eq!((status, printed.as_str()), (0, ""), "{messages}");
    cmp(&user.source, &user.dest);
}

#[test]
fn journals_of_devices_are_written_to_the_configured_directory_and_also_found_in_the_default_one() {
    let user = User::new(memory_dir(), "");
    let (file, directory, map) =
        (user.dir.path().join("disk"), user.dir.path().join("journals"), user.dir.path().join("map"));
    filled(&file, MIB, 0);
    let Some(disk) = LoopDevice::over(&file) else { return };
    let begin = || {
        fs::write(&file, noise(MIB, 151)).expect("the file can be written");
        fs::write(&map, format!("0 ? 1\n0 0x{0:x} +\n0x{0:x} 0x{0:x} ?\n", MIB / 2)).expect("the file can be written");
        let words = ["journal", "import", name(&map), name(&user.source), name(disk.path())];
        let (status, _, messages) = user.run(&words, &[]);
        assert_eq!(status, 0, "{messages}");
    };
    let journals = |directory: &Path| fs::read_dir(directory).map_or(0, |files| files.count());
    let usual = user.dir.path().join("state/haul");
    begin();
    assert_eq!((journals(&usual), journals(&directory)), (1, 0));
    // The directory has changed: unfinished copies in the default one are not discarded without asking.
    user.configure(&format!("journal_folder = \"{}\"\n", name(&directory)));
    let (status, _, messages) = user.run(&["copy", "--yes", name(&user.source), name(disk.path())], &[]);
    assert!(status == 3 && messages.contains("unfinished copy"), "{status}: {messages}");
    let resume = ["copy", "--yes", "--resume", name(&user.source), name(disk.path())];
    let (status, _, messages) = user.run(&resume, &[]);
    assert_eq!(status, 0, "{messages}");
    assert_eq!((journals(&usual), journals(&directory)), (0, 0));
    begin();
    assert_eq!((journals(&usual), journals(&directory)), (0, 1));
    // dd removes journals about files that it overwrites, also from a configured directory, and ignores the
    // other settings.
    user.configure(&format!("limt = 3\njournal_folder = \"{}\"\n", name(&directory)));
    let dest = format!("of={}", name(disk.path()));
    let (status, _, messages) = user.run(&["dd", "if=/dev/zero", &dest, "bs=64k", "count=1"], &[]);
    assert_eq!(status, 0, "{messages}");
    assert_eq!(journals(&directory), 0, "{messages}");
}

#[test]
fn the_fronts_ignore_the_configuration_and_its_errors() {
    for config in ["limit = \"1\"\nprogress = \"json\"\nhash = \"md5\"\n", "limt = 3\n"] {
        let user = User::new(scratch(), config);
        let [source, dest] =
            [("if", &user.source), ("of", &user.dest)].map(|(key, path)| format!("{key}={}", name(path)));
        for front in [&["dd"][..], &["sg_dd", "bs=512"]] {
            let (status, printed, messages) = user.run(&[front, &[&source, &dest]].concat(), &[("HAUL_LIMIT", "1")]);
            assert_eq!((status, printed.as_str()), (0, ""), "{front:?}: {messages}");
            assert!(messages.contains("records out") && !messages.contains("configuration"), "{front:?}: {messages}");
            cmp(&user.source, &user.dest);
            fs::remove_file(&user.dest).expect("it was created");
        }
    }
}

#[test]
fn progress_is_shown_as_configured() {
    let user = User::new(scratch(), "progress = \"json\"\n");
    let (status, _, messages) = user.copy(&[], &[]);
    assert!(status == 0 && messages.starts_with('{'), "{messages}");
    let (_, _, messages) = user.copy(&["--progress", "none"], &[]);
    assert!(messages.starts_with("haul: copied"), "{messages}");
}

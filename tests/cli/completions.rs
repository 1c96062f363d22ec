//! Tests the completions in the shells: commands, options, fixed values, files and block devices.
use crate::support::{LoopDevice, ScratchDir, Terminal, filled, has, haul, scratch, skip};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Calls the completion function as bash does, with the line split as bash splits it.
const BASH: &str = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(( $# - 1 )); COMP_LINE=\"$*\"; \
                    _haul haul \"${!#}\" \"${COMP_WORDS[COMP_CWORD-1]}\" 2>/dev/null; \
                    printf '%s\\n' \"${COMPREPLY[@]}\"";

/// A directory with two files to complete, and the completions of a shell.
struct Bench {
    dir: ScratchDir,
    script: PathBuf,
}

impl Bench {
    /// `None`: the shell is not installed.
    fn new(shell: &str) -> Option<Bench> {
        if !has(shell) {
            skip(&format!("{shell} is not installed"));
            return None;
        }
        let dir = scratch();
        let script = dir.path().join("_haul");
        let made = haul().args(["generate", shell]).assert().success();
        fs::write(&script, &made.get_output().stdout).expect("the file can be written");
        fs::create_dir(dir.path().join("files")).expect("the directory can be created");
        for name in ["image file.img", "other.img"] {
            filled(&dir.path().join("files").join(name), 512, 1);
        }
        Some(Bench { dir, script })
    }

    fn files(&self) -> PathBuf {
        self.dir.path().join("files")
    }

    fn offered(&self, command: &mut Command) -> Vec<String> {
        let output = command.current_dir(self.files()).output().expect("the shell runs");
        let text = String::from_utf8(output.stdout).expect("completions are UTF-8");
        let first = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
        text.lines().map(first).filter(|word| !word.is_empty()).collect()
    }

    fn by_bash(&self, words: &[&str]) -> Vec<String> {
        let words = std::iter::once("haul").chain(words.iter().copied());
        self.offered(Command::new("bash").args(["--norc", "-c", BASH, "bash"]).arg(&self.script).args(words))
    }

    fn by_fish(&self, line: &str) -> Vec<String> {
        let script = format!("source {}; complete -C 'haul {line}'", self.script.display());
        self.offered(Command::new("fish").env("HOME", self.dir.path()).args(["--no-config", "-c", &script]))
    }

    /// The output of zsh after the line and two tabs, up to `last`.
    fn by_zsh(&self, line: &str, last: &str) -> String {
        let mut command = Command::new("zsh");
        command.arg("-f").env("TERM", "dumb");
        let mut zsh = Terminal::sized(100, 60, command);
        let (fpath, files) = (self.dir.path().display(), self.files());
        let files = files.display();
        zsh.answer(&format!(
            "cd {files}; PS1='$ ' LISTMAX=9999; fpath=({fpath} $fpath); \
             autoload -U compinit; compinit -u -D; print READ''Y"
        ));
        zsh.wait_for("READY");
        zsh.type_text(&format!("haul {line}\t\t"));
        let before = zsh.wait_for_match(last);
        zsh.control('u');
        zsh.answer("");
        zsh.answer("exit");
        format!("{} {last}", before.text)
    }
}

/// A block device for the shells to offer, if loop devices are available.
fn disk(bench: &Bench) -> Option<LoopDevice> {
    let backing = bench.dir.path().join("backing");
    filled(&backing, 1 << 20, 1);
    LoopDevice::over(&backing)
}

fn assert_offers(offered: &[String], wanted: &[&str], line: &str) {
    for word in wanted {
        assert!(offered.iter().any(|found| found == word), "{line}: {word} is not in {offered:?}");
    }
}

#[test]
fn bash_completes_commands_values_files_and_devices() {
    let Some(bench) = Bench::new("bash") else { return };
    let commands = bench.by_bash(&[""]);
    assert_offers(&commands, &["copy", "sg_dd", "help", "version"], "haul");
    assert!(!commands.contains(&"generate".to_owned()), "{commands:?}");
    assert_offers(&bench.by_bash(&["copy", ""]), &["image file.img", "other.img"], "copy");
    assert_eq!(bench.by_bash(&["copy", "oth"]), ["other.img"]);
    assert_eq!(bench.by_bash(&["copy", "nbd"]), ["nbd://", "nbds://", "nbd+unix:///", "nbds+unix:///"]);
    assert_eq!(bench.by_bash(&["verify", "a", "http"]), ["http://", "https://"]);
    assert!(bench.by_bash(&["tune", "nbd"]).is_empty(), "only where addresses can be used");
    assert_eq!(bench.by_bash(&["copy", "a", "--on-error", ""]), ["stop", "skip", "retry:3", "retry:3,skip"]);
    assert_eq!(bench.by_bash(&["copy", "--on-error", "=", "sk"]), ["skip"]);
    assert_eq!(bench.by_bash(&["verify", "--units", ""]), ["si", "iec"]);
    assert_eq!(bench.by_bash(&["copy", "--pro"]), ["--progress"]);
    assert_eq!(bench.by_bash(&["help", "tu"]), ["tune"]);
    assert!(!bench.by_bash(&["copy", "--skip", ""]).contains(&"other.img".to_owned()), "a size is no file");
    let Some(disk) = disk(&bench) else { return };
    let name = disk.path().to_str().expect("devices have plain names");
    for words in [&["copy", ""][..], &["copy", "a", "/dev/lo"], &["pattern", "write", ""], &["tune", "/dev/"]] {
        assert_offers(&bench.by_bash(words), &[name], &words.join(" "));
    }
}

#[test]
fn fish_completes_commands_values_files_and_devices() {
    let Some(bench) = Bench::new("fish") else { return };
    let commands = bench.by_fish("");
    assert_offers(&commands, &["copy", "sg_dd", "help", "version"], "haul");
    assert!(!commands.contains(&"generate".to_owned()), "{commands:?}");
    assert_offers(&bench.by_fish("copy "), &["image file.img", "other.img"], "copy");
    for line in ["copy ", "verify a n"] {
        assert_offers(&bench.by_fish(line), &["nbd://", "nbd+unix:///"], line);
    }
    assert!(!bench.by_fish("tune n").contains(&"nbd://".to_owned()));
    assert_offers(&bench.by_fish("copy --on-error "), &["stop", "skip", "retry:3", "retry:3,skip"], "--on-error");
    assert_offers(&bench.by_fish("verify --units "), &["si", "iec"], "--units");
    assert_eq!(bench.by_fish("help tu"), ["tune"]);
    for line in ["copy --skip ", "list ", "help "] {
        assert!(!bench.by_fish(line).contains(&"other.img".to_owned()), "{line}");
    }
    let Some(disk) = disk(&bench) else { return };
    let name = disk.path().to_str().expect("devices have plain names");
    for line in ["copy ", "copy a /dev/lo", "pattern write ", "tune /dev/"] {
        assert_offers(&bench.by_fish(line), &[name], line);
    }
}

#[test]
fn zsh_completes_commands_values_files_and_devices() {
    let Some(bench) = Bench::new("zsh") else { return };
    let commands = bench.by_zsh("", "version");
    assert!(commands.contains("copy") && commands.contains("sg_dd") && !commands.contains("generate"), "{commands}");
    let values = bench.by_zsh("copy --on-error ", "stop");
    assert!(values.contains("retry:3,skip") && values.contains("skip"), "{values}");
    assert!(bench.by_zsh("copy --on-error=sk", "skip").contains("skip"));
    assert!(bench.by_zsh("help tu", "tune").contains("tune"));
    let addresses = bench.by_zsh("copy nbd", "nbds://");
    assert!(addresses.contains("nbd://") && addresses.contains("nbd+unix:///"), "{addresses}");
    let files = bench.by_zsh("copy ", r"other\.img");
    assert!(files.contains(r"image\ file.img") || files.contains("image file.img"), "{files}");
    let Some(disk) = disk(&bench) else { return };
    let name = disk.path().to_str().expect("devices have plain names");
    let short = name.trim_start_matches("/dev/");
    assert!(bench.by_zsh("copy ", r"other\.img").contains(name));
    bench.by_zsh("tune /dev/lo", &format!(r"\b{short}\b"));
}

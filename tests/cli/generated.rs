//! The checked-in man page and completions are what the binary makes; `make generate` renews them.
use crate::support;
use crate::support::{has, haul};
use std::fs;
use std::path::PathBuf;

const FILES: &[(&str, &str)] = &[
    ("man", "contrib/haul.1"),
    ("man-dd", "contrib/haul-dd.1"),
    ("man-sg_dd", "contrib/haul-sg_dd.1"),
    ("man-tune", "contrib/haul-tune.1"),
    ("man-profile", "contrib/haul-profile.1"),
    ("bash", "contrib/completions/haul.bash"),
    ("zsh", "contrib/completions/_haul"),
    ("fish", "contrib/completions/haul.fish"),
];

fn root() -> PathBuf {
    env!("CARGO_MANIFEST_DIR").into()
}

fn generate(kind: &str) -> String {
    let assert = haul().args(["generate", kind]).assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).expect("it is text");
    assert!(text.contains("haul"), "haul generate {kind} printed {text:?}");
    text
}

#[test]
fn what_is_checked_in_is_what_the_binary_makes() {
    for (kind, path) in FILES {
        let made = generate(kind);
        let kept = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let differs = made.lines().zip(kept.lines()).position(|(made, kept)| made != kept);
        assert!(made == kept, "{path} is stale from line {:?} on; run: make generate", differs.map(|line| line + 1));
    }
}

#[test]
fn the_man_pages_have_every_option_and_every_exit_status() {
    for (verb, kind) in [("copy", "man"), ("tune", "man-tune"), ("profile", "man-profile")] {
        let page = generate(kind).replace('\\', "");
        let help = haul().args([verb, "--help"]).assert().success();
        let help = String::from_utf8_lossy(&help.get_output().stdout).into_owned();
        let words = help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let options: Vec<&str> = words.filter(|word| word.starts_with("--") && word.len() > 3).collect();
        assert!(options.len() > 15, "only {options:?} were found in the help of {verb}");
        for option in options {
            assert!(page.contains(option), "{option} is in the help of {verb} and not in its man page");
        }
        assert!(page.contains("EXIT STATUS"), "the man page of {verb} has no exit statuses");
    }
}

#[test]
fn the_man_page_has_every_operand_and_word_of_dd() {
    let section = generate("man-dd").replace('\\', "");
    let operands = "if= of= bs= ibs= obs= cbs= count= skip= iseek= seek= oseek= conv= iflag= oflag= status=none \
                    status=noxfer status=progress ascii ebcdic ibm block unblock lcase ucase sparse swab sync excl \
                    nocreat notrunc noerror fdatasync fsync append direct directory dsync fullblock nonblock noatime \
                    nocache noctty nofollow count_bytes skip_bytes seek_bytes --help --version --explain";
    for word in operands.split_whitespace() {
        let help = haul().args(["dd", "--help"]).assert().success();
        let help = String::from_utf8_lossy(&help.get_output().stdout).into_owned();
        assert!(section.contains(word), "{word} is not in the man page");
        assert!(help.contains(word), "{word} is not in the help");
    }
}

#[test]
fn the_man_page_has_every_operand_word_and_status_of_the_sg_family() {
    let page = generate("man-sg_dd").replace('\\', "");
    let mut help = String::new();
    for front in ["sg_dd", "sgp_dd", "sgm_dd"] {
        let assert = haul().args([front, "--help"]).assert().success();
        help.push_str(&String::from_utf8_lossy(&assert.get_output().stdout));
    }
    let operands = "if= of= bs= ibs= obs= count= skip= seek= bpt= thr= append= blk_sgio= cdbsz= cdl= coe= coe_limit= \
                    conv= deb= dio= fua= iflag= oflag= odir= of2= retries= sync= time= verbose= nocreat noerror \
                    notrunc null sparse 00 ff random append coe dio direct dpo dsync excl flock fua mmap nocache sgio \
                    pt --dry-run --help --progress --verbose --version --verify";
    for word in operands.split_whitespace() {
        assert!(page.contains(word), "{word} is not in the man page");
        assert!(help.contains(word), "{word} is not in the help");
    }
    let statuses = page.split("EXIT STATUS").nth(1).expect("there are statuses");
    for status in ["0", "1", "3", "14", "15", "31", "50", "90", "99", "by signal"] {
        assert!(statuses.contains(&format!("fB{status}")), "status {status} is not in the man page");
    }
}

#[test]
fn shells_can_read_their_completions() {
    let dir = support::scratch();
    for (shell, kind) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] {
        if !has(shell) {
            continue;
        }
        let file = dir.path().join(kind);
        fs::write(&file, generate(kind)).expect("scratch takes files");
        let status = std::process::Command::new(shell).arg("-n").arg(&file).status().expect("it is installed");
        assert!(status.success(), "{shell} -n says no");
    }
}

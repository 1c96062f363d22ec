//! The checked-in man pages and completions are those that the binary generates; `make generate` updates them.
use crate::support;
use crate::support::{has, haul};
use std::fs;
use std::path::PathBuf;

/// Files of contrib that are not man pages.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "contrib/completions/haul.bash"),
    ("zsh", "contrib/completions/_haul"),
    ("fish", "contrib/completions/haul.fish"),
];

/// Sections that every man page has, in this order.
const SECTIONS: &[&str] =
    &["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"];

/// The commands in `haul --help` that have a man page: sg_dd and its variants share one.
fn commands() -> Vec<String> {
    let help = haul().arg("--help").assert().success();
    let help = String::from_utf8_lossy(&help.get_output().stdout).into_owned();
    let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let names = listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let without = ["help", "version", "sgp_dd", "sgm_dd"];
    let commands: Vec<String> = names.filter(|name| !without.contains(name)).map(ToOwned::to_owned).collect();
    assert!(commands.len() >= 10, "only {commands:?} were found in haul --help");
    commands
}

/// The guides of section 7.
const GUIDES: &[(&str, &str)] = &[("man-fleet", "contrib/haul-fleet.7")];

/// Every man page of section 1: its name for `haul generate`, and its file.
fn pages() -> Vec<(String, String)> {
    let own = commands().into_iter().map(|name| (format!("man-{name}"), format!("contrib/haul-{name}.1")));
    [("man".to_owned(), "contrib/haul.1".to_owned())].into_iter().chain(own).collect()
}

fn root() -> PathBuf {
    env!("CARGO_MANIFEST_DIR").into()
}

fn generate(kind: &str) -> String {
    let assert = haul().args(["generate", kind]).assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).expect("it is UTF-8");
    assert!(text.contains("haul"), "haul generate {kind} printed {text:?}");
    text
}

#[test]
fn generated_files_are_up_to_date() {
    let completions = COMPLETIONS.iter().map(|(kind, path)| ((*kind).to_owned(), (*path).to_owned()));
    let guides = GUIDES.iter().map(|(kind, path)| ((*kind).to_owned(), (*path).to_owned()));
    for (kind, path) in pages().into_iter().chain(guides).chain(completions) {
        let made = generate(&kind);
        let kept = fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let differs = made.lines().zip(kept.lines()).position(|(made, kept)| made != kept);
        assert!(made == kept, "{path} is stale from line {:?} on; run: make generate", differs.map(|line| line + 1));
    }
}

#[test]
fn every_man_page_of_contrib_is_generated_and_installed() {
    let guides = GUIDES.iter().map(|(_, path)| (*path).to_owned());
    let mut made: Vec<String> = pages().into_iter().map(|(_, path)| path).chain(guides).collect();
    let entries = fs::read_dir(root().join("contrib")).expect("it exists").flatten();
    let names = entries.map(|entry| format!("contrib/{}", entry.file_name().to_string_lossy()));
    let mut kept: Vec<String> = names.filter(|name| name.ends_with(".1") || name.ends_with(".7")).collect();
    made.sort();
    kept.sort();
    assert_eq!(made, kept);

    let makefile = fs::read_to_string(root().join("Makefile")).expect("it exists");
    let pages = makefile.lines().find_map(|line| line.strip_prefix("pages = ")).expect("it lists the pages");
    let mut commands = commands();
    commands.sort();
    assert_eq!(pages.split_whitespace().collect::<Vec<_>>(), commands, "the variable pages of the Makefile");
    let guides = makefile.lines().find_map(|line| line.strip_prefix("guides = ")).expect("it lists the guides");
    let names: Vec<&str> = GUIDES.iter().map(|(kind, _)| kind.trim_start_matches("man-")).collect();
    assert_eq!(guides.split_whitespace().collect::<Vec<_>>(), names, "the variable guides of the Makefile");
}

#[test]
fn every_man_page_has_the_usual_sections_in_order() {
    for (kind, _) in pages() {
        let page = generate(&kind);
        let headings: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix(".SH "))
            .map(|heading| heading.trim_matches('"'))
            .collect();
        let known: Vec<&str> = headings.iter().copied().filter(|heading| SECTIONS.contains(heading)).collect();
        assert_eq!(known, SECTIONS, "{kind}");
    }
}

#[test]
fn man_pages_pass_the_lint_of_mandoc_and_of_groff() {
    let dir = support::scratch();
    let guides = GUIDES.iter().map(|(kind, _)| ((*kind).to_owned(), 7));
    for (kind, section) in pages().into_iter().map(|(kind, _)| (kind, 1)).chain(guides) {
        let file = dir.path().join(format!("{kind}.{section}"));
        fs::write(&file, generate(&kind)).expect("the file can be written");
        for (tool, options) in [("mandoc", &["-T", "lint"][..]), ("man", &["--warnings", "-E", "UTF-8", "-l"])] {
            if !has(tool) {
                support::skip(&format!("{tool} is not installed"));
                continue;
            }
            let output = std::process::Command::new(tool).args(options).arg(&file).output().expect("it is installed");
            let complaints = [&output.stderr[..], if tool == "mandoc" { &output.stdout } else { b"" }].concat();
            assert_eq!(String::from_utf8_lossy(&complaints), "", "{tool} on {kind}");
        }
    }
}

#[test]
fn man_pages_have_the_date_of_their_version() {
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).expect("it exists");
    let version = env!("CARGO_PKG_VERSION");
    let heading = changelog.lines().find_map(|line| line.strip_prefix(&format!("## [{version}] - ")));
    let date = heading.unwrap_or_else(|| panic!("CHANGELOG.md has no heading for {version}"));
    let page = generate("man");
    assert!(page.starts_with(&format!(".TH HAUL 1 \"{date}\"")), "RELEASED in src/cli/manual.rs is not {date}");
}

#[test]
fn man_pages_have_every_option_of_the_help() {
    for verb in commands() {
        let page = generate(&format!("man-{verb}")).replace('\\', "");
        // The help of the subcommands has their options.
        let below: &[&str] = match verb.as_str() {
            "pattern" => &["write", "check"],
            "manifest" => &["show", "diff"],
            "map" => &["show", "compare", "complete"],
            "journal" => &["export", "import"],
            _ => &[""],
        };
        for word in below {
            let help = haul().arg(&verb).args((!word.is_empty()).then_some(word)).arg("--help").assert().success();
            let help = String::from_utf8_lossy(&help.get_output().stdout).into_owned();
            // A line that begins with an option describes it; other lines may name options of other commands.
            let described = help.lines().map(str::trim).filter(|line| line.starts_with('-'));
            let words =
                described.filter_map(|line| line.split([' ', ',', '[', '=']).find(|word| word.starts_with("--")));
            let words = words.map(|option| option.trim_end_matches('.'));
            for option in words.filter(|option| *option != "--help") {
                assert!(page.contains(option), "{option} is in the help of {verb} {word} and not in its man page");
            }
        }
        assert!(verb != "copy" || page.matches("fB--").count() > 30, "only so few options were found in that of copy");
    }
}

#[test]
fn the_man_page_has_every_operand_and_value_of_dd() {
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
fn the_man_page_has_every_operand_value_and_status_of_the_sg_family() {
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
fn every_shell_parses_its_completions() {
    let dir = support::scratch();
    for (shell, kind) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] {
        if !has(shell) {
            continue;
        }
        let file = dir.path().join(kind);
        fs::write(&file, generate(kind)).expect("the file can be written");
        let status = std::process::Command::new(shell).arg("-n").arg(&file).status().expect("it is installed");
        assert!(status.success(), "{shell} -n fails");
    }
}

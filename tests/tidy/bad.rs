//! Shows that each rule rejects what it forbids, and accepts similar code.
use super::source::Source;
use super::tree::{self, Tree};
use super::{circles, rooms, rules, words};
use std::collections::BTreeMap;

type Rule = fn(&Source) -> Vec<String>;

#[track_caller]
fn breaks(rule: Rule, path: &str, text: &str) {
    let found = rule(&Source::new(path, text));
    assert_eq!(found.len(), 1, "expected one breach in {path}, found {found:?} in:\n{text}");
}

#[track_caller]
fn keeps(rule: Rule, path: &str, text: &str) {
    let found = rule(&Source::new(path, text));
    assert!(found.is_empty(), "expected no breach in {path}, found {found:?} in:\n{text}");
}

#[test]
fn an_import_outside_the_table_is_found_however_it_is_written() {
    let rule = rooms::imports;
    breaks(rule, "src/engine/pump.rs", "use crate::disks::file;");
    breaks(rule, "src/engine/pump.rs", "use crate::{core::Plan, disks::{self, file}};");
    breaks(rule, "src/engine/pump.rs", "use crate::{\n    core::Plan,\n    plan,\n};");
    breaks(rule, "src/engine/pump.rs", "use super::super::disks;");
    breaks(rule, "src/engine/mod.rs", "use super::disks;");
    breaks(rule, "src/engine/mod.rs", "mod inner { use super::super::{disks, core}; }");
    breaks(rule, "src/engine/pump.rs", "fn f() { crate::report::say() }");
    breaks(rule, "src/core/plan.rs", "use crate::sys;");
    breaks(rule, "src/engine/pump.rs", "use crate::*;");
    breaks(rule, "src/engine/pump.rs", "mod a {}\nuse crate :: disks;");
    breaks(rule, "src/main.rs", "use haul::engine;");
    breaks(rule, "src/newroom/mod.rs", "");
}

#[test]
fn allowed_imports_and_words_that_only_look_like_imports_pass() {
    let rule = rooms::imports;
    keeps(rule, "src/engine/pump.rs", "use crate::core::{Plan, Queue};\nuse crate::engine::queues;");
    keeps(rule, "src/engine/pump.rs", "use super::disks;");
    keeps(rule, "src/engine/mod.rs", "mod inner { use super::disks; }");
    keeps(rule, "src/engine/ring/queue.rs", "use super::super::disks;");
    keeps(rule, "src/engine/pump.rs", "// use crate::disks;\nlet s = \"crate::endpoint\"; pub(crate) fn f() {}");
    keeps(rule, "src/engine/pump.rs", "#[cfg(test)]\nmod tests {\n    use crate::disks::memory;\n}");
    keeps(rule, "src/main.rs", "use haul::Exit;\nuse std::process;");
    keeps(rule, "tests/cli.rs", "use haul::engine;");
    breaks(rule, "src/engine/pump.rs", "#[cfg(test)]\nmod tests;\nuse crate::disks;");
}

#[test]
fn a_feature_named_outside_its_directory_is_found() {
    let rule = rooms::features;
    breaks(rule, "src/apps/copy.rs", "use crate::apps::fronts::dd;");
    breaks(rule, "src/report/text.rs", "use crate::apps::{fronts::dd};");
    breaks(rule, "src/apps/undo/mod.rs", "use super::super::fronts;");
    breaks(rule, "src/apps/fronts/mod.rs", "use crate::apps::measuring::plan;");
    breaks(rule, "src/apps/fronts/mod.rs", "use crate::apps::{Exit, pattern};");
    keeps(rule, "src/apps/fronts/mod.rs", "use crate::core::stages::{Inspector, pattern};\nlet pattern = 1;");
    keeps(rule, "src/apps/mod.rs", "mod fronts; use self::fronts::dd;");
    keeps(rule, "src/apps/fronts/dd/mod.rs", "use crate::apps::fronts::records;");
    keeps(rule, "src/apps/copy.rs", "// As the fronts do.\nlet s = \"fronts\";");
}

/// Circles in a tree of these files, with a root that includes them.
fn circles_in(files: &[(&str, &str)]) -> Vec<String> {
    let mut tree = tree_of(files);
    tree.files.insert("src/main.rs".into(), String::new());
    circles::circles(&tree)
}

#[test]
fn circular_imports_are_found_through_every_reexport() {
    let handed_on = ("src/a/mod.rs", "mod one;\nmod two;\npub use one::One;\npub use two::{Two, other::Three};");
    let one = ("src/a/one.rs", "use super::Two;\npub struct One;");
    let found = circles_in(&[handed_on, one, ("src/a/two.rs", "use crate::a::One as Other;\npub struct Two;")]);
    assert_eq!(found, ["a circle of 2 files: src/a/one.rs src/a/two.rs"]);
    let by_path = ("src/a/two.rs", "pub struct Two;\nfn f() -> super::one::One { super::one::One }");
    assert_eq!(circles_in(&[handed_on, one, by_path]).len(), 1);
    let by_glob = ("src/a/two.rs", "use super::one::*;\npub struct Two;");
    assert_eq!(circles_in(&[handed_on, one, by_glob]).len(), 1);
    let through_the_parent = ("src/a/two.rs", "use super::f;\npub struct Two;");
    let parent = ("src/a/mod.rs", "mod two;\nuse two::Two;\nfn f(_: Two) {}");
    assert_eq!(circles_in(&[parent, through_the_parent]).len(), 1);
    let three = [("src/a.rs", "use crate::b::B;\npub struct A;"), ("src/b.rs", "use crate::c;\npub struct B(c::C);")];
    assert_eq!(circles_in(&[three[0], three[1], ("src/c.rs", "use crate::a::{self};\npub struct C(a::A);")]).len(), 1);
}

#[test]
fn files_that_only_share_a_module_or_a_test_are_not_circular() {
    let handed_on = ("src/a/mod.rs", "mod one;\nmod two;\npub use one::One;\npub use two::Two;");
    let one = ("src/a/one.rs", "use super::Two;\npub struct One;");
    assert_eq!(circles_in(&[handed_on, one, ("src/a/two.rs", "pub struct Two;")]), [""; 0]);
    let in_a_test = ("src/a/two.rs", "pub struct Two;\n#[cfg(test)]\nmod tests { use super::super::One; }");
    assert_eq!(circles_in(&[handed_on, one, in_a_test]), [""; 0]);
    let scope = ("src/a/two.rs", "pub(in crate::a) struct Two;\n// super::one::One\n");
    assert_eq!(circles_in(&[handed_on, one, scope]), [""; 0]);
    let method = ("src/a/two.rs", "pub struct Two;\nimpl Two { fn one(&self) { self.one(); Self::one(self) } }");
    assert_eq!(circles_in(&[handed_on, one, method]), [""; 0]);
}

#[test]
fn files_functions_and_lines_beyond_their_limits_are_found() {
    breaks(rules::file_size, "src/a.rs", &"\n".repeat(401));
    keeps(rules::file_size, "src/a.rs", &"\n".repeat(400));
    breaks(rules::recipe_size, "src/apps/copy/mod.rs", &"\n".repeat(121));
    breaks(rules::recipe_size, "src/apps/list.rs", &"\n".repeat(121));
    keeps(rules::recipe_size, "src/apps/list.rs", &"\n".repeat(120));
    keeps(rules::recipe_size, "src/apps/copy/words.rs", &"\n".repeat(121));
    breaks(rules::line_width, "src/a.rs", &"é".repeat(121));
    keeps(rules::line_width, "src/a.rs", &"é".repeat(120));
    let function = |lines: usize| format!("fn f() {{\n{}}}\n", "    let c = '{';\n".repeat(lines - 2));
    breaks(rules::function_size, "src/a.rs", &function(71));
    keeps(rules::function_size, "src/a.rs", &function(70));
    keeps(rules::function_size, "src/a.rs", &format!("trait T {{ fn f();\n{}}}", "\n".repeat(80)));
    keeps(rules::function_size, "src/a.rs", &format!("type F = fn();\n{}struct S {{}}", "\n".repeat(80)));
    breaks(rules::function_size, "src/a.rs", &format!("fn f(a: [u8; 4]) {{\n{}}}", "\n".repeat(80)));
}

#[test]
fn threads_started_by_a_call_that_panics_are_found() {
    breaks(rules::threads, "src/job/a.rs", "fn f() { std::thread::spawn(|| 1); }");
    breaks(rules::threads, "src/job/a.rs", "fn f() { scope.spawn(|| 1); }");
    keeps(rules::threads, "src/job/a.rs", "fn f() { thread::Builder::new().spawn(|| 1)?; }");
    keeps(rules::threads, "src/job/a.rs", "#[cfg(test)]\nmod tests { fn f() { thread::spawn(|| 1); } }");
}

#[test]
fn printing_and_exiting_outside_their_files_are_found() {
    breaks(rules::printing, "src/plan/a.rs", "fn f() { println!(\"x\") }");
    breaks(rules::printing, "src/main.rs", "fn f() { std::eprintln!(\"x\") }");
    breaks(rules::printing, "src/report/a.rs", "fn f() { dbg!(1); }");
    keeps(rules::printing, "src/report/a.rs", "fn f() { println!(\"x\") }");
    keeps(rules::printing, "src/plan/a.rs", "// println!()\n#[cfg(test)]\nfn f() { eprintln!(\"skipped\") }");
    breaks(rules::exiting, "src/apps/copy.rs", "fn f() { std::process::exit(1) }");
    breaks(rules::exiting, "src/apps/copy.rs", "fn f() { process::abort() }");
    keeps(rules::exiting, "src/main.rs", "fn f() { std::process::exit(1) }");
    keeps(rules::exiting, "src/apps/copy.rs", "fn f() { kind.exit_status() }");
}

#[test]
fn files_made_outside_their_room_are_found() {
    breaks(rules::file_calls, "src/ledger/a.rs", "fn f() { std::fs::rename(a, b) }");
    breaks(rules::file_calls, "src/apps/a.rs", "fn f() { OpenOptions::new().create_new(true) }");
    breaks(rules::file_calls, "src/measure/a.rs", "fn f() { open(path, OFlags::CREATE) }");
    keeps(rules::file_calls, "src/files/a.rs", "fn f() { fs::rename(a, b) }");
    keeps(rules::file_calls, "src/ledger/a.rs", "// fs::rename\n#[cfg(test)]\nfn f() { fs::rename(a, b) }");
    keeps(rules::file_calls, "tests/a.rs", "fn f() { fs::write(a, b) }");
}

#[test]
fn misplaced_and_unexplained_unsafe_is_found() {
    breaks(rules::unsafe_places, "src/plan/a.rs", "fn f() { unsafe { g() } }");
    breaks(rules::unsafe_places, "src/core/plan.rs", "unsafe impl Send for A {}");
    keeps(rules::unsafe_places, "src/sys/a.rs", "fn f() { unsafe { g() } }");
    keeps(rules::unsafe_places, "src/core/endpoint.rs", "pub unsafe trait OnRing {}");
    breaks(rules::unsafe_places, "src/core/queue.rs", "pub unsafe trait Queue {}");
    breaks(rules::unsafe_reasons, "src/core/endpoint.rs", "/// Encodes.\npub unsafe trait OnRing {}");
    breaks(rules::unsafe_reasons, "src/disks/a.rs", "use b::C;\n\nunsafe impl OnRing for A {}");
    keeps(rules::unsafe_places, "src/plan/mod.rs", "#![forbid(unsafe_code)] // unsafe");
    breaks(rules::unsafe_reasons, "src/sys/a.rs", "fn f() {\n    unsafe { g() }\n}");
    breaks(rules::unsafe_reasons, "src/sys/a.rs", "// SAFETY: of another one\nlet a = 1;\nunsafe { g() }");
    keeps(rules::unsafe_reasons, "src/sys/a.rs", "// SAFETY: why\n// in two lines\nlet a =\n    unsafe { g() };");
    keeps(rules::unsafe_reasons, "src/sys/a.rs", "/// # Safety\n/// Why.\n#[inline]\npub unsafe fn f() {}");
    breaks(rules::unsafe_forbidden, "src/plan/mod.rs", "//! A room.\n// #![forbid(unsafe_code)]");
    keeps(rules::unsafe_forbidden, "src/plan/mod.rs", "//! A room.\n#![forbid(unsafe_code)]");
    keeps(rules::unsafe_forbidden, "src/sys/mod.rs", "//! A room.");
}

#[test]
fn leftovers_are_found_in_comments_and_code() {
    breaks(rules::leftovers, "src/a.rs", concat!("// TO", "DO: later"));
    breaks(rules::leftovers, "src/a.rs", concat!("// FIX", "ME"));
    breaks(rules::leftovers, "src/a.rs", concat!("let a = 1; // XX", "X"));
    breaks(rules::leftovers, "src/a.rs", concat!("fn f() { to", "do!() }"));
    breaks(rules::leftovers, "src/a.rs", concat!("fn f() { unimple", "mented!(\"\") }"));
    keeps(rules::leftovers, "src/a.rs", concat!("let dir = \"haul.XX", "XXXX\"; let mas", "todon = 1;"));
}

#[test]
fn a_room_without_its_header_is_found() {
    breaks(rules::room_header, "src/plan/mod.rs", "mod a;");
    breaks(rules::room_header, "src/plan/mod.rs", "//! Makes plans.\nmod a; // must not know");
    breaks(rules::room_header, "src/disks/file/mod.rs", "mod a;");
    keeps(rules::room_header, "src/plan/mod.rs", "//! Makes plans.\n//!\n//! This room must not know a disk.");
    keeps(rules::room_header, "src/disks/file/mod.rs", "//! Files.");
    keeps(rules::room_header, "src/plan/choose.rs", "mod a;");
}

#[test]
fn words_outside_the_glossary_are_found_in_public_names() {
    breaks(rules::glossary, "src/plan/a.rs", "pub struct TargetDisk;");
    breaks(rules::glossary, "src/plan/a.rs", "    pub chunk_bytes: u32,");
    breaks(rules::glossary, "src/plan/a.rs", "pub(crate) fn next_chunks() {}");
    breaks(rules::glossary, "src/plan/a.rs", "pub const fn backend() {}");
    keeps(rules::glossary, "src/plan/a.rs", "let chunk = 1; pub fn dest() {} // pub fn target()");
    keeps(rules::glossary, "src/plan/a.rs", "pub use other::Target;");
    keeps(rules::glossary, "src/sys/a.rs", "pub struct Target;");
}

fn tree_of(files: &[(&str, &str)]) -> Tree {
    Tree::from(
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect::<BTreeMap<String, String>>(),
    )
}

#[test]
fn a_file_without_a_mod_line_is_found() {
    let alive = [
        ("src/lib.rs", "pub mod a;\n// pub mod c;\nmod inline { fn f() {} }"),
        ("src/main.rs", ""),
        ("src/a/mod.rs", "mod b;\n#[cfg(test)]\nmod tests;"),
        ("src/a/b.rs", "mod under;\n#[cfg(test)]\n#[path = \"b_tests.rs\"]\nmod tests;"),
        ("src/a/b/under.rs", ""),
        ("src/a/b_tests.rs", ""),
        ("src/a/tests.rs", ""),
    ];
    assert_eq!(tree::dead_files(&tree_of(&alive)), Vec::<String>::new());
    let marked: Vec<String> =
        tree_of(&alive[2..]).sources().iter().filter(|s| s.test.iter().any(|t| *t)).map(|s| s.path.clone()).collect();
    assert_eq!(marked, ["src/a/b.rs", "src/a/mod.rs"]);
    let dead = [&alive[..], &[("src/c.rs", ""), ("src/a/d.rs", "")]].concat();
    assert_eq!(tree::dead_files(&tree_of(&dead)).len(), 2);
}

#[test]
fn a_file_under_cfg_test_counts_as_test_code() {
    let files = [
        ("src/lib.rs", "pub mod engine;"),
        ("src/engine/mod.rs", "#[cfg(test)]\nmod tests;"),
        ("src/engine/tests.rs", "use crate::disks;"),
    ];
    let breaches: Vec<String> = tree_of(&files).sources().iter().flat_map(rooms::imports).collect();
    assert_eq!(breaches, Vec::<String>::new());
    let open = [files[0], ("src/engine/mod.rs", "mod tests;"), files[2]];
    let breaches: Vec<String> = tree_of(&open).sources().iter().flat_map(rooms::imports).collect();
    assert_eq!(breaches.len(), 1, "{breaches:?}");
}

#[test]
fn meaningless_file_names_are_found() {
    let files = [("src/util.rs", ""), ("src/plan/types.rs", ""), ("tests/common/mod.rs", ""), ("src/plan/pick.rs", "")];
    assert_eq!(tree::file_names(&tree_of(&files)).len(), 3);
}

#[test]
fn gaps_and_duplicates_among_decision_numbers_are_found() {
    let first = ("docs/decisions/0001-one-package.md", "");
    let good = [first, ("docs/decisions/0002-b.md", "")];
    assert_eq!(tree::decision_numbers(&tree_of(&good)), Vec::<String>::new());
    assert_eq!(tree::decision_numbers(&tree_of(&[first, ("docs/decisions/0003-b.md", "")])).len(), 1);
    assert_eq!(tree::decision_numbers(&tree_of(&[first, ("docs/decisions/0001-z.md", "")])).len(), 1);
    assert_eq!(tree::decision_numbers(&tree_of(&[])).len(), 1);
}

#[test]
fn a_dependency_without_a_reason_and_a_reason_without_a_dependency_are_found() {
    let manifest =
        "[package]\nname = \"x\"\n[dependencies]\n# why\nlibc = \"1\"\n[dev-dependencies.serde]\nversion = \"1\"";
    let decision = "docs/decisions/0003-dependencies.md";
    let check = |text: &str| tree::dependency_reasons(&tree_of(&[("Cargo.toml", manifest), (decision, text)]));
    let good = "| crate | for |\n| `libc` | calls |\n| `serde` | words |\n";
    assert_eq!(check(good), Vec::<String>::new());
    assert_eq!(check("| `libc` | calls |\n").len(), 1);
    assert_eq!(check(&format!("{good}| `gone` | |\n")).len(), 1);
}

#[test]
fn a_missing_make_target_is_found() {
    let check = |ci: &str, readme: &str| {
        let makefile = "test: deps\n\techo make: no\ncheck: fmt\n";
        tree::make_targets(&tree_of(&[("Makefile", makefile), (".ci/run", ci), ("README.md", readme)]))
    };
    assert_eq!(
        check("step make test\n# make nothing\nmake check X=1", "We make disks; `make test`"),
        Vec::<String>::new()
    );
    assert_eq!(check("make test\nmake demo", "").len(), 1);
    assert_eq!(check("make test", "make demo  # builds").len(), 1);
    assert_eq!(check("echo", "").len(), 1);
}

#[test]
fn a_file_format_whose_version_is_not_on_the_page_of_versions_is_found() {
    let head = "pub const FORMAT_VERSION: u64 = 2;\nimpl X {\n    const KEY: &'static str = \"haul_x\";\n}";
    let check =
        |page: &str| tree::format_versions(&tree_of(&[("src/ledger/x/head.rs", head), ("docs/versions.md", page)]));
    assert_eq!(check("| x | `haul_x` | 2 | [x.md](x.md) |"), Vec::<String>::new());
    assert_eq!(check("| x | `haul_x` | 1 | [x.md](x.md) |").len(), 1);
    assert_eq!(tree::format_versions(&tree_of(&[])).len(), 1);
}

#[test]
fn tests_that_read_wrapped_words_are_found() {
    breaks(rules::terminals, "tests/cli/bar.rs", "use rustix::pty::openpt;");
    breaks(rules::terminals, "tests/fronts/dd.rs", "let end = unsafe { libc::ioctl(0, libc::TIOCGPTPEER, 0) };");
    keeps(rules::terminals, "tests/support/terminal.rs", "let end = unsafe { libc::ioctl(0, libc::TIOCGPTPEER, 0) };");
    keeps(rules::terminals, "tests/cli/bar.rs", "// openpt\nuse crate::support::Terminal;");
    breaks(rules::wrapped_words, "tests/cli/also.rs", "let said = String::from_utf8_lossy(&output.stderr);");
    keeps(rules::wrapped_words, "tests/cli/also.rs", "let said = in_one_line(&output.stderr);");
    keeps(rules::wrapped_words, "tests/fronts/dd.rs", "let said = String::from_utf8_lossy(&output.stderr);");
}

#[test]
fn limited_programs_that_write_coverage_data_are_found() {
    breaks(rules::limited_coverage, "tests/cli/a.rs", "let script = \"ulimit -f 5; haul copy a b\";");
    breaks(rules::limited_coverage, "tests/cli/a.rs", "let mut haul = Command::new(\"prlimit\");");
    keeps(rules::limited_coverage, "tests/cli/a.rs", "haul_limited(\"--fsize=5\")");
    keeps(
        rules::limited_coverage,
        "tests/cli/a.rs",
        "\"ulimit -f 5; x\"; command.env(\"LLVM_PROFILE_FILE\", \"/dev/null\")",
    );
}

/// A tree with a list of two phrases, and this file.
fn with_words(path: &str, text: &str) -> Tree {
    let style = "# Style\n```words\ndest: destination\nthere already: already exists\n```\n";
    tree_of(&[("src/main.rs", "mod a;"), ("docs/style.md", style), (path, text)])
}

#[test]
fn avoided_words_are_found_in_all_user_text() {
    let found = |path: &str, text: &str| words::user_text(&with_words(path, text));
    let one =
        |path: &str, text: &str| assert_eq!(found(path, text).len(), 1, "{path}: {:?}\n{text}", found(path, text));
    one("src/a.rs", "fn f() { say(\"cannot open dest {path}\") }");
    one("src/a.rs", "fn f() { say(\"it is there \\\n        already\") }");
    one("src/a.rs", "fn f() { say(r#\"Dest \"x\" is full\"#) }");
    one(
        "src/a.rs",
        "#[cfg(test)]\nmod tests {\n    fn f() { assert_snapshot!(text, @r\"\n    source  a\n    dest  b\n    \") }\n}",
    );
    one("src/apps/help/copy.txt", "# NOTES\nThe file is there\nalready.\n");
    one("src/apps/snapshots/a.snap", "---\nsource: dest.rs\nexpression: the dest\n---\ncopy to the dest\n");
    one("contrib/haul.1", ".SH NAME\nWrite to the dest.\n");
    one("docs/schema/a.json", "{\n  \"dest\": {\n    \"description\": \"the dest of the copy\"\n  }\n}\n");
    one("docs/guide.md", "Write to the dest, which is `there already`.\n");
    let blind = tree_of(&[("src/main.rs", ""), ("docs/style.md", "# Style\n")]);
    assert_eq!(words::user_text(&blind).len(), 1);
}

#[test]
fn words_of_code_and_of_lists_are_not_user_text() {
    let none =
        |path: &str, text: &str| assert_eq!(words::user_text(&with_words(path, text)), [""; 0], "{path}:\n{text}");
    none("src/a.rs", "// the dest is there already\nfn dest() { key(\"dest\"); say(\"destination {dest}, {0}\") }");
    none("src/a.rs", "#[cfg(test)]\nmod tests {\n    fn f() { assert!(true, \"the dest is full\") }\n}");
    none("src/a.rs", "fn f() { let quote = '\"'; }\n// dest of \"a word\"\nfn g() {}");
    none("src/report/json.snap", "---\nsource: a\n---\n{\n  \"dest\": {\n    \"side\": \"source\"\n");
    none("docs/schema/a.json", "{\n  \"required\": [\"dest\"],\n  \"const\": \"dest\"\n}\n");
    none("docs/guide.md", "The key `dest` of JSON.\n```\nhaul copy source dest\n```\n");
    none("docs/guide.md", "See [decision 17](decisions/0017-several-dest.md).\n");
    none("docs/style.md.txt", "the dest");
    none("tests/cli/a.rs", "fn f() { say(\"the dest is full\") }");
}

#[test]
fn test_names_that_paraphrase_are_found() {
    let found = |text: &str| {
        let style = "# Style\n```test-names\ntold\nasked for\n```\n";
        words::test_names(&tree_of(&[("src/main.rs", text), ("docs/style.md", style)]))
    };
    for name in ["a_fault_is_told", "what_is_damaged_is_found", "who_reads_is_ended", "bytes_asked_for_are_read"] {
        assert_eq!(found(&format!("#[test]\n#[ignore]\nfn {name}() {{}}")).len(), 1, "{name}");
    }
    assert_eq!(found("fn a_fault_is_told() {}\n#[test]\nfn a_fault_is_reported() {}\nfn told() {}"), [""; 0]);
    assert_eq!(words::test_names(&tree_of(&[("src/main.rs", ""), ("docs/style.md", "# Style\n")])).len(), 1);
}

use super::*;
use crate::apps::command::Words;
use crate::apps::definition::definition;
use crate::apps::list::ListFormat;
use crate::cli::defaults::Defaults;
use crate::core::{EngineKind, HashKind, OnError, Portion};
use crate::plan::{
    ChooseFrom, Delta, Expectation, JournalChoice, Options, PassthroughMode, ProgressStyle, RangeLists, ShardChoice,
    ShardWish, Verbosity, When,
};
use clap::FromArgMatches;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

fn command() -> clap::Command {
    definition(COMMANDS)
}

/// The options that the arguments after `haul` and a command's name become.
fn parsed<W: Words>(args: impl IntoIterator<Item = OsString>) -> Result<W::Options, clap::Error> {
    let mut haul = command();
    let matches = haul.try_get_matches_from_mut(args)?;
    let (name, matches) = matches.subcommand().unwrap();
    let settled = W::from_arg_matches(matches)?.into_options();
    settled.map_err(|(kind, what)| haul.find_subcommand_mut(name).unwrap().error(kind, what))
}

/// Parses the arguments in `line`, with the program's name prepended.
fn words<W: Words>(line: &str) -> Result<W::Options, clap::Error> {
    parsed::<W>(std::iter::once("haul").chain(line.split_whitespace()).map(OsString::from))
}

/// The options of a copy whose command line is valid.
fn copy(line: &str) -> Options {
    words::<CopyArguments>(&format!("copy {line}")).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn help_is_formatted_only_for_a_command_line_that_prints_it() {
    let length = |line: &str| {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let (haul, _) = matched(&args, COMMANDS);
        let help = |command: &clap::Command| command.get_after_long_help().map_or(0, |help| help.to_string().len());
        help(&haul) + haul.find_subcommand("copy").map_or(0, help)
    };
    assert_eq!(length("haul copy a b"), 0);
    assert!(length("haul copy --help") > 2000);
    assert!(length("haul copy --bad") > 2000);
}

/// The help that `line` requests, as a terminal of 80 columns shows it.
fn help(line: &str) -> String {
    let mut haul = command().term_width(80);
    let error = haul.try_get_matches_from_mut(line.split_whitespace()).unwrap_err();
    assert_eq!(error.exit_code(), 0, "{line}");
    let words: Vec<String> = line.split_whitespace().skip(1).map(str::to_owned).collect();
    brief::help_of(&haul, &words).map_or_else(|| error.to_string(), |help| help.to_string())
}

#[test]
fn the_command_line_definition_is_consistent() {
    command().debug_assert();
}

#[test]
fn the_list_of_commands_has_the_first_line_of_each_help() {
    let mut built = command();
    built.build();
    for Command { name, about, .. } in COMMANDS {
        let first = built.find_subcommand(name).unwrap().get_about().unwrap().to_string();
        assert_eq!(first, *about, "{name}");
    }
}

#[test]
fn a_shard_of_a_plan_is_named_without_sides() {
    let wish = |line: &str| words::<CopyArguments>(&format!("copy {line}")).map(|options| options.shard_of);
    let plan = "plan.json".to_owned();
    let expected = ShardWish { plan, choice: ShardChoice::Number(3, 64) };
    assert_eq!(wish("--plan plan.json --shard 3/64").unwrap(), Some(expected));
    assert_eq!(wish("--plan p --shard auto").unwrap().map(|wish| wish.choice), Some(ShardChoice::Auto));
    let wrong = "|--plan p|--shard 1/2|--plan p --shard 3/2|--plan p --shard 0/2|--plan p --shard 1/2 a b|\
        --plan p --shard 1/2 --skip 1|--plan p --shard 1/2 --resume|--plan p --shard 1/2 --limit 1M";
    for wrong in wrong.split('|') {
        assert!(wish(wrong).is_err(), "{wrong}");
    }
}

/// Building the help of all commands took most of the start time.
#[test]
fn commands_are_defined_lazily() {
    let mut haul = command();
    let options = |haul: &clap::Command, name| haul.find_subcommand(name).unwrap().get_arguments().count();
    assert_eq!((options(&haul, "copy"), options(&haul, "verify")), (0, 0));
    haul.try_get_matches_from_mut(["haul", "copy", "a", "b"]).unwrap();
    assert!(options(&haul, "copy") > 24 && options(&haul, "verify") == 0);
}

#[test]
fn a_plain_copy_sets_no_option() {
    let wanted = Options { source: "a".to_owned(), dest: "-".to_owned(), ..Options::default() };
    assert_eq!(copy("a -"), wanted);
}

#[test]
fn every_option_sets_its_field() {
    use Expectation::{Model, Serial, Size};
    let line = "--skip 1K --seek 63s --count 0x1000 --engine io_uring --block-size 4K --depth 7 --direct always \
                --sparse never --reflink always --no-flush --hash md5,xxh3 --hash md5 --limit 50M/s -y --expect \
                serial=1,size=1M --expect model=x -n --progress json --json --no-estimate --passthrough=dest \
                --command-timeout 9 --offload --on-error retry:3,skip --delta --verify=sample:0.5% --manifest m \
                --manifest-block 1M --decompress --compress xz:1 --checksum sums --time 5m -vv --label night \
                --mapfile map --resume --journal j --checkpoint 0.5 --also other --also=third --independent src dst";
    let wanted = Options {
        shard_of: None,
        is_shard: false,
        digests_from_bytes: None,
        rescue: false,
        fills: false,
        source: "src".to_owned(),
        dest: "dst".to_owned(),
        choose_from: ChooseFrom::Removable, // Conflicts with DST.
        choose_max_bytes: None,
        also: vec!["other".to_owned(), "third".to_owned()],
        independent: true,
        skip_bytes: Some(1024),
        seek_bytes: Some(63 * 512),
        count_bytes: Some(4096),
        range_lists: RangeLists::default(), // Conflicts with --skip, --seek and --count.
        ranges: [None, None],
        engine: Some(EngineKind::Ring),
        block_bytes: Some(4096),
        depth: Some(7),
        direct: When::Always,
        sparse: When::Never,
        reflink: When::Always,
        passthrough: PassthroughMode::Dest,
        command_timeout_s: Some(9),
        offload: true,
        no_flush: true,
        hashes: vec![HashKind::Md5, HashKind::Xxh3],
        hashes_are_defaults: false,
        mapfile: Some("map".to_owned()),
        on_error: OnError { skip: true, retries: 3 },
        journal: JournalChoice::At("j".into()),
        resume: true,
        restart: false,
        checkpoint: Some(Duration::from_millis(500)),
        delta: Some(Delta::Read),
        verify: Some(Portion::Sample { per_million: 5000 }),
        manifest: Some("m".to_owned()),
        manifest_block_bytes: Some(1 << 20),
        manifest_hash: None,
        decompress: crate::plan::Decompress::Always,
        compress: crate::plan::Compress::As(crate::core::Encoding::parse("xz:1").unwrap()),
        bmap: crate::plan::BlockMapChoice::Auto,
        block_map: None,
        checksum: crate::plan::checksum("sums").ok(),
        no_checksum: false,
        limit_bytes_per_s: Some(50 << 20),
        time_limit: Some(Duration::from_secs(300)),
        label: Some("night".to_owned()),
        yes: true,
        expect: vec![Serial("1".to_owned()), Size(1 << 20), Model("x".to_owned())],
        dry_run: true,
        no_estimate: true,
        progress: ProgressStyle::Json,
        verbosity: Verbosity::Everything,
        json: true,
        report: None, // A dry run writes none.
    };
    assert_eq!(copy(line), wanted);
    assert_eq!(copy("a b --report page.html").report, Some("page.html".into()));
}

#[test]
fn lists_of_ranges_are_of_one_side_or_both() {
    let file = || Some("list".to_owned());
    let lists = |both, of_side, unit_bytes| RangeLists { both, of_side, unit_bytes };
    let read = |line: &str| copy(line).range_lists;
    assert_eq!(read("a b --ranges list"), lists(file(), [None, None], None));
    assert_eq!(read("a b --ranges list --ranges-unit 4K"), lists(file(), [None, None], Some(4096)));
    assert_eq!(read("a b --source-ranges list --seek 5"), lists(None, [file(), None], None));
    assert_eq!(read("a b --destination-ranges list --skip 5"), lists(None, [None, file()], None));
}

#[test]
fn short_options_mean_their_long_forms() {
    assert_eq!(copy("-b 4K -c 1M -l 50MB -q a b"), copy("--block-size 4K --count 1M --limit 50MB --quiet a b"));
    assert_eq!(copy("-yvnb4K a b"), copy("--yes --verbose --dry-run --block-size 4K a b"));
    let verbosity = |line: &str| (copy(line).verbosity, copy(line).progress);
    assert_eq!(verbosity("a b"), (Verbosity::Short, ProgressStyle::Auto));
    assert_eq!(verbosity("-q a b"), (Verbosity::Quiet, ProgressStyle::Silent));
    assert_eq!(verbosity("-q --progress json a b"), (Verbosity::Quiet, ProgressStyle::Json));
    for line in ["verify -c 1M -b 4K -l 1M -v a b", "verify -q a b"] {
        words::<VerifyArguments>(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    for line in ["pattern write -c 1M -b 4K -l 1M -vv a", "pattern check -qc 1M a"] {
        words::<PatternArguments>(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

#[test]
fn each_engine_and_style_has_a_name() {
    let engines = [
        ("auto", None),
        ("ring", Some(EngineKind::Ring)),
        ("threads", Some(EngineKind::Threads)),
        ("sync", Some(EngineKind::Sync)),
    ];
    for (word, engine) in engines {
        assert_eq!(copy(&format!("a b --engine {word}")).engine, engine);
        assert_eq!(engine.map_or("auto", EngineKind::name), word);
    }
    for (word, when) in [("auto", When::Auto), ("always", When::Always), ("never", When::Never)] {
        let options = copy(&format!("a b --sparse {word} --direct={word} --reflink {word}"));
        assert_eq!([options.sparse, options.direct, options.reflink], [when; 3]);
    }
}

#[test]
fn the_other_commands_are_parsed() {
    let columns = |line| match words::<ListArguments>(line).unwrap() {
        ListFormat::Table(columns) => columns.iter().map(|column| column.name).collect::<Vec<_>>().join(","),
        other => format!("{other:?}"),
    };
    assert_eq!(columns("list"), "NAME,SIZE,MODEL,SERIAL,CONTENT,USE");
    assert_eq!(
        [columns("list --json"), columns("list -a"), columns("list -o wwn,Name")],
        ["Json", "Everything", "WWN,NAME"]
    );
    assert_eq!(words::<GenerateArguments>("generate zsh").unwrap(), "zsh");
    assert_eq!(words::<ListArguments>("--version").unwrap_err().exit_code(), 0);
}

#[test]
fn invalid_values_exit_with_2_naming_option_text_and_fault() {
    let table: &[(&str, &[&str])] = &[
        ("", &["Usage: haul"]),
        ("copy", &["<SRC>"]),
        ("copy a b --choose all", &["--choose", "[DST]"]),
        ("copy a b c", &["unexpected argument 'c'"]),
        ("copy a b --skip", &["--skip <SIZE>", "value is required"]),
        ("copy a b --skip -5", &["'-5'", "--skip", "cannot be negative"]),
        ("copy a b --skip --seek", &["'--seek'", "--skip", "missing"]),
        ("copy a b --seek 4Q", &["'4Q'", "--seek", "unknown suffix 'Q'", "accepted", "sectors"]),
        ("copy a b --count 0", &["'0'", "--count", "would copy nothing"]),
        ("copy a b --count 99E", &["'99E'", "--count", "64-bit"]),
        ("copy a b --count 2b", &["'2b'", "--count", "ambiguous"]),
        ("copy a b --block-size 0", &["--block-size", "at least 1 byte"]),
        ("copy a b --block-size 65M", &["--block-size", "at most 64M"]),
        ("copy a b --depth 0", &["--depth", "1 to 1024"]),
        ("copy a b --depth 1025", &["--depth", "1 to 1024"]),
        ("copy a b --depth -1", &["'-1'", "--depth", "1 to 1024"]),
        ("copy a b --limit 0", &["--limit", "would never finish"]),
        ("copy a b --engine warp", &["'warp'", "--engine", "threads"]),
        ("copy a b --direct maybe", &["'maybe'", "--direct", "always"]),
        ("copy a b --hash crc", &["'crc'", "--hash", "blake3"]),
        ("copy a b --expect colour=red", &["--expect", "unknown key 'colour'", "serial=TEXT"]),
        ("copy a b --skip 1 --skip 2", &["--skip", "multiple times"]),
        ("copy a - --json", &["--json", "standard output"]),
        ("copy a b --jsn", &["'--jsn'", "--json"]),
        ("clone a b", &["'clone'"]),
        ("generate tcsh", &["'tcsh'", "fish"]),
    ];
    for (line, parts) in table {
        let error = words::<CopyArguments>(line).unwrap_err();
        let text = error.to_string();
        assert_eq!(error.exit_code(), 2, "{line}: {text}");
        for part in *parts {
            assert!(text.contains(part), "{line}: no '{part}' in\n{text}");
        }
    }
}

#[test]
fn a_copy_without_a_destination_offers_a_choice() {
    let options = copy("a --choose all --choose-max 1TB");
    assert_eq!((options.dest.as_str(), options.choose_from), ("", ChooseFrom::All));
    assert_eq!(options.choose_max_bytes, Some(1_000_000_000_000));
}

#[test]
fn defaults_apply_to_options_not_given() {
    let defaults = Defaults { limit: Some(7), hash: vec![HashKind::Sha256], ..Defaults::default() };
    let with_defaults = |line: &str| {
        let matches = command().try_get_matches_from(format!("haul copy a b {line}").split_whitespace()).unwrap();
        let words = CopyArguments::from_arg_matches(matches.subcommand().unwrap().1).unwrap();
        words.with_defaults(&defaults).into_options().unwrap()
    };
    let options = with_defaults("");
    assert_eq!((options.limit_bytes_per_s, options.hashes), (Some(7), vec![HashKind::Sha256]));
    assert_eq!(options.choose_max_bytes, Some(300_000_000_000));
    let options = with_defaults("--limit none --hash none");
    assert_eq!((options.limit_bytes_per_s, options.hashes), (None, Vec::new()));
    assert_eq!(with_defaults("--limit 8 --hash md5").hashes, [HashKind::Md5]);
    for without in ["--resume", "--offload", "--reflink always", "--delta=m"] {
        assert!(with_defaults(without).hashes.is_empty(), "{without}");
    }
}

#[test]
fn an_empty_or_non_utf_8_address_is_refused_by_name() {
    let line = |source: Vec<u8>| ["haul".into(), "copy".into(), OsString::from_vec(source), "b".into()];
    let text = parsed::<CopyArguments>(line(vec![b'a', 0xff])).unwrap_err();
    assert_eq!(text.exit_code(), 2);
    assert!(text.to_string().contains(r#"SRC "a\xFF" is not valid UTF-8"#), "{text}");
    let text = parsed::<CopyArguments>(line(vec![])).unwrap_err().to_string();
    assert!(text.contains("SRC is empty"), "{text}");
}

#[test]
fn short_help_matches_its_snapshot() {
    insta::assert_snapshot!("haul_h", help("haul -h"));
    insta::assert_snapshot!("haul_copy_h", help("haul copy -h"));
    insta::assert_snapshot!("haul_verify_h", help("haul verify -h"));
}

#[test]
fn long_help_matches_its_snapshot() {
    insta::assert_snapshot!("haul_help", help("haul --help"));
    insta::assert_snapshot!("haul_copy_help", help("haul copy --help"));
    insta::assert_snapshot!("haul_verify_help", help("haul verify --help"));
}

#[test]
fn short_help_fits_a_screen() {
    let text = help("haul copy -h");
    assert!(text.lines().count() < 24, "{} lines", text.lines().count());
    let lines = ["haul -h", "haul copy --help", "haul verify -h", "haul verify --help", "haul --help"];
    for text in lines.map(help).into_iter().chain([text]) {
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 80, "{widest} columns:\n{text}");
    }
}

#[test]
fn help_and_man_page_mention_every_option() {
    let (short, long) = (help("haul copy -h"), help("haul copy --help"));
    let man = generate::render("man-copy", COMMANDS).replace('\\', "");
    let mut definition = command();
    definition.build();
    let copy = definition.find_subcommand("copy").unwrap();
    let mut count = 0;
    for argument in copy.get_arguments() {
        let Some(option) = argument.get_long().filter(|option| *option != "help") else { continue };
        let in_short = Some(&short).filter(|_| !argument.is_hide_short_help_set());
        for text in in_short.into_iter().chain([&long, &man]) {
            assert!(text.contains(&format!("--{option}")), "--{option} is not in\n{text}");
        }
        count += 1;
    }
    assert!(count >= 24, "{count}");
}

#[test]
fn the_man_page_has_the_usual_sections() {
    let man = generate::render("man-copy", COMMANDS);
    let titles = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SIGNALS", "EXAMPLES", "SIZES", "SEE ALSO"];
    for title in titles.into_iter().chain(["ENVIRONMENT", "FILES"]) {
        let heading = |line: &str| line.strip_prefix(".SH ").map(|rest| rest.trim_matches('"')) == Some(title);
        assert!(man.lines().any(heading), "{title} is not in\n{man}");
    }
}

#[test]
fn the_help_of_list_has_every_column_in_the_order_of_the_table() {
    let text = help("haul list --help");
    let section = text.split("COLUMNS\n").nth(1).unwrap_or_else(|| panic!("{text}"));
    let listed: Vec<&str> = section.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let names: Vec<&str> = crate::report::list::COLUMNS.iter().map(|column| column.name).collect();
    assert_eq!(listed, names);
}

#[test]
fn completions_have_the_commands_and_options() {
    for artifact in ["bash", "zsh", "fish"] {
        let text = generate::render(artifact, COMMANDS);
        for word in ["copy", "list", "block-size", "sparse"] {
            assert!(text.contains(word), "{artifact:?}: {word}");
        }
    }
}

#[test]
fn the_man_page_describes_the_command_before_its_options() {
    let man = generate::render("man-copy", COMMANDS);
    assert!(man.starts_with(".TH HAUL\\-COPY 1 \""), "{man}");
    let (before, _) = man.split_once(".SH OPTIONS").unwrap();
    assert!(before.contains("\nCopy SRC to DST completely"), "{before}");
}

#[test]
fn the_overview_lists_the_man_page_of_every_command() {
    let man = generate::render("man", COMMANDS).replace('\\', "");
    for command in COMMANDS.iter().filter(|command| command.manual.is_some()) {
        assert!(man.contains(&format!("fBhaul-{}fR(1)", command.name)), "{} is not in\n{man}", command.name);
    }
}

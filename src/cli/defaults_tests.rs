use super::*;

fn of(text: &str, variables: &[(&str, &str)]) -> Result<Defaults> {
    let variable =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
    Defaults::of(Some((Path::new("/c/config.toml"), text)), variable)
}

fn origin(defaults: &Defaults, key: &str) -> (String, Origin) {
    let value = defaults.values.iter().find(|value| value.key.name == key).unwrap();
    (value.text.clone(), value.origin)
}

#[test]
fn the_environment_overrides_the_file_which_overrides_built_in_defaults() {
    let text = "# mine\nlimit = \"40MB\"\nhash = [\"sha256\", \"xxh3\"]\n\nchoose_max = 2_000_000\n";
    let defaults =
        of(text, &[("HAUL_LIMIT", "1M/s"), ("HAUL_PROGRESS", "plain"), ("HAUL_UNITS", "iec"), ("HAUL_HASH", "")])
            .unwrap();
    assert_eq!((defaults.limit, defaults.progress), (Some(1 << 20), ProgressStyle::Plain));
    assert_eq!(defaults.units, Units::Iec);
    assert_eq!(
        (defaults.hash.as_slice(), defaults.choose_max_bytes),
        (&[HashKind::Sha256, HashKind::Xxh3][..], 2_000_000)
    );
    assert_eq!(origin(&defaults, "limit"), ("1M/s".to_owned(), Origin::Environment));
    assert_eq!(origin(&defaults, "hash"), ("sha256,xxh3".to_owned(), Origin::File(3)));
    assert_eq!(origin(&defaults, "choose_max"), ("2000000".to_owned(), Origin::File(5)));
    assert_eq!(origin(&defaults, "journal_folder"), (String::new(), Origin::BuiltIn));
    let none = of("limit = \"1M\"", &[("HAUL_LIMIT", "none")]).unwrap();
    assert_eq!(none.limit, None);
}

#[test]
fn built_in_defaults_are_shown_as_such() {
    let shown = Defaults::default();
    for value in &shown.values {
        let mut defaults = Defaults { choose_max_bytes: 1, ..Defaults::default() };
        defaults.take(value.key, value.text.clone(), Origin::BuiltIn).unwrap_or_else(|error| panic!("{error}"));
        if value.key.name == "choose_max" {
            assert_eq!(defaults.choose_max_bytes, CHOOSE_MAX_BYTES);
        }
    }
}

#[test]
fn errors_in_the_file_are_named_with_file_line_and_key() {
    let table = [
        ("limit = \"1M\"\nlimt = \"2M\"", "line 2: limt: unknown key; accepted: limit, progress"),
        ("\n\nlimit = \"fast\"", "line 3: limit: bad value 'fast': "),
        ("limit = 0", "line 1: limit: bad value '0': "),
        ("progress = true", "line 1: progress: expected a text"),
        ("progress = \"dance\"", "line 1: progress: bad value 'dance': accepted: auto, bar, plain, json, none"),
        ("units = \"metric\"", "line 1: units: bad value 'metric': accepted: si, iec"),
        ("hash = [\"crc7\"]", "line 1: hash: bad value 'crc7': accepted: blake3,"),
        ("journal_folder = \"here\"", "line 1: journal_folder: bad value 'here': give an absolute path"),
        ("[limit]\nx = 1", "line 1: limit: expected a text"),
        ("limit = 1\n= 2", "line 2: not valid TOML"),
        ("limit = 1\nlimit = 2", "line 2: not valid TOML: duplicate key"),
    ];
    for (text, wanted) in table {
        let error = of(text, &[]).map(|_| ()).unwrap_err();
        let wanted = format!("configuration file /c/config.toml, {wanted}");
        assert!(error.what.starts_with(&wanted) && error.kind == Kind::Usage, "{text:?}: {}", error.what);
        assert!(!error.what.contains('\n') && !error.advice.is_empty(), "{text:?}: {error:?}");
    }
}

#[test]
fn a_bad_value_in_the_environment_is_named_with_its_variable() {
    let error = of("", &[("HAUL_LIMIT", "fast")]).map(|_| ()).unwrap_err();
    assert!(error.what.starts_with("environment variable HAUL_LIMIT: bad value 'fast': "), "{}", error.what);
    assert!(error.advice.contains("unset HAUL_LIMIT"), "{}", error.advice);
}

#[test]
fn the_journal_directory_is_read_despite_other_errors() {
    let directory = |text, variables: &[(&str, &str)]| {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        Defaults::journal_folder_of(Some((Path::new("/c"), text)), variable)
    };
    let text = "limt = 1\nlimit = \"fast\"\njournal_folder = \"/a\"\n";
    assert_eq!(directory(text, &[]), Some("/a".into()));
    assert_eq!(directory(text, &[("HAUL_JOURNAL_FOLDER", "/b"), ("HAUL_LIMIT", "fast")]), Some("/b".into()));
    assert_eq!(directory("journal_folder = \"here\"", &[]), None);
    assert_eq!(directory("= 1", &[]), None);
}

//! JSON output, and files of JSON lines, match the schemas in docs/schema.
//!
//! The schemas allow unknown fields, because a later haul may add some. Here they do not: every field that haul
//! prints is in the schema, and every required field is printed.
use crate::support::{
    LoopDevice, filled, haul, haul_path, in_one_line, memory_dir, scratch, skip, state_home, write_noise,
};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;

fn schema(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("docs/schema/{name}.schema.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The schema without permission for unknown fields.
fn closed(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(object) => {
            object.values_mut().for_each(|value| *value = closed(value.take()));
            // The fields of a summary are defined elsewhere in the schema.
            if object.contains_key("properties") && !object.contains_key("allOf") {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| *value = closed(value.take())),
        _ => {}
    }
    schema
}

/// A validator for documents of the kind `definition` in the schema `name`.
fn validator(name: &str, definition: &str) -> Validator {
    let mut one = closed(schema(name));
    assert!(one["$defs"].get(definition).is_some(), "{name}.schema.json has no {definition}");
    let object = one.as_object_mut().expect("a schema is an object");
    object.remove("oneOf");
    object.remove("$id");
    object.insert("$ref".to_owned(), json!(format!("#/$defs/{definition}")));
    let report = jsonschema::Registry::new()
        .add("urn:haul:schema:report:1", closed(schema("report")))
        .and_then(|registry| registry.prepare())
        .expect("it is a schema");
    jsonschema::options().with_registry(&report).build(&one).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[track_caller]
fn assert_valid(name: &str, definition: &str, document: &Value) {
    let validator = validator(name, definition);
    let complaint = |error: jsonschema::ValidationError<'_>| format!("{}: {error}", error.instance_path());
    let complaints: Vec<String> = validator.iter_errors(document).map(complaint).collect();
    let shown = serde_json::to_string_pretty(document).expect("it is JSON");
    assert!(complaints.is_empty(), "{definition} of {name}.schema.json:\n{}\n{shown}", complaints.join("\n"));
}

/// Runs haul, and validates the document that it prints.
#[track_caller]
pub(crate) fn report(definition: &str, dir: &Path, words: &[&str]) -> Value {
    let output = haul().current_dir(dir).args(words).output().expect("it runs");
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{words:?}: {error}: {}", in_one_line(&output.stderr)));
    assert_valid("report", definition, &document);
    if let Some(command) = document.get("command") {
        assert_eq!(*command, json!([&["haul"], words].concat()), "{words:?}");
    }
    document
}

/// A directory with two different files of `size` bytes.
fn directory(size: usize) -> crate::support::ScratchDir {
    let dir = scratch();
    write_noise(&dir.path().join("a"), size, 1);
    write_noise(&dir.path().join("b"), size, 2);
    dir
}

#[test]
fn the_schemas_are_valid_in_the_draft_that_they_name() {
    for name in ["report", "progress", "manifest", "journal"] {
        let schema = schema(name);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_schema_rejects_invalid_documents() {
    let dir = directory(MIB);
    let right = report("copy", dir.path(), &["copy", "--json", "a", "c"]);
    let judge = validator("report", "copy");
    for (field, value) in [("status", json!("done")), ("durable", json!(1)), ("dests", json!(null)), ("new", json!(1))]
    {
        let mut wrong = right.clone();
        wrong[field] = value;
        assert!(!judge.is_valid(&wrong), "{field}");
    }
    let mut lacking = right.clone();
    lacking.as_object_mut().expect("it is one").remove("bytes");
    assert!(!judge.is_valid(&lacking));
}

#[test]
fn reports_of_copies_match_the_schema() {
    let dir = directory(3 * MIB + 5);
    let path = dir.path();
    let all = ["copy", "--json", "--verify", "--manifest", "m", "--hash", "sha256", "--hash", "xxh3", "--label", "x"];
    let whole = report("copy", path, &[&all[..], &["a", "c"]].concat());
    assert_eq!((&whole["report"], &whole["status"]), (&json!("copy"), &json!("complete")));
    report("copy", path, &["copy", "--json", "--delta", "b", "c"]);
    report("copy", path, &["copy", "--json", "--sparse", "always", "--count", "1M", "/dev/zero", "zeros"]);
    report("copy", path, &["copy", "--json", "--verify", "a", "d", "--also", "e"]);
    assert_eq!(report("copy", path, &["copy", "--json", "a", "/dev/nosuch"])["status"], "refused");
    assert_eq!(report("copy", path, &["copy", "--json", "nosuch", "f"])["status"], "failed");
    let cut =
        report("copy", path, &["copy", "--json", "--time", "1", "--limit", "1M", "--block-size", "64K", "a", "g"]);
    assert_eq!(cut["status"], "out_of_time");
    let resumed = report("copy", path, &["copy", "--json", "--resume", "a", "g"]);
    assert_eq!(resumed["status"], "complete");
}

#[test]
fn reports_of_verify_and_pattern_match_the_schema() {
    let dir = directory(2 * MIB);
    let path = dir.path();
    report("copy", path, &["verify", "--json", "a", "a"]);
    let unlike = report("copy", path, &["verify", "--json", "a", "b"]);
    assert_eq!(unlike["differences"]["equal"], false);
    write_noise(&path.join("short"), MIB, 1);
    report("copy", path, &["verify", "--json", "a", "short"]);
    report("copy", path, &["pattern", "write", "--json", "--count", "2M", "p"]);
    assert_eq!(report("copy", path, &["pattern", "check", "--json", "p"])["damage"]["clean"], true);
    let mut bytes = fs::read(path.join("p")).expect("it exists");
    bytes[MIB] ^= 1;
    bytes[..4096].fill(0);
    fs::write(path.join("p"), bytes).expect("the file can be written");
    assert_eq!(report("copy", path, &["pattern", "check", "--json", "p"])["damage"]["clean"], false);
    report("copy", path, &["pattern", "check", "--json", "nosuch"]);
}

#[test]
fn unreadable_sectors_in_a_report_match_the_schema() {
    use crate::support::{FailingDisk, Fails};
    let dir = directory(MIB);
    let Some(disk) = FailingDisk::over(dir.path(), &dir.path().join("a"), Fails::Reads, 51200..51712) else { return };
    let source = disk.path();
    let source = source.to_str().expect("paths of test directories are UTF-8");
    let reported = report("copy", dir.path(), &["copy", "--json", "--on-error", "skip", source, "c"]);
    assert_eq!(reported["unread_sectors"], 1, "{reported}");
}

#[test]
fn plans_match_the_schema() {
    let dir = directory(MIB);
    let path = dir.path();
    report("plan", path, &["copy", "-n", "--json", "a", "c"]);
    report("plan", path, &["copy", "-n", "--json", "--hash", "md5", "--verify=sample:1%", "a", "c", "--also", "d"]);
    fs::write(path.join("list"), "0 4K\n64K 4K\n").expect("the file can be written");
    report("plan", path, &["copy", "-n", "--json", "--ranges", "list", "a", "c"]);
    report("plan", path, &["copy", "-n", "--json", "--source-ranges", "list", "a", "c"]);
    report("plan", path, &["copy", "-n", "--json", "--destination-ranges", "list", "a", "c"]);
    report("copy", path, &["copy", "--json", "--source-ranges", "list", "--destination-ranges", "list", "a", "c"]);
    let packed = Command::new("gzip").arg("-c").arg(path.join("a")).output().expect("gzip runs").stdout;
    fs::write(path.join("packed"), packed).expect("the file can be written");
    let plan = report("plan", path, &["copy", "-n", "--json", "--decompress", "packed", "c"]);
    assert_eq!(plan["source"]["compressed"]["format"], "gzip");
    let copied = report("copy", path, &["copy", "--json", "--decompress", "--hash", "sha512", "packed", "unpacked"]);
    assert_eq!(copied["source"]["kind"], "compressed_file");
    report("plan", path, &["pattern", "write", "-n", "--json", "--count", "1M", "p"]);
    if let Some(disk) = LoopDevice::over(&path.join("b")) {
        report("plan", path, &["copy", "-n", "--json", "a", disk.path().to_str().expect("its name is UTF-8")]);
    }
}

#[test]
fn the_list_of_devices_matches_the_schema() {
    let dir = memory_dir();
    filled(&dir.path().join("disk"), MIB, 7);
    let _disk = LoopDevice::over(&dir.path().join("disk"));
    report("devices", dir.path(), &["list", "--json"]);
    let listed = report("journals", dir.path(), &["journal", "list", "--json"]);
    assert_eq!(listed["copies"], json!([]));
    report("config", dir.path(), &["config", "--json"]);
}

#[cfg(feature = "objects")]
#[test]
fn plans_and_status_of_copies_by_many_workers_match_the_schemas() {
    let dir = directory(MIB);
    let path = dir.path();
    let run = |words: &[&str]| haul().current_dir(path).args(words).output().expect("it runs");
    let planned = run(&["plan", "a", "dest", "--shards", "2", "--limit", "1G"]).stdout;
    fs::write(path.join("p"), &planned).expect("it can be written");
    let plan: Value = serde_json::from_slice(&planned).expect("it is JSON");
    let whole = jsonschema::options().build(&closed(schema("plan"))).expect("it is a schema");
    let complaints: Vec<String> = whole.iter_errors(&plan).map(|error| error.to_string()).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    assert!(run(&["copy", "--plan", "p", "--shard", "2/2"]).status.success());
    // An attempt that failed.
    fs::rename(path.join("a"), path.join("kept")).expect("it exists");
    fs::write(path.join("a"), b"other").expect("it can be written");
    assert_eq!(run(&["copy", "--plan", "p", "--shard", "1/2"]).status.code(), Some(3));
    fs::rename(path.join("kept"), path.join("a")).expect("it exists");
    let found = report("fleet", path, &["status", "--json", "p"]);
    assert_eq!((&found["done_shards"], &found["failed"][0]["shard"]), (&json!(1), &json!(1)));
    report("fleet", path, &["finish", "--json", "p"]);
    assert!(run(&["copy", "--plan", "p", "--shard", "1/2"]).status.success());
    report("fleet", path, &["finish", "--json", "p"]);
}

#[test]
fn manifests_and_their_reports_match_the_schemas() {
    let dir = directory(9 * MIB);
    let path = dir.path();
    let zeros = fs::File::options().write(true).open(path.join("b")).expect("it exists");
    zeros.set_len(0).and_then(|()| zeros.set_len(9 * MIB as u64)).expect("files can be truncated");
    for (name, source, dest) in [("m", "a", "c"), ("n", "b", "d")] {
        haul().current_dir(path).args(["copy", "--manifest", name, source, dest]).assert().success();
    }
    fs::write(path.join("list"), "0 4K\n64K 4K\n").expect("the file can be written");
    let of_ranges = ["copy", "--manifest", "o", "--source-ranges", "list", "a", "e"];
    haul().current_dir(path).args(of_ranges).assert().success();
    assert_eq!(kinds_of_lines(&path.join("o"), "manifest"), BTreeSet::from(["head", "range", "block", "closing"]));
    report("manifest", path, &["manifest", "show", "--json", "o"]);
    report("manifest", path, &["manifest", "show", "--json", "m"]);
    report("manifest_diff", path, &["manifest", "diff", "--json", "m", "n"]);
    report("not_begun", path, &["manifest", "show", "--json", "nosuch"]);
    fs::write(path.join("map"), "0x200 - 2\n0x200 0x1000 +\n0x1200 0x200 -\n").expect("the file can be written");
    let map = report("map", path, &["map", "show", "--json", "map"]);
    assert_eq!((&map["untried_bytes"], &map["blocks"][2]["status"]), (&json!(512), &json!("bad")));
    report("not_begun", path, &["map", "show", "--json", "nosuch"]);
    let rescue = report("rescue", path, &["rescue", "--json", "a", "rescued"]);
    assert_eq!((&rescue["missing_bytes"], &rescue["next_command"]), (&json!(0), &json!(null)));
    report("not_begun", path, &["rescue", "--json", "nosuch", "rescued"]);
    for (name, kinds) in [("m", &["head", "block", "closing"]), ("n", &["head", "zeros", "closing"])] {
        assert_eq!(kinds_of_lines(&path.join(name), "manifest"), kinds.iter().copied().collect(), "{name}");
    }
}

/// Validates every line of a file of JSON lines by the schema `name`; returns the kinds of lines.
#[track_caller]
fn kinds_of_lines(file: &Path, name: &str) -> BTreeSet<&'static str> {
    let bytes = fs::read(file).expect("it exists");
    // An undo journal has its lines before the first zero byte, followed by the saved data.
    let text = bytes.split(|byte| *byte == 0).next().expect("there is a first part");
    let lines = std::str::from_utf8(text).expect("lines are UTF-8").lines();
    let kind = |line: &Value| match line {
        line if line.get("haul_undo").is_some() => "undo_head",
        line if line.get("haul_manifest").or(line.get("haul_journal")).is_some() => "head",
        line if line.get("at_bytes").is_some() => "undo_extent",
        line if line.get("kept_extents").is_some() => "undo_closing",
        line if line.get("lines").is_some() => "closing",
        line if line.get("zero").is_some() => "zeros",
        line if line.get("unread").is_some() && line.get("offset_bytes").is_some() => "unread",
        line if line.get("digest").is_some() => "block",
        line if line.get("range_of").is_some() => "range",
        _ => "checkpoint",
    };
    let mut kinds = BTreeSet::new();
    for line in lines {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let kind = kind(&line);
        assert_valid(name, kind, &line);
        kinds.insert(kind);
    }
    kinds
}

#[test]
fn the_journal_of_an_unfinished_copy_matches_the_schema() {
    let dir = directory(4 * MIB);
    fs::write(dir.path().join("list"), "0 4M\n").expect("the file can be written");
    let line = ["--time", "1", "--limit", "2M", "--checkpoint", "0.2", "--block-size", "64K", "a"];
    for (more, dest) in [(&[][..], "c"), (&["--ranges", "list"], "d")] {
        haul().current_dir(dir.path()).arg("copy").args(more).args(line).arg(dest).assert().code(4);
        let journal = dir.path().join(format!(".{dest}.haul-journal"));
        if !journal.exists() {
            return skip("scratch is in memory, where no journal is kept");
        }
        assert_eq!(kinds_of_lines(&journal, "journal"), BTreeSet::from(["head", "checkpoint"]));
        let text = fs::read_to_string(&journal).expect("it is UTF-8");
        assert_eq!(text.contains("source_ranges"), dest == "d", "{text}");
    }
}

#[test]
fn the_undo_journal_of_a_device_matches_the_schema() {
    let dir = memory_dir();
    filled(&dir.path().join("disk"), 64 * MIB, 7);
    let Some(disk) = LoopDevice::over(&dir.path().join("disk")) else { return };
    let mut measuring = Command::new(haul_path());
    measuring.args(["tune", "--write", "--yes", "--time", "60"]).arg(disk.path()).env("XDG_STATE_HOME", state_home());
    let mut measuring = measuring.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let is_undo = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "undo");
    let found = || {
        let entries = fs::read_dir(state_home().join("haul")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).find(is_undo)
    };
    crate::support::wait_until(|| found().is_some());
    let kept = dir.path().join("kept");
    fs::copy(found().expect("it existed"), &kept).expect("the file can be written");
    let end = rustix::process::kill_process(rustix::process::Pid::from_child(&measuring), rustix::process::Signal::INT);
    end.expect("it runs");
    measuring.wait().expect("it is a child of this process");
    assert_eq!(kinds_of_lines(&kept, "journal"), BTreeSet::from(["undo_head", "undo_extent", "undo_closing"]));
}

#[test]
fn measurements_match_the_schema() {
    let dir = directory(16 * MIB);
    let path = dir.path();
    report("tune", path, &["tune", "--json", "--time", "1", "a"]);
    report("profile", path, &["profile", "--json", "--time", "1", "a"]);
    report("timing", path, &["profile", "--timing", "--json", "--time", "1", "a"]);
    let random = ["profile", "--random", "--json", "--time", "1", "--slower-than", "1us", "a"];
    report("random", path, &random);
    report("tune", path, &["tune", "--write", "--json", "--time", "1", "new"]);
    report("profile", path, &["profile", "--write", "--json", "--time", "1", "new"]);
    report("sustained", path, &["profile", "--write", "--sustained", "64M", "--json", "new"]);
    for (definition, line) in [("tune", &["tune"][..]), ("profile", &["profile"]), ("random", &["profile", "--random"])]
    {
        let reported = report("not_begun", path, &[line, &["--json", "nosuch"]].concat());
        assert_eq!(reported["status"], "failed", "{definition}");
    }
}

#[test]
fn lines_of_progress_match_the_schema() {
    let dir = directory(6 * MIB);
    let path = dir.path();
    let mut types = BTreeSet::new();
    for line in [
        &["copy", "--limit", "3M", "a", "c"][..],
        &["copy", "--verify", "a", "d", "--also", "e"],
        &["copy", "a", "/dev/full"],
        &["copy", "nosuch", "f"],
        &["rescue", "--max-read-rate", "3M", "a", "g"],
        &["rescue", "nosuch", "h"],
    ] {
        let output = haul().current_dir(path).args(line).args(["--progress", "json"]).output().expect("it runs");
        for line in String::from_utf8(output.stderr).expect("it is UTF-8").lines() {
            let mut line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            let kind = line["type"].as_str().expect("lines have a type").to_owned();
            if kind == "summary" {
                // The fields of a report, and the type.
                assert!(jsonschema_allows(&line), "{line}");
                line.as_object_mut().expect("it is one").remove("type");
                let report = match (line["report"].as_str(), line["status"].as_str()) {
                    (Some("rescue"), Some("failed")) => "not_begun",
                    (Some("rescue"), _) => "rescue",
                    _ => "copy",
                };
                assert_valid("report", report, &line);
            } else {
                assert_valid("progress", &kind, &line);
            }
            types.insert(kind);
        }
    }
    for kind in ["start", "progress", "phase", "summary"] {
        assert!(types.contains(kind), "there was no line of type {kind}: {types:?}");
    }
}

/// Whether the published schema accepts the line.
fn jsonschema_allows(line: &Value) -> bool {
    let registry = jsonschema::Registry::new().add("urn:haul:schema:report:1", schema("report"));
    let registry = registry.and_then(|registry| registry.prepare()).expect("it is a schema");
    jsonschema::options().with_registry(&registry).build(&schema("progress")).expect("it is a schema").is_valid(line)
}

#[test]
fn the_document_about_json_has_every_field_of_the_schema() {
    fn names<'a>(schema: &'a Value, found: &mut BTreeSet<&'a str>) {
        match schema {
            Value::Object(object) => {
                if let Some(Value::Object(properties)) = object.get("properties") {
                    found.extend(properties.keys().map(String::as_str));
                }
                object.values().for_each(|value| names(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| names(value, found)),
            _ => {}
        }
    }
    let document = include_str!("../../docs/user/json.md");
    for name in ["report", "progress"] {
        let schema = schema(name);
        let mut found = BTreeSet::new();
        names(&schema, &mut found);
        let missing: Vec<&&str> = found.iter().filter(|field| !document.contains(&format!("`{field}`"))).collect();
        assert!(missing.is_empty(), "docs/user/json.md does not have {missing:?}");
    }
}

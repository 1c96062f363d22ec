//! What `haul rescue` shows while it runs, and its logs.
use crate::rescue::{BAD, LEN, Scene};
use crate::support::{LoopDevice, Running, Terminal, haul_command, scratch, stderr, write_noise};
use serde_json::Value;
use std::fs::{self, File};
use std::process::{Command, Stdio};

#[test]
fn the_display_shows_phase_failures_and_a_picture() {
    let Some(scene) = Scene::new() else { return };
    let [source, dest, map] = scene.operands();
    let words = ["rescue", "--retries", "1", "--max-read-rate", "2M", &source, &dest, &map];
    let (shown, status) = Terminal::sized(80, 24, haul_command(&words)).end();
    assert_eq!(status, 1, "{}", shown.text);
    assert!(shown.text.contains("copying, pass 1, failed 65.5 kB in 1 area "), "{}", shown.text);
    let lines = shown.lines();
    // The rows of one drawing and the first of the next one may be on one line.
    let rows: Vec<&str> = lines.split(|letter| !"+-/*?".contains(letter)).filter(|row| row.len() > 70).collect();
    assert!(rows.iter().any(|row| row.contains("+*") && row.ends_with('?')), "{rows:?}");
    assert!(rows.iter().all(|row| row.len() < 80), "{rows:?}");

    fs::remove_file(&map).unwrap();
    fs::remove_file(&dest).unwrap();
    let logged = stderr(&scene.haul(&["--progress", "plain", "--max-read-rate", "2M"]).code(1));
    assert!(logged.contains("copying, pass 1"), "{logged}");
}

#[test]
fn lines_of_json_follow_the_rescue_and_end_with_its_result() {
    let Some(scene) = Scene::new() else { return };
    let words = ["--progress", "json", "--json", "--retries", "1", "--max-read-rate", "2M"];
    let ended = scene.haul(&words).code(1);
    scene.is_rescued();
    let printed = String::from_utf8(ended.get_output().stderr.clone()).expect("JSON is UTF-8");
    let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!((&lines[0]["type"], &lines[0]["pass"]), (&"start".into(), &"rescue".into()));
    let states: Vec<&Value> =
        lines.iter().filter(|line| line["type"] == "progress").map(|line| &line["rescue"]).collect();
    assert_eq!(states[0]["phase"], "copying", "{states:?}");
    assert!(states[0]["rescued_bytes"].as_u64() < Some(LEN as u64) && states[0]["untried_bytes"].as_u64() > Some(0));
    let mut summary = lines.last().expect("there are lines").clone();
    assert_eq!(summary.as_object_mut().and_then(|summary| summary.remove("type")), Some("summary".into()));
    let document: Value = serde_json::from_slice(&ended.get_output().stdout).expect("the result is JSON");
    assert_eq!(summary, document);
    let last = states.last().expect("there are states");
    for key in ["phase", "rescued_bytes", "bad_bytes", "untried_bytes", "failed_reads"] {
        assert_eq!(last[key], document[key], "{key}");
    }

    // A refusal is the only line: what the map lists as rescued is gone.
    fs::remove_file(scene.path("dest")).unwrap();
    let refused = scene.haul(&["--progress", "json"]).code(3);
    let line: Value = serde_json::from_slice(&refused.get_output().stderr).expect("it is one line of JSON");
    assert_eq!((&line["type"], &line["report"]), (&"summary".into(), &"rescue".into()));
    assert!(line["error"]["message"].is_string(), "{line}");
}

#[test]
fn the_logs_have_every_read_and_phase() {
    let Some(scene) = Scene::new() else { return };
    let [events, rates, reads] = ["events", "rates", "reads"].map(|name| scene.name(name));
    let words = ["--log-events", &events, "--log-rates", &rates, "--log-reads", &reads, "--retries", "1"];
    scene.haul(&words).code(1);
    scene.is_rescued();
    let lines = |path: &str| -> Vec<String> {
        let text = fs::read_to_string(path).unwrap();
        text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(str::to_owned).collect()
    };
    let phases: Vec<String> = lines(&events).iter().map(|line| line.split("%  ").nth(1).unwrap().to_owned()).collect();
    assert_eq!(phases.first().map(String::as_str), Some("copying, pass 1"));
    assert!(phases.ends_with(&["retrying, pass 1".to_owned(), "end: finished, pass 1".to_owned()]), "{phases:?}");
    assert!(!lines(&rates).is_empty());
    // What was read is what is in the destination, and every bad sector failed.
    let (mut read, mut failed) = (0, 0);
    for line in lines(&reads) {
        let fields: Vec<u64> = line.split('\t').skip(1).map(|field| field.parse().unwrap()).collect();
        assert_eq!(fields[0], fields[1] + fields[2], "{line}");
        (read, failed) = (read + fields[1], failed + fields[2]);
    }
    let bad: u64 = BAD.iter().map(|bad| bad.end - bad.start).sum();
    assert_eq!(read, LEN as u64 - bad);
    assert!(failed > bad, "{failed}");

    let size = fs::metadata(&reads).unwrap().len();
    scene.haul(&words).code(1);
    assert!(fs::metadata(&reads).unwrap().len() > size, "the second run is not appended");
    let before = fs::read(scene.path("dest")).unwrap();
    for taken in [scene.name("dest"), scene.name("map"), events.clone(), scene.source()] {
        let refused = stderr(&scene.haul(&["--log-rates", &rates, "--log-reads", &taken]).failure());
        assert!(refused.contains("log"), "{refused}");
    }
    let twice = stderr(&scene.haul(&["--log-rates", &rates, "--log-reads", &rates]).code(2));
    assert!(twice.contains("named twice"), "{twice}");
    assert!(fs::read(scene.path("dest")).unwrap() == before);
}

#[test]
fn a_source_that_disappears_is_not_reported_as_shorter() {
    let dir = scratch();
    let (backing, dest) = (dir.path().join("backing"), dir.path().join("dest"));
    for command in ["rescue", "copy"] {
        write_noise(&backing, 8 << 20, 5);
        let Some(disk) = LoopDevice::over(&backing) else { return };
        let limit = if command == "rescue" { "--max-read-rate" } else { "--limit" };
        let [source, dest] = [disk.path(), &dest].map(|path| path.to_str().expect("paths of tests are UTF-8"));
        let mut running = Running::start(&[command, "--yes", limit, "1M", source, dest], Stdio::null(), Stdio::null());
        running.read_until(|line| line.contains("/s"));
        // As the kernel leaves a disk that was pulled out: with no byte.
        File::options().write(true).open(&backing).unwrap().set_len(0).unwrap();
        assert!(Command::new("losetup").arg("-c").arg(disk.path()).status().unwrap().success());
        let (status, _) = running.end();
        let messages = &running.messages;
        assert_eq!(status.code(), Some(1), "{messages}");
        assert_eq!(messages.matches("has disappeared").count(), 1, "{command}: {messages}");
        assert!(!messages.contains("shrank"), "{command}: {messages}");
        fs::remove_file(dest).unwrap();
    }
}

//! The pages of `--report`, written by the program and rendered by a browser: headless Chromium, if installed.
use crate::browser;
use crate::support;
use crate::support::{FailingDisk, Fails, haul, memory_dir, scratch, write_noise};
use std::fs;
use std::path::Path;
use std::process::Stdio;

const MIB: usize = 1 << 20;

/// The page with its slashes unescaped.
pub(crate) fn read(page: impl AsRef<Path>) -> String {
    fs::read_to_string(page).expect("there is a page").replace("&#x2f;", "/")
}

/// Asserts that the page is readable on a phone and a screen, in light and dark mode, and loads nothing.
pub(crate) fn assert_fit_to_be_read(page: &Path, charts: usize) {
    let text = read(page);
    for foreign in ["<script", "src=", "@import", "url(", "<iframe", "<object", "<img"] {
        assert!(!text.contains(foreign), "{foreign} in {}", page.display());
    }
    let elsewhere = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http:") && !elsewhere.contains("https:"), "it names another host");
    assert!(text.contains("content=\"default-src 'none';"), "nothing keeps it from asking");
    assert_eq!(text.matches("<svg ").count(), 2 * charts, "each chart is there for a wide and for a narrow screen");
    let Some(shown) = browser::assert_readable(page, charts) else { return };
    for (id, curves) in shown.as_object().expect("figures have names") {
        assert_eq!(*curves, serde_json::json!(points(&text, id)), "{id}: the browser draws other points");
    }
}

fn charts(page: &str) -> usize {
    page.matches("<div class=\"chart wide\">").count()
}

/// Number of points of each curve in the figure with this id; both of its charts have the same.
fn points(page: &str, id: &str) -> Vec<usize> {
    let (_, rest) = page.split_once(&format!("<section id=\"{id}\">")).unwrap_or_else(|| panic!("no figure {id}"));
    let mut charts = rest.split_once("</section>").unwrap().0.split("<svg ").skip(1).map(|svg| {
        let curves = svg.split("stroke-width=\"2\" points=\"").skip(1);
        curves.map(|rest| rest.split_once('"').unwrap().0.split_whitespace().count()).collect::<Vec<_>>()
    });
    let wide = charts.next().unwrap_or_else(|| panic!("{id} has no chart"));
    assert_eq!(Some(&wide), charts.next().as_ref(), "{id} has other points on a narrow screen");
    wide
}

/// Points with an error bar, in both charts of a figure.
fn bars(page: &str, id: &str) -> usize {
    let (_, rest) = page.split_once(&format!("<section id=\"{id}\">")).unwrap_or_else(|| panic!("no figure {id}"));
    let lines = rest.split_once("</section>").unwrap().0.split("<line ").skip(1);
    // Two ends and a line, in two charts.
    lines.filter(|line| !line.contains("stroke=\"#E1E5EA\"")).count() / 6
}

/// A block size of a sweep, a power of two, as written in tables.
fn block_name(bytes: &serde_json::Value) -> String {
    let bytes = bytes.as_u64().expect("a number");
    match bytes.ilog2() {
        ..10 => format!("{bytes} bytes"),
        10..20 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

pub(crate) fn rows(page: &str, id: &str) -> usize {
    let (_, rest) = page.split_once(&format!("<section id=\"{id}\">")).unwrap_or_else(|| panic!("no figure {id}"));
    rest.split_once("</section>").unwrap().0.matches("<tr><td>").count()
}

#[test]
fn a_copy_has_a_page_with_a_point_for_each_row_of_its_tables() {
    let dir = memory_dir();
    let [source, dest, page] = ["<a&b>.img", "dest", "copy.html"].map(|name| dir.path().join(name));
    write_noise(&source, 24 * MIB, 1);
    let assert = haul().args(["copy", "--limit", "12M", "--report"]).args([&page, &source, &dest]).assert().success();
    assert!(support::stderr(&assert).contains("haul: report written to "), "{}", support::stderr(&assert));
    let text = read(&page);
    // The source and the dest; for waiting also the limit.
    for (id, curves) in [("rate-over-time", 2), ("waiting", 3)] {
        let rows = rows(&text, id);
        assert!(rows >= 1, "{id} has no rows");
        assert_eq!(points(&text, id), vec![rows; curves], "{id}");
    }
    assert!(text.contains("<td>limit</td>"), "who held it back when: {text}");
    assert!(rows(&text, "rate-over-time") >= 8, "too few points: {:?}", points(&text, "rate-over-time"));
    assert_eq!(points(&text, "latencies").len(), 2);
    assert_eq!(rows(&text, "latencies"), 2);
    for words in ["copied 25.2 MB in ", "--limit 12M --report ", "&lt;a&amp;b&gt;.img", "Linux ", "25165824 bytes"] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    assert!(!text.contains("<a&b>"), "a name got in without being escaped");
    assert_fit_to_be_read(&page, 4);
}

#[test]
fn the_page_of_a_failed_copy_begins_with_the_failure() {
    let dir = memory_dir();
    let [source, page] = ["source", "failed.html"].map(|name| dir.path().join(name));
    write_noise(&source, 4 * MIB, 2);
    haul().args(["copy", "--report"]).args([&page, &source]).arg("/dev/full").assert().failure();
    let text = read(&page);
    let (_, warning) = text.split_once("<p class=\"warning\">").expect("a warning");
    assert!(warning.contains("/dev/full is full"), "{text}");
    assert!(text.contains("<p class=\"headline\">Stopped after "), "{text}");
    assert_fit_to_be_read(&page, charts(&text));
}

#[test]
fn copies_with_verify_also_or_hash_have_readable_pages() {
    let dir = memory_dir();
    let [source, dest, other] = ["source", "dest", "other"].map(|name| dir.path().join(name));
    write_noise(&source, 24 * MIB, 7);
    let also = other.to_str().expect("the directory's name is UTF-8");
    for (words, messages) in [
        (&["--verify"][..], ", verified</p>"),
        (&["--also", also], "Copied 25.2 MB to each of 2 destinations in "),
        (&["--hash", "sha256"], "Copied 25.2 MB in "),
    ] {
        let page = dir.path().join(format!("{}.html", &words[0][2..]));
        let mut copy = haul();
        copy.args(["copy", "--limit", "12M", "--report"]).arg(&page).args(words).args([&source, &dest]);
        copy.assert().success();
        let text = read(&page);
        assert!(text.contains(messages), "{messages} is not in {text}");
        for id in ["rate-over-time", "waiting"] {
            let (rows, curves) = (rows(&text, id), points(&text, id));
            assert!(rows >= 2 && curves.len() >= 2 && curves.iter().all(|&points| points == rows), "{id}: {curves:?}");
        }
        assert_fit_to_be_read(&page, 4);
    }
}

#[test]
fn the_page_of_an_interrupted_copy_shows_the_progress_so_far() {
    // No journal is kept for a dest in memory.
    let dir = scratch();
    let [source, dest, page] = ["source", "dest", "page.html"].map(|name| dir.path().join(name).display().to_string());
    write_noise(source.as_ref(), 64 * MIB, 3);
    let words = ["copy", "--limit", "8M", "--progress", "plain", "--report", &page, &source, &dest];
    let mut running = support::Running::start(&words, Stdio::null(), Stdio::null());
    running.read_until(|line| line.contains(" %, "));
    running.signal(rustix::process::Signal::INT);
    running.end_by(2);
    let text = read(&page);
    assert!(
        text.contains("interrupted by SIGINT")
            && text.contains("Interrupted: the report covers the part copied so far"),
        "{text}"
    );
    assert!(rows(&text, "rate-over-time") >= 1);
    // The copied and the remaining part of both sides.
    assert_eq!(rows(&text, "map"), 4, "{text}");
    let continues = format!("haul copy --resume --limit 8M --progress plain --report {page} {source} {dest}");
    for (name, value) in [("Elapsed", ""), ("Remaining", " at the mean rate"), ("To continue", &*continues)] {
        let (_, rest) = text.split_once(&format!("<dt>{name}</dt>")).unwrap_or_else(|| panic!("no {name}: {text}"));
        assert!(rest.split_once("</dd>").unwrap().0.contains(value), "{name}: {text}");
    }
    assert_fit_to_be_read(page.as_ref(), charts(&text));

    // The page of the rest has no offsets, because they are not in order.
    haul().args(["copy", "--resume", "--limit", "32M", "--report", &page, &source, &dest]).assert().success();
    let text = read(&page);
    assert!(text.contains("already copied by earlier runs") && !text.contains("rate-over-position"), "{text}");
    assert_fit_to_be_read(page.as_ref(), charts(&text));
}

#[test]
fn unreadable_areas_are_on_the_map_of_both_sides_as_in_the_json() {
    let dir = memory_dir();
    let [backing, dest, page] = ["backing", "dest", "page.html"].map(|name| dir.path().join(name));
    write_noise(&backing, 8 * MIB, 9);
    let mib = MIB as u64;
    let bad = [mib..mib + 4096, 5 * mib..5 * mib + 65_536];
    let Some(disk) = FailingDisk::with(dir.path(), &backing, Fails::Reads, &bad) else { return };
    let copy = ["copy", "--on-error", "skip", "--json", "--hash", "sha256", "--report"];
    let assert = haul().args(copy).args([&page, &disk.path(), &dest]).assert();
    let report: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).expect("it is one document");
    let text = read(&page);
    let (_, map) = text.split_once("<section id=\"map\">").expect("there is a map");
    let map = map.split_once("</section>").unwrap().0;
    for extent in &bad {
        let [first, bytes] = [extent.start, extent.end - extent.start];
        for area in ["source</td><td>unreadable", "destination</td><td>zeros for unreadable sectors"] {
            let row = format!("<td>{area}</td><td>{first}</td><td>{bytes}</td>");
            assert!(map.contains(&row), "{row} is not in {map}");
        }
    }
    let sectors: u64 = bad.iter().map(|extent| (extent.end - extent.start) / 512).sum();
    assert_eq!(report["unread_sectors"], sectors, "{report:#}");
    let digest = report["digests"][0]["hex"].as_str().expect("a digest");
    assert!(text.contains(&format!("sha256 {digest}")), "{text}");
    assert_fit_to_be_read(&page, charts(&text));

    // A complete copy without errors needs no map.
    haul().args(["copy", "--report"]).args([&page, &backing, &dest]).assert().success();
    assert!(!read(&page).contains("<section id=\"map\">"));
}

#[test]
fn no_byte_is_written_if_the_page_cannot_be() {
    let dir = scratch();
    let [source, dest, thesis] = ["source", "dest", "thesis.html"].map(|name| dir.path().join(name));
    write_noise(&source, MIB, 4);
    fs::write(&thesis, "<html>years of work").unwrap();
    let missing = dir.path().join("no/page.html");
    let none = Path::new("-");
    for (page, status) in [(&*thesis, 3), (&missing, 1), (&source, 3), (&dest, 3), (none, 2), (dir.path(), 3)] {
        let assert = haul().args(["copy", "--report"]).args([page, &source, &dest]).assert().code(status);
        assert!(support::stderr(&assert).contains(" → "), "no advice: {}", support::stderr(&assert));
        assert!(!dest.exists(), "{page:?}: the dest was made");
    }
    assert_eq!(fs::read_to_string(&thesis).unwrap(), "<html>years of work");
    let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["source", "thesis.html"]);
}

#[test]
fn a_sweep_has_a_page_with_every_measured_point() {
    let dir = memory_dir();
    let [disk, page] = ["disk.img", "tune.html"].map(|name| dir.path().join(name));
    write_noise(&disk, 16 * MIB, 5);
    for (words, disk) in [(&["tune"][..], disk), (&["tune", "--write"], dir.path().join("new"))] {
        assert_swept(words, &disk, &page);
    }
}

fn json(words: &[&str], page: &Path, disk: &Path) -> serde_json::Value {
    let assert = haul().args(words).args(["--json", "--report"]).args([page, disk]).assert();
    serde_json::from_slice(&assert.success().get_output().stdout).expect("it is one document")
}

#[track_caller]
fn assert_swept(words: &[&str], disk: &Path, page: &Path) {
    let report = json(&[words, &["--quick", "--time", "2"]].concat(), page, disk);
    let measured = |way: &str| {
        let points = report["points"].as_array().unwrap().iter();
        points.filter(|point| point["way"] == way && point["bytes_per_s"].as_f64().is_some()).count()
    };
    let text = read(page);
    let mut charts = 0;
    for (way, id) in [("direct", "sweep-direct"), ("buffered", "sweep-buffered")] {
        if measured(way) > 0 {
            charts += 1;
            assert_eq!(rows(&text, id), measured(way), "{way}");
            assert_eq!(points(&text, id).iter().sum::<usize>(), measured(way), "{way}");
            let spread = report["points"].as_array().unwrap().iter();
            let spread = spread.filter(|point| point["way"] == way && point["bytes_per_s_interval"].is_array()).count();
            assert_eq!(bars(&text, id), spread, "{way}");
        }
    }
    let answer = &report["answer"];
    let block_and_depth =
        |block: &str, depth: &str| format!("<td>{}</td><td>{}</td>", block_name(&answer[block]), answer[depth]);
    let pick = block_and_depth("block_bytes", "depth") + "<td>answer</td>";
    assert!(text.contains(&pick), "{pick} is not in {text}");
    let best = block_and_depth("best_block_bytes", "best_depth") + "<td>best</td>";
    assert_eq!(text.contains(&best), answer["share_of_best"] != 1.0, "{best} in {text}");
    assert!(charts > 0);
    assert_fit_to_be_read(page, charts);
}

#[test]
fn a_profile_has_a_page_with_zones_and_command_costs() {
    let dir = memory_dir();
    let [disk, page] = ["disk.img", "profile.html"].map(|name| dir.path().join(name));
    write_noise(&disk, 32 * MIB, 6);
    for (words, disk) in [(&["profile"][..], disk), (&["profile", "--write"], dir.path().join("new"))] {
        let report = json(&[words, &["--positions", "7", "--time", "2"]].concat(), &page, &disk);
        let text = read(&page);
        let many = |field: &serde_json::Value| field.as_array().map_or(0, Vec::len);
        let [positions, commands, ways] = ["positions", "commands", "ways"].map(|name| many(&report[name]));
        assert!(positions == 7 && commands >= 8 && ways >= 1, "{report}");
        // The line has a point for each size.
        for (id, values) in [("zones", positions), ("command-cost", commands)] {
            assert_eq!((points(&text, id), rows(&text, id), bars(&text, id)), (vec![values], values, values), "{id}");
        }
        assert_eq!(rows(&text, "ways"), ways);
        let reads = many(&report["system_impact"]["reads"]);
        assert_eq!(if reads > 0 { rows(&text, "system-impact") } else { 0 }, reads, "{report}");
        // If the system impact cannot be measured, the report states why; it is not measured for writing.
        let why = words.len() > 1 || text.contains("not measured: ");
        assert!(reads > 0 || why && !text.contains("<section id=\"system-impact\">"), "{text}");
        assert_fit_to_be_read(&page, 2);
    }
}

#[test]
fn random_reads_have_a_page_with_a_row_for_each_class_of_latency() {
    let dir = memory_dir();
    let [disk, page] = ["disk.img", "random.html"].map(|name| dir.path().join(name));
    write_noise(&disk, 16 * MIB, 8);
    let words = ["profile", "--random", "--requests", "300", "--seed", "7", "--slower-than", "1us"];
    let report = json(&words, &page, &disk);
    let text = read(&page);
    let classes = report["latencies"].as_array().expect("a list");
    assert_eq!(rows(&text, "latency"), classes.len());
    // A step for each class, and two ends at 0.
    assert_eq!(points(&text, "latency"), [2 * classes.len() + 2]);
    assert_eq!(rows(&text, "slow-reads") as u64, report["slow_requests"].as_u64().expect("a number").min(64));
    for slow in report["slow"].as_array().expect("a list") {
        let row = format!("<tr><td>{}</td>", slow["offset_bytes"]);
        assert!(text.contains(&row), "{row} is not in {text}");
    }
    let rate = format!("{:.0} reads/s", report["requests_per_s"].as_f64().expect("a number"));
    assert!(text.matches(&rate).count() == 3 && text.contains(", seed 7</dd>"), "{rate} in {text}");
    assert_fit_to_be_read(&page, 1);
}

#[test]
fn sustained_writing_has_a_page_with_its_rate_over_time() {
    let dir = memory_dir();
    let page = dir.path().join("page.html");
    let words = ["profile", "--write", "--sustained", "64M", "--csv", "--report"];
    let run = haul().args(words).args([&page, &dir.path().join("new")]).assert().success();
    let steps = String::from_utf8_lossy(&run.get_output().stdout).lines().count() - 1;
    let text = read(&page);
    let stages = rows(&text, "sustained");
    assert!(steps >= 4 && stages >= 1, "{steps} steps, {stages} stages");
    assert_eq!(points(&text, "sustained"), [steps, 2 * stages]);
    assert_fit_to_be_read(&page, 1);
}

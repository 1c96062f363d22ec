//! The pages of `--report`, made by the program and shown by a real browser: headless Chromium, where there is one.
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use support::{haul, memory_dir, scratch, write_noise};

const MIB: usize = 1 << 20;

/// What is put into a copy of a page, to ask it about itself once it is shown: by console, which Chromium prints.
const QUESTIONS: &str = r#"<script>
addEventListener("load", () => {
  const shown = [...document.querySelectorAll(".chart svg")].filter(svg => svg.getClientRects().length > 0);
  const letters = shown.flatMap(svg => [...svg.querySelectorAll("text")].map(t => t.getBoundingClientRect().height));
  const outside = [...document.querySelectorAll("body *")].filter(one => {
    if (one.closest(".scroll table") || one.closest("svg")) return false;
    const box = one.getBoundingClientRect();
    return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5);
  });
  document.documentElement.dataset.answer = JSON.stringify({
    width: innerWidth, scroll: document.documentElement.scrollWidth,
    outside: outside.map(one => one.tagName + "." + one.className),
    charts: shown.length, letters: Math.min(...letters),
    requests: performance.getEntriesByType("resource").map(one => one.name),
    ground: getComputedStyle(document.body).backgroundColor,
    line: shown.length ? getComputedStyle(shown[0].querySelector("polyline[stroke-width='2']")).stroke : "",
  });
});
</script>"#;

fn chromium() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let look = || {
        let there =
            |name: &str| Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        let name = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| there(name).is_ok());
        if name.is_none() {
            eprintln!("skipped in part: there is no chromium here, so that no page is shown by a browser");
        }
        name.map(PathBuf::from)
    };
    FOUND.get_or_init(look).as_deref()
}

/// The page as it is written, but for the slashes, which need no escape.
fn read(page: impl AsRef<Path>) -> String {
    fs::read_to_string(page).expect("there is a page").replace("&#x2f;", "/")
}

/// What a page says of itself in a window of this width.
fn shown(page: &Path, width: u32, dark: bool) -> Option<serde_json::Value> {
    let chromium = chromium()?;
    let dir = scratch();
    // Headless windows have a least width, a frame has none.
    let asking = dir.path().join("asking.html");
    let text = fs::read_to_string(page).unwrap().replace("</body>", &format!("{QUESTIONS}</body>"));
    fs::write(&asking, text).unwrap();
    let scheme = if dark { "--force-dark-mode" } else { "--disable-dark-mode" };
    let frame = dir.path().join("frame.html");
    let framed = format!(
        "<!DOCTYPE html><html><body style=margin:0><iframe src=asking.html style='border:0;width:{width}px;\
         height:900px'>\
         </iframe><script>addEventListener('load', () => setTimeout(() => document.documentElement.dataset.answer = \
         document.querySelector('iframe').contentDocument.documentElement.dataset.answer, 100))</script></body></html>"
    );
    fs::write(&frame, framed).unwrap();
    let output = Command::new("timeout")
        .args(["120".as_ref(), chromium.as_os_str()])
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr"])
        .args(["--virtual-time-budget=3000", "--window-size=1600,1000", "--allow-file-access-from-files", scheme])
        .arg(format!("--user-data-dir={}", dir.path().join("profile").display()))
        .args(["--dump-dom", &format!("file://{}", frame.display())])
        .output()
        .expect("chromium was just found");
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!log.contains(":CONSOLE"), "the browser's console is not empty:\n{log}");
    let answer = dom.split_once("data-answer=\"").and_then(|(_, rest)| rest.split_once('"'));
    let answer = answer.unwrap_or_else(|| panic!("the page did not answer:\n{dom}\n{log}")).0.replace("&quot;", "\"");
    Some(serde_json::from_str(&answer).expect("the answer is JSON"))
}

/// The page is fit for a telephone and a screen, by day and by night, and asks nobody for anything.
fn assert_fit_to_be_read(page: &Path, charts: usize) {
    let text = read(page);
    for foreign in ["<script", "src=", "@import", "url(", "<iframe", "<object", "<img"] {
        assert!(!text.contains(foreign), "{foreign} in {}", page.display());
    }
    let elsewhere = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http:") && !elsewhere.contains("https:"), "it names another host");
    assert_eq!(text.matches("<svg ").count(), 2 * charts, "each chart is there for a wide and for a narrow screen");
    for width in [360, 1440] {
        let Some(day) = shown(page, width, false) else { return };
        assert_eq!(day["width"], width, "{day}");
        assert!(day["scroll"].as_u64() <= Some(width.into()), "it is wider than the screen: {day}");
        assert_eq!(day["outside"], serde_json::json!([]), "{width} px");
        assert_eq!(day["charts"], charts, "{width} px");
        assert!(day["letters"].as_f64() >= Some(10.0), "letters of a chart are too small: {day}");
        assert_eq!(day["requests"], serde_json::json!([]), "it asked for something");
        let night = shown(page, width, true).unwrap();
        assert_eq!((&day["ground"], &night["ground"]), (&"rgb(255, 255, 255)".into(), &"rgb(20, 24, 29)".into()));
        assert_ne!(day["line"], night["line"], "curves have the same colour by night");
    }
}

/// Points of each curve in the wide chart of the figure with this id.
fn points(page: &str, id: &str) -> Vec<usize> {
    let (_, rest) = page.split_once(&format!("<section id=\"{id}\">")).unwrap_or_else(|| panic!("no figure {id}"));
    let svg = rest.split_once("</svg>").unwrap().0;
    let curves = svg.split("stroke-width=\"2\" points=\"").skip(1);
    curves.map(|rest| rest.split_once('"').unwrap().0.split_whitespace().count()).collect()
}

fn rows(page: &str, id: &str) -> usize {
    let (_, rest) = page.split_once(&format!("<section id=\"{id}\">")).unwrap_or_else(|| panic!("no figure {id}"));
    rest.split_once("</section>").unwrap().0.matches("<tr><td>").count()
}

#[test]
fn a_copy_has_a_page_with_a_point_for_each_row_of_its_tables() {
    let dir = memory_dir();
    let [source, dest, page] = ["<a&b>.img", "dest", "copy.html"].map(|name| dir.path().join(name));
    write_noise(&source, 24 * MIB, 1);
    let assert = haul().args(["copy", "--limit", "12M", "--report"]).args([&page, &source, &dest]).assert().success();
    assert!(support::stderr(&assert).contains("haul: the report is in "), "{}", support::stderr(&assert));
    let text = read(&page);
    for id in ["rate-over-time", "waiting"] {
        let rows = rows(&text, id);
        assert!(rows >= 1, "{id} has no rows");
        assert_eq!(points(&text, id), [rows, rows], "{id}");
    }
    assert!(rows(&text, "rate-over-time") >= 8, "too few points: {:?}", points(&text, "rate-over-time"));
    assert_eq!(points(&text, "latencies").len(), 2);
    assert_eq!(rows(&text, "latencies"), 2);
    for words in ["copied 24.0 MiB in ", "--limit 12M --report ", "&lt;a&amp;b&gt;.img", "Linux ", "25165824 bytes"] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    assert!(!text.contains("<a&b>"), "a name got in without being escaped");
    assert_fit_to_be_read(&page, 4);
}

#[test]
fn a_copy_that_failed_has_a_page_that_says_so_first() {
    let dir = memory_dir();
    let [source, page] = ["source", "failed.html"].map(|name| dir.path().join(name));
    write_noise(&source, 4 * MIB, 2);
    haul().args(["copy", "--report"]).args([&page, &source]).arg("/dev/full").assert().failure();
    let text = read(&page);
    let (_, warning) = text.split_once("<p class=\"warning\">").expect("a warning");
    assert!(warning.contains("/dev/full is full"), "{text}");
    assert!(text.contains("stopped after "), "{text}");
}

#[test]
fn the_page_of_an_interrupted_copy_shows_what_was_done_by_then() {
    let dir = memory_dir();
    let [source, dest, page] = ["source", "dest", "page.html"].map(|name| dir.path().join(name).display().to_string());
    write_noise(source.as_ref(), 64 * MIB, 3);
    let words = ["copy", "--limit", "8M", "--progress", "plain", "--report", &page, &source, &dest];
    let mut running = support::Running::start(&words, Stdio::null(), Stdio::null());
    running.read_until(|line| line.contains(" %, "));
    running.signal(rustix::process::Signal::INT);
    running.end_by(2);
    let text = read(&page);
    assert!(text.contains("interrupted by SIGINT") && text.contains("Interrupted: this is what was done"), "{text}");
    assert!(rows(&text, "rate-over-time") >= 1);
}

#[test]
fn no_byte_is_written_where_the_page_could_not_be() {
    let dir = scratch();
    let [source, dest, thesis] = ["source", "dest", "thesis.html"].map(|name| dir.path().join(name));
    write_noise(&source, MIB, 4);
    fs::write(&thesis, "<html>years of work").unwrap();
    let missing = dir.path().join("no/page.html");
    let none = Path::new("-");
    for (page, status) in [(&*thesis, 3), (&missing, 1), (&source, 3), (&dest, 3), (none, 2), (dir.path(), 3)] {
        let assert = haul().args(["copy", "--report"]).args([page, &source, &dest]).assert().code(status);
        assert!(support::stderr(&assert).contains("  → "), "no advice: {}", support::stderr(&assert));
        assert!(!dest.exists(), "{page:?}: the dest was made");
    }
    assert_eq!(fs::read_to_string(&thesis).unwrap(), "<html>years of work");
    let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["source", "thesis.html"]);
}

#[test]
fn a_sweep_has_a_page_with_a_point_for_each_setting_that_was_measured() {
    let dir = memory_dir();
    let [disk, page] = ["disk.img", "tune.html"].map(|name| dir.path().join(name));
    write_noise(&disk, 16 * MIB, 5);
    let assert = haul().args(["tune", "--quick", "--time", "2", "--json", "--report"]).args([&page, &disk]).assert();
    let report: serde_json::Value = serde_json::from_slice(&assert.success().get_output().stdout).unwrap();
    let measured = |way: &str| {
        let points = report["points"].as_array().unwrap().iter();
        points.filter(|point| point["way"] == way && point["bytes_per_s"].as_f64().is_some()).count()
    };
    let text = read(&page);
    let mut charts = 0;
    for (way, id) in [("direct", "sweep-direct"), ("buffered", "sweep-buffered")] {
        if measured(way) > 0 {
            charts += 1;
            assert_eq!(rows(&text, id), measured(way), "{way}");
            assert_eq!(points(&text, id).iter().sum::<usize>(), measured(way), "{way}");
        }
    }
    assert!(charts > 0);
    assert_fit_to_be_read(&page, charts);
}

#[test]
fn a_profile_has_a_page_with_zones_and_command_costs() {
    let dir = memory_dir();
    let [disk, page] = ["disk.img", "profile.html"].map(|name| dir.path().join(name));
    write_noise(&disk, 32 * MIB, 6);
    haul().args(["profile", "--positions", "7", "--time", "2", "--report"]).args([&page, &disk]).assert().success();
    let text = read(&page);
    assert_eq!((points(&text, "zones"), rows(&text, "zones")), (vec![7], 7));
    assert_eq!(points(&text, "command-cost"), [rows(&text, "command-cost")], "the line has a point for each size");
    assert!(rows(&text, "ways") >= 1, "{text}");
    // Where the rest of the system cannot be looked at, the report says why.
    let looked = text.contains("<section id=\"lethargy\">");
    assert!(if looked { rows(&text, "lethargy") >= 2 } else { text.contains("not measured: ") }, "{text}");
    assert_fit_to_be_read(&page, 2);
}

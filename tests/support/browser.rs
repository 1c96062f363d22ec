//! Renders pages in a browser: headless Chromium, if installed. The tests of the bench use it too.
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Queries the rendered contents of each frame; the answers are placed where `--dump-dom` prints them.
const QUESTIONS: &str = include_str!("questions.js");

/// A phone, the width at which charts change (the smallest with the wide one), and a screen.
const WIDTHS_PX: [u32; 3] = [360, 761, 1440];

/// The contrast that the Web Content Accessibility Guidelines require for text (AA) and graphics.
const LETTERS_CONTRAST: f64 = 4.5;
const CURVES_CONTRAST: f64 = 3.0;
/// Minimum size of readable text, as rendered.
const LETTERS_PX: f64 = 9.0;

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

/// The properties of a page in frames of these widths, first in light mode, then in dark mode.
fn shown(page: &Path) -> Option<[Vec<Value>; 2]> {
    let chromium = chromium()?;
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    fs::copy(page, dir.path().join("page.html")).expect("there is enough space for a page");
    // Headless windows have a minimum width, frames do not. A frame uses the colour scheme of its element.
    let frame = |scheme: &str, width: u32| {
        let style = format!("color-scheme:{scheme};display:block;border:0;width:{width}px;height:900px");
        format!("<iframe src=page.html style='{style}'></iframe>")
    };
    let around = dir.path().join("around.html");
    let frames = ["light", "dark"].map(|scheme| WIDTHS_PX.map(|width| frame(scheme, width)).concat()).concat();
    let html = format!("<!DOCTYPE html><body style=margin:0>{frames}<script>{QUESTIONS}</script></body>");
    fs::write(&around, html).expect("there is enough space for a page");
    let output = Command::new("timeout")
        .args(["120".as_ref(), chromium.as_os_str()])
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr"])
        .args(["--virtual-time-budget=3000", "--window-size=1600,1000", "--allow-file-access-from-files"])
        .arg(format!("--user-data-dir={}", dir.path().join("profile").display()))
        .args(["--dump-dom", &format!("file://{}", around.display())])
        .output()
        .expect("chromium was just found");
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!log.contains(":CONSOLE"), "the browser's console is not empty:\n{log}");
    let answer = dom.split_once("data-answer=\"").and_then(|(_, rest)| rest.split_once('"'));
    let answer = answer.unwrap_or_else(|| panic!("the page did not answer:\n{dom}\n{log}")).0;
    let answer = answer.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let mut day: Vec<Value> = serde_json::from_str(&answer).expect("the answer is a list in JSON");
    let night = day.split_off(WIDTHS_PX.len());
    Some([day, night])
}

/// Asserts that the page is readable on a phone and a screen, in light and dark mode, with this number of charts, an
/// empty console, and without loading anything. Returns the points of each curve by its figure, which are the same
/// in all four.
pub fn assert_readable(page: &Path, charts: usize) -> Option<Value> {
    let [day, night] = shown(page)?;
    for seen in day.iter().chain(&night) {
        assert_one_readable(seen, charts);
    }
    for (day, night) in day.iter().zip(&night) {
        assert_eq!((&day["ground"], &night["ground"]), (&"rgb(255, 255, 255)".into(), &"rgb(20, 24, 29)".into()));
        assert!(charts == 0 || day["line"] != night["line"], "curves have the same colour by night");
        assert_eq!((&day["points"], &night["points"]), (&day["points"], &day["points"]));
    }
    assert!(day.iter().all(|seen| seen["points"] == day[0]["points"]), "other points on another screen: {day:?}");
    assert_eq!(day.iter().map(|seen| &seen["width"]).collect::<Vec<_>>(), WIDTHS_PX.map(Value::from).each_ref());
    Some(day[0]["points"].clone())
}

fn assert_one_readable(seen: &Value, charts: usize) {
    let width = seen["width"].as_u64().expect("it has a width");
    assert!(seen["scroll"].as_u64() <= Some(width), "it is wider than the screen: {seen}");
    let nothing = json!([]);
    for fault in ["outside", "cutOff", "crowded", "unexplained", "requests"] {
        assert_eq!(seen[fault], nothing, "{fault} at {width} px");
    }
    assert!(width < 1000 || seen["scrolled"] == nothing, "it has to be scrolled at {width} px: {}", seen["scrolled"]);
    assert_eq!((&seen["charts"], &seen["empty"]), (&charts.into(), &0.into()), "{width} px: {seen}");
    assert_eq!(seen["answerFirst"], true, "the answer does not come first");
    for (what, least) in [("letters", LETTERS_PX), ("contrast", LETTERS_CONTRAST), ("curveContrast", CURVES_CONTRAST)] {
        assert!(seen[what][0].as_f64() >= Some(least), "{what}: {} at {width} px", seen[what]);
    }
}

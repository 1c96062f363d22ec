//! Pages in a real browser: headless Chromium, where there is one. The tests of the bench use it too.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What is put into a copy of a page, to ask it about itself once it is shown: by console, which Chromium prints.
const QUESTIONS: &str = r#"<script>
addEventListener("load", () => {
  const shown = [...document.querySelectorAll(".chart svg")].filter(svg => svg.getClientRects().length > 0);
  const letters = shown.flatMap(svg => [...svg.querySelectorAll("text")].map(t => t.getBoundingClientRect().height));
  const outside = [...document.querySelectorAll("body *")].filter(one => {
    if (one.closest(".scroll table, .wide table") || one.closest("svg")) return false;
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

/// What a page says of itself in a window of this width.
fn shown(page: &Path, width: u32, dark: bool) -> Option<serde_json::Value> {
    let chromium = chromium()?;
    let dir = tempfile::tempdir().expect("there is room for a folder");
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

/// The page is readable on a telephone and a screen, by day and by night; so many charts are seen in it, its console
/// stays empty, and it asks nobody for anything.
pub fn assert_readable(page: &Path, charts: usize) {
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

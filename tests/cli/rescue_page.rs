//! The page of `haul rescue --report`: the map in blocks, the course of the rescue, and the missing areas.
use crate::report_pages::{assert_fit_to_be_read, read, rows};
use crate::rescue::{BAD, Scene};
use crate::support::{haul, scratch, stderr, write_noise};
use std::fs;

#[test]
fn a_rescue_has_a_page_with_its_map_its_course_and_its_missing_areas() {
    let Some(scene) = Scene::new() else { return };
    let page = scene.path("page.html");
    let ended = scene.haul(&["--no-scrape", "--report", page.to_str().unwrap()]).code(1);
    assert!(stderr(&ended).contains("report written to "), "{}", stderr(&ended));
    let text = read(&page);
    assert_fit_to_be_read(&page, 2);
    assert!(text.contains("id=\"map\"") && text.contains("Map of the source from its first byte"), "{text}");
    // The areas of the table are those of the map.
    let map = fs::read_to_string(scene.path("map")).unwrap();
    let missing = map.lines().skip(1).filter(|line| line.ends_with(['-', '/', '*', '?']) && !line.starts_with('#'));
    let missing = missing.filter(|line| line.split_whitespace().count() == 3 && line.starts_with("0x")).count();
    assert!(missing >= BAD.len() && rows(&text, "areas") == missing, "{} of {missing}", rows(&text, "areas"));
    assert!(rows(&text, "rescued-over-time") >= 2);
    // The page of the next run replaces it.
    scene.haul(&["--report", page.to_str().unwrap()]).code(1);
    let again = read(&page);
    assert!(again != text && rows(&again, "areas") == BAD.len(), "{again}");
}

#[test]
fn a_page_is_no_other_file_of_the_rescue() {
    let dir = scratch();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    write_noise(&dir.path().join("source"), 100_000, 3);
    fs::write(at("mine"), "mine").unwrap();
    for (page, status) in [("source", 3), ("image.map", 2), ("mine", 3)] {
        let mut command = haul();
        command.args(["rescue", "--report", &at(page), &at("source"), &at("image"), &at("image.map")]);
        command.assert().code(status);
        assert!(!dir.path().join("image").exists(), "{page}");
    }
    assert_eq!(fs::read(at("mine")).unwrap(), b"mine");
    haul().args(["rescue", "--report", &at("page"), &at("source"), &at("image")]).assert().code(0);
    let text = read(at("page"));
    assert!(text.contains("100.0000 %") && !text.contains("id=\"areas\""), "{text}");
}

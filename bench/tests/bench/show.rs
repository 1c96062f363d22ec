//! The text and the page of results, from the invented ones in `fixtures/results.json`.
#[path = "../../../tests/support/browser.rs"]
mod browser;

use haul_bench::result::Results;
use haul_bench::show;
use std::io::Write;

fn fixture() -> Results {
    serde_json::from_str(include_str!("fixtures/results.json")).expect("the fixture matches result.rs")
}

/// The output for a pipe, or a terminal under NO_COLOR.
fn plain(results: &Results, width: usize) -> String {
    let mut out = anstream::StripStream::new(Vec::new());
    show::terminal(results, width, &mut out).unwrap();
    out.flush().unwrap();
    String::from_utf8(out.into_inner()).unwrap()
}

#[test]
fn the_terminal_at_80_columns() {
    insta::assert_snapshot!(plain(&fixture(), 80));
}

#[test]
fn the_terminal_at_120_columns() {
    insta::assert_snapshot!(plain(&fixture(), 120));
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    for width in [80, 100, 120] {
        for line in plain(&fixture(), width).lines() {
            assert!(line.chars().count() <= width, "{} columns, not {width}: {line}", line.chars().count());
            assert_eq!(line, line.trim_end());
        }
    }
}

#[test]
fn output_to_a_pipe_differs_only_in_colours() {
    let mut out = Vec::new();
    show::terminal(&fixture(), 100, &mut out).unwrap();
    let coloured = String::from_utf8(out).unwrap();
    assert!(coloured.contains("\u{1b}["));
    assert!(!plain(&fixture(), 100).contains('\u{1b}'));
}

#[test]
fn output_of_peers_cannot_control_the_terminal() {
    let mut results = fixture();
    let evil = "\u{1b}]0;owned\u{7}\r\n";
    results.beds[0].contenders[1].name.push_str(evil);
    results.beds[0].contenders[2].runs[0].verdict = haul_bench::result::Verdict::Failed { why: evil.into() };
    results.missing[0].why.push_str(evil);
    results.machine.processor.push_str(evil);
    let mut out = Vec::new();
    show::terminal(&results, 120, &mut out).unwrap();
    let shown = String::from_utf8(out).unwrap();
    assert!(!shown.contains("\u{1b}]") && !shown.contains('\u{7}') && !shown.contains('\r'));
    assert_eq!(shown.matches("\\u{1b}]0;owned").count(), 4 + claims_that_name_it(&shown));
}

/// Claims may also name the peer.
fn claims_that_name_it(shown: &str) -> usize {
    shown.matches("against dd bs=64k\\u{1b}").count() + shown.matches("others: dd bs=64k\\u{1b}").count()
}

/// The text of a page, a line for each piece between tags; without the style.
fn words(page: &str) -> String {
    let body = &page[page.find("<body>").expect("no body")..];
    let pieces = body.split('>').filter_map(|piece| piece.split_once('<').map_or(Some(piece), |(text, _)| Some(text)));
    let lines = pieces.flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_text_of_the_page() {
    insta::assert_snapshot!(words(&show::page(&fixture())));
}

#[test]
fn a_chart_of_the_page() {
    let page = show::page(&fixture());
    let bed = &page[page.find("id=\"disk-nvme\"").expect("no such bed")..];
    let (from, to) = (bed.find("<svg").expect("no chart"), bed.find("</svg>").expect("no chart"));
    insta::assert_snapshot!(&bed[from..to]);
}

#[test]
fn the_page_is_self_contained() {
    let own = ["xmlns=\"http://www.w3.org/2000/svg\"", "<link rel=\"icon\" href=\"data:,\">"];
    let page = own.iter().fold(show::page(&fixture()), |page, own| page.replace(own, ""));
    for outside in ["<script", "<link", "<img", "<iframe", "@import", "src=", "http:", "https:"] {
        assert!(!page.contains(outside), "{outside} is in the page");
    }
    assert_eq!(page.matches("url(").count(), page.matches("url(#").count());
}

/// Appends `tail` to each string of `value`, except the tags of how a run ended.
fn append(value: &mut serde_json::Value, tail: &str, count: &mut usize) {
    match value {
        serde_json::Value::String(text) => {
            text.push_str(tail);
            *count += 1;
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(|value| append(value, tail, count)),
        serde_json::Value::Object(fields) => {
            fields.iter_mut().filter(|(key, _)| *key != "kind").for_each(|(_, value)| append(value, tail, count));
        }
        _ => {}
    }
}

#[test]
fn foreign_text_is_escaped_in_the_page() {
    let (mut value, mut count) = (serde_json::to_value(fixture()).unwrap(), 0);
    append(&mut value, "'\"><evil a=\"&", &mut count);
    assert!(count > 100, "only {count} strings were spoilt");
    let mut results: Results = serde_json::from_value(value).unwrap();
    // The contender with which all are compared is identified by its name.
    results.beds.iter_mut().for_each(|bed| bed.contenders[0].name = "haul".into());
    let page = show::page(&results);
    assert!(!page.contains("<evil") && !page.contains("\"&amp;\"") && !page.contains("'\""), "unescaped");
    assert!(page.matches("&lt;evil").count() > 100);
}

#[test]
fn haul_is_marked_and_a_wrong_copy_is_hatched_and_never_ranked() {
    let page = show::page(&fixture());
    let bed = &page[page.find("id=\"disk-nvme\"").expect("no such bed")..];
    let bed = &bed[..bed.find("</section>").expect("no end of the bed")];
    assert!(bed.contains("<g class=\"haul\">"));
    // A bar and a name in each of the two charts, and a row of the table: for the wrong one and the failed one.
    assert_eq!(bed.matches("<g class=\"wrong\">").count(), 4);
    assert_eq!(bed.matches("<tr class=\"wrong\">").count(), 2);
    assert!(bed.contains("copied wrongly in round 3: differs from byte 1073217536 on"));
}

#[test]
fn a_failed_point_is_marked_and_a_wrong_one_has_no_ratio() {
    let page = show::page(&fixture());
    let sweep = &page[page.find("id=\"dd-device\"").expect("no such sweep")..];
    let sweep = &sweep[..sweep.find("</section>").expect("no end of the sweep")];
    let row = |name: &str| {
        let at = sweep.find(&format!("<th scope=\"row\">{name}</th>")).expect("no such row");
        let start = sweep[..at].rfind("<tr").expect("no row");
        sweep[start..].split("</tr>").next().expect("no end of the row")
    };
    assert!(row("no bs=").starts_with("<tr><") && row("no bs=").contains("<td>66.8</td>"), "{}", row("no bs="));
    assert!(row("bs=32M").contains("class=\"falls_short\""));
    assert!(row("bs=64M").contains("<td>–</td>") && row("bs=64M").contains("copied wrongly"));
}

#[test]
fn empty_results_are_shown() {
    assert!(show::page(&Results::default()).contains("haul against its peers"));
    assert!(!plain(&Results::default(), 80).is_empty());
    let mut results = fixture();
    results.beds.iter_mut().for_each(|bed| bed.limits.clear());
    results.beds[0].contenders.clear();
    results.beds[1].contenders.iter_mut().for_each(|one| one.runs.clear());
    assert!(show::page(&results).contains("did not run"));
    assert!(plain(&results, 80).contains("did not run"));
}

#[test]
fn the_results_file_has_every_claim_and_parses_to_the_same_results() {
    let dir = tempfile::tempdir().unwrap();
    let path = haul_bench::record::write(&fixture(), dir.path()).unwrap();
    assert_eq!(haul_bench::record::read(&path).unwrap(), fixture());
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let named = fixture().beds.len() + fixture().sweeps.len();
    assert_eq!(json["claims"].as_object().unwrap().len(), named);
    let claim = &json["claims"]["ram"][0];
    assert_eq!(claim["what"], "at least 1.4 times as fast as the best peer");
    assert_eq!((&claim["wanted"], &claim["bound"], &claim["unit"]), (&1.4.into(), &"at_least".into(), &"x".into()));
    assert!(claim["figure"].is_f64() && claim["verdict"].is_string(), "{claim}");
}

/// Points of each curve in the wide chart of this class in the section with this id.
fn points(page: &str, id: &str, class: &str) -> Vec<usize> {
    let section = &page[page.find(&format!("<section id=\"{id}\">")).expect("no such section")..];
    let section = &section[..section.find("</section>").expect("no end of the section")];
    let figure = &section[section.find(&format!("<figure class=\"curves {class}\">")).expect("no such curves")..];
    let svg = figure.split_once("</svg>").expect("no chart").0;
    let curves = svg.split("stroke-width=\"2\" points=\"").skip(1);
    curves.map(|rest| rest.split_once('"').expect("no end of the points").0.split_whitespace().count()).collect()
}

#[test]
fn a_sweep_has_a_curve_for_each_program_with_a_point_for_each_block_size() {
    let page = show::page(&fixture());
    let points_of = |one: &&haul_bench::result::PointResult| one.name.starts_with("bs=") && one.wrong.is_none();
    let measured = fixture().sweeps[0].points.iter().filter(points_of).count();
    assert_eq!((measured, points(&page, "dd-device", "rates")), (4, vec![4, 4]));
}

#[test]
fn conversions_have_a_curve_of_ratios_and_sweeps_without_block_size_none() {
    let mut results = fixture();
    let name = |results: &mut Results, names: &[&str]| {
        let point = fixture().sweeps[0].points[1].clone();
        let named = |name: &&str| haul_bench::result::PointResult { name: name.to_string(), ..point.clone() };
        results.sweeps[0].points = names.iter().map(named).collect();
    };
    name(&mut results, &["conv=swab bs=512", "conv=swab bs=4K", "conv=sync bs=512", "conv=sync bs=4K"]);
    assert_eq!(points(&show::page(&results), "dd-device", "ratios"), [2, 2]);
    name(&mut results, &["no bs=", "no bs= direct"]);
    assert!(!show::page(&results).contains("<figure class=\"curves ratios") && results.sweeps.len() == 1);
}

#[test]
fn a_bed_has_a_curve_over_its_rounds_for_each_ranked_contender() {
    let page = show::page(&fixture());
    // haul and four others; seven of nine, of which two are not ranked; haul and three others.
    assert_eq!(points(&page, "ram", "rounds"), [5; 5]);
    assert_eq!(points(&page, "disk-nvme", "rounds"), [5; 7]);
    assert_eq!(points(&page, "disk-7200", "rounds"), [3; 4]);
}

#[test]
fn the_page_fits_390_and_1280_pixels_and_loads_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    let page = show::page(&fixture());
    std::fs::write(&path, &page).unwrap();
    browser::assert_readable(&path, page.matches("<figure class=\"curves ").count());
}

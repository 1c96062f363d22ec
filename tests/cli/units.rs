//! The units of sizes and rates: decimal ones come first unless `--units iec` is given, and JSON has bytes.
use crate::support::{self, haul, in_one_line, scratch, write_noise};
use serde_json::Value;

const MB: usize = 1_000_000;

#[test]
fn a_limit_in_megabytes_is_shown_in_megabytes() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MB, 501);
    let plan = haul().args(["copy", "-n", "--limit", "40MB"]).args([&source, &dest]).assert().success();
    let plan = in_one_line(&plan.get_output().stdout);
    assert!(plan.contains("limit 40 MB/s --limit"), "{plan}");
    assert!(plan.contains("copy 1.00 MB from "), "{plan}");
    assert!(plan.contains("block size 1 MiB"), "blocks are powers of two: {plan}");
}

#[test]
fn decimal_units_are_the_default_and_units_iec_prints_binary_ones() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 3 * MB, 502);
    let messages = |words: &[&str]| {
        let assert = haul().args(words).args([&source, &dest]).assert().success();
        support::stderr(&assert)
    };
    let copied = messages(&["copy", "--progress", "plain"]);
    assert!(copied.starts_with("haul: copied 3.00 MB from "), "{copied}");
    assert!(copied.contains("B/s (") && copied.contains("iB/s)"), "binary units in parentheses: {copied}");
    let compared = messages(&["verify", "--units", "iec"]);
    assert!(compared.starts_with("haul: equal: 2.86 MiB compared, "), "{compared}");
    assert!(compared.contains("iB/s ("), "{compared}");
    assert!(messages(&["verify", "--units=si"]).starts_with("haul: equal: 3.00 MB compared, "));
}

#[test]
fn units_change_no_number_in_json() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, MB, 503);
    let bytes = |units: &str| {
        let dest = dir.path().join(units);
        let assert = haul().args(["copy", "--json", "--units", units]).args([&source, &dest]).assert().success();
        let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("it is JSON");
        (report["bytes"].clone(), report["blocks"]["bytes"].clone())
    };
    assert_eq!(bytes("si"), bytes("iec"));
}

#[test]
fn an_unknown_system_of_units_is_refused() {
    let assert = haul().args(["list", "--units", "metric"]).assert().code(2);
    let messages = support::stderr(&assert);
    assert!(messages.contains("'metric'") && messages.contains("si, iec"), "{messages}");
}

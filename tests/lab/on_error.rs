//! Disks with bad sectors, on real drivers in the lab: all other data is copied, and the list is correct.
use crate::guests::findings;
use crate::support::lab_is_available;

const ENGINES: [&str; 2] = ["ring", "threads"];
const WAYS: [&str; 6] = ["sg to sg", "sd to sd", "sg to sd", "sd to sg", "sg to file", "sd to file"];

#[test]
fn exactly_the_bad_sectors_of_every_kind_of_disk_are_skipped() {
    if !lab_is_available(&["openssl", "dmsetup", "cmp", "blockdev", "awk"]) {
        return;
    }
    let mut wanted = Vec::new();
    for engine in ENGINES {
        let ways = WAYS.iter().map(|way| format!("medium errors, {way} by {engine}"));
        for way in ways.chain([format!("dm-error by {engine}")]) {
            wanted.extend([format!("{way}, all else"), format!("{way}, the list"), way]);
        }
        wanted.push(format!("dm-error by {engine}, verified"));
        for way in ["ng", "block"] {
            wanted.extend([format!("{way} by {engine}"), format!("{way} by {engine}, all else")]);
        }
    }
    wanted.extend(["rescue by sg".to_owned()]);
    for way in ["sg", "sd"] {
        wanted.extend(["all else", "the list", "time limits"].map(|what| format!("rescue by {way}, {what}")));
    }
    let names: Vec<&str> = wanted.iter().map(String::as_str).collect();
    findings("on-error.sh").expect(&names);
}

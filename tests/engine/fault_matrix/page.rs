//! docs/user/reliability.md: text by hand, and tables between marks.
use std::fs;
use std::path::Path;
use std::sync::Mutex;

/// Tests run concurrently, and one may write while another reads.
static PAGE: Mutex<()> = Mutex::new(());

/// Asserts that the page has this table between the marks of that name; with UPDATE=1 writes it.
#[track_caller]
pub fn holds(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/user/reliability.md");
    let _alone = PAGE.lock().expect("no test panics while it has the page");
    let page = fs::read_to_string(&path).expect("docs/user/reliability.md exists");
    let (start, end) =
        (format!("<!-- {name}: made by tests/engine/fault_matrix.rs -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&start).expect("the mark exists");
    let (reported, after) = rest.split_once(&end).expect("the end mark exists");
    let is_right = reported == table;
    if !is_right && std::env::var_os("UPDATE").is_some() {
        fs::write(&path, format!("{before}{start}{table}{end}{after}")).expect("it can be written");
        return;
    }
    drop(_alone);
    assert!(is_right, "docs/user/reliability.md is out of date; run this test with UPDATE=1. It should say:\n{table}");
}

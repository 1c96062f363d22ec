//! Logs of strace.
use std::collections::HashMap;
use std::path::Path;

/// The log of `strace -f -o log` with one line per call: strace splits a call if another thread makes one meanwhile.
/// Runs of spaces are collapsed.
pub fn traced_calls(log: &Path) -> String {
    whole_calls(&std::fs::read_to_string(log).expect("strace wrote the log"))
}

fn whole_calls(log: &str) -> String {
    let (mut unfinished, mut calls) = (HashMap::new(), String::new());
    for line in log.lines() {
        let (thread, call) = line.split_once(' ').expect("a line has a thread ID and a call");
        let call = call.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(start) = call.strip_suffix(" <unfinished ...>") {
            unfinished.insert(thread, start.to_owned());
            continue;
        }
        let whole = match call.split_once(" resumed>") {
            Some((begin, end)) if begin.starts_with("<... ") => {
                let start = unfinished.remove(thread).unwrap_or_default();
                format!("{start}{end}")
            }
            _ => call,
        };
        calls += &format!("{thread} {whole}\n");
    }
    // Calls that were still running when the process ended.
    unfinished.iter().for_each(|(thread, start)| calls += &format!("{thread} {start}\n"));
    calls
}

#[test]
fn a_split_call_is_one_line() {
    let log = "11 fsync(3 <unfinished ...>\n\
               12 read(4, \"x\",  1) = 1\n\
               11 <... fsync resumed>)                  = 0\n\
               12 exit(";
    assert_eq!(whole_calls(log), "12 read(4, \"x\", 1) = 1\n11 fsync(3) = 0\n12 exit(\n");
}

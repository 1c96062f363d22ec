use super::*;
use crate::core::Limits;
use crate::report::{examples, json};
use std::io::{self, Write};
use std::sync::atomic::Ordering::Relaxed;

/// A sink whose contents tests can examine.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn text(&self) -> String {
        String::from_utf8(lock(&self.0).clone()).unwrap()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn watched(tally: &Arc<Tally>) -> RunTally {
    RunTally { tally: tally.clone(), total_bytes: examples::plan().len }
}

fn start(style: ProgressStyle) -> (Progress, Arc<Tally>, Written) {
    let (tally, written) = (Arc::new(Tally::default()), Written::default());
    let progress =
        Progress::start_on(Screen::of(style, written.clone()), &examples::plan(), &[watched(&tally)], None, None);
    (progress, tally, written)
}

#[test]
fn json_lines_begin_with_start_and_end_with_the_summary() {
    let (progress, tally, written) = start(ProgressStyle::Json);
    tally.written_bytes.store(1 << 20, Relaxed);
    progress.on_event(&Event::Began(Phase::Copying));
    progress.on_event(&Event::Paced {
        limits: Limits { block_bytes: 1 << 20, in_flight: [2, 4], bursts: false },
        because: "faster",
    });
    progress.on_event(&Event::FellBack("no io_uring: threads"));
    progress.on_event(&Event::Warned("the source grew"));
    progress.on_event(&Event::Failed(&examples::bad_sector()));
    progress.finish_with(&json::outcome(&examples::plan(), &examples::complete(), &[], None));
    let text = written.text();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["start", "phase", "pace", "fallback", "warning", "error", "progress", "summary"]);
    assert_eq!(lines[0]["total_bytes"], 2u64 << 30);
    assert_eq!(lines[5]["error"]["offset_bytes"], 1 << 30);
    assert_eq!(lines[6]["copied_bytes"], 1 << 20);
    assert_eq!(lines[7]["status"], "complete");
    let document = include_str!("../../../docs/user/json.md");
    for key in lines[..7].iter().flat_map(|line| line.as_object().unwrap().keys()) {
        assert!(document.contains(&format!("`{key}`")), "docs/user/json.md does not know {key}");
    }
}

#[test]
fn a_quick_copy_prints_warnings_but_no_plain_line() {
    let (progress, _tally, written) = start(ProgressStyle::Plain);
    progress.on_event(&Event::Began(Phase::Flushing));
    progress.on_event(&Event::Warned("the source grew"));
    progress.finish();
    let text = anstream::adapter::strip_str(&written.text()).to_string();
    assert_eq!(text, "haul: warning: the source grew\n");
}

#[test]
fn a_status_line_is_available_in_every_style_at_any_time() {
    for style in [ProgressStyle::None, ProgressStyle::Plain, ProgressStyle::Auto, ProgressStyle::Bar] {
        let (progress, tally, written) = start(style);
        tally.hole_bytes.store(1 << 30, Relaxed);
        progress.print_status();
        progress.finish();
        progress.print_status();
        let text = written.text();
        assert_eq!(text.lines().count(), 2, "{style:?}: {text}");
        assert!(text.lines().all(|line| line.starts_with("haul: 50 %, 1.07 GB of 2.15 GB, in ")), "{text}");
    }
    let (progress, ..) = start(ProgressStyle::Json);
    assert!(progress.status_line().starts_with("{\"type\":\"progress\""));
}

#[test]
fn the_status_line_shows_the_flush() {
    let (progress, tally, _paper) = start(ProgressStyle::None);
    tally.phase.store(Phase::Flushing as u8, Relaxed);
    assert!(progress.status_line().starts_with("haul: flushing /dev/sdb, "), "{}", progress.status_line());
}

#[test]
fn progress_tolerates_drop_double_finish_and_late_events() {
    let (progress, ..) = start(ProgressStyle::Plain);
    progress.finish();
    progress.finish();
    progress.on_event(&Event::Warned("too late"));
    drop(progress);
    drop(start(ProgressStyle::Json));
}

#[test]
fn an_unread_sink_does_not_block_the_copy() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let tally = Arc::new(Tally::default());
    let progress =
        Progress::start_on(Screen::of(ProgressStyle::Json, writer), &examples::plan(), &[watched(&tally)], None, None);
    progress.print_status();
    progress.finish();
}

//! The lines of a rescue: its phase, what failed, and the areas of the source in letters.
use super::bar::fitting;
use crate::core::locked;
use crate::core::rescue::{RescueState, SharedRescue, Status};
use crate::report::columns::message;
use crate::report::json::{object, seconds};
use crate::report::map::cells;
use crate::report::style::{CARE, paint};
use crate::report::units;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Rows of the picture.
const ROWS: usize = 3;
/// A read of a disk that works takes less: no time since the last new byte is shown before.
const NOTHING_NEW_MIN: Duration = Duration::from_secs(2);

const RESCUED: Style = AnsiColor::Cyan.on_default();
const REST: Style = Style::new().dimmed();

/// A display may hold the state of a rescue for one in this many parts of the time: maps may have a million areas.
const SHARE: u32 = 20;

/// The display of a rescue.
pub(super) struct RescueView {
    rescue: SharedRescue,
    drawn: Mutex<Option<Drawn>>,
}

/// The rows for a width, which are shown until they are due.
struct Drawn {
    width: usize,
    due: Instant,
    rows: String,
}

impl RescueView {
    pub(super) fn new(rescue: SharedRescue) -> Self {
        RescueView { rescue, drawn: Mutex::default() }
    }

    /// Below a bar: a line of at most `width - 1` columns, and the picture. With colour.
    pub(super) fn rows(&self, width: usize) -> String {
        let (mut drawn, began) = (locked(&self.drawn), Instant::now());
        match &*drawn {
            Some(drawn) if drawn.width == width && began < drawn.due => drawn.rows.clone(),
            _ => {
                let rows = rows(&locked(&self.rescue), width);
                *drawn = Some(Drawn { width, due: began + began.elapsed() * SHARE, rows: rows.clone() });
                rows
            }
        }
    }

    /// The state for readers of JSON lines.
    pub(super) fn json(&self) -> impl Serialize + use<> {
        let state = locked(&self.rescue);
        let bytes = |status| state.map.bytes(status);
        object! {
            phase: state.phase.name(),
            pass: state.pass,
            position_bytes: state.pos,
            rescued_bytes: bytes(Status::Finished),
            bad_bytes: bytes(Status::Bad),
            unscraped_bytes: bytes(Status::Unscraped),
            untrimmed_bytes: bytes(Status::Untrimmed),
            untried_bytes: bytes(Status::Untried),
            failed_reads: state.failed_reads,
            slow_reads: state.slow_reads,
            nothing_new_s: seconds(Instant::now().saturating_duration_since(state.last_new)),
        }
    }

    /// The same on a line for logs, with a newline.
    pub(super) fn line(&self) -> String {
        let parts = parts(&locked(&self.rescue), Instant::now());
        let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        message("      ", "      ", &parts.join(", "))
    }
}

fn rows(state: &RescueState, width: usize) -> String {
    let width = width.saturating_sub(1).max(1);
    let [phase, failed, idle] = parts(state, Instant::now());
    let failed = if failed.is_empty() { failed } else { paint(CARE, &failed) };
    let join = |parts: &[&String]| {
        let parts: Vec<&str> = parts.iter().map(|part| part.as_str()).filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    };
    let choices = [join(&[&phase, &failed, &idle]), join(&[&phase, &failed]), join(&[&failed]), phase];
    let line = fitting(&choices, width);
    std::iter::once(line).chain(picture(state, width)).map(|line| format!("\n{line}")).collect()
}

/// The phase, what failed, and the time without a new byte; empty where there is nothing to say.
fn parts(state: &RescueState, now: Instant) -> [String; 3] {
    let paused = state.temperature.filter(|temperature| temperature.is_paused);
    let paused = paused.map(|temperature| format!(", paused at {:.0} °C", temperature.celsius)).unwrap_or_default();
    let phase = format!("{}, pass {}{paused}", state.phase.name(), state.pass);
    let bytes_and_areas = |statuses: &[Status]| {
        let bytes: u64 = statuses.iter().map(|status| state.map.bytes(*status)).sum();
        let areas = state.map.blocks().filter(|block| statuses.contains(&block.status)).count() as u64;
        (bytes > 0).then(|| format!("{} in {}", units::size(bytes), units::count(areas, "area", "areas")))
    };
    let bad = bytes_and_areas(&[Status::Bad]).map(|bad| format!("bad sectors {bad}"));
    let failed = bytes_and_areas(&[Status::Untrimmed, Status::Unscraped]).map(|failed| format!("failed {failed}"));
    let failed = bad.into_iter().chain(failed).collect::<Vec<_>>().join(", ");
    let idle = now.saturating_duration_since(state.last_new);
    let idle =
        if idle < NOTHING_NEW_MIN { String::new() } else { format!("nothing new for {}", units::time_passed(idle)) };
    [phase, failed, idle]
}

/// The source in rows of letters, worst status first.
fn picture(state: &RescueState, width: usize) -> Vec<String> {
    let rows = state.map.len_bytes().div_ceil(512 * width as u64).min(ROWS as u64);
    if rows == 0 {
        return Vec::new();
    }
    let cell_bytes = state.map.len_bytes().div_ceil(rows * width as u64).next_multiple_of(512);
    cells(&state.map, cell_bytes).chunks(width).map(coloured).collect()
}

/// The letters of a row, each run of one status in its colour.
fn coloured(row: &[Status]) -> String {
    let runs = row.chunk_by(|one, other| one == other);
    runs.map(|run| {
        let text: String = run.iter().map(|status| status.letter()).collect();
        match run[0] {
            Status::Finished => paint(RESCUED, &text),
            Status::Untried => paint(REST, &text),
            _ => paint(CARE, &text),
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Extent;
    use crate::core::rescue::{RescueMap, RescueStatus};
    use crate::report::columns::columns;
    use std::sync::Arc;

    const LEN: u64 = 1 << 30;

    fn rescue() -> SharedRescue {
        let mut map = RescueMap::untried(LEN);
        map.set(Extent::new(0, LEN / 2), Status::Finished);
        map.set(Extent::new(LEN / 4, 4096), Status::Bad);
        map.set(Extent::new(LEN / 8, 512), Status::Bad);
        map.set(Extent::new(LEN / 2, 65_536), Status::Untrimmed);
        let mut state = RescueState::new(map, RescueStatus::Trimming, 2, 0);
        state.last_new -= Duration::from_secs(75);
        Arc::new(Mutex::new(state))
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn the_rows_fit_every_width_and_say_all_on_a_wide_terminal() {
        let view = RescueView::new(rescue());
        for width in 20..=200 {
            let rows = plain(&view.rows(width));
            let rows: Vec<&str> = rows.split('\n').skip(1).collect();
            assert_eq!(rows.len(), 1 + ROWS, "{width}");
            assert!(rows.iter().all(|row| (1..width).contains(&columns(row))), "{width}: {rows:?}");
            let picture = rows[1..].concat();
            assert!(picture.starts_with('+') && picture.ends_with('?') && picture.contains('*'), "{picture}");
            let bad = picture.split(|letter| letter != '-').filter(|run| !run.is_empty()).count();
            assert_eq!(bad, 2, "{picture}");
        }
        let rows = plain(&view.rows(120));
        let expected =
            "trimming, pass 2, bad sectors 4.61 kB in 2 areas, failed 65.5 kB in 1 area, nothing new for 1 min 15 s";
        assert_eq!(rows.lines().nth(1), Some(expected));
        assert_eq!(view.line().split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn a_rescue_without_errors_shows_its_phase_only() {
        let state = RescueState::new(RescueMap::untried(1024), RescueStatus::Copying, 1, 0);
        assert_eq!(plain(&rows(&state, 80)), "\ncopying, pass 1\n??");
        let empty = RescueState::new(RescueMap::untried(0), RescueStatus::Copying, 1, 0);
        assert_eq!(rows(&empty, 80), "\ncopying, pass 1");
    }

    #[test]
    fn rows_are_drawn_again_when_they_are_due_or_the_width_changes() {
        let view = RescueView::new(rescue());
        view.rows(80);
        locked(&view.drawn).as_mut().unwrap().due += Duration::from_secs(3600);
        locked(&view.rescue).pass = 3;
        assert!(view.rows(80).contains("pass 2") && view.rows(81).contains("pass 3"));
        locked(&view.drawn).as_mut().unwrap().due -= Duration::from_secs(3600);
        locked(&view.rescue).pass = 4;
        assert!(view.rows(81).contains("pass 4"));
    }
}

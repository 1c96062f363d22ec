//! The lines of a rescue: its phase, what failed, and the areas of the source in letters.
use super::bar::fitting;
use super::view::View;
use crate::core::locked;
use crate::core::rescue::{RescueState, RescueStatus, SharedRescue, Status};
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

/// Time of a phase before its pace is a measure of the time left.
const MEASURED_MIN: Duration = Duration::from_secs(3);

const RESCUED: Style = AnsiColor::Cyan.on_default();
const REST: Style = Style::new().dimmed();

/// A display may hold the state of a rescue for one in this many parts of the time: maps may have a million areas.
const SHARE: u32 = 20;

/// The display of a rescue.
pub(super) struct RescueView {
    rescue: SharedRescue,
    drawn: Mutex<Option<Drawn>>,
    pace: Mutex<Option<Pace>>,
}

/// The pace of trimming or scraping, which decide about sectors rather than rescue bytes.
#[derive(Clone, Copy)]
struct Pace {
    phase: RescueStatus,
    began: Instant,
    /// Bytes in failed blocks when it began.
    failed: u64,
}

/// The rows for a width, which are shown until they are due.
struct Drawn {
    width: usize,
    due: Instant,
    rows: String,
}

impl RescueView {
    pub(super) fn new(rescue: SharedRescue) -> Self {
        RescueView { rescue, drawn: Mutex::default(), pace: Mutex::default() }
    }

    /// The view of a copy, with the time since something new was read, and the time left of this phase.
    pub(super) fn complete(&self, view: View) -> View {
        self.complete_at(view, Instant::now())
    }

    fn complete_at(&self, view: View, now: Instant) -> View {
        let state = locked(&self.rescue);
        let idle = Some(state.without_new_byte(now));
        let left = match state.phase {
            RescueStatus::Copying => view.left,
            RescueStatus::Trimming | RescueStatus::Scraping => self.left(&state, now),
            _ => None,
        };
        View { idle, left, ..view }
    }

    /// The time until every failed block is decided, at the pace of the phase so far; `None`: not known yet.
    fn left(&self, state: &RescueState, now: Instant) -> Option<Duration> {
        let failed = state.map.bytes(Status::Untrimmed) + state.map.bytes(Status::Unscraped);
        let mut pace = locked(&self.pace);
        let begun = pace.filter(|pace| pace.phase == state.phase);
        let Pace { began, failed: before, .. } =
            *pace.insert(begun.unwrap_or(Pace { phase: state.phase, began: now, failed }));
        let (took, decided) = (now.saturating_duration_since(began), before.saturating_sub(failed));
        (took >= MEASURED_MIN && decided > 0).then(|| took.mul_f64(failed as f64 / decided as f64))
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
            nothing_new_s: seconds(state.without_new_byte(Instant::now())),
        }
    }

    /// The same on a line for logs, with a newline.
    pub(super) fn line(&self) -> String {
        let [all, ..] = sentences(&locked(&self.rescue));
        message("      ", "      ", &anstream::adapter::strip_str(&all).to_string())
    }
}

fn rows(state: &RescueState, width: usize) -> String {
    let width = width.saturating_sub(1).max(1);
    let line = fitting(&sentences(state), width);
    std::iter::once(line).chain(picture(state, width)).map(|line| format!("\n{line}")).collect()
}

/// The phase and what failed, with fewer words each time. With colour.
fn sentences(state: &RescueState) -> [String; 4] {
    let paused = state.temperature.filter(|temperature| temperature.is_paused);
    let paused = paused.map(|temperature| format!(", paused at {:.0} °C", temperature.celsius)).unwrap_or_default();
    let name = state.phase.name();
    // The other phases have one pass.
    let phase = match state.phase {
        RescueStatus::Copying | RescueStatus::Retrying => format!("{name}, pass {}{paused}", state.pass),
        _ => format!("{name}{paused}"),
    };
    let found = [("bad sectors", &[Status::Bad][..]), ("failed", &[Status::Untrimmed, Status::Unscraped])];
    let of = |statuses: &[Status]| -> (u64, u64) {
        let bytes = statuses.iter().map(|status| state.map.bytes(*status)).sum();
        let areas = state.map.blocks().filter(|block| statuses.contains(&block.status)).count();
        (bytes, areas as u64)
    };
    let found = found.map(|(what, statuses)| (what, of(statuses)));
    let with = |words: &dyn Fn(&str, u64, u64) -> String| {
        let found = found.iter().filter(|(_, (bytes, _))| *bytes > 0);
        let found: Vec<String> = found.map(|(what, (bytes, areas))| words(what, *bytes, *areas)).collect();
        let found = if found.is_empty() { String::new() } else { format!(", {}", paint(CARE, &found.join(", "))) };
        format!("{phase}{found}")
    };
    [
        with(&|what, bytes, areas| {
            format!("{what} {} in {}", units::size(bytes), units::count(areas, "area", "areas"))
        }),
        with(&|what, bytes, areas| format!("{} {} in {areas}", what.replace(" sectors", ""), units::size(bytes))),
        with(&|what, bytes, _| format!("{} {}", what.replace(" sectors", ""), units::size(bytes))),
        phase.clone(),
    ]
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
        let mut state = RescueState::new(map, RescueStatus::Retrying, 2, 0);
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
            assert!(rows[0].starts_with("retrying, pass 2"), "{width}: {rows:?}");
            assert!(width < 60 || rows[0].contains("bad") && rows[0].contains("failed"), "{width}: {rows:?}");
            let bad = picture.split(|letter| letter != '-').filter(|run| !run.is_empty()).count();
            assert_eq!(bad, 2, "{picture}");
        }
        let rows = plain(&view.rows(120));
        let expected = "retrying, pass 2, bad sectors 4.61 kB in 2 areas, failed 65.5 kB in 1 area";
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
    fn the_time_left_of_scraping_follows_its_own_pace() {
        let mut map = RescueMap::untried(LEN);
        map.set(Extent::new(0, 100 * 512), Status::Unscraped);
        let mut state = RescueState::new(map, RescueStatus::Scraping, 1, 0);
        let view = RescueView::new(Arc::new(Mutex::new(state.clone())));
        let began = Instant::now();
        assert_eq!(view.left(&state, began), None);
        state.map.set(Extent::new(0, 20 * 512), Status::Bad);
        assert_eq!(view.left(&state, began + Duration::from_secs(1)), None, "it is too early");
        assert_eq!(view.left(&state, began + Duration::from_secs(10)), Some(Duration::from_secs(40)));
        // Another phase has another pace.
        state.phase = RescueStatus::Trimming;
        assert_eq!(view.left(&state, began + Duration::from_secs(20)), None);
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

use super::*;
use crate::contract::{Direction, Kept, Moment, Series, Side};
use crate::report::examples;
use std::time::Duration;

/// The page of a copy of 2 GiB in eight seconds.
fn page_of(plan: &crate::contract::Plan, outcome: &crate::contract::Outcome) -> String {
    let mut series = Series::default();
    for tick in 0..=80u64 {
        let copied_bytes = (2 << 30) / 80 * tick;
        let (at, waited) = (Duration::from_millis(100 * tick), [Duration::ZERO, Duration::from_millis(90 * tick)]);
        let (read_bytes, dest_bytes) = (copied_bytes, copied_bytes);
        series.push(Moment { at, read_bytes, dest_bytes, copied_bytes, waited, ..Moment::default() });
    }
    let facts = [(Side::Source, examples::source()), (Side::Dest, examples::dest())];
    let machine = &Machine::default();
    let (series, facts, words, started) = (&series, &facts[..], &examples::args()[..], UNIX_EPOCH);
    copy(CopyFound { plan, outcome, series, facts, machine, words, started })
}

#[test]
fn a_page_begins_with_its_mark_and_has_each_figure_once() {
    let page = page_of(&examples::plan(), &examples::complete());
    assert!(page.starts_with(MARK));
    for id in ["rate-over-time", "rate-over-position", "waiting", "latencies"] {
        assert_eq!(page.matches(&format!("<section id=\"{id}\">")).count(), 1, "{id}");
    }
    for words in ["Samsung SSD 870 EVO 1TB", "S6PUNX0T123456", "for the dest 60 %", "<td>90 %</td><td>dest</td>"] {
        assert!(page.contains(words), "{words:?} is not in {page}");
    }
    // In the summary, and in the report as the terminal has it.
    assert_eq!(page.matches("it took 8 % longer").count(), 2);
}

#[test]
fn a_failure_stands_before_the_figures() {
    let page = page_of(&examples::plan(), &examples::failed());
    let [warning, figure] = ["sector 2097152", "<section id="].map(|words| page.find(words).expect(words));
    assert!(warning < figure);
}

#[test]
fn places_are_shown_only_where_they_are_known() {
    let mut outcome = examples::complete();
    outcome.kept = Some(Kept { already_bytes: 1 << 20, ..Kept::default() });
    assert!(!page_of(&examples::plan(), &outcome).contains("rate-over-position"));
    let mut plan = examples::plan();
    plan.direction = Direction::Backward;
    assert!(page_of(&plan, &examples::complete()).contains("rate-over-position"));
}

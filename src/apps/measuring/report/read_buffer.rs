//! The tables of `haul profile --read-buffer`.
use super::commands::driver_words;
use super::cost::line_words;
use super::{Run, heading, latency, whole};
use crate::core::OwnBuffer;
use crate::measure::{BufferOptions, BufferWayCosts, ReadBuffer, SeedFigures};
use crate::report::columns::Columns;
use crate::report::printable::printable;
use crate::report::text::described;
use crate::report::units;

/// All results, in tables and sentences.
pub fn read_buffer_text(run: &Run<'_>, options: &BufferOptions, found: &ReadBuffer) -> String {
    let which = if options.which == OwnBuffer::Echo { "echo buffer" } else { "buffer" };
    let mut head = Columns::default();
    head.row("disk", described(run.facts));
    head.row(which, found.capacity_bytes.map(|bytes| units::bytes(bytes.into())).unwrap_or_default());
    let mut text = head.lines();
    found.ways.iter().for_each(|way| text += &table(way));
    let mut rows = Columns::default();
    for way in &found.ways {
        let name = way.way.name();
        rows.row(name, way.fit.map(|fit| line_words(&fit)).unwrap_or_default());
        rows.row("as in 2001", way.seed.map(|seed| formula_words(name, &seed)).unwrap_or_default());
        let copied =
            |share| driver_words(name, share, "/sys/module/sg/parameters/allow_dio, and write permission for the node");
        rows.row("driver", way.driver_copied.map(copied).unwrap_or_default());
    }
    found.refused.iter().for_each(|refused| rows.row("refused", printable(refused)));
    run.rows(found.failure.as_ref(), &mut rows);
    format!("{text}\n{}", rows.lines())
}

fn table(way: &BufferWayCosts) -> String {
    let name = way.way.name();
    let mut text = heading(&format!("{name:>12} {:>9} {:>12} {:>9} {:>10}", "time", "rate", "processor", "line"));
    for cost in &way.costs {
        let rate = units::rate_at_a_glance(whole(cost.bytes_per_s()));
        let line = way.fit.map(|fit| latency(fit.seconds(cost.bytes.into()) * 1e6)).unwrap_or_default();
        let (size, share) = (units::block(cost.bytes.into()), format!("{:.0} %", cost.cpu_share * 100.0));
        text += &format!("{size:>12} {:>9} {rate:>12} {share:>9} {line:>10}\n", latency(cost.seconds * 1e6));
    }
    text
}

/// The result of Gilbert's formula: (t(4 KiB) - t(best)) / commands, and the best time without it.
fn formula_words(name: &str, figures: &SeedFigures) -> String {
    let rate = |bytes_per_s: f64| units::rate_at_a_glance(whole(bytes_per_s));
    let after = match figures.after_latency_per_s {
        rest if rest.is_finite() => rate(rest),
        _ => "no time".to_owned(),
    };
    format!(
        "{name}: {} of latency in each command, {after} without it; best {}, worst {}",
        latency(figures.latency_s * 1e6),
        rate(figures.best_per_s),
        rate(figures.worst_per_s)
    )
}

/// All results as comma-separated values.
pub fn read_buffer_csv(found: &ReadBuffer) -> String {
    let mut text = "way,bytes,seconds,bytes_per_s,cpu_share,runs\n".to_owned();
    for way in &found.ways {
        for cost in &way.costs {
            let (name, seconds, rate) = (way.way.name(), cost.seconds, cost.bytes_per_s());
            text += &format!("{name},{},{seconds:.9},{rate:.0},{:.4},{}\n", cost.bytes, cost.cpu_share, cost.runs);
        }
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::core::{BufferWay, EndpointKind, EngineKind, Facts, Op};
    use crate::measure::{BufferCost, fit::fit};

    /// Eight sizes in one mode, and a refused one.
    pub(crate) fn found() -> ReadBuffer {
        let cost =
            |bytes: u32| BufferCost { bytes, seconds: 500e-6 + f64::from(bytes) / 67e6, cpu_share: 0.05, runs: 3 };
        let costs: Vec<BufferCost> = (12..=19).map(|power| cost(1 << power)).collect();
        let times: Vec<(f64, f64)> = costs.iter().map(|cost| (f64::from(cost.bytes), cost.seconds)).collect();
        let way = BufferWayCosts {
            way: BufferWay::Direct,
            fit: fit(&times),
            seed: SeedFigures::of(&costs),
            driver_copied: Some(1.0),
            costs,
        };
        let refused = vec!["one command transfers at most 524288 of 1048576 bytes".to_owned()];
        ReadBuffer { capacity_bytes: Some(3_434_944), ways: vec![way], refused, failure: None }
    }

    #[test]
    fn each_way_has_a_table_a_fitted_line_and_the_formula() {
        let facts = Facts::new("/dev/sg3", EndpointKind::Block);
        let run = Run {
            words: &[],
            facts: &facts,
            op: Op::Read,
            written: None,
            engine: EngineKind::Ring,
            bad: &[],
            failed: 0,
            warnings: &[],
            label: None,
        };
        let text = read_buffer_text(&run, &BufferOptions::default(), &found());
        let messages = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "buffer 3.43 MB (3434944 bytes)",
            "direct time rate processor line",
            "4 KiB 561 µs 7.30 MB/s 5 % 561 µs",
            "direct fixed latency 500 µs, then 67.0 MB/s: linear fit",
            "as in 2001 direct: 496 µs of latency in each command, 67.0 MB/s without it;",
            "best 63.0 MB/s, worst 7.30 MB/s",
            "driver direct: the driver copied everything anyway",
            "refused one command transfers at most 524288",
        ] {
            assert!(messages.contains(part), "{part}:\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn csv_has_a_line_for_each_size_and_way() {
        let text = read_buffer_csv(&found());
        assert_eq!(text.lines().nth(1), Some("direct,4096,0.000561134,7299500,0.0500,3"));
        assert!(text.lines().count() == 9 && text.lines().all(|line| line.split(',').count() == 6), "{text}");
    }
}

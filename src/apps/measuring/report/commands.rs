//! The latency of commands without medium access, in the text of `haul profile`.
use super::cost::{costs, line_words};
use super::latency;
use crate::measure::{Commands, WayCost};
use crate::report::columns::Columns;
use crate::report::printable::printable;

/// The table of READ BUFFER, if the disk supports it.
pub(crate) fn table(commands: &Commands) -> String {
    if commands.buffer.is_empty() {
        return String::new();
    }
    costs("READ BUFFER", &commands.buffer, commands.buffer_fit)
}

/// The rows below all tables.
pub(crate) fn rows(commands: &Commands, rows: &mut Columns) {
    if let Some(seconds) = commands.empty_s {
        let time = latency(seconds * 1e6);
        rows.row("empty", format!("a READ of 0 blocks takes {time}: the overhead of a command"));
    }
    if let Some(fit) = commands.buffer_fit {
        rows.row("buffer", format!("READ BUFFER, without the medium: {}", line_words(&fit)));
    }
    for refused in &commands.refused {
        rows.row("refused", printable(refused));
    }
}

/// How the driver transferred data when it was requested not to copy.
pub(crate) fn driver(ways: &[WayCost], rows: &mut Columns) {
    for way in ways {
        let name = way.way.name();
        let Some(share) = way.driver_copied else { continue };
        let needed = "/sys/module/sg/parameters/allow_dio, --engine ring, and write permission for the node";
        rows.row("driver", driver_words(name, share, needed));
    }
}

/// The same for one mode, of whose transfers the driver copied this share; `needed`: what else has to be 1.
pub(super) fn driver_words(name: &str, share: f64, needed: &str) -> String {
    if share <= 0.0 {
        return format!("{name}: not copied by the driver");
    }
    let most = if share >= 1.0 { "everything".to_owned() } else { format!("{:.0} % of it", share * 100.0) };
    format!("{name}: the driver copied {most} anyway; to avoid that: 1 in {needed}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Cost, Way, fit::fit};

    fn way(way: Way, driver_copied: Option<f64>) -> WayCost {
        WayCost {
            way,
            bytes_per_s: 1e9,
            range: (1e9, 1e9),
            cpu_s_per_gib: 0.1,
            cpu_share: 0.1,
            left_in_cache: 0.0,
            cached: false,
            driver_copied,
        }
    }

    #[test]
    fn indirect_transfers_by_the_driver_are_reported_for_each_direct_way() {
        let messages = |share| {
            let mut rows = Columns::default();
            driver(&[way(Way::Direct, share), way(Way::Indirect, None)], &mut rows);
            rows.lines().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(messages(None), "");
        assert_eq!(messages(Some(0.0)), "driver direct: not copied by the driver");
        assert!(messages(Some(1.0)).contains("direct: the driver copied everything anyway; to avoid that: 1 in"));
        assert!(messages(Some(0.25)).contains("copied 25 % of it anyway"));
    }

    #[test]
    fn a_drive_with_a_buffer_has_a_table_and_one_without_a_reason() {
        let cost = |bytes: u32| {
            let seconds = 50e-6 + f64::from(bytes) / 1e9;
            Cost { bytes, seconds, range_s: (seconds, seconds), runs: 3 }
        };
        let buffer: Vec<Cost> = (9..=18).map(|power| cost(1 << power)).collect();
        let times: Vec<(f64, f64)> = buffer.iter().map(|cost| (f64::from(cost.bytes), cost.seconds)).collect();
        let (empty_s, buffer_bytes, buffer_fit) = (Some(40e-6), Some(1 << 18), fit(&times));
        let found = Commands { empty_s, buffer_bytes, buffer, buffer_fit, refused: Vec::new() };
        let mut reported = Columns::default();
        rows(&found, &mut reported);
        let reported = reported.lines().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(reported.contains("a READ of 0 blocks takes 40 µs:"), "{reported}");
        assert!(
            reported.contains("READ BUFFER, without the medium: fixed latency 50 µs, then 1.00 GB/s: linear fit"),
            "{reported}"
        );
        assert!(table(&found).contains("READ BUFFER") && table(&found).lines().count() == 12, "{}", table(&found));
        let refused = vec!["READ BUFFER: invalid command operation code".to_owned()];
        let none = Commands { refused, ..Commands::default() };
        let mut reported = Columns::default();
        rows(&none, &mut reported);
        assert!(reported.lines().contains("READ BUFFER: invalid command operation code") && table(&none).is_empty());
    }
}

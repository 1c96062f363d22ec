//! The figures of haul's rescue beside the others.
use super::disks::FailingDisk;
use super::run::Rescued;

/// How far haul may be behind at any moment, as percentage of the disk.
const BEHIND_MAX_PERCENT: f64 = 1.0;
/// haul's time for 99 % of what is readable, by the better of the others.
const TIME_MAX: f64 = 0.9;
/// haul's bytes of a disk that dies, by those of the better one.
const BYTES_MIN: f64 = 1.1;

/// The figures.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) behind_percent: f64,
    /// haul's time for 99 %, by the better of the others'.
    time: Option<f64>,
    /// haul's bytes, by the most of the others.
    bytes: f64,
    dies: bool,
    /// Whether the finished bytes are those of the last of the others; `None`: they depend on luck.
    same: Option<bool>,
    /// haul's failed reads, and those of the last of the others.
    failed: [u64; 2],
}

/// The figures of `haul` beside `others`, the last of which reads directly.
pub(super) fn figures(disk: &FailingDisk, haul: &Rescued, others: &[Rescued]) -> Figures {
    let wanted = disk.readable_bytes() / 100 * 99;
    let behind = others.iter().map(|other| haul.course.behind_bytes(&other.course)).max().unwrap_or(0);
    let best = others.iter().filter_map(|other| other.course.reaches(wanted)).reduce(f64::min);
    let most = others.iter().map(|other| other.rescued_bytes).max().unwrap_or(0);
    let last = others.last();
    Figures {
        behind_percent: 100.0 * behind as f64 / disk.size_bytes as f64,
        time: haul.course.reaches(wanted).zip(best).map(|(haul_s, best_s)| haul_s / best_s),
        bytes: haul.rescued_bytes as f64 / (most as f64).max(1.0),
        dies: disk.dies,
        same: last.filter(|_| disk.repeats).map(|last| last.finished == haul.finished),
        failed: [haul.course.failed_reads(), last.map_or(0, |last| last.course.failed_reads())],
    }
}

impl Figures {
    /// What falls short, or that all hold.
    pub(super) fn words(&self) -> String {
        let mut short = Vec::new();
        if self.behind_percent > BEHIND_MAX_PERCENT {
            short.push(format!("behind by {:.1} %", self.behind_percent));
        }
        match self.time {
            Some(time) if time > TIME_MAX => short.push(format!("99 % in {time:.2} of its time")),
            None if !self.dies => short.push("99 % is not reached".to_owned()),
            _ => {}
        }
        if self.dies && self.bytes < BYTES_MIN {
            short.push(format!("{:.2} of its bytes", self.bytes));
        }
        if self.same == Some(false) {
            short.push("other bytes".to_owned());
        }
        let [haul, other] = self.failed;
        if haul > other && !self.dies {
            short.push(format!("{haul} failed reads instead of {other}"));
        }
        let reached = match self.time {
            Some(time) if !self.dies => format!("99 % in {time:.2} of its time"),
            _ => format!("{:.2} of its bytes", self.bytes),
        };
        if short.is_empty() { format!("all hold: {reached}") } else { format!("short: {}", short.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_that_falls_short_is_named() {
        let good = || Figures {
            behind_percent: 0.4,
            time: Some(0.5),
            bytes: 1.0,
            dies: false,
            same: Some(true),
            failed: [40, 40],
        };
        assert_eq!(good().words(), "all hold: 99 % in 0.50 of its time");
        let short = [
            (Figures { behind_percent: 1.2, ..good() }, "behind by 1.2 %"),
            (Figures { time: Some(0.95), ..good() }, "99 % in 0.95"),
            (Figures { time: None, ..good() }, "not reached"),
            (Figures { dies: true, ..good() }, "1.00 of its bytes"),
            (Figures { same: Some(false), ..good() }, "other bytes"),
            (Figures { failed: [41, 40], ..good() }, "41 failed reads instead of 40"),
        ];
        for (figures, expected) in short {
            assert!(figures.words().starts_with("short") && figures.words().contains(expected), "{}", figures.words());
        }
        assert_eq!(Figures { dies: true, bytes: 1.2, time: None, ..good() }.words(), "all hold: 1.20 of its bytes");
    }
}

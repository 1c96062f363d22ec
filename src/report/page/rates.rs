//! Rates and waiting times between moments of a copy.
use crate::core::Moment;
use std::time::Duration;

/// Possible bottlenecks of a copy: its sides, by `Side::index`, its limit, and its digests.
pub(super) const WAITED_FOR: [&str; 4] = ["source", "destination", "limit", "digests"];

/// A time interval of a copy, and the bytes copied in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    /// Its middle, in seconds since the start.
    pub(super) middle_s: f64,
    pub(super) end_s: f64,
    /// Bytes copied in any form at its start and at its end.
    pub(super) copied_bytes: (u64, u64),
    /// Bytes per second of each side, by `Side::index`.
    pub(super) bytes_per_s: [f64; 2],
    /// Share of its time spent waiting for each of [`WAITED_FOR`], in percent.
    pub(super) waited_percent: [f64; 4],
}

/// The time of a copy in pieces of at least `least`, about `most` of them.
pub(super) fn pieces(moments: &[Moment], least: Duration, most: u32) -> Vec<Piece> {
    let (Some(first), Some(last)) = (moments.first(), moments.last()) else { return Vec::new() };
    let least = least.max((last.at - first.at) / most.max(1));
    let mut from = first;
    let mut pieces = Vec::new();
    for (index, to) in moments.iter().enumerate() {
        let rest = last.at.saturating_sub(to.at);
        // A remainder at the end is added to the piece before it, because the rate of a short piece varies too
        // much.
        let ends = index + 1 == moments.len() || (to.at - from.at >= least && rest >= least / 2);
        if ends && to.at > from.at {
            pieces.push(piece(from, to));
            from = to;
        }
    }
    pieces
}

/// The same pieces, merged so that each has transferred something: time without a transfer counts for the bytes
/// that follow. Rates and times then add up to the whole, even if a limit delays large blocks. Time after the
/// last byte, such as a flush, is omitted.
pub(super) fn moving(pieces: &[Piece]) -> Vec<Piece> {
    let mut moving = Vec::new();
    let mut first = 0;
    for (last, piece) in pieces.iter().enumerate() {
        if piece.copied_bytes.1 > piece.copied_bytes.0 {
            moving.push(joined(&pieces[first..=last]));
            first = last + 1;
        }
    }
    moving
}

impl Piece {
    fn seconds(&self) -> f64 {
        (self.end_s - self.middle_s) * 2.0
    }
}

/// One piece that combines these consecutive ones, at least one.
fn joined(pieces: &[Piece]) -> Piece {
    let (first, last) = (pieces[0], pieces[pieces.len() - 1]);
    let seconds: f64 = pieces.iter().map(Piece::seconds).sum();
    let mean =
        |of: &dyn Fn(&Piece) -> f64| pieces.iter().map(|piece| of(piece) * piece.seconds()).sum::<f64>() / seconds;
    Piece {
        middle_s: last.end_s - seconds / 2.0,
        end_s: last.end_s,
        copied_bytes: (first.copied_bytes.0, last.copied_bytes.1),
        bytes_per_s: [0, 1].map(|side| mean(&|piece| piece.bytes_per_s[side])),
        waited_percent: [0, 1, 2, 3].map(|what| mean(&|piece| piece.waited_percent[what])),
    }
}

fn piece(from: &Moment, to: &Moment) -> Piece {
    let seconds = (to.at - from.at).as_secs_f64();
    let rate = |from: u64, to: u64| to.saturating_sub(from) as f64 / seconds;
    let waits = |moment: &Moment| {
        let [source, dest] = moment.waited;
        [source, dest, moment.limit_waited, moment.digest_waited]
    };
    let (before, after) = (waits(from), waits(to));
    let waited = |what: usize| (after[what].saturating_sub(before[what]).as_secs_f64() / seconds * 100.0).min(100.0);
    Piece {
        middle_s: (from.at + to.at).as_secs_f64() / 2.0,
        end_s: to.at.as_secs_f64(),
        copied_bytes: (from.copied_bytes, to.copied_bytes),
        bytes_per_s: [rate(from.read_bytes, to.read_bytes), rate(from.dest_bytes, to.dest_bytes)],
        waited_percent: [0, 1, 2, 3].map(waited),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 MB/s read, half of it written, the dest waited for all the time, and the limit half of it.
    fn moments(times_ms: &[u64]) -> Vec<Moment> {
        let moment = |&ms: &u64| Moment {
            at: Duration::from_millis(ms),
            read_bytes: ms * 1000,
            dest_bytes: ms * 500,
            copied_bytes: ms * 700,
            waited: [Duration::ZERO, Duration::from_millis(ms)],
            limit_waited: Duration::from_millis(ms / 2),
            digest_waited: Duration::ZERO,
        };
        times_ms.iter().map(moment).collect()
    }

    #[test]
    fn rates_do_not_depend_on_how_the_time_is_divided() {
        let moments = moments(&[0, 100, 210, 290, 405, 500, 610, 640]);
        for (least_ms, most) in [(0, 1000), (100, 1000), (250, 1000), (0, 2), (5000, 1)] {
            let pieces = pieces(&moments, Duration::from_millis(least_ms), most);
            assert!(pieces.iter().all(|piece| (piece.bytes_per_s[0] - 1e6).abs() < 1.0), "{pieces:?}");
            assert!(pieces.iter().all(|piece| (piece.bytes_per_s[1] - 5e5).abs() < 1.0), "{pieces:?}");
            assert!(pieces.iter().all(|piece| piece.waited_percent[0] == 0.0), "{pieces:?}");
            assert!(pieces.iter().all(|piece| (piece.waited_percent[1] - 100.0).abs() < 1e-6), "{pieces:?}");
            assert!(pieces.iter().all(|piece| (piece.waited_percent[2] - 50.0).abs() < 1.0), "{pieces:?}");
            assert!(pieces.iter().all(|piece| piece.waited_percent[3] == 0.0), "{pieces:?}");
            assert_eq!(pieces.last().unwrap().copied_bytes.1, 448_000, "{pieces:?}");
            assert!(pieces.windows(2).all(|pair| pair[0].copied_bytes.1 == pair[1].copied_bytes.0));
        }
    }

    #[test]
    fn the_number_of_intervals_is_about_as_requested_and_none_is_tiny() {
        let all = moments(&(0..=1000).map(|tick| tick * 100).collect::<Vec<_>>());
        let made = pieces(&all, Duration::from_millis(100), 160);
        assert!((120..=160).contains(&made.len()), "{}", made.len());
        let made = pieces(&moments(&[0, 500, 1000, 1001]), Duration::from_millis(500), 160);
        assert_eq!(made.len(), 2, "{made:?}");
    }

    #[test]
    fn a_copy_in_bursts_has_its_mean_rate_everywhere() {
        // 15 MB per 100 ms on average, in blocks of 60 MB, and a flush.
        let moment = |tick: u64| Moment {
            at: Duration::from_millis(tick * 100),
            read_bytes: tick.min(400) * 15_000_000,
            dest_bytes: tick.min(400) / 4 * 60_000_000,
            copied_bytes: tick.min(400) / 4 * 60_000_000,
            ..Moment::default()
        };
        let pieces = pieces(&(0..=420).map(moment).collect::<Vec<_>>(), Duration::from_millis(90), 1000);
        assert!(pieces.iter().any(|piece| piece.bytes_per_s[1] > 5e8), "in between it moves nothing");
        let moving = moving(&pieces);
        assert_eq!(moving.len(), 100);
        for piece in &moving {
            assert!(piece.bytes_per_s.iter().all(|rate| (rate - 1.5e8).abs() < 1e3), "{piece:?}");
        }
        let bytes: f64 = moving.iter().map(|piece| piece.bytes_per_s[1] * piece.seconds()).sum();
        assert!((bytes - 6e9).abs() < 1e3 && moving.last().unwrap().copied_bytes.1 == 6_000_000_000, "{bytes}");
        assert!(moving.windows(2).all(|pair| pair[0].copied_bytes.1 == pair[1].copied_bytes.0));
    }

    #[test]
    fn no_time_has_no_intervals() {
        assert_eq!(pieces(&[], Duration::ZERO, 9), []);
        assert_eq!(pieces(&moments(&[5]), Duration::ZERO, 9), []);
    }
}

//! Sequential reads from an offset, like `hdparm -t`.
use super::profile::{main_way, size_of, stream};
use super::{MeasureFailure, Subject, spread};
use crate::core::{Extent, Stop};
use std::time::Duration;

/// Alignment of the start of a run, in bytes.
const PLACE_ALIGN_BYTES: u64 = 4096;

/// Offset of the position `number`, from 1, of `count` positions spread over `size` bytes, as in a profile.
pub fn numbered_place(number: u32, count: u32, size: u64) -> Option<u64> {
    let index = number.checked_sub(1)?;
    spread(size, count, size / u64::from(count.max(1)), PLACE_ALIGN_BYTES).get(index as usize).copied()
}

/// The results of timing.
#[derive(Debug, Default)]
pub struct Timed {
    /// The rate of each run without failures, in bytes per second: a failed read takes seconds.
    pub rates: Vec<f64>,
    /// Whether some of the data was cached before.
    pub cached: bool,
    /// Why it ended early.
    pub failure: Option<MeasureFailure>,
}

/// Makes `runs` consecutive runs of the duration `each` from the byte `from`, by direct I/O if it is available. Results
/// are kept even after a failure.
pub fn timing(subject: &mut Subject, from: u64, runs: u32, each: Duration, stop: &Stop) -> Timed {
    let align = subject.align_bytes.max(PLACE_ALIGN_BYTES);
    let from = from / align * align;
    let extent = Extent::new(from, size_of(subject).saturating_sub(from));
    let point = stream(subject, main_way(subject), extent.len);
    let mut found = Timed::default();
    for _ in 0..runs {
        match subject.run(point, extent, each, stop) {
            Ok(trial) => {
                found.cached |= trial.cached_bytes > 0;
                found.rates.extend(Some(trial.bytes_per_s()).filter(|_| trial.is_sound()));
            }
            Err(failure) => {
                found.failure = Some(failure);
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Endpoint, EngineKind, Op};
    use crate::disks::memory::{Fault, Memory};
    use crate::measure::Way;
    use std::sync::Arc;

    #[test]
    fn runs_begin_at_the_given_offset_or_numbered_position() {
        let disk = Arc::new(Memory::disk(vec![7; 4 << 20], &[]));
        let end: Arc<dyn Endpoint> = disk.clone();
        let extents = vec![Extent::new(0, 4 << 20)];
        let mut subject = Subject::new("disk", vec![(Way::Direct, end)], EngineKind::Sync, extents, 64 << 20).unwrap();
        let from = numbered_place(16, 20, 4 << 20).unwrap();
        let found = timing(&mut subject, from + 100, 2, Duration::from_millis(2), &Stop::default());
        assert!(
            found.rates.len() == 2 && disk.asked().iter().all(|requested| requested.extent.offset >= from),
            "{from}"
        );
        let place = |number| numbered_place(number, 20, 4 << 20);
        assert_eq!((place(0), place(1), place(21)), (None, Some(0), None));
        assert_eq!(place(20), Some((4 << 20) - (4 << 20) / 20 / 4096 * 4096 - 4096));
    }

    fn timed(faults: &[Fault]) -> (Subject, Timed) {
        let end: Arc<dyn Endpoint> = Arc::new(Memory::disk(vec![7; 4 << 20], faults));
        let extents = vec![Extent::new(0, 4 << 20)];
        let mut subject = Subject::new("disk", vec![(Way::Direct, end)], EngineKind::Sync, extents, 64 << 20).unwrap();
        let found = timing(&mut subject, 0, 3, Duration::from_millis(5), &Stop::default());
        (subject, found)
    }

    #[test]
    fn each_run_has_a_rate() {
        let (_, found) = timed(&[]);
        assert!(found.rates.len() == 3 && found.rates.iter().all(|&rate| rate > 0.0), "{found:?}");
        assert!(found.failure.is_none() && !found.cached);
    }

    #[test]
    fn a_run_with_a_read_error_has_no_rate_but_the_offset() {
        let (subject, found) = timed(&[Fault::BadAt { op: Op::Read, offset: 70_000, errno: libc::EIO }]);
        assert!(found.rates.is_empty() && found.failure.is_none(), "{found:?}");
        assert_eq!((subject.failed, subject.bad[0].offset), (3, 0));
    }

    #[test]
    fn a_disk_that_ends_early_ends_the_run() {
        let (_, found) = timed(&[Fault::EndsAt(1 << 20)]);
        assert!(matches!(found.failure, Some(MeasureFailure::Broken(_))), "{found:?}");
    }
}

//! What a rescue has read over time, in a bounded number of moments.
use super::{ReadResult, RescueLog, RescueState, Status};
use crate::core::{Extent, locked};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Moments that are kept, at most.
const POINTS_MAX: usize = 512;

/// Time between two moments, at first.
const GAP: Duration = Duration::from_millis(10);

/// A moment of a rescue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoursePoint {
    /// Time since the rescue began.
    pub after: Duration,
    /// Bytes that are rescued.
    pub rescued_bytes: u64,
    /// Bytes in areas whose reading failed.
    pub failed_bytes: u64,
}

/// The course of a rescue, shared by its log and its reader.
#[derive(Clone, Debug)]
pub struct Course(Arc<Mutex<Points>>);

#[derive(Debug)]
struct Points {
    began: Instant,
    gap: Duration,
    points: Vec<CoursePoint>,
}

impl Course {
    /// A course that begins now.
    pub fn new() -> Self {
        Course(Arc::new(Mutex::new(Points { began: Instant::now(), gap: GAP, points: Vec::new() })))
    }

    /// The moments, in order.
    pub fn points(&self) -> Vec<CoursePoint> {
        locked(&self.0).points.clone()
    }

    fn record(&self, state: &RescueState, always: bool) {
        let mut points = locked(&self.0);
        let after = points.began.elapsed();
        points.push(after, state, always);
    }
}

impl Default for Course {
    fn default() -> Self {
        Course::new()
    }
}

impl Points {
    fn push(&mut self, after: Duration, state: &RescueState, always: bool) {
        let is_due = self.points.last().is_none_or(|last| after >= last.after + self.gap);
        if !is_due && !always {
            return;
        }
        let failed = [Status::Untrimmed, Status::Unscraped, Status::Bad];
        let failed_bytes = failed.iter().map(|status| state.map.bytes(*status)).sum();
        self.points.push(CoursePoint { after, rescued_bytes: state.map.bytes(Status::Finished), failed_bytes });
        if self.points.len() >= POINTS_MAX {
            // Every second one, with the first.
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.gap *= 2;
        }
    }
}

impl RescueLog for Course {
    fn on_phase(&mut self, state: &RescueState) {
        self.record(state, false);
    }

    fn on_read(&mut self, _extent: Extent, _result: ReadResult, state: &RescueState) {
        self.record(state, false);
    }

    fn on_end(&mut self, state: &RescueState) {
        self.record(state, true);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RescueMap, RescueStatus};
    use super::*;

    #[test]
    fn a_course_has_its_first_and_last_moment_and_not_too_many_between() {
        let course = Course::new();
        let mut state = RescueState::new(RescueMap::untried(100_000), RescueStatus::Copying, 1, 0);
        for ms in 0..100_000u64 {
            state.map.set(Extent::new(ms, 1), if ms % 10 == 0 { Status::Bad } else { Status::Finished });
            locked(&course.0).push(Duration::from_millis(ms), &state, ms == 99_999);
        }
        let points = course.points();
        assert!((POINTS_MAX / 4..POINTS_MAX).contains(&points.len()), "{}", points.len());
        assert_eq!(points[0], CoursePoint { after: Duration::ZERO, rescued_bytes: 0, failed_bytes: 1 });
        let last = Duration::from_millis(99_999);
        assert_eq!(points.last(), Some(&CoursePoint { after: last, rescued_bytes: 90_000, failed_bytes: 10_000 }));
        assert!(points.windows(2).all(|pair| pair[0].after < pair[1].after));
        assert!(points.windows(2).all(|pair| pair[1].after - pair[0].after < Duration::from_secs(1)));
    }
}

//! Room schedule.

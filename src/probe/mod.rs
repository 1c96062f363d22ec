//! Room probe.

//! Room stage.

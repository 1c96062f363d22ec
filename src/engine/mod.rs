//! Room engine.

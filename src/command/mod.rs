//! Room command.

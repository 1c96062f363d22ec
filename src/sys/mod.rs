//! Room sys.

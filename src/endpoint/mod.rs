//! Room endpoint.

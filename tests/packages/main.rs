//! The packages of `make packages` and `make dist`, each in a separate root: `make package-test`.
#[path = "../support/mod.rs"]
mod support;

mod checksums;
mod deb;
mod oci;
mod root;
mod tarball;

//! A disk with a service time, served by nbdkit.

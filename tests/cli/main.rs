//! The program as people run it: one module for each part of its command line or of what it promises.
#[path = "../support/browser.rs"]
mod browser;
#[path = "../support/mod.rs"]
mod support;

mod also;
mod also_verify;
mod bar;
mod damage;
mod delta;
mod delta_manifest;
mod devices;
mod estimate;
mod faults;
mod files;
mod generated;
mod limits;
mod manifest;
mod mapfile;
mod measured_faults;
mod on_error;
mod output;
mod overlap;
mod pattern;
mod power_cuts;
mod profile;
mod reflink;
mod refusals;
mod report_pages;
mod resume;
mod resume_corners;
mod resume_crashes;
mod resume_verify;
mod signals;
mod sparse;
mod stale;
mod streams;
mod sustained;
mod terminal;
mod tune;
mod tune_write;
mod undo;
mod unread;
mod usage;
mod verify;
mod verify_copy;

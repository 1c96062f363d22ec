//! The program as users run it: one module for each part of its command line or of its guarantees.
#[path = "../support/browser.rs"]
mod browser;
#[path = "../support/mod.rs"]
mod support;

mod also;
mod also_verify;
mod bar;
mod beside;
#[cfg(all(feature = "http", feature = "images"))]
mod block_map_export;
mod block_maps;
#[cfg(all(feature = "http", feature = "images"))]
mod checksums;
mod chooser;
mod completions;
mod compressed_crashes;
mod compressed_dests;
mod compressed_files;
mod config;
mod damage;
mod delta;
mod delta_manifest;
mod demo;
mod devices;
mod digest_tree;
mod documents;
mod estimate;
mod faults;
mod files;
#[cfg(feature = "objects")]
mod fleet;
#[cfg(feature = "objects")]
mod fleet_digest;
mod fleet_failures;
mod fleet_jobs;
mod fleet_kills;
mod generated;
mod help;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod http_faults;
#[cfg(all(feature = "http", feature = "images"))]
mod http_images;
#[cfg(feature = "http")]
mod image_damage;
mod image_formats;
mod images;
mod images_refused;
mod journals;
mod json_lines;
mod limits;
mod list;
mod locks;
mod locks_beneath;
mod long_names;
mod manifest;
mod map;
mod mapfile;
mod measured_faults;
mod nbd;
mod nbd_lost;
mod nbd_servers;
mod nbd_tls;
mod objects;
mod objects_faults;
mod on_error;
mod orphans;
mod output;
mod overlap;
mod pattern;
mod power_cuts;
mod profile;
mod profile_random;
mod range_lists;
mod range_records;
mod ranges;
mod reflink;
mod refusals;
mod report_pages;
mod rescue;
mod rescue_dest;
mod rescue_fill;
mod rescue_kills;
mod rescue_options;
mod rescue_output;
mod rescue_page;
mod rescue_power;
mod rescue_refusals;
mod resume;
mod resume_corners;
mod resume_crashes;
mod resume_digests;
mod resume_hash;
mod resume_verify;
mod schema;
mod secrets;
mod signals;
mod sparse;
mod stale;
mod streams;
mod sustained;
mod terminal;
mod time_limit;
mod tune;
mod tune_write;
mod undo;
mod units;
mod unread;
mod usage;
mod verbosity;
mod verify;
mod verify_copy;
#[cfg(feature = "images")]
mod verify_images;
mod waiting_journal;
mod widths;

//! Random command lines: sides, options, faults and signals, with every byte and file around them compared before
//! and after, by code that is independent of haul.
//!
//! HAUL_FUZZ_RUNS is their number, HAUL_FUZZ_SEED the first seed; HAUL_FUZZ_CASE runs only one of them.
#[path = "../support/mod.rs"]
mod support;

mod broken;
mod case;
mod chain;
mod claims;
mod command;
mod draw;
mod expected;
mod judge;
mod lists;
mod mend;
mod reading;
mod run;
mod scene;
mod snapshot;

use crate::support::{first_difference, haul_path, skip};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Number of concurrent cases.
const WORKERS: usize = 4;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Returns an error with the offset of the first difference.
fn ensure_equal(expected: &[u8], is: &[u8], what: &str) -> Result<(), String> {
    if expected == is {
        return Ok(());
    }
    let at = first_difference(expected, is);
    let differing = expected.iter().zip(is).filter(|(one, other)| one != other).count();
    Err(format!("{what}: {} bytes instead of {}, {differing} differ, the first at {at:?}", is.len(), expected.len()))
}

/// Runs these cases, several at once because they mostly wait; returns how many ended in each way, and the failures.
fn run_all(cases: Range<u64>, seed: u64) -> (BTreeMap<String, u64>, Vec<String>) {
    let (next, all) = (AtomicU64::new(cases.start), Mutex::new((BTreeMap::<String, u64>::new(), Vec::new())));
    thread::scope(|scope| {
        let work = || {
            loop {
                let number = next.fetch_add(1, Relaxed);
                if number >= cases.end {
                    return;
                }
                let result = chain::run(&[haul_path()], &draw::case(seed, number));
                let (ends, failures) = &mut *all.lock().unwrap_or_else(PoisonError::into_inner);
                match result {
                    Ok(end) => *ends.entry(end).or_default() += 1,
                    Err(failure) => {
                        println!("{failure}");
                        failures.push(failure);
                    }
                }
            }
        };
        (0..WORKERS).for_each(|_| drop(scope.spawn(work)));
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn random_command_lines_have_the_expected_effect_and_report_it() {
    let (seed, runs) = (number("HAUL_FUZZ_SEED").unwrap_or(1), number("HAUL_FUZZ_RUNS").unwrap_or(120));
    let (ends, failures) = run_all(number("HAUL_FUZZ_CASE").map_or(0..runs, |one| one..one + 1), seed);
    println!("{ends:#?}");
    let none = ends.get(chain::NOT_HERE).copied().unwrap_or(0);
    if none > 0 {
        skip(&format!("{none} command lines need what this machine lacks"));
    }
    assert!(failures.is_empty(), "{} command lines fail, the first:\n{}", failures.len(), failures[0]);
}

//! Tests `make` on constructed facts: no disk is used.
mod block_map;
mod choices;
mod journal;
mod pace;
mod pattern;
mod properties;
mod refusals;
mod several;
mod through;
mod trailing;
mod tuned;

use super::*;
use crate::core::EndpointKind;
use crate::core::{Bursts, DirectAlignment, Error, FileId, Ground, Kind, Tuning};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn host() -> Host {
    Host { ring_refused: None }
}

/// A whole SSD: `number` is its device number.
fn disk(number: u64, size: u64) -> Facts {
    let name = format!("/dev/sd{}", char::from(b'a' + u8::try_from(number % 26).unwrap()));
    let mut facts = Facts::new(&name, EndpointKind::Block);
    facts.size = Some(size);
    facts.logical_block_bytes = 512;
    facts.physical_block_bytes = 4096;
    facts.direct = Some(DirectAlignment { memory_bytes: 512, offset_bytes: 512 });
    facts.id = Some(FileId::Device(number));
    facts.queue.rotational = Some(false);
    facts
}

/// A partition of `disk` at byte `offset`.
fn partition(disk: &Facts, number: u64, offset: u64, size: u64) -> Facts {
    let ground = Ground {
        id: disk.id.unwrap(),
        name: disk.address.clone(),
        offset: Some(offset),
        rotational: disk.queue.rotational,
    };
    let address = format!("{}{number}", disk.address);
    Facts {
        address: address.clone(),
        path: address.into(),
        size: Some(size),
        id: Some(FileId::Device(1000 + number)),
        ground: vec![ground],
        ..disk.clone()
    }
}

/// A file on ext4 with plenty of free space; `number` is its inode.
fn file(name: &str, number: u64, size: u64) -> Facts {
    let mut facts = Facts::new(name, EndpointKind::File);
    facts.size = Some(size);
    facts.direct = Some(DirectAlignment { memory_bytes: 512, offset_bytes: 512 });
    facts.dontcache = true;
    facts.id = Some(FileId::File(7, number));
    facts.filesystem = Some("ext4".to_owned());
    facts.free_bytes = Some(1 << 50);
    facts
}

/// The same, before it exists.
fn new_file(name: &str) -> Facts {
    Facts { exists: false, size: None, id: None, ..file(name, 0, 0) }
}

fn pipe() -> Facts {
    Facts { order: crate::core::Order::Ascending, ..Facts::new("-", EndpointKind::Pipe) }
}

fn endless() -> Facts {
    Facts::new("/dev/zero", EndpointKind::Endless)
}

fn made(options: &Options, source: &Facts, dest: &Facts) -> Decision {
    make(options, source, dest, &host()).unwrap_or_else(|error| panic!("{error} {}", error.advice))
}

fn refused(options: &Options, source: &Facts, dest: &Facts) -> Error {
    match make(options, source, dest, &host()) {
        Err(error) => error,
        Ok(plan) => panic!("made {plan:?}"),
    }
}

/// Asserts the kind of the error, that it contains all of `parts`, and that it has advice.
fn expect(error: &Error, kind: Kind, parts: &[&str]) {
    let text = format!("{error} {}", error.advice);
    assert_eq!(error.kind, kind, "{text}");
    assert!(!error.advice.is_empty(), "no advice: {text}");
    for part in parts {
        assert!(text.contains(part), "no '{part}' in: {text}");
    }
}

/// The choice in the plan about `topic`, and its reason.
fn why(plan: &Decision, topic: &str) -> String {
    let mut found = plan.notes.why.iter().filter(|reason| reason.topic == topic);
    let reason = found.next().unwrap_or_else(|| panic!("nothing about {topic} in {:?}", plan.notes.why));
    assert!(found.next().is_none(), "twice about {topic}: {:?}", plan.notes.why);
    format!("{}: {}", reason.choice, reason.because)
}

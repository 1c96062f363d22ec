//! Compares the model with arithmetic: the cost of each behaviour, in virtual time.
mod caches;
mod faults;
mod heat;
mod queue;
mod turning;
mod unlike;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Disk, Kind};
use crate::parameters::{Extent, Parameters};

pub const MS: u64 = 1_000_000;
pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

/// Parameters in the form of a command line.
pub fn parameters(words: &str) -> Parameters {
    let mut parameters = Parameters::default();
    let words: Vec<(&str, &str)> = words.split_whitespace().map(|word| word.split_once('=').unwrap()).collect();
    for (key, value) in words {
        match key {
            "preset" => parameters = crate::preset::Preset::named(value).unwrap().parameters(),
            _ => parameters.set(key, value).unwrap(),
        }
    }
    parameters.check().unwrap();
    parameters
}

pub fn disk(words: &str) -> Disk {
    Disk::new(&parameters(words))
}

pub fn extent(offset: u64, len: u64) -> Extent {
    Extent { offset, len }
}

/// Commands of `bytes` that cover `len` from `offset`, in order.
pub fn in_order(kind: Kind, offset: u64, len: u64, bytes: u64) -> Vec<(Kind, Extent)> {
    (0..len / bytes).map(|index| (kind, extent(offset + index * bytes, bytes))).collect()
}

/// One command on an idle disk; returns its completion time.
pub fn one(disk: &mut Disk, now_ns: u64, kind: Kind, extent: Extent) -> u64 {
    answer(disk, now_ns, kind, extent).0
}

/// The same, and whether it failed.
pub fn answer(disk: &mut Disk, now_ns: u64, kind: Kind, extent: Extent) -> (u64, bool) {
    let ticket = disk.submit(now_ns, kind, extent);
    let mut answers = disk.advance(now_ns);
    while answers.is_empty() {
        let at_ns = disk.alarm().expect("an idle disk has the time of its next decision");
        answers = disk.advance(at_ns);
    }
    disk.leave();
    assert_eq!(answers[0].ticket, ticket);
    (answers[0].at_ns, answers[0].failed)
}

/// A client that keeps `depth` commands at the disk; each next one is sent `gap_ns` after a completion. Returns the
/// time of the last completion, and the order of completions.
pub struct Client {
    pub depth: usize,
    pub gap_ns: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Answered(u64),
    Arrives(usize),
    Alarm,
}

impl Client {
    pub fn run(&self, disk: &mut Disk, commands: &[(Kind, Extent)]) -> (u64, Vec<usize>) {
        let mut events: BinaryHeap<Reverse<(u64, Event)>> = BinaryHeap::new();
        let first = self.depth.min(commands.len());
        (0..first).for_each(|index| events.push(Reverse((0, Event::Arrives(index)))));
        let (mut next, mut tickets, mut order, mut last_ns) = (first, std::collections::HashMap::new(), Vec::new(), 0);
        while let Some(Reverse((now_ns, event))) = events.pop() {
            match event {
                Event::Arrives(index) => {
                    let (kind, extent) = commands[index];
                    tickets.insert(disk.submit(now_ns, kind, extent), index);
                }
                Event::Answered(ticket) => {
                    disk.leave();
                    order.push(tickets[&ticket]);
                    last_ns = now_ns;
                    if next < commands.len() {
                        events.push(Reverse((now_ns + self.gap_ns, Event::Arrives(next))));
                        next += 1;
                    }
                }
                Event::Alarm => {}
            }
            // All commands that arrive at the same moment have arrived before the disk chooses.
            if events.peek().is_some_and(|Reverse((at_ns, event))| *at_ns == now_ns && *event != Event::Alarm) {
                continue;
            }
            for answer in disk.advance(now_ns) {
                events.push(Reverse((answer.at_ns, Event::Answered(answer.ticket))));
            }
            disk.alarm().into_iter().for_each(|at_ns| events.push(Reverse((at_ns.max(now_ns), Event::Alarm))));
        }
        assert_eq!(order.len(), commands.len(), "every command is answered");
        (last_ns, order)
    }
}

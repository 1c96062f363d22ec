//! Disks in virtual time, and the requests in flight.
use modelled_disk::model::{Answer, Disk, Kind};
use modelled_disk::parameters::{Extent, Parameters};
use std::collections::BTreeMap;

/// Disks with one clock.
pub struct Bed {
    disks: Vec<Disk>,
    pub now_ns: u64,
    answers: BTreeMap<(u64, usize, u64), Answer>,
}

impl Bed {
    pub fn new(disks: &[&Parameters]) -> Self {
        let disks = disks.iter().map(|parameters| Disk::new(parameters)).collect();
        Bed { disks, now_ns: 0, answers: BTreeMap::new() }
    }

    pub fn submit(&mut self, disk: usize, kind: Kind, extent: Extent) -> u64 {
        self.disks[disk].submit(self.now_ns, kind, extent)
    }

    /// The next completion, and of which disk; the time advances to it.
    pub fn wait(&mut self) -> (usize, Answer) {
        loop {
            for (number, disk) in self.disks.iter_mut().enumerate() {
                for answer in disk.advance(self.now_ns) {
                    self.answers.insert((answer.at_ns, number, answer.ticket), answer);
                }
            }
            let answer_ns = self.answers.keys().next().map(|(at_ns, ..)| *at_ns);
            let alarm_ns = self.disks.iter().filter_map(Disk::alarm).min();
            match (answer_ns, alarm_ns) {
                (Some(answer_ns), alarm_ns)
                    if alarm_ns.is_none_or(|alarm_ns| answer_ns <= alarm_ns.max(self.now_ns)) =>
                {
                    self.now_ns = self.now_ns.max(answer_ns);
                    let ((_, disk, _), answer) = self.answers.pop_first().expect("there is one");
                    self.disks[disk].leave();
                    return (disk, answer);
                }
                (_, Some(alarm_ns)) => self.now_ns = self.now_ns.max(alarm_ns),
                _ => panic!("a request is in flight"),
            }
        }
    }

    /// One request, alone.
    pub fn run(&mut self, disk: usize, kind: Kind, extent: Extent) -> Answer {
        self.submit(disk, kind, extent);
        self.wait().1
    }
}

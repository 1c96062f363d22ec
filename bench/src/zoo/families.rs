//! Pairs of disks. The same family and seed give the same pair.
use super::devices::{K, M, hdd, net, nvme, nvme_deep, ram, sata, sdcard, spindle, stick};
use super::random::{Random, hash};
use super::spec::{Head, Pair, Spec};

/// The families; their order determines the seeds of each, so new ones are appended.
pub const FAMILIES: &[&str] = &[
    "sata",
    "nvme",
    "nvme-deep",
    "nvme-sata",
    "stick-dest",
    "stick-source",
    "sdcard",
    "hdd",
    "hdd-wce-off",
    "spindle",
    "spindle-hidden",
    "spindle-ssd",
    "ssd-spindle",
    "smr",
    "bridge-hdd",
    "bridge-ssd",
    "net-1ms",
    "net-20ms",
    "net-net",
    "cloud",
    "ram",
    "ram-disk",
    "one-spindle",
    "one-hidden",
    "hdd-nvme",
    "ssd-sdcard",
    "zones-cross",
    "neighbour",
    "neighbour-hdd",
    "throttle",
    "fuse",
    "raid0",
    "old-scsi",
    "one-lies",
    "one-sata",
    "one-nvme",
    "one-stick",
];

/// Changes to every pair.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// Factor by which ranges of numbers are wider at both ends; 1: unchanged.
    pub wider: f64,
    /// How often a queue is served out of order, in every rotational disk; `None`: as drawn.
    pub sloppy: Option<f64>,
}

impl Default for Draw {
    fn default() -> Self {
        Draw { wider: 1.0, sloppy: None }
    }
}

/// The pair of a family and a seed.
///
/// # Panics
/// There is no such family.
pub(super) fn pair(family: &str, seed: u64, draw: &Draw) -> Pair {
    let index = FAMILIES.iter().position(|name| *name == family).expect("a family");
    let mut random = Random::new(hash(seed, 1000 + index as u64)).wider(draw.wider);
    let r = &mut random;
    let drawn = solid(family, r).or_else(|| turning(family, r)).or_else(|| distant(family, r));
    let mut disks = drawn.or_else(|| shared(family, r)).expect("a family");
    for head in disks.iter_mut().filter_map(|disk| disk.head.as_mut()) {
        head.sloppy = draw.sloppy.unwrap_or(head.sloppy);
    }
    Pair {
        disks,
        one: family.starts_with("one-"),
        one_known: family.starts_with("one-") && family != "one-hidden",
        cpu_s: [r.sized(3e-6, 8e-6), r.sized(2e-6, 5e-6)],
        wake_s: 4e-6,
    }
}

/// Neither side is rotational.
fn solid(family: &str, r: &mut Random) -> Option<[Spec; 2]> {
    Some(match family {
        "sata" => [sata(r), sata(r)],
        "nvme" => [nvme(r), nvme(r)],
        "nvme-deep" => [nvme_deep(r), nvme_deep(r)],
        "nvme-sata" if r.unit() < 0.5 => [nvme(r), sata(r)],
        "nvme-sata" => [sata(r), nvme_deep(r)],
        "stick-dest" => [sata(r), Spec { choke: r.pick(&[(usize::MAX, 0.0), (4, 2e-3)]), ..stick(r) }],
        "stick-source" => [stick(r), sata(r)],
        "sdcard" => [sdcard(r), sata(r)],
        "ssd-sdcard" => [sata(r), sdcard(r)],
        "bridge-ssd" => {
            let part_bytes_max = r.pick(&[120 * K, 240 * K, 1024 * K]);
            [sata(r), sata(r)].map(|disk| Spec {
                part_bytes_max,
                tags: 30,
                path_s: 40e-6,
                back_s: 30e-6,
                reported_rotational: r.unit() < 0.3,
                ..disk
            })
        }
        "neighbour" => [sata(r), sata(r)]
            .map(|disk| Spec { neighbour: (r.share(0.1, 0.6), r.sized(0.05, 2.0), r.share(0.3, 0.8)), ..disk }),
        "throttle" => {
            let dest = nvme(r);
            [nvme(r), Spec { cliff: (r.sized(0.5, 10.0) * 1e9, r.share(0.1, 0.5)), ..dest }]
        }
        "fuse" => [sata(r), sata(r)].map(|disk| Spec {
            path_s: r.sized(60e-6, 200e-6),
            jitter_s: r.sized(20e-6, 100e-6),
            back_s: 80e-6,
            tags: 10,
            part_bytes_max: 1024 * K,
            ..disk
        }),
        "raid0" => [sata(r), sata(r)].map(|disk| {
            let channels = r.pick(&[4, 6, 8]);
            let one = r.sized(120.0, 400.0) * M;
            let (channel_rate, rate) = ([one; 2], [one * channels as f64; 2]);
            Spec { part_bytes_max: 512 * K, tags: 128, channels, channel_rate, rate, command_s: [150e-6; 2], ..disk }
        }),
        "ram" => [ram(r), ram(r)],
        _ => return None,
    })
}

/// One side or both are rotational.
fn turning(family: &str, r: &mut Random) -> Option<[Spec; 2]> {
    Some(match family {
        "hdd" => [hdd(r, true, true), hdd(r, true, true)],
        "hdd-wce-off" => [hdd(r, true, false), hdd(r, true, false)],
        "spindle" => [spindle(r), spindle(r)],
        "spindle-hidden" => [spindle(r), spindle(r)].map(|disk| Spec { reported_rotational: false, ..disk }),
        "spindle-ssd" => [Spec { reported_rotational: r.unit() < 0.5, ..spindle(r) }, sata(r)],
        "ssd-spindle" => [sata(r), Spec { reported_rotational: r.unit() < 0.5, ..spindle(r) }],
        "smr" => {
            let dest = hdd(r, true, true);
            let slow = r.share(0.15, 0.5);
            let source = hdd(r, true, true);
            let cliff = (r.sized(0.3, 20.0) * 1e9, slow);
            [source, Spec { cliff, stall: (r.sized(50.0, 300.0) * M, r.sized(0.1, 0.8)), ..dest }]
        }
        "bridge-hdd" => {
            let part_bytes_max = r.pick(&[120 * K, 240 * K]);
            let link_command_s = [r.sized(80e-6, 300e-6); 2];
            [hdd(r, true, true), hdd(r, true, true)].map(|disk| Spec {
                part_bytes_max,
                tags: 1,
                path_s: 80e-6,
                back_s: 40e-6,
                link_command_s,
                reported_rotational: r.unit() < 0.5,
                ..disk
            })
        }
        "ram-disk" if r.unit() < 0.5 => [ram(r), sata(r)],
        "ram-disk" => [hdd(r, true, r.one_in(2)), ram(r)],
        "hdd-nvme" if r.unit() < 0.5 => [hdd(r, true, true), nvme(r)],
        "hdd-nvme" => [nvme(r), hdd(r, true, !r.one_in(3))],
        "zones-cross" => {
            let (source, dest) = (hdd(r, true, r.one_in(2)), hdd(r, true, r.one_in(3)));
            [Spec { zone: (0.0, 1.0), ..source }, Spec { zone: (1.0, 0.0), ..dest }]
        }
        "neighbour-hdd" => [hdd(r, true, true), spindle(r)]
            .map(|disk| Spec { neighbour: (r.share(0.1, 0.5), r.sized(0.05, 2.0), r.share(0.2, 0.7)), ..disk }),
        "old-scsi" => [hdd(r, true, false), hdd(r, true, false)].map(|disk| {
            let (rate, head) = (r.sized(6.0, 40.0) * M, disk.head.unwrap_or_default());
            Spec {
                rate: [rate; 2],
                tags: r.pick(&[1, 8]),
                part_bytes_max: r.pick(&[128 * K, 512 * K]),
                link_command_s: [500e-6; 2],
                head: Some(Head { ahead_bytes: r.sized(0.1e6, 1e6), ..head }),
                ..disk
            }
        }),
        _ => return None,
    })
}

/// Behind a network, or in the cloud.
fn distant(family: &str, r: &mut Random) -> Option<[Spec; 2]> {
    Some(match family {
        "net-1ms" => {
            let (turn_s, rate) = (r.sized(0.5e-3, 2e-3), r.sized(110.0, 1200.0) * M);
            if r.unit() < 0.5 { [net(r, turn_s, rate), sata(r)] } else { [nvme(r), net(r, turn_s, rate)] }
        }
        "net-20ms" => {
            let (turn_s, rate) = (r.sized(5e-3, 20e-3), r.sized(110.0, 600.0) * M);
            if r.unit() < 0.5 { [net(r, turn_s, rate), nvme(r)] } else { [nvme(r), net(r, turn_s, rate)] }
        }
        "net-net" => {
            let (turn_s, rate) = (r.sized(1e-3, 10e-3), r.sized(110.0, 800.0) * M);
            [net(r, turn_s, rate), net(r, turn_s, rate * 1.1)]
        }
        "cloud" => [sata(r), sata(r)].map(|disk| Spec {
            path_s: r.sized(0.3e-3, 1e-3),
            back_s: 0.2e-3,
            jitter_s: 0.1e-3,
            part_bytes_max: 256 * K,
            tags: 64,
            channels: 32,
            channel_rate: [150e6; 2],
            rate: [r.sized(400.0, 1000.0) * M; 2],
            bucket: (r.sized(100.0, 400.0) * M, r.sized(10.0, 500.0) * M),
            ..disk
        }),
        _ => return None,
    })
}

/// A disk copied to its own second half.
fn shared(family: &str, r: &mut Random) -> Option<[Spec; 2]> {
    let disk = match family {
        "one-spindle" | "one-hidden" => hdd(r, true, false),
        "one-lies" => Spec { reported_rotational: false, ..spindle(r) },
        "one-sata" => sata(r),
        "one-nvme" => nvme(r),
        "one-stick" => stick(r),
        _ => return None,
    };
    Some([disk.clone(), disk])
}

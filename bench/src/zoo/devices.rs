//! Kinds of disks, drawn at random within realistic ranges.
use super::random::Random;
use super::spec::{Head, Spec};

/// A KiB.
pub(super) const K: u64 = 1 << 10;
/// A megabyte.
pub(super) const M: f64 = 1e6;

/// A SATA SSD.
pub(super) fn sata(r: &mut Random) -> Spec {
    let read = r.sized(350.0, 550.0) * M;
    Spec {
        path_s: 8e-6,
        jitter_s: 2e-6,
        back_s: 8e-6,
        part_bytes_max: r.pick(&[512 * K, 1024 * K, 1280 * K]),
        tags: 32,
        channels: 8,
        command_s: [r.sized(60e-6, 120e-6), r.sized(20e-6, 60e-6)],
        channel_rate: [r.sized(250.0, 500.0) * M, r.sized(200.0, 500.0) * M],
        rate: [read, read * r.even(0.6, 1.0)],
        link_command_s: [r.sized(5e-6, 20e-6); 2],
        noise: (r.even(0.0, 0.05), 0.1),
        ..Spec::default()
    }
}

/// An NVMe SSD.
pub(super) fn nvme(r: &mut Random) -> Spec {
    let read = r.sized(1500.0, 6000.0) * M;
    Spec {
        path_s: 4e-6,
        jitter_s: 1e-6,
        back_s: 4e-6,
        part_bytes_max: r.pick(&[128 * K, 256 * K, 512 * K]),
        tags: 1023,
        channels: 64,
        command_s: [r.sized(60e-6, 110e-6), r.sized(15e-6, 30e-6)],
        channel_rate: [r.sized(300.0, 1200.0) * M, r.sized(300.0, 1200.0) * M],
        rate: [read, read * r.even(0.3, 0.9)],
        link_command_s: [r.sized(0.5e-6, 2e-6); 2],
        noise: (r.even(0.0, 0.05), 0.1),
        ..Spec::default()
    }
}

/// Each command is served by one channel of a few hundred MB/s: as in the cloud, or over a fabric.
pub(super) fn nvme_deep(r: &mut Random) -> Spec {
    let chan = r.sized(60.0, 200.0) * M;
    let read = chan * r.even(12.0, 30.0);
    Spec { part_bytes_max: 1024 * K, channel_rate: [chan, chan], rate: [read, read * r.even(0.5, 1.0)], ..nvme(r) }
}

/// A USB stick.
pub(super) fn stick(r: &mut Random) -> Spec {
    let write = r.sized(6.0, 60.0) * M;
    Spec {
        path_s: 100e-6,
        back_s: 60e-6,
        jitter_s: 10e-6,
        part_bytes_max: r.pick(&[120 * K, 240 * K, 1024 * K]),
        tags: 1,
        channels: 1,
        rate: [r.sized(25.0, 150.0) * M, write],
        link_command_s: [r.sized(100e-6, 400e-6), r.sized(150e-6, 1e-3)],
        stall: (r.sized(8.0, 128.0) * 1e6, r.sized(0.05, 1.0)),
        cliff: (r.sized(100.0, 4000.0) * 1e6, r.share(0.2, 0.7)),
        noise: (r.even(0.03, 0.2), 0.3),
        reported_rotational: r.unit() < 0.5,
        ..Spec::default()
    }
}

/// An SD card.
pub(super) fn sdcard(r: &mut Random) -> Spec {
    Spec {
        path_s: 20e-6,
        back_s: 20e-6,
        part_bytes_max: r.pick(&[512 * K, 4096 * K]),
        tags: 1,
        channels: 1,
        rate: [r.sized(20.0, 90.0) * M, r.sized(5.0, 40.0) * M],
        link_command_s: [r.sized(200e-6, 1e-3), r.sized(1e-3, 5e-3)],
        stall: (r.sized(16.0, 256.0) * 1e6, r.sized(0.02, 0.5)),
        noise: (r.even(0.02, 0.1), 0.3),
        ..Spec::default()
    }
}

/// A rotational disk, behind a separate controller.
pub(super) fn hdd(r: &mut Random, ahead: bool, cache: bool) -> Spec {
    let rate = r.sized(80.0, 270.0) * M;
    let turn = r.pick(&[8.333e-3, 8.333e-3, 11.1e-3]);
    let a = r.share(0.0, 0.7);
    Spec {
        path_s: 15e-6,
        jitter_s: r.sized(2e-6, 30e-6),
        back_s: 15e-6,
        part_bytes_max: r.pick(&[512 * K, 1024 * K, 1280 * K]),
        tags: 31,
        head: Some(Head {
            turn_s: turn,
            seek_s: r.even(1e-3, 3e-3),
            grace_s: r.sized(50e-6, 400e-6),
            ahead_bytes: if ahead { r.sized(1e6, 16e6) } else { 0.0 },
            cache_bytes: if cache { r.sized(8e6, 64e6) } else { 0.0 },
            sloppy: 0.0,
        }),
        rate: [rate, rate * r.share(0.97, 1.0)],
        link_command_s: [r.sized(30e-6, 200e-6); 2],
        inner: r.share(0.45, 0.7),
        zone: (a, r.share(a, 1.0)),
        noise: (r.even(0.0, 0.02), 0.2),
        reported_rotational: true,
        ..Spec::default()
    }
}

/// A rotational disk behind a loop device, FUSE and a server with threads, so adjacent requests may overtake each
/// other.
pub(super) fn spindle(r: &mut Random) -> Spec {
    let outer = r.sized(120.0, 260.0) * M;
    Spec {
        path_s: r.sized(60e-6, 120e-6),
        jitter_s: r.sized(30e-6, 300e-6),
        back_s: r.sized(60e-6, 300e-6),
        part_bytes_max: 1024 * K,
        tags: 10,
        head: Some(Head {
            turn_s: r.even(6e-3, 11e-3),
            seek_s: r.even(1e-3, 4e-3),
            grace_s: r.sized(150e-6, 500e-6),
            sloppy: r.sized(0.05, 0.5).min(1.0),
            ..Head::default()
        }),
        rate: [outer; 2],
        link_command_s: [r.sized(50e-6, 300e-6); 2],
        inner: r.share(0.45, 0.8),
        zone: (0.0, r.share(0.3, 1.0)),
        reported_rotational: true,
        ..Spec::default()
    }
}

/// A disk behind a network.
pub(super) fn net(r: &mut Random, rtt: f64, rate: f64) -> Spec {
    Spec {
        path_s: rtt / 2.0,
        jitter_s: rtt * r.sized(0.01, 0.1),
        back_s: rtt / 2.0,
        part_bytes_max: r.pick(&[256 * K, 512 * K, 1280 * K]),
        tags: 128,
        channels: 16,
        command_s: [100e-6; 2],
        channel_rate: [r.sized(200.0, 1000.0) * M; 2],
        rate: [rate; 2],
        link_command_s: [r.sized(5e-6, 50e-6); 2],
        noise: (r.even(0.0, 0.08), 0.2),
        ..Spec::default()
    }
}

/// A disk in memory, served by threads.
pub(super) fn ram(r: &mut Random) -> Spec {
    let rate = r.sized(2.0, 6.0) * 1e9;
    Spec {
        path_s: 6e-6,
        jitter_s: 5e-6,
        back_s: 5e-6,
        part_bytes_max: 1280 * K,
        tags: 128,
        channels: r.pick(&[1, 2, 4]),
        command_s: [r.sized(10e-6, 30e-6); 2],
        channel_rate: [rate; 2],
        rate: [rate * r.even(1.0, 2.0); 2],
        noise: (r.even(0.0, 0.1), 0.05),
        ..Spec::default()
    }
}

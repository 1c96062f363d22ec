use super::*;
use crate::core::{FileId, Host, Identity, QueueLimits, SavedPace};

fn disk(rotational: bool, transport: &str, saved_rate: Option<u64>) -> Facts {
    let pace = |bytes_per_s| SavedPace { block_bytes: 1 << 20, depth: 4, bytes_per_s, date: "2026-11-22".to_owned() };
    Facts {
        queue: QueueLimits { rotational: Some(rotational), ..QueueLimits::default() },
        identity: Identity { transport: Some(transport.to_owned()), ..Identity::default() },
        saved_write: saved_rate.map(pace),
        ..Facts::new("/dev/sdb", EndpointKind::Block)
    }
}

const SLOPE: [Zone; 2] = [Zone { offset: 0, bytes_per_s: 200e6 }, Zone { offset: 1_000_000, bytes_per_s: 100e6 }];

fn written(dest: &Facts, zones: &[Zone]) -> (Option<f64>, Option<WriteRate>) {
    let saved = dest.saved_write.as_ref().map(|saved| saved.bytes_per_s as f64);
    let (curve, rate) = write_curve(dest, Curve::through(zones).as_ref(), saved, 1_000_000);
    (curve.map(|curve| 1e6 / curve.seconds(0.0, 1e6)), rate)
}

#[test]
fn only_hard_disks_are_assumed_to_write_as_fast_as_they_read() {
    let (rate, from) = written(&disk(true, "sata", None), &SLOPE);
    assert!((rate.unwrap() / 144.3e6 - 1.0).abs() < 0.01, "{rate:?}");
    assert_eq!(from, Some(WriteRate::AsRead));
    assert_eq!(written(&disk(false, "nvme", None), &SLOPE).1, None);
    for transport in ["usb", "virtio", "md", "iscsi"] {
        assert_eq!(written(&disk(true, transport, None), &SLOPE).1, None, "{transport} may say that it turns");
    }
    assert_eq!(written(&disk(true, "sata", None), &[]), (None, None));
}

#[test]
fn a_saved_write_rate_is_scaled_by_the_read_curve() {
    let (rate, from) = written(&disk(false, "nvme", Some(50_000_000)), &[]);
    assert!((rate.unwrap() / 50e6 - 1.0).abs() < 1e-6 && from == Some(WriteRate::Saved), "{rate:?}");
    let dest = disk(true, "sata", Some(50_000_000));
    assert!((written(&dest, &SLOPE).0.unwrap() / 50e6 - 1.0).abs() < 1e-6);
    let (curve, _) = write_curve(&dest, Curve::through(&SLOPE).as_ref(), Some(50e6), 1_000_000);
    let curve = curve.unwrap();
    assert!(curve.seconds(9e5, 1e6) > 1.5 * curve.seconds(0.0, 1e5), "it still falls");
}

/// The estimate of a copy between such disks, read at these rates.
fn reported(source: &Facts, source_rate: f64, dest: &Facts, dest_rate: f64) -> (f64, Option<f64>, Option<Doubt>) {
    let block = |facts: &Facts, name: &str, number| Facts {
        size: Some(1_000_000_000),
        logical_block_bytes: 512,
        id: Some(FileId::Device(number)),
        ..Facts { address: name.to_owned(), path: name.into(), ..facts.clone() }
    };
    let options = Options { source: "/dev/sda".to_owned(), dest: "/dev/sdb".to_owned(), ..Options::default() };
    let ends = [block(source, "/dev/sda", 1), block(dest, "/dev/sdb", 2)];
    let plan = crate::plan::make(&options, &ends[0], &ends[1], &Host { ring_refused: None }).unwrap().plan;
    let zones = [source_rate, dest_rate].map(|bytes_per_s| [Zone { offset: 0, bytes_per_s }]);
    let sides = sides(&plan, [source, dest], [&zones[0], &zones[1]], 1_000_000_000);
    let course = sides.course(&plan, 1_000_000_000, EngineKind::Ring);
    let (least_s, most_s) = course.bounds_s();
    (least_s, most_s, sides.doubt)
}

#[test]
fn hard_disks_have_one_estimate_and_others_a_range_with_its_reason() {
    let [hard, ssd, nvme, cloud] = [(true, "sata"), (false, "sata"), (false, "nvme"), (false, "virtio")]
        .map(|(turns, transport)| disk(turns, transport, None));
    let close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-6;
    let (least, most, doubt) = reported(&ssd, 500e6, &hard, 100e6);
    assert!(close(least, 10.0) && close(most.unwrap(), 10.0) && doubt.is_none(), "{least} {most:?} {doubt:?}");
    let (least, most, doubt) = reported(&hard, 100e6, &ssd, 500e6);
    assert!(close(least, 10.0) && most.is_none() && doubt == Some(Doubt::Writing), "{least} {most:?} {doubt:?}");
    let (least, ..) = reported(&hard, 100e6, &ssd, 20e6);
    assert!(close(least, 10.0), "flash may write faster than it was read: {least}");
    let (least, most, doubt) = reported(&nvme, 50e6, &hard, 100e6);
    assert!(close(least, 10.0) && close(most.unwrap(), 20.0) && doubt == Some(Doubt::QueueDepth), "{least} {most:?}");
    let (least, most, doubt) = reported(&cloud, 500e6, &hard, 100e6);
    assert!(close(least, 10.0) && most.is_none() && doubt == Some(Doubt::Reading), "{least} {most:?} {doubt:?}");
    let saved = disk(false, "nvme", Some(40_000_000));
    let (least, most, doubt) = reported(&ssd, 500e6, &saved, 400e6);
    assert!(close(least, 25.0) && close(most.unwrap(), 25.0) && doubt.is_none(), "{least} {most:?} {doubt:?}");
}

#[test]
fn no_samples_are_read_without_a_display_or_with_bad_sectors_expected() {
    let all = Options::default();
    let facts = disk(false, "sata", None);
    let wanted = |options: &Options, len| is_wanted(options, Some(len), &facts, false);
    assert!(wanted(&all, 1 << 40));
    assert!(!is_wanted(&all, None, &facts, false), "a stream has no end to estimate");
    assert!(!wanted(&Options { no_estimate: true, ..all.clone() }, 1 << 40));
    assert!(!wanted(&Options { on_error: OnError { skip: true, retries: 0 }, ..all.clone() }, 1 << 40));
    let silent = Options { progress: ProgressStyle::None, ..all.clone() };
    assert!(!wanted(&silent, 1 << 40) && wanted(&Options { json: true, ..silent }, 1 << 40));
    let holes = Facts { sparse: true, ..facts.clone() };
    assert!(!is_wanted(&all, Some(1 << 40), &holes, true) && is_wanted(&all, Some(1 << 40), &holes, false));
}

#[test]
fn the_estimate_of_a_resumed_copy_is_of_the_rest() {
    let curve = Curve::flat(1e6).unwrap();
    let sides = [Some(&curve), None];
    let course = Course {
        len: 100_000_000,
        sides,
        limit_bytes_per_s: None,
        in_turn: false,
        backward: false,
        faster_max: [1.0; 2],
        is_open: false,
        cache_bytes: 0,
    };
    let forecast = Forecast::of(&course).unwrap();
    let estimate = Estimate {
        at_least: Duration::from_secs(50),
        at_most: Some(Duration::from_secs(100)),
        doubt: Some(Doubt::QueueDepth),
        // Reading everything again for a digest takes 30 s.
        source_bytes_per_s: Some(3_333_333),
        dest_bytes_per_s: None,
        write_rate: None,
        bound: None,
        places: 1,
        took: Duration::ZERO,
    };
    let estimated = Estimated { estimate, forecast };
    for (rereads, least_s, most_s) in [(false, 20.0, 40.0), (true, 30.0, 40.0)] {
        let rest = estimated.behind(60_000_000, rereads);
        let [least, most] = [Some(rest.at_least), rest.at_most].map(|time| time.unwrap().as_secs_f64());
        assert!((least - least_s).abs() < 1e-3 && (most - most_s).abs() < 1e-3, "{rereads}: {rest:?}");
    }
}

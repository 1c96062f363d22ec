use super::*;
use crate::core::{Identity, QueueLimits, SavedPace};

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
    let (curve, rate) = write_curve(dest, zones, 1_000_000);
    (curve.map(|curve| 1e6 / curve.seconds(0.0, 1e6)), rate)
}

#[test]
fn a_head_writes_as_it_reads_and_of_anything_else_that_is_only_assumed() {
    let (rate, from) = written(&disk(true, "sata", None), &SLOPE);
    assert!((rate.unwrap() / 133.3e6 - 1.0).abs() < 0.01, "{rate:?}");
    assert_eq!(from, Some(WriteRate::AsRead));
    assert_eq!(written(&disk(false, "nvme", None), &SLOPE).1, Some(WriteRate::Assumed));
    assert_eq!(written(&disk(true, "usb", None), &SLOPE).1, Some(WriteRate::Assumed), "every stick says that it turns");
    assert_eq!(written(&disk(true, "sata", None), &[]), (None, None));
}

#[test]
fn what_was_saved_for_writing_is_the_rate_and_reading_gives_its_form() {
    let (rate, from) = written(&disk(false, "nvme", Some(50_000_000)), &[]);
    assert!((rate.unwrap() / 50e6 - 1.0).abs() < 1e-6 && from == Some(WriteRate::Saved), "{rate:?}");
    let dest = disk(true, "sata", Some(50_000_000));
    assert!((written(&dest, &SLOPE).0.unwrap() / 50e6 - 1.0).abs() < 1e-6);
    let (curve, _) = write_curve(&dest, &SLOPE, 1_000_000);
    let curve = curve.unwrap();
    assert!(curve.seconds(9e5, 1e6) > 1.5 * curve.seconds(0.0, 1e5), "it still falls");
}

#[test]
fn nothing_is_read_for_whom_nobody_tells_for_short_copies_and_where_bad_places_are_expected() {
    let all = Options::default();
    let facts = disk(false, "sata", None);
    let wanted = |options: &Options, len| is_wanted(options, Some(len), &facts, false);
    assert!(wanted(&all, COPY_BYTES_MIN) && !wanted(&all, COPY_BYTES_MIN - 1));
    assert!(!is_wanted(&all, None, &facts, false), "a stream has no end to foretell");
    assert!(!wanted(&Options { no_estimate: true, ..all.clone() }, 1 << 40));
    assert!(!wanted(&Options { on_error: OnError { skip: true, retries: 0 }, ..all.clone() }, 1 << 40));
    let silent = Options { progress: ProgressStyle::None, ..all.clone() };
    assert!(!wanted(&silent, 1 << 40) && wanted(&Options { json: true, ..silent }, 1 << 40));
    let holes = Facts { sparse: true, ..facts.clone() };
    assert!(!is_wanted(&all, Some(1 << 40), &holes, true) && is_wanted(&all, Some(1 << 40), &holes, false));
}

#[test]
fn of_a_copy_that_goes_on_only_the_rest_is_expected() {
    let curve = Curve::flat(1e6).unwrap();
    let sides = [Some(&curve), None];
    let course = Course { len: 100_000_000, sides, limit_bytes_per_s: None, in_turn: false, backward: false };
    let forecast = Forecast::of(&course).unwrap();
    let estimate = Estimate {
        time: Duration::from_secs(100),
        source_bytes_per_s: None,
        dest_bytes_per_s: None,
        write_rate: None,
        bound: None,
        places: 1,
        took: Duration::ZERO,
    };
    let rest = Foretold { estimate, forecast }.behind(60_000_000);
    assert!((rest.time.as_secs_f64() - 40.0).abs() < 1e-6, "{rest:?}");
}

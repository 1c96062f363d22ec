use super::*;
use crate::core::*;
use crate::report::{example_devices, examples};
use serde_json::Value::Null;
use std::time::{Duration, SystemTime};

fn value(report: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(report).unwrap()
}

#[test]
fn the_fields_of_an_outcome_are_in_reading_order() {
    let mut plan = examples::plan();
    plan.notes.why.truncate(1);
    let mut done = examples::complete();
    done.digests = vec![Digest { kind: HashKind::Blake3, hex: "00ff".to_owned() }];
    let started = SystemTime::UNIX_EPOCH + Duration::from_micros(1_785_600_000_250_000);
    insta::assert_snapshot!(text(&outcome(&plan, &done, &examples::args(), Some(started))));
}

#[test]
fn a_failure_has_kind_offset_and_errno() {
    let report = value(&outcome(&examples::plan(), &examples::failed(), &examples::args(), None));
    assert_eq!((&report["status"], &report["signal"], &report["started"]), (&"failed".into(), &Null, &Null));
    assert!(report["continue_command"].as_str().unwrap().starts_with("haul copy --skip 1073741824 "));
    let Ended::Failed(error) = examples::failed().ended else { unreachable!() };
    insta::assert_snapshot!(text(&FailureReport::from(error.as_ref())), @r#"
    {
      "kind": "io",
      "message": "cannot read source /dev/sda at byte 1073741824 (sector 2097152 of 512 bytes): Input/output error",
      "side": "source",
      "offset_bytes": 1073741824,
      "sector": 2097152,
      "sector_bytes": 512,
      "errno": 5,
      "advice": "See the kernel log (dmesg) for the device error, and copy the readable part with ddrescue."
    }
    "#);
}

#[test]
fn a_run_that_failed_to_begin_has_every_field_of_a_report() {
    let full = value(&outcome(&examples::plan(), &examples::complete(), &examples::args(), None));
    let error = Error::new(Kind::Refused, "dest is mounted").on(Side::Dest).advise("Unmount it.");
    let refused = value(&not_started("copy", None, &examples::args(), NotStarted::Failed(&error)));
    let names = |report: &serde_json::Value| report.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&refused), names(&full));
    assert_eq!((&refused["status"], &refused["durable"]), (&"refused".into(), &false.into()));
    assert_eq!((&refused["error"]["kind"], &refused["error"]["side"]), (&"refused".into(), &"dest".into()));
    assert_eq!((&refused["error"]["offset_bytes"], &refused["error"]["advice"]), (&Null, &"Unmount it.".into()));
    let failed = Error::new(Kind::Open, "cannot open");
    assert_eq!(value(&not_started("copy", None, &[], NotStarted::Failed(&failed)))["status"], "failed");
    let stopped = value(&not_started("verify", None, &[], NotStarted::Interrupted(2)));
    assert_eq!((&stopped["status"], &stopped["signal"], &stopped["error"]), (&"interrupted".into(), &2.into(), &Null));
}

#[test]
fn a_plan_reports_bursts_if_the_copy_uses_or_tries_them() {
    let mut decision = examples::plan();
    for (bursts, reported) in [(Bursts::Never, false), (Bursts::Try, true), (Bursts::Always, true)] {
        decision.plan.tuning.bursts = bursts;
        let report = value(&plan(&decision, &examples::source(), &examples::dest(), None));
        assert_eq!(report["bursts"], reported, "{bursts:?}");
    }
}

#[test]
fn an_interruption_names_the_signal() {
    let report = value(&outcome(&examples::plan(), &examples::interrupted(), &examples::args(), None));
    assert_eq!((&report["status"], &report["signal"], &report["error"]), (&"interrupted".into(), &2.into(), &Null));
}

#[test]
fn remaining_bytes_are_those_not_claimed_and_devices_have_their_identity() {
    let report = |ended| value(&outcome(&examples::plan(), &ended, &examples::args(), None));
    let (interrupted, complete) = (report(examples::interrupted()), report(examples::complete()));
    let claimed_bytes = interrupted["claimed"]["len_bytes"].as_u64().unwrap();
    assert_eq!(interrupted["remaining_bytes"], interrupted["len_bytes"].as_u64().unwrap() - claimed_bytes);
    assert_eq!((&complete["remaining_bytes"], &complete["dest"]["serial"]), (&0.into(), &"S6PUNX0T123456".into()));
}

#[test]
fn a_copy_without_time_or_bytes_has_no_rates_rather_than_infinite_ones() {
    let mut nothing = examples::complete();
    nothing.totals = Totals::default();
    nothing.elapsed = Duration::ZERO;
    nothing.pace = Pace::default();
    let report = value(&outcome(&examples::plan(), &nothing, &examples::args(), None));
    assert_eq!((&report["rates"]["copied_mb_per_s"], &report["cpu"]["per_gib_s"]), (&Null, &Null));
    assert_eq!((&report["source"]["waited_share"], &report["blocks"]), (&Null, &Null));
}

#[test]
fn the_fields_of_a_plan_are_in_reading_order() {
    let mut planned = examples::plan();
    planned.notes.why.truncate(1);
    let expected = Some(examples::estimate());
    insta::assert_snapshot!(text(&plan(&planned, &examples::source(), &examples::dest(), expected)));
}

#[test]
fn the_fields_of_devices_are_in_reading_order() {
    insta::assert_snapshot!(text(&devices(&example_devices::devices()[..1], &[])));
}

#[test]
fn every_use_has_a_name() {
    let at = || std::path::PathBuf::from("/");
    let uses = vec![
        InUse::Mounted { device: "sda1".to_owned(), at: at() },
        InUse::Swap { device: "sda2".to_owned() },
        InUse::Held { device: "sda3".to_owned(), by: "dm-0".to_owned() },
        InUse::System { at: at() },
        InUse::Exclusive,
    ];
    let report = value(&devices(&[Device { uses, ..Device::default() }], &[]));
    let device = &report["devices"][0];
    let words: Vec<&str> = device["uses"].as_array().unwrap().iter().filter_map(|used| used["kind"].as_str()).collect();
    assert_eq!(words, ["mounted", "swap", "held", "system", "exclusive"]);
    assert_eq!((&device["system"], &device["logical_block_bytes"]), (&true.into(), &Null));
    assert_eq!((&device["uses"][2]["by"], &device["uses"][4]["at"]), (&"dm-0".into(), &Null));
}

/// Every key in the value, at any depth.
fn keys(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            found.push(key.clone());
            keys(value, found);
        }),
        serde_json::Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_field_is_documented() {
    let mut done = examples::failed();
    done.digests = vec![Digest { kind: HashKind::Blake3, hex: "00ff".to_owned() }];
    let runs = [Extent::new(512, 512)].into_iter().collect();
    done.unread[0] = Unread { runs, sector_bytes: 512, failed_reads: 3, failing: Duration::ZERO };
    let report = value(&outcome(&examples::plan(), &done, &[], None));
    let planned = value(&plan(&examples::plan(), &examples::source(), &examples::dest(), Some(examples::estimate())));
    let mut found = Vec::new();
    keys(&report, &mut found);
    keys(&planned, &mut found);
    keys(&value(&devices(&example_devices::devices(), &[ScsiDevice::default()])), &mut found);
    let document = include_str!("../../../docs/user/json.md");
    assert!(found.len() > 100, "{}", found.len());
    for key in found {
        assert!(document.contains(&format!("`{key}`")), "docs/user/json.md does not know {key}");
    }
}

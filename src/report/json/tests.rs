use super::*;
use crate::contract::*;
use crate::report::examples;
use crate::report::text::Estimate;
use std::time::{Duration, SystemTime};

#[test]
fn an_outcome_is_told_in_reading_order() {
    let mut plan = examples::plan();
    plan.why.truncate(1);
    let mut done = examples::complete();
    done.digests = vec![Digest { kind: HashKind::Blake3, hex: "00ff".to_owned() }];
    let started = SystemTime::UNIX_EPOCH + Duration::from_micros(1_785_600_000_250_000);
    insta::assert_snapshot!(text(&outcome(&plan, &done, &examples::args(), Some(started))), @r#"
    {
      "schema": 1,
      "report": "copy",
      "version": "0.1.0",
      "command": [
        "haul",
        "copy",
        "--yes",
        "--hash=sha256",
        "--count",
        "2G",
        "/dev/disk/by-id/ata-old-disk",
        "/dev/sdb"
      ],
      "started": "2026-08-01T16:00:00.250000Z",
      "status": "complete",
      "signal": null,
      "error": null,
      "durable": true,
      "len_bytes": 2147483648,
      "claimed": {
        "offset_bytes": 0,
        "len_bytes": 2147483648,
        "direction": "forward"
      },
      "continue_command": null,
      "bytes": {
        "copied_bytes": 2147483648,
        "read_bytes": 2013265920,
        "written_bytes": 2013265920,
        "zeroed_bytes": 134217728,
        "hole_bytes": 0,
        "zeroed_records": 3,
        "hole_records": 0
      },
      "elapsed_s": 0.27,
      "flushing_s": 0.02,
      "rates": {
        "copied_bytes_per_s": 7953643140,
        "copied_mb_per_s": 7953.643,
        "copied_mib_per_s": 7585.185,
        "before_flush_bytes_per_s": 8589934592
      },
      "cpu": {
        "user_s": 0.05,
        "system_s": 0.12,
        "per_gib_s": 0.085
      },
      "peak_resident_bytes": 19084083,
      "engine": "ring",
      "engine_detail": "io_uring, fixed buffers, huge pages",
      "blocks": {
        "block_bytes": 262144,
        "depth": 32,
        "because": "the smallest within 2 % of the best rate seen",
        "tried": [
          {
            "block_bytes": 1048576,
            "depth": 8,
            "bytes_per_s": 6100000000
          },
          {
            "block_bytes": 262144,
            "depth": 32,
            "bytes_per_s": 7900000000
          },
          {
            "block_bytes": 131072,
            "depth": 64,
            "bytes_per_s": 7700000000
          }
        ]
      },
      "source": {
        "address": "/dev/disk/by-id/ata-old-disk",
        "path": "/dev/sda",
        "kind": "block",
        "offset_bytes": 0,
        "cache": "direct",
        "requests": 7680,
        "latency": {
          "count": 7680,
          "p50_us": 85,
          "p90_us": 170,
          "p99_us": 425,
          "max_us": 3400
        },
        "waited_s": 0.03125,
        "waited_share": 0.125,
        "idle_s": 0.003125,
        "cached_before_bytes": 0,
        "cached_after_bytes": 4096
      },
      "dest": {
        "address": "/dev/sdb",
        "path": "/dev/sdb",
        "kind": "block",
        "offset_bytes": 0,
        "cache": "direct",
        "requests": 7681,
        "latency": {
          "count": 7680,
          "p50_us": 350,
          "p90_us": 700,
          "p99_us": 1750,
          "max_us": 14000
        },
        "waited_s": 0.15,
        "waited_share": 0.6,
        "idle_s": 0.015,
        "cached_before_bytes": 0,
        "cached_after_bytes": 4096
      },
      "digests": [
        {
          "hash": "blake3",
          "hex": "00ff"
        }
      ],
      "notes": [],
      "why": [
        {
          "topic": "engine",
          "choice": "ring",
          "because": "io_uring works here and both sides can be on one ring"
        }
      ],
      "warnings": []
    }
    "#);
}

#[test]
fn a_failure_names_kind_place_and_number() {
    let report = outcome(&examples::plan(), &examples::failed(), &examples::args(), None);
    assert_eq!((report.status, report.signal, report.started), ("failed", None, None));
    assert!(report.continue_command.unwrap().starts_with("haul copy --skip 1073741824 "));
    insta::assert_snapshot!(text(&report.error), @r#"
    {
      "kind": "io",
      "message": "cannot read source /dev/sda at byte 1073741824 (sector 2097152 of 512 bytes): Input/output error",
      "side": "source",
      "offset_bytes": 1073741824,
      "sector": 2097152,
      "sector_bytes": 512,
      "errno": 5,
      "advice": "Look at the kernel's log (dmesg) for what the disk said, and copy what can be read with ddrescue."
    }
    "#);
}

#[test]
fn an_interruption_names_the_signal() {
    let report = outcome(&examples::plan(), &examples::interrupted(), &examples::args(), None);
    assert_eq!((report.status, report.signal, report.error.is_none()), ("interrupted", Some(2), true));
}

#[test]
fn a_copy_without_time_or_bytes_has_no_rates_rather_than_infinite_ones() {
    let mut nothing = examples::complete();
    nothing.totals = Totals::default();
    nothing.elapsed = Duration::ZERO;
    nothing.pace = Pace::default();
    let report = outcome(&examples::plan(), &nothing, &examples::args(), None);
    assert!(report.rates.copied_mb_per_s.is_none() && report.cpu.per_gib_s.is_none());
    assert!(report.source.waited_share.is_none() && report.blocks.is_none());
}

#[test]
fn a_plan_is_told_in_reading_order() {
    let mut planned = examples::plan();
    planned.why.truncate(1);
    let estimate =
        Estimate { time: Duration::from_millis(12_500), source_bytes_per_s: Some(180_000_000), dest_bytes_per_s: None };
    insta::assert_snapshot!(text(&plan(&planned, &examples::source(), &examples::dest(), Some(estimate))), @r#"
    {
      "schema": 1,
      "report": "plan",
      "source": {
        "address": "/dev/disk/by-id/ata-old-disk",
        "path": "/dev/sda",
        "kind": "block",
        "exists": true,
        "size_bytes": 2147483648,
        "offset_bytes": 0,
        "cache": "direct",
        "logical_block_bytes": 512,
        "physical_block_bytes": 4096,
        "model": "QEMU HARDDISK",
        "serial": null,
        "wwn": null,
        "transport": null,
        "rotational": true,
        "filesystem": null,
        "content": "ext4 \"data\"",
        "partitions": []
      },
      "dest": {
        "address": "/dev/sdb",
        "path": "/dev/sdb",
        "kind": "block",
        "exists": true,
        "size_bytes": 1000204886016,
        "offset_bytes": 0,
        "cache": "direct",
        "logical_block_bytes": 512,
        "physical_block_bytes": 4096,
        "model": "Samsung SSD 870 EVO 1TB",
        "serial": "S6PUNX0T123456",
        "wwn": null,
        "transport": "sata",
        "rotational": false,
        "filesystem": null,
        "content": "GPT",
        "partitions": [
          {
            "name": "sdb1",
            "offset_bytes": 1048576,
            "len_bytes": 536870912,
            "content": "vfat \"EFI\""
          },
          {
            "name": "sdb2",
            "offset_bytes": 537919488,
            "len_bytes": 999665917952,
            "content": "ext4 \"root\""
          }
        ]
      },
      "len_bytes": 2147483648,
      "engine": "ring",
      "block_bytes": 262144,
      "depth": 32,
      "adaptive": true,
      "direction": "forward",
      "write_order": "any",
      "burst_bytes": null,
      "zeros": "device",
      "ask_holes": false,
      "detect_zeros_bytes": null,
      "hashes": [],
      "durable": true,
      "limit_bytes_per_s": null,
      "why": [
        {
          "topic": "engine",
          "choice": "ring",
          "because": "io_uring works here and both sides can be on one ring"
        }
      ],
      "warnings": [],
      "estimate": {
        "time_s": 12.5,
        "source_bytes_per_s": 180000000,
        "dest_bytes_per_s": null
      }
    }
    "#);
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
    let estimate = Estimate { time: Duration::ZERO, source_bytes_per_s: None, dest_bytes_per_s: None };
    let report = serde_json::to_value(outcome(&examples::plan(), &done, &[], None)).unwrap();
    let planned = plan(&examples::plan(), &examples::source(), &examples::dest(), Some(estimate));
    let mut found = Vec::new();
    keys(&report, &mut found);
    keys(&serde_json::to_value(planned).unwrap(), &mut found);
    let document = include_str!("../../../docs/json.md");
    assert!(found.len() > 100, "{}", found.len());
    for key in found {
        assert!(document.contains(&format!("`{key}`")), "docs/json.md does not know {key}");
    }
}

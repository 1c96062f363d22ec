use crate::core::{
    DestOutcome, Ended, Error, Extent, JournalTotals, Kind, Outcome, PlanDest, PlanSide, Side, Unread, Verified,
};
use crate::plan::Verbosity;
use crate::report::columns::columns;
use crate::report::examples;
use crate::report::text::outcome;
use std::time::Duration;

/// The report without colour; asserts that it fits 80 columns, except for commands and errors.
fn report(outcome_of: &Outcome, verbosity: Verbosity) -> String {
    let text = outcome(&examples::plan(), outcome_of, &examples::args(), verbosity);
    anstream::adapter::strip_str(&text).to_string()
}

fn short(outcome: &Outcome) -> String {
    report(outcome, Verbosity::Short)
}

#[test]
fn a_successful_copy_has_three_lines() {
    let text = short(&examples::complete());
    assert!(text.lines().all(|line| columns(line) <= 80));
    insta::assert_snapshot!(text, @r"
    haul: copied 2.15 GB from /dev/disk/by-id/ata-old-disk to /dev/sdb
          0.27 s, 7.95 GB/s (7.41 GiB/s), durable
          bottleneck: destination, 60 % of the time
    ");
    let full = report(&examples::complete(), Verbosity::Full);
    assert!(full.lines().count() > 15 && full.contains("latency p50"), "{full}");
    let everything = report(&examples::complete(), Verbosity::Everything);
    assert!(everything.starts_with(&full) && everything.contains("io_uring is available"), "{everything}");
}

#[test]
fn a_quiet_copy_prints_only_errors() {
    assert_eq!(report(&examples::complete(), Verbosity::Quiet), "");
    let mut unread = examples::complete();
    unread.unread[0] = Unread { runs: [Extent::new(512, 512)].into_iter().collect(), ..Unread::default() };
    for wrong in [examples::failed(), examples::interrupted(), unread] {
        assert_eq!(report(&wrong, Verbosity::Quiet), short(&wrong));
        assert!(!short(&wrong).is_empty());
    }
}

#[test]
fn an_incomplete_copy_has_advice_instead_of_the_bottleneck() {
    insta::assert_snapshot!(short(&examples::interrupted()), @r"
    haul: interrupted by SIGINT after 1.08 GB of 2.15 GB (50 %) from
          /dev/disk/by-id/ata-old-disk to /dev/sdb
          0.27 s, 4.01 GB/s (3.73 GiB/s), durable
    copied  the first 1.08 GB (1082130432 bytes), contiguous; durable
    note:  the locked memory limit is too low for registered buffers; unregistered
           buffers were used

    To copy the rest:
      haul copy --skip 1082130432 --seek 1082130432 --count 1065353216 --yes /dev/disk/by-id/ata-old-disk /dev/sdb
    ");
    insta::assert_snapshot!(short(&examples::failed()), @r"
    haul: cannot read source /dev/sda at byte 1073741824 (sector 2097152 of 512 bytes): Input/output error
      → See the kernel log (dmesg) for the device error, and copy the readable part with ddrescue.

    haul: stopped after 1.07 GB of 2.15 GB (50 %) from /dev/disk/by-id/ata-old-disk
          to /dev/sdb
          0.27 s, 4.01 GB/s (3.73 GiB/s), durable
    copied  the first 1.07 GB (1073741824 bytes), contiguous; durable

    To copy the rest, after fixing the cause:
      haul copy --skip 1073741824 --seek 1073741824 --count 1073741824 --yes /dev/disk/by-id/ata-old-disk /dev/sdb
    ");
}

#[test]
fn unreadable_sectors_are_listed_in_the_short_report() {
    let mut outcome = examples::complete();
    let runs = [Extent::new(512, 1024), Extent::new(1 << 20, 512)].into_iter().collect();
    outcome.unread[0] = Unread { runs, sector_bytes: 512, failed_reads: 7, failing: Duration::from_millis(12_340) };
    insta::assert_snapshot!(short(&outcome), @r"
    haul: copied 2.15 GB from /dev/disk/by-id/ata-old-disk to /dev/sdb
          0.27 s, 7.95 GB/s (7.41 GiB/s), durable, but 3 sectors could not be read
          bottleneck: destination, 60 % of the time
    unreadable  3 sectors of 512 bytes of the source, 1.54 kB (1536 bytes) in
                2 runs; the destination has zeros in their place
                byte 512+1024, 1048576+512
    failures    7 reads of the source failed, taking 12.3 s in total
    ");
}

#[test]
fn each_of_several_destinations_has_its_row() {
    let mut decision = examples::plan();
    decision.plan.dests = ["/dev/sdb", "/dev/sdc"]
        .map(|address| {
            let side = PlanSide { address: address.to_owned(), ..decision.plan.dest.clone() };
            let (zeros, set_end) = (decision.plan.zeros, false);
            PlanDest { side, zeros, set_end, preallocate: false, durable: true, may_fall_behind: false }
        })
        .into();
    let mut ended = examples::complete();
    let error = Error::new(Kind::Io, "cannot write destination /dev/sdc at byte 4096").on(Side::Dest);
    ended.dests = vec![dest("/dev/sdb", None), dest("/dev/sdc", Some(error))];
    let text = outcome(&decision, &ended, &examples::args(), Verbosity::Short);
    insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string(), @r"
    haul: copied 2.15 GB to 1 of 2 destinations from /dev/disk/by-id/ata-old-disk
          0.27 s, 7.95 GB/s (7.41 GiB/s), durable
          bottleneck: destination, 60 % of the time
    destination  /dev/sdb, block device, direct: 2.15 GB (2147483648 bytes), durable
    destination  /dev/sdc, block device, direct: FAILED: cannot write destination
                 /dev/sdc at byte 4096; the first 4.10 kB (4096 bytes) were copied,
                 durable

    To complete the destinations, after fixing the cause:
      haul copy --skip 4096 --seek 4096 --count 2147479552 --yes /dev/disk/by-id/ata-old-disk /dev/sdc
    ");
}

fn dest(address: &str, error: Option<Error>) -> DestOutcome {
    let claimed = Extent::new(0, if error.is_some() { 4096 } else { 2 << 30 });
    DestOutcome {
        address: address.to_owned(),
        path: address.into(),
        error,
        behind: false,
        claimed,
        durable: true,
        memory: None,
        written_bytes: claimed.len,
        zeroed_bytes: 0,
        hole_bytes: 0,
        verified: None,
    }
}

#[test]
fn read_back_has_a_row_if_it_proves_less_than_it_should() {
    let mut outcome = examples::complete();
    let right = Verified { complete: true, bytes: 2 << 30, cached_bytes: Some(0), ..Verified::default() };
    outcome.verified = Some(right.clone());
    let text = short(&outcome);
    assert!(text.contains("durable, verified") && text.lines().count() == 3, "{text}");
    let cached = Verified { cached_bytes: Some(1 << 20), ..right.clone() };
    let rewritten = Verified { rewritten: [Extent::new(0, 512)].into_iter().collect(), ..right };
    for (less, words) in [(cached, "could not be evicted"), (rewritten, "rewritten and now correct")] {
        outcome.verified = Some(less);
        let text = short(&outcome);
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{text}");
    }
}

#[test]
fn several_destinations_that_were_not_read_back_to_their_end_are_not_called_wrong() {
    let mut outcome = examples::interrupted();
    let incomplete = || Some(Verified { complete: false, ..Verified::default() });
    outcome.dests =
        ["/dev/sdb", "/dev/sdc"].map(|name| DestOutcome { verified: incomplete(), ..dest(name, None) }).into();
    let text = short(&outcome);
    assert!(text.contains("verification incomplete") && !text.contains("errors"), "{text}");
}

#[test]
fn a_feature_that_is_unavailable_and_only_costs_speed_is_reported_in_the_full_report_only() {
    let mut outcome = examples::complete();
    outcome.fallbacks = vec!["buffers are not registered".to_owned()];
    assert!(!short(&outcome).contains("registered"));
    let full = report(&outcome, Verbosity::Full);
    assert!(full.contains("buffers are not registered"), "{full}");
}

#[test]
fn a_copy_that_ended_early_is_never_reported_as_complete() {
    let mut outcome = examples::interrupted();
    outcome.ended = Ended::OutOfTime;
    assert!(short(&outcome).starts_with("haul: stopped by --time, incomplete: 1.08 GB of 2.15 GB (50 %)"));
}

#[test]
fn bytes_in_memory_are_copied_and_not_durable_according_to_the_journal() {
    let kept = |memory: Option<&str>| {
        let mut outcome = examples::interrupted();
        let left = Some("/var/lib/map.journal".into());
        outcome.kept = Some(JournalTotals { left, durable_bytes: 4096, ..JournalTotals::default() });
        outcome.memory = memory.map(str::to_owned);
        report(&outcome, Verbosity::Full)
    };
    let (on_disk, in_memory) = (kept(None), kept(Some("tmpfs")));
    assert!(on_disk.contains("4096 bytes durable according to /var/lib/map.journal"), "{on_disk}");
    assert!(in_memory.contains("4096 bytes copied according to /var/lib/map.journal"), "{in_memory}");
}

use super::rest::Rest;
use super::*;
use crate::core::*;
use crate::plan::Verbosity;
use crate::report::columns::columns;
use crate::report::examples;
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::time::Duration;

/// The text without colour.
fn bare(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_plan_shows_sides_range_reasons_and_time_in_80_columns() {
    let mut plan = examples::plan();
    plan.dest.map = AddressMap::from(1 << 20);
    let (choice, because) = ("2147483648 bytes (2 GiB)".to_owned(), "the whole source".to_owned());
    plan.notes.range = Some(Reason::new("length", choice, because));
    plan.notes.warnings =
        vec!["the source is mounted read-write at /data: what changes during the copy may be torn".to_owned()];
    let text = bare(&super::plan(&plan, &examples::source(), &examples::dest(), Some(examples::estimate())));
    assert!(text.lines().all(|line| columns(line) <= 80));
    insta::assert_snapshot!(text, @r#"
    copy 2.15 GB from /dev/disk/by-id/ata-old-disk to /dev/sdb

    source       /dev/disk/by-id/ata-old-disk → /dev/sda
                 block device, 2.15 GB (2.00 GiB, 2147483648 bytes), 512-byte blocks
                 QEMU HARDDISK, rotational
                 contains: ext4 "data"
    destination  /dev/sdb
                 block device, 1.00 TB (931.5 GiB, 1000204886016 bytes),
                 512-byte blocks
                 Samsung SSD 870 EVO 1TB, serial S6PUNX0T123456, sata, SSD
                 contains: GPT
                   sdb1    536.9 MB  vfat "EFI"
                   sdb2    999.7 GB  ext4 "root"
    range        2147483648 bytes: the whole source,
                 from byte 1048576 (sector 2048) of the destination
    time         about 1 s, limited by the destination: source reads
                 12.0 GB/s (11.2 GiB/s), destination writes 8.60 GB/s (8.01 GiB/s),
                 assumed equal to its read rate (rotational disk) (from sample reads
                 at 10 places)

    engine      ring          io_uring is available, and both sides support it
    block size  256 KiB × 32  default for the queue limits of both disks; auto-tuned
    source      direct, aligned to 512 bytes
                              block device
    flush       yes           exit status 0 means that the data is durable
    warning:  the source is mounted read-write at /data: what changes during the
              copy may be torn
    "#);
}

#[test]
fn the_full_report_of_a_complete_copy() {
    let text = bare(&outcome(&examples::plan(), &examples::complete(), &examples::args(), Verbosity::Full));
    assert!(text.lines().all(|line| columns(line) <= 80));
    insta::assert_snapshot!(text, @r"
    haul: copied 2.15 GB in 0.27 s, 7.95 GB/s (7.41 GiB/s), durable
    source       /dev/disk/by-id/ata-old-disk → /dev/sda, block device, direct
    destination  /dev/sdb, block device, direct
    bytes        2147483648 bytes: 2013265920 of data written, 134217728 zeroed by
                 the destination device in 3 records
    time         0.27 s: 0.25 s copying, 0.02 s flushing
    estimate     0.25 s, limited by the destination; it took 8 % longer
    rate         7.95 GB/s (7.41 GiB/s); 8.59 GB/s (8.00 GiB/s) without flushing;
                 8.05 GB/s (7.50 GiB/s) of data without zeros and holes
    cpu          0.050 s user, 0.120 s system, 0.079 s per GB
    memory       peak RSS 19.1 MB
    engine       ring: io_uring, fixed buffers, huge pages
    auto-tune    queue depth 4+2, 1 MiB blocks; raised throughput by 31 %, the
                 maximum found; auto-tune overhead 1.5 %
    trials       queue depth 4+2, 1 MiB blocks: +31 %; queue depth 8+2,
                 1 MiB blocks: -1 %; queue depth 4+4, 1 MiB blocks: enough
    bottleneck   source 13 %, destination 60 %, other 28 %; idle: source 1 %,
                 destination 6 %
    reads        7680 requests of 256 KiB; latency p50 85 µs, p90 170 µs,
                 p99 425 µs, max 3.40 ms
    writes       7681 requests of 262.1 kB; latency p50 350 µs, p90 700 µs,
                 p99 1.75 ms, max 14.0 ms
    page cache   source 0 bytes → 4.10 kB, destination 0 bytes → 4.10 kB
    ");
}

#[test]
fn an_interrupted_copy_reports_copied_bytes_and_the_resume_command() {
    let mut plan = examples::plan();
    plan.hashes = vec![HashKind::Sha256];
    insta::assert_snapshot!(bare(&outcome(&plan, &examples::interrupted(), &examples::args(), Verbosity::Full)), @r"
    haul: interrupted by SIGINT after 1.08 GB of 2.15 GB (50 %) in 0.27 s,
          4.01 GB/s (3.73 GiB/s), durable
    source       /dev/disk/by-id/ata-old-disk → /dev/sda, block device, direct
    destination  /dev/sdb, block device, direct
    copied       the first 1.08 GB (1082130432 bytes), contiguous; durable
    bytes        1082130432 bytes
    time         0.27 s: 0.25 s copying, 0.02 s flushing
    estimate     0.25 s, limited by the destination
    rate         4.01 GB/s (3.73 GiB/s); 4.33 GB/s (4.03 GiB/s) without flushing
    cpu          0.050 s user, 0.120 s system, 0.157 s per GB
    memory       peak RSS 19.1 MB
    engine       ring: io_uring, fixed buffers, huge pages
    auto-tune    queue depth 4+2, 1 MiB blocks; raised throughput by 31 %, the
                 maximum found; auto-tune overhead 1.5 %
    trials       queue depth 4+2, 1 MiB blocks: +31 %; queue depth 8+2,
                 1 MiB blocks: -1 %; queue depth 4+4, 1 MiB blocks: enough
    bottleneck   source 13 %, destination 60 %, other 28 %; idle: source 1 %,
                 destination 6 %
    reads        4128 requests of 256 KiB; latency p50 85 µs, p90 170 µs,
                 p99 425 µs, max 3.40 ms
    writes       4128 requests of 256 KiB; latency p50 350 µs, p90 700 µs,
                 p99 1.75 ms, max 14.0 ms
    page cache   source 0 bytes → 4.10 kB, destination 0 bytes → 4.10 kB
    note:  the locked memory limit is too low for registered buffers; unregistered
           buffers were used

    To copy the rest:
      haul copy --skip 1082130432 --seek 1082130432 --count 1065353216 --yes /dev/disk/by-id/ata-old-disk /dev/sdb
    (A digest of all data requires copying all of it.)
    ");
}

#[test]
fn the_resume_command_has_no_note_about_digests_because_it_gives_the_digest_of_all_data() {
    let mut ended = examples::interrupted();
    ended.kept = Some(JournalTotals { left: Some("/j".into()), ..JournalTotals::default() });
    let text = outcome(&examples::plan(), &ended, &examples::args(), Verbosity::Short);
    assert!(text.contains("haul copy --resume") && !text.contains("A digest of all data"), "{text}");
}

#[test]
fn a_failed_copy_reports_the_reason_first() {
    let text = outcome(&examples::plan(), &examples::failed(), &examples::args(), Verbosity::Full);
    insta::assert_snapshot!(bare(&text), @r"
    haul: cannot read source /dev/sda at byte 1073741824 (sector 2097152 of 512 bytes): Input/output error
      → See the kernel log (dmesg) for the device error, and copy the readable part with ddrescue.

    haul: stopped after 1.07 GB of 2.15 GB (50 %) in 0.27 s, 4.01 GB/s (3.73 GiB/s),
          durable
    source       /dev/disk/by-id/ata-old-disk → /dev/sda, block device, direct
    destination  /dev/sdb, block device, direct
    copied       the first 1.07 GB (1073741824 bytes), contiguous; durable
    bytes        1082130432 bytes
    time         0.27 s: 0.25 s copying, 0.02 s flushing
    estimate     0.25 s, limited by the destination
    rate         4.01 GB/s (3.73 GiB/s); 4.33 GB/s (4.03 GiB/s) without flushing
    cpu          0.050 s user, 0.120 s system, 0.157 s per GB
    memory       peak RSS 19.1 MB
    engine       ring: io_uring, fixed buffers, huge pages
    auto-tune    queue depth 4+2, 1 MiB blocks; raised throughput by 31 %, the
                 maximum found; auto-tune overhead 1.5 %
    trials       queue depth 4+2, 1 MiB blocks: +31 %; queue depth 8+2,
                 1 MiB blocks: -1 %; queue depth 4+4, 1 MiB blocks: enough
    bottleneck   source 13 %, destination 60 %, other 28 %; idle: source 1 %,
                 destination 6 %
    reads        4128 requests of 256 KiB; latency p50 85 µs, p90 170 µs,
                 p99 425 µs, max 3.40 ms
    writes       4128 requests of 256 KiB; latency p50 350 µs, p90 700 µs,
                 p99 1.75 ms, max 14.0 ms
    page cache   source 0 bytes → 4.10 kB, destination 0 bytes → 4.10 kB

    To copy the rest, after fixing the cause:
      haul copy --skip 1073741824 --seek 1073741824 --count 1073741824 --yes /dev/disk/by-id/ata-old-disk /dev/sdb
    ");
}

#[test]
fn an_error_is_one_message_without_rust_terms() {
    insta::assert_snapshot!(bare(&error(&examples::bad_sector())), @r"
    haul: cannot read source /dev/sda at byte 1073741824 (sector 2097152 of 512 bytes): Input/output error
      → See the kernel log (dmesg) for the device error, and copy the readable part with ddrescue.
    ");
    let bare_error = Error::new(Kind::Usage, "the count 12Q has an unknown suffix");
    assert_eq!(bare(&error(&bare_error)), "haul: the count 12Q has an unknown suffix\n");
}

#[test]
fn the_prompt_marks_the_data_to_be_erased() {
    let (source, mut dest) = (examples::source(), examples::dest());
    dest.partitions[0].len = 3 << 30;
    dest.partitions[1].offset = 4 << 30;
    insta::assert_snapshot!(bare(&confirm(&examples::plan(), &source, &dest)), @r#"
    source       /dev/disk/by-id/ata-old-disk → /dev/sda
                 block device, 2.15 GB (2.00 GiB, 2147483648 bytes), 512-byte blocks
                 QEMU HARDDISK, rotational
                 contains: ext4 "data"
    destination  /dev/sdb  <- WILL BE ERASED
                 block device, 1.00 TB (931.5 GiB, 1000204886016 bytes),
                 512-byte blocks
                 Samsung SSD 870 EVO 1TB, serial S6PUNX0T123456, sata, SSD
                 contains: GPT
                   sdb1     3.22 GB  vfat "EFI"   ERASED in part
                   sdb2    999.7 GB  ext4 "root"  untouched

    The first 2.15 GB (2147483648 bytes) of 1.00 TB on /dev/sdb (Samsung SSD 870 EVO
    1TB, serial S6PUNX0T123456, sata, SSD) will be overwritten and cannot be
    recovered.
    Type "yes" to continue, anything else to stop:
    "#);
}

#[test]
fn the_mark_of_data_to_be_erased_is_red() {
    let text = confirm(&examples::plan(), &examples::source(), &examples::dest());
    assert!(text.contains("\u{1b}[1m\u{1b}[31m<- WILL BE ERASED"), "{text:?}");
}

#[test]
fn the_prompt_for_a_stream_reports_the_size_as_unknown() {
    let mut plan = examples::plan();
    plan.len = None;
    let text = bare(&confirm(&plan, &Facts::new("-", EndpointKind::Pipe), &examples::dest()));
    assert!(text.contains("to the length of the source"), "{text}");
}

#[test]
fn only_the_full_word_yes_confirms() {
    let table = [
        ("yes\n", true),
        ("YES\n", true),
        (" yes \n", true),
        ("yes", true),
        ("y\n", false),
        ("yesterday\n", false),
        ("no\nyes\n", false),
        ("\n", false),
        ("", false),
    ];
    for (answer, agreed) in table {
        let mut asked = Vec::new();
        assert_eq!(ask("Go? ", &mut BufReader::new(answer.as_bytes()), &mut asked).unwrap(), agreed, "{answer:?}");
        assert!(asked.starts_with(b"Go? "));
    }
}

#[test]
fn an_overlong_answer_does_not_confirm() {
    let mut input = BufReader::new(io::repeat(b'y'));
    assert!(!ask("Go? ", &mut input, &mut Vec::new()).unwrap());
}

#[test]
fn digests_are_printed_in_the_format_of_checksum_tools() {
    let digest = |kind| Digest { kind, hex: "00ff".to_owned() };
    let digests = [HashKind::Sha256, HashKind::Blake3, HashKind::Md5, HashKind::Xxh3].map(digest);
    insta::assert_snapshot!(digest_lines(&digests, "/dev/sda"), @r"
    SHA256 (/dev/sda) = 00ff
    BLAKE3 (/dev/sda) = 00ff
    MD5 (/dev/sda) = 00ff
    XXH128 (/dev/sda) = 00ff
    ");
    assert_eq!(digest_lines(&digests[..1], "a\nb\\"), "\\SHA256 (a\\nb\\\\) = 00ff\n");
}

#[test]
fn the_rest_of_a_forward_copy_begins_after_the_copied_bytes() {
    let mut plan = examples::plan();
    plan.source.map = AddressMap::from(100);
    plan.dest.map = AddressMap::from(7);
    plan.len = Some(1000);
    let mut outcome = examples::interrupted();
    outcome.claimed = Extent::new(0, 600);
    let args = words("copy --skip 100 --seek=7 a --count=1000 b --depth 4 --hash blake3 -- --hash");
    let line = continue_command(&plan, &outcome, &args).unwrap();
    assert_eq!(line, "haul copy --skip 700 --seek 607 --count 400 a b --depth 4 -- --hash");
}

#[test]
fn the_rest_of_a_backward_copy_is_its_first_part() {
    let mut plan = examples::plan();
    plan.direction = Direction::Backward;
    (plan.source.map, plan.dest.map, plan.len) = (AddressMap::from(100), AddressMap::from(150), Some(1000));
    let mut outcome = examples::interrupted();
    outcome.claimed = Extent::new(400, 600);
    let line = continue_command(&plan, &outcome, &words("copy a b")).unwrap();
    assert_eq!(line, "haul copy --skip 100 --seek 150 --count 400 a b");
    outcome.claimed = Extent::new(0, 0);
    let line = continue_command(&plan, &outcome, &words("copy a b")).unwrap();
    assert_eq!(line, "haul copy --skip 100 --seek 150 --count 1000 a b");
}

#[test]
fn the_resume_command_is_quoted_for_the_shell() {
    let args = vec!["copy".to_owned(), "my disk.img".to_owned(), "$x".to_owned()];
    let line = continue_command(&examples::plan(), &examples::failed(), &args).unwrap();
    assert_eq!(line, "haul copy --skip 1073741824 --seek 1073741824 --count 1073741824 'my disk.img' '$x'");
}

#[test]
fn an_endless_source_is_continued_without_skip() {
    let mut plan = examples::plan();
    plan.source = examples::side("/dev/zero", "/dev/zero", EndpointKind::Endless, 0);
    let line = continue_command(&plan, &examples::failed(), &words("copy /dev/zero /dev/sdb")).unwrap();
    assert_eq!(line, "haul copy --seek 1073741824 --count 1073741824 /dev/zero /dev/sdb");
}

/// The report's text if no command can continue the copy.
fn impossible(plan: &Plan, ended: &Outcome) -> String {
    assert_eq!(continue_command(plan, ended, &words("copy a b")), None);
    match Rest::of(plan, ended, &words("copy a b")) {
        Rest::Impossible(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_report_of_a_stream_offers_no_resume_command() {
    let mut plan = examples::plan();
    plan.source.kind = EndpointKind::Pipe;
    assert!(impossible(&plan, &examples::interrupted()).contains("cannot be read again"));
    let mut plan = examples::plan();
    plan.dest.kind = EndpointKind::Pipe;
    assert!(impossible(&plan, &examples::interrupted()).contains("the stream to destination"));
}

#[test]
fn a_failed_copy_onto_itself_must_not_be_repeated_but_an_interrupted_one_may() {
    let mut plan = examples::plan();
    plan.write_order = WriteOrder::Submitted;
    assert!(
        continue_command(&plan, &examples::failed(), &words("copy a b")).is_some(),
        "a head that moves is no overlap"
    );
    plan.overlaps = true;
    assert!(impossible(&plan, &examples::failed()).contains("overlap"));
    assert!(continue_command(&plan, &examples::interrupted(), &words("copy a b")).is_some());
}

#[test]
fn after_a_failed_flush_no_written_byte_is_claimed() {
    let mut outcome = examples::failed();
    outcome.durable = false;
    assert!(impossible(&examples::plan(), &outcome).contains("from the start"));
    outcome.claimed = Extent::new(0, 2 << 30);
    assert!(impossible(&examples::plan(), &outcome).contains("from the start"));
}

#[test]
fn the_resume_command_flushes_if_only_the_flush_is_missing() {
    let mut outcome = examples::interrupted();
    outcome.claimed = Extent::new(0, 2 << 30);
    outcome.durable = false;
    assert_eq!(continue_command(&examples::plan(), &outcome, &[]).unwrap(), "sync /dev/sdb");
}

#[test]
fn a_path_that_is_not_utf_8_gives_no_command() {
    use std::os::unix::ffi::OsStringExt;
    let mut plan = examples::plan();
    plan.source.path = PathBuf::from(std::ffi::OsString::from_vec(vec![0xff]));
    assert!(impossible(&plan, &examples::interrupted()).contains("not valid UTF-8"));
}

#[test]
fn unreadable_sectors_are_in_the_verdict_and_listed() {
    let mut outcome = examples::complete();
    let runs = (0..10).map(|at| Extent::new((1 << 20) * at + 512, 512 * (at + 1))).collect();
    outcome.unread[0] = Unread { runs, sector_bytes: 512, failed_reads: 70, failing: Duration::from_millis(12_340) };
    outcome.digests = vec![Digest { kind: HashKind::Sha256, hex: "00".repeat(32) }];
    let text = bare(&super::outcome(&examples::plan(), &outcome, &examples::args(), Verbosity::Full));
    assert!(text.lines().all(|line| columns(line) <= 80));
    insta::assert_snapshot!(text.lines().take(12).collect::<Vec<_>>().join("\n"));
}

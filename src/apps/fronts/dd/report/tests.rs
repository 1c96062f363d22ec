use super::Quoting;
use super::counts::transferred;
use super::counts::{human, records};
use crate::apps::fronts::record_counts::RecordCounts;
use std::time::Duration;

#[test]
fn sizes_are_rounded_half_to_even() {
    let table = [
        (1050, "1.0 kB"),
        (1051, "1.1 kB"),
        (1150, "1.2 kB"),
        (1250, "1.2 kB"),
        (9949, "9.9 kB"),
        (9950, "10 kB"),
        (10_500, "10 kB"),
        (11_500, "12 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (1_050_000, "1.0 MB"),
        (999_500_000, "1.0 GB"),
    ];
    for (bytes, text) in table {
        assert_eq!(human(bytes, 1, 1000, true), text, "{bytes}");
    }
    assert_eq!(human(1 << 60, 1, 1024, true), "1.0 EiB");
    assert_eq!(human(99_501, 1, 1024, true), "97 KiB");
    assert_eq!(human(u64::MAX.into(), 1, 1000, true), "18 EB");
}

#[test]
fn the_transfer_line_omits_redundant_sizes() {
    let line = |bytes| transferred(bytes, Duration::from_nanos(106_128), false);
    assert_eq!(line(0), "0 bytes copied, 0.000106128 s, 0.0 kB/s");
    assert_eq!(line(1), "1 byte copied, 0.000106128 s, 9.4 kB/s");
    assert_eq!(line(1000), "1000 bytes (1.0 kB) copied, 0.000106128 s, 9.4 MB/s");
    assert_eq!(line(1024), "1024 bytes (1.0 kB, 1.0 KiB) copied, 0.000106128 s, 9.6 MB/s");
    assert_eq!(transferred(512, Duration::from_nanos(29_680), false), "512 bytes copied, 2.968e-05 s, 17.3 MB/s");
    assert_eq!(transferred(5, Duration::ZERO, false), "5 bytes copied, 0 s, Infinity B/s");
    assert_eq!(
        transferred(99_940, Duration::from_millis(1), false),
        "99940 bytes (100 kB, 98 KiB) copied, 0.001 s, 99.9 MB/s"
    );
    assert_eq!(
        transferred(99_950, Duration::from_millis(1), false),
        "99950 bytes (100 kB, 98 KiB) copied, 0.001 s, 100 MB/s"
    );
    assert_eq!(
        transferred(3_000_000, Duration::from_millis(1499), true),
        "3000000 bytes (3.0 MB, 2.9 MiB) copied, 1 s, 2.0 MB/s"
    );
    assert_eq!(transferred(5, Duration::from_secs(1_234_567), false), "5 bytes copied, 1.23457e+06 s, 0.0 kB/s");
    assert_eq!(transferred(5, Duration::from_secs(12), false), "5 bytes copied, 12 s, 0.0 kB/s");
}

#[test]
fn truncated_lines_are_counted_if_any() {
    let counts = RecordCounts { read_full: 1, read_partial: 2, written_full: 3, ..RecordCounts::default() };
    assert_eq!(records(&counts), "1+2 records in\n3+0 records out\n");
    let one = records(&RecordCounts { truncated: 1, ..counts });
    assert!(one.ends_with("\n1 truncated record\n"), "{one}");
    let two = records(&RecordCounts { truncated: 2, ..counts });
    assert!(two.ends_with("\n2 truncated records\n"), "{two}");
}

#[test]
fn paths_are_quoted_so_that_a_shell_reads_them_back() {
    let plain = Quoting { utf8: false };
    let table: [(&[u8], &str); 9] = [
        (b"a b", "'a b'"),
        (b"it's", "\"it's\""),
        (b"q\"uo", "'q\"uo'"),
        (b"both'\"", "'both'\\''\"'"),
        (b"new\nline", "'new'$'\\n''line'"),
        (b"\xc3\xa9", "''$'\\303\\251'"),
        (b"", "''"),
        (b"it's $", "'it'\\''s $'"),
        (b"a\\b", "'a\\b'"),
    ];
    for (path, quoted) in table {
        assert_eq!(String::from_utf8(plain.path(path)).unwrap(), quoted);
    }
    assert_eq!(String::from_utf8(Quoting { utf8: true }.path("é".as_bytes())).unwrap(), "'é'");
}

#[test]
fn paths_without_special_characters_stay_unquoted() {
    let plain = Quoting::default();
    for path in ["in1000", "{x}", "a~b", "a#", "a,b", "a@b%+", "-"] {
        assert_eq!(plain.path_if_needed(path.as_bytes()), path.as_bytes());
    }
    for path in ["a b", "it's", "a=b", "a:b", "~ab", "a!b", "a^b", "a[b", "", "#x", "{"] {
        assert_ne!(plain.path_if_needed(path.as_bytes()), path.as_bytes(), "{path}");
    }
}

#[test]
fn words_are_quoted_by_the_locale() {
    let both = |word: &[u8]| [false, true].map(|utf8| String::from_utf8(Quoting { utf8 }.word(word)).unwrap());
    assert_eq!(both(b"x"), ["'x'", "‘x’"]);
    assert_eq!(both(b"it's"), ["'it\\'s'", "‘it's’"]);
    assert_eq!(both("é".as_bytes()), ["'\\303\\251'", "‘é’"]);
    assert_eq!(both(b"a\nb\\"), ["'a\\nb\\\\'", "‘a\\nb\\\\’"]);
}

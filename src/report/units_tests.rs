use super::*;

#[test]
fn binary_sizes_have_three_or_four_digits_and_carry_into_the_next_unit() {
    let table = [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1.00 KiB"),
        (1536, "1.50 KiB"),
        (10 << 20, "10.0 MiB"),
        ((10 << 20) - 1, "10.0 MiB"),
        ((1 << 30) - 1, "1.00 GiB"),
        (1000 << 20, "1000.0 MiB"),
        (1_000_204_886_016, "931.5 GiB"),
        (u64::MAX, "16.0 EiB"),
    ];
    for (number, text) in table {
        assert_eq!(scaled(number, Units::Iec), text, "{number}");
    }
}

#[test]
fn decimal_sizes_lead_and_carry_at_a_thousand() {
    let table = [(999, "999 bytes"), (1000, "1.00 kB"), (999_960, "1.00 MB"), (1_000_204_886_016, "1.00 TB")];
    for (number, text) in table {
        assert_eq!((size(number), scaled(number, Units::Si)), (text.to_owned(), text.to_owned()), "{number}");
    }
}

#[test]
fn exact_bytes_follow_a_rounded_size() {
    let gib_and_a_half = 1_610_612_736;
    assert_eq!(bytes(gib_and_a_half), "1.61 GB (1610612736 bytes)");
    assert_eq!(bytes_in(gib_and_a_half, Units::Iec), "1.50 GiB (1610612736 bytes)");
    assert_eq!(bytes(512), "512 bytes");
    assert_eq!(bytes(1), "1 byte");
    assert_eq!(capacity(1_000_204_886_016), "1.00 TB (931.5 GiB, 1000204886016 bytes)");
    assert_eq!(capacity_in(1_000_204_886_016, Units::Iec), "931.5 GiB (1.00 TB, 1000204886016 bytes)");
}

#[test]
fn chosen_sizes_are_named_in_the_largest_unit_that_divides_them() {
    let table = [
        (0, "0 bytes"),
        (4095, "4095 bytes"),
        (393_216, "384 KiB"),
        (1 << 20, "1 MiB"),
        (3 << 30, "3 GiB"),
        (1 << 60, "1 EiB"),
        (40_000_000, "40 MB"),
    ];
    for (number, text) in table {
        assert_eq!(block(number), text, "{number}");
    }
}

#[test]
fn a_rate_is_in_the_leading_units_with_the_others_in_parentheses() {
    assert_eq!(rate(1_000_000), "1.00 MB/s (976.6 KiB/s)");
    assert_eq!(rate(7_953_642_162), "7.95 GB/s (7.41 GiB/s)");
    assert_eq!(rate_in(7_953_642_162, Units::Iec), "7.41 GiB/s (7.95 GB/s)");
    assert_eq!(rate(0), "0 bytes/s");
    assert_eq!(rate_at_a_glance(40_000_000), "40.0 MB/s");
}

#[test]
fn a_rate_and_its_mean_share_a_unit() {
    assert_eq!(rate_and_mean(412_000_000, 900_000), "412.0 (mean 0.90) MB/s");
    assert_eq!(rate_and_mean_in(412 << 20, 900 << 10, Units::Iec), "412.0 (mean 0.88) MiB/s");
    assert_eq!(rate_and_mean_in(0, 2 << 30, Units::Iec), "0.00 (mean 2.00) GiB/s");
    assert_eq!(rate_and_mean(5, 7), "5 (mean 7) bytes/s");
}

#[test]
fn a_rate_needs_time() {
    assert_eq!(per_second(1, Duration::ZERO), None);
    assert_eq!(per_second(3, Duration::from_millis(1500)), Some(2));
    assert_eq!(per_second(u64::MAX, Duration::from_nanos(1)), Some(u64::MAX));
}

#[test]
fn durations_are_rounded_before_their_unit_is_chosen() {
    let table = [
        (0, "0 µs"),
        (999, "999 µs"),
        (3_400, "3.40 ms"),
        (9_999, "10.0 ms"),
        (10_000, "0.01 s"),
        (270_000, "0.27 s"),
        (996_000, "1.0 s"),
        (3_249_000, "3.2 s"),
        (59_960_000, "1 min 00 s"),
        (252_000_000, "4 min 12 s"),
        (3_599_600_000, "1 h 00 min"),
        (7_380_000_000, "2 h 03 min"),
        (100_800_000_000, "1 d 04 h"),
    ];
    for (micros, text) in table {
        assert_eq!(duration(Duration::from_micros(micros)), text, "{micros} µs");
    }
}

#[test]
fn latencies_go_from_microseconds_to_seconds() {
    let table =
        [(0, "0 µs"), (85, "85 µs"), (1_240, "1.24 ms"), (99_960, "100 ms"), (999_600, "1.0 s"), (2_310_000, "2.3 s")];
    for (micros, text) in table {
        assert_eq!(latency(micros), text, "{micros} µs");
    }
}

#[test]
fn remaining_time_is_rounded_up_to_seconds() {
    let table = [(0, "0 s"), (1, "1 s"), (11_200, "12 s"), (59_001, "1 min 00 s"), (252_000, "4 min 12 s")];
    for (millis, text) in table {
        assert_eq!(time_left(Duration::from_millis(millis)), text, "{millis} ms");
    }
    assert_eq!(time_passed(Duration::from_millis(11_900)), "11 s");
}

#[test]
fn one_hundred_percent_means_every_byte() {
    let table =
        [(0, 10, 0), (999, 1000, 99), (1000, 1000, 100), (u64::MAX - 1, u64::MAX, 99), (0, 0, 100), (9, 3, 100)];
    for (part, whole, percents) in table {
        assert_eq!(percent(part, whole), percents, "{part} of {whole}");
    }
}

#[test]
fn nonzero_shares_of_time_are_not_rounded_to_zero() {
    let share_of = |part, whole| share(Duration::from_millis(part), Duration::from_millis(whole));
    assert_eq!(share_of(61, 100), "61 %");
    assert_eq!(share_of(1, 1000), "< 1 %");
    assert_eq!(share_of(0, 1000), "0 %");
    assert_eq!(share_of(5, 0), "0 %");
}

#[test]
fn processor_time_is_in_milliseconds() {
    assert_eq!(seconds(Duration::from_micros(85_400)), "0.085 s");
    assert_eq!(seconds(Duration::from_millis(12_340)), "12.3 s");
}

//! GNU dd and haul under the name dd, with the same command lines and inputs: bytes, counts, status and messages.
//!
//! HAUL_DD_CASES is the number of random command lines, HAUL_DD_SEED the first seed; `make test-long` uses both. A
//! line on which they differ is minimized before it is printed.
use crate::dd;
use crate::dd::words::{CONVERSIONS, FLAGS, operand, runner};
use crate::dd::{Case, Stdin, Stdout, compare};
use crate::support::{memory_dir, repeated};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

fn input() -> impl Strategy<Value = Vec<u8>> {
    let letter = prop_oneof![select(&b"aZ  \n\0"[..]), any::<u8>()];
    let any_len = prop_oneof![Just(0usize), Just(512), Just(1000), 0..3000usize];
    any_len.prop_flat_map(move |len| {
        let bytes = prop::collection::vec(letter.clone(), len);
        // Zeros at the end, for records that are skipped.
        (bytes, 0..=len, any::<bool>()).prop_map(|(mut bytes, zeros_from, zeros)| {
            if zeros {
                bytes[zeros_from..].fill(0);
            }
            bytes
        })
    })
}

fn case() -> impl Strategy<Value = Case> {
    let stdin = prop_oneof![
        2 => Just(Stdin::Nothing),
        1 => select(&[0u64, 5, 600][..]).prop_map(Stdin::File),
        3 => prop::collection::vec(select(&[100usize, 256, 511, 512, 513, 700, 1024]), 1..6).prop_map(Stdin::Pipe),
    ];
    let stdout = select(&[Stdout::Pipe, Stdout::Pipe, Stdout::File, Stdout::Append, Stdout::Full][..]);
    let output = prop::option::of(prop::collection::vec(any::<u8>(), 0..2000));
    let words = prop::collection::vec(operand(), 0..6);
    // Sometimes large enough for threads, or for the copy of blocks.
    let large = prop_oneof![60 => Just(0usize), 2 => Just(100_000), 1 => Just(2_500_000), 1 => Just(9_000_000)];
    let all = (words, input(), output, stdin, stdout, any::<bool>(), large);
    all.prop_map(|(words, mut input, output, stdin, stdout, to_file, large)| {
        let mut words = words;
        // Many system calls for each kilobyte would take minutes, and a pipe that is fed piece by piece hours.
        let is_slow = |word: &String| word.split(['=', ',']).any(|part| part.len() < 3 || part.ends_with("sync"));
        if large > input.len() && !input.is_empty() && !matches!(stdin, Stdin::Pipe(_)) && !words.iter().any(is_slow) {
            input = repeated(&input, large);
        }
        if stdin == Stdin::Nothing {
            words.insert(0, "if=in".to_owned());
        }
        if to_file {
            words.insert(0, "of=out".to_owned());
        }
        Case { words, input, output, stdin, stdout }
    })
}

/// Excludes known differences, in which haul is better, and cases that never end with either.
fn is_comparable(case: &Case) -> bool {
    let has = |what: &str| case.words.iter().any(|word| word.contains(what));
    let directory = case.words.iter().any(|word| word == "if=/");
    !(directory && has("noerror"))
}

#[test]
fn random_command_lines_match_gnu_dd() {
    if dd::reference().is_none() {
        return;
    }
    let above = memory_dir();
    let (mut runner, seed) = runner(1000);
    let result = runner.run(&case(), |case| {
        prop_assume!(is_comparable(&case));
        compare(&case, above.path()).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("HAUL_DD_SEED={seed}: {error}");
    }
}

/// Each value of each operand that has an effect by itself.
fn settings() -> Vec<String> {
    let plain = [
        "bs=100",
        "ibs=100",
        "obs=300",
        "cbs=8",
        "skip=1",
        "skip=3B",
        "seek=1",
        "seek=700B",
        "count=2",
        "count=0",
        "count=700B",
        "iseek=2",
        "oseek=2",
        "status=none",
        "status=noxfer",
        "status=progress",
    ];
    let plain = plain.into_iter().map(str::to_owned);
    let conversions = CONVERSIONS.iter().map(|word| format!("conv={word}"));
    let flags = FLAGS.iter().flat_map(|word| [format!("iflag={word}"), format!("oflag={word}")]);
    plain.chain(conversions).chain(flags).collect()
}

#[test]
fn every_pair_of_operands_matches_gnu_dd() {
    if dd::reference().is_none() {
        return;
    }
    let above = memory_dir();
    let settings = settings();
    let input: Vec<u8> = repeated(b"Some lines  \nof text\n\nand zeros\0\0\0", 1300);
    let mut failures = Vec::new();
    for (at, one) in settings.iter().enumerate() {
        for other in &settings[at..] {
            let words = ["if=in".to_owned(), "of=out".to_owned(), one.clone(), other.clone()].to_vec();
            let output = Some(vec![b'x'; 2000]);
            let case = Case { words, input: input.clone(), output, stdin: Stdin::Nothing, stdout: Stdout::Pipe };
            failures.extend(compare(&case, above.path()).err());
        }
    }
    assert!(failures.is_empty(), "{} pairs differ, the first:\n{}", failures.len(), failures[0]);
}

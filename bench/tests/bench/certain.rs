//! The beds about verification in tiny size: a contender that does its task is right, one that does nothing is not.
use crate::support::{Quiet, cannot_run};
use haul_bench::bed::{self, Size, Task};
use haul_bench::contender::{self, Entry};
use haul_bench::process::Interrupt;
use haul_bench::race::race;
use haul_bench::result::{BedResult, Verdict};
use haul_bench::workplace::Workplace;
use std::os::unix::fs::PermissionsExt;

/// The programs that a test needs.
const TOOLS: &[&str] = &["nbdkit", "nbdfuse"];

/// The required part of haul, implemented with dd and cmp.
const STAND_IN: &str = r#"
verb=$1
while (( $# > 2 )); do
    case $1 in
    --also) also=$2 ;;
    --manifest) [[ ! -e $2 ]] || exit 9; : > "$2" ;;
    esac
    shift
done
[[ $verb = verify ]] && exec cmp "$1" "$2"
[[ $2 = /dev/null ]] && exec cat "$1" >/dev/null
for dest in "$2" $also; do
    dd if="$1" of="$dest" bs=64k conv=fsync,notrunc status=none || exit 1
done
"#;

/// Runs all contenders on every bed about verification `rounds` times, with a script instead of haul.
fn on_every_bed(script: &str, rounds: u32) -> Vec<(Task, BedResult)> {
    let workplace = Workplace::new(&std::env::temp_dir()).unwrap();
    let haul = workplace.disk().join("haul");
    std::fs::write(&haul, format!("#!/bin/bash\n{script}\n")).unwrap();
    std::fs::set_permissions(&haul, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (contenders, _) = contender::present(&haul);
    let recipes = bed::recipes().into_iter().filter(|recipe| recipe.name.starts_with("certain-"));
    let result = recipes.map(|recipe| {
        let bed = (recipe.make)(&recipe, &workplace, Size::Tiny).unwrap();
        let entries: Vec<Entry> = contender::entries(&contenders, &bed, &haul);
        (bed.task, race(&bed, &entries, rounds, &Interrupt::default(), &mut Quiet).unwrap())
    });
    result.collect()
}

#[test]
fn a_correct_copier_is_right_on_every_bed_and_in_every_round() {
    if cannot_run(TOOLS) {
        return;
    }
    let results = on_every_bed(STAND_IN, 2);
    assert!(results.len() >= 8, "{}", results.len());
    for (_, bed) in results {
        assert_eq!(bed.contenders[0].name, "haul", "{}", bed.name);
        assert!(bed.contenders.len() >= 2, "{}: no other program to compare with", bed.name);
        assert!(!bed.limits.is_empty(), "{}: no limit", bed.name);
        for contender in &bed.contenders {
            let verdicts: Vec<&Verdict> = contender.runs.iter().map(|run| &run.verdict).collect();
            assert_eq!(verdicts, [&Verdict::Right; 2], "{}: {}", bed.name, contender.name);
        }
    }
}

#[test]
fn a_copier_that_does_nothing_is_wrong_on_every_bed() {
    if cannot_run(TOOLS) {
        return;
    }
    for (task, bed) in on_every_bed("exit 0", 1) {
        let verdict = &bed.contenders[0].runs[0].verdict;
        match task {
            Task::Compare => {
                let wanted = Verdict::Failed { why: "does not detect one differing bit".into() };
                assert_eq!(*verdict, wanted, "{}", bed.name);
            }
            // Nearly equal data differs in its first piece, though not necessarily in its first byte.
            _ => assert!(
                matches!(*verdict, Verdict::CopiedWrongly { first_difference: 0..16 }),
                "{}: {verdict:?}",
                bed.name
            ),
        }
    }
}

#[test]
fn a_copier_that_omits_the_second_dest_is_wrong() {
    if cannot_run(TOOLS) {
        return;
    }
    for (task, bed) in on_every_bed(&STAND_IN.replace("$also", ""), 1) {
        let right = bed.contenders[0].runs[0].verdict == Verdict::Right;
        assert_eq!(right, task != Task::Both, "{}", bed.name);
    }
}

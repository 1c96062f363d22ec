//! The race on a tiny bed: correct copies are ranked, wrong ones and failures are marked, nothing is left behind.
use haul_bench::bed::{Bed, Size, recipe};
use haul_bench::contender::Entry;
use haul_bench::numbers::{Standing, best_peer, standing};
use haul_bench::process::{Interrupt, Line};
use haul_bench::race::{Observer, race};
use haul_bench::result::{BedResult, Run, Verdict};
use haul_bench::workplace::Workplace;
use std::process::Command;

/// Whether a test is skipped; prints why.
fn cannot_run() -> bool {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: not root, so no mounts and no loop devices");
        return true;
    }
    false
}

/// Counts runs, and interrupts after some of them.
#[derive(Default)]
struct Watch {
    runs: u32,
    interrupt_after: Option<(u32, Interrupt)>,
}

impl Observer for Watch {
    fn ran(&mut self, _: &Bed, _: &str, _: &Run) {
        self.runs += 1;
        if let Some((after, interrupt)) = &self.interrupt_after
            && self.runs == *after
        {
            interrupt.set();
        }
    }

    fn doing(&mut self, _: &str) {}
}

fn workplace() -> Workplace {
    Workplace::new(&std::env::temp_dir()).unwrap()
}

fn bed(name: &str, workplace: &Workplace) -> Bed {
    let recipe = recipe(name).unwrap();
    (recipe.make)(&recipe, workplace, Size::Tiny).unwrap()
}

fn entry(name: &str, line: Line) -> Entry {
    Entry { name: name.into(), version: String::new(), aside: false, line }
}

/// A correct copy by dd, labelled as haul's.
fn good(bed: &Bed) -> Entry {
    let (source, dest) = (bed.source.path.display(), bed.dest.path.display());
    entry("haul", Line::words(&format!("dd if={source} of={dest} bs=64k conv=fsync status=none")))
}

fn run(bed: &Bed, entries: &[Entry], rounds: u32) -> BedResult {
    race(bed, entries, rounds, &Interrupt::default(), &mut Watch::default()).unwrap()
}

#[test]
fn a_correct_copy_is_ranked_with_plausible_numbers() {
    if cannot_run() {
        return;
    }
    for name in ["ram", "file-new", "file-sparse", "file-device"] {
        let workplace = workplace();
        let bed = bed(name, &workplace);
        let result = run(&bed, &[good(&bed)], 2);
        let runs = &result.contenders[0].runs;
        assert_eq!(runs.len(), 2, "{name}");
        assert!(runs.iter().all(|run| run.verdict == Verdict::Right), "{name}: {runs:?}");
        assert!(runs.iter().all(|run| run.wall_s > 0.0 && run.wall_s >= run.flush_s), "{name}: {runs:?}");
        assert!(runs.iter().all(|run| run.resident_bytes > 100_000), "{name}: {runs:?}");
        assert!(matches!(standing(&result, &result.contenders[0]), Standing::Ranked(_)), "{name}");
    }
}

#[test]
fn each_run_begins_with_a_fresh_dest() {
    if cannot_run() {
        return;
    }
    for name in ["ram", "file-new", "file-device"] {
        let workplace = workplace();
        let bed = bed(name, &workplace);
        // It does nothing, so it could only be correct because of the previous run.
        let result = run(&bed, &[good(&bed), entry("idle", Line::words("true"))], 1);
        let verdict = &result.contenders[1].runs[0].verdict;
        // Noise may begin with the bytes that were there before, but not for long.
        let wrong_at_once = matches!(*verdict, Verdict::CopiedWrongly { first_difference: 0..16 });
        assert!(wrong_at_once, "{name}: {verdict:?}");
    }
}

#[test]
fn a_wrong_copier_is_marked_with_the_byte_and_not_run_again() {
    if cannot_run() {
        return;
    }
    let workplace = workplace();
    let bed = bed("ram", &workplace);
    let (source, dest) = (bed.source.path.display(), bed.dest.path.display());
    let swapped = format!(
        "dd if={source} of={dest} bs=64k status=none && \
         dd if={source} of={dest} bs=64k count=1 skip=3 seek=4 conv=notrunc,fsync status=none"
    );
    let result = run(&bed, &[good(&bed), entry("swaps blocks", Line::shell(swapped))], 3);
    let wrong = &result.contenders[1];
    assert_eq!(wrong.runs.len(), 1);
    let Verdict::CopiedWrongly { first_difference } = wrong.runs[0].verdict else { panic!("{:?}", wrong.runs) };
    // Noise may by chance be equal in the first bytes of the block.
    assert!((4 * 65536..4 * 65536 + 64).contains(&first_difference), "{first_difference}");
    assert!(matches!(standing(&result, wrong), Standing::Marked(why) if why.contains("copied wrongly in round 1")));
    assert_eq!(result.contenders[0].runs.len(), 3);
    assert!(best_peer(&result).is_none());
}

#[test]
fn a_failed_copier_is_marked_with_its_last_message() {
    if cannot_run() {
        return;
    }
    let workplace = workplace();
    let bed = bed("ram", &workplace);
    let fails = Line::shell("echo first >&2; echo 'no such luck' >&2; exit 3");
    let result = run(&bed, &[good(&bed), entry("fails", fails), entry("dies", Line::shell("kill -9 $$"))], 2);
    let why = |index: usize| match &result.contenders[index].runs[..] {
        [Run { verdict: Verdict::Failed { why }, .. }] => why.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(why(1), "status 3: no such luck");
    assert_eq!(why(2), "signal 9");
}

#[test]
fn a_pipe_that_breaks_early_is_a_failure() {
    if cannot_run() {
        return;
    }
    let workplace = workplace();
    let bed = bed("stream-out", &workplace);
    let source = bed.source.path.display();
    let good = entry("haul", Line::shell(format!("cat {source} | sha256sum")));
    let short = entry("short", Line::shell(format!("head -c 1000000 {source} | sha256sum")));
    let broken = entry("broken", Line::shell(format!("(cat {source}; exit 1) | sha256sum")));
    let result = run(&bed, &[good, short, broken], 1);
    let verdict = |index: usize| result.contenders[index].runs[0].verdict.clone();
    assert_eq!(verdict(0), Verdict::Right);
    assert_eq!(verdict(1), Verdict::CopiedWrongly { first_difference: 0 });
    assert!(matches!(verdict(2), Verdict::Failed { .. }));
}

#[test]
fn an_interrupt_ends_the_running_command_and_keeps_the_results() {
    if cannot_run() {
        return;
    }
    let workplace = workplace();
    let bed = bed("ram", &workplace);
    let interrupt = Interrupt::default();
    let mut watch = Watch { runs: 0, interrupt_after: Some((2, interrupt.clone())) };
    let marker = format!("{}.5", 10_000 + std::process::id());
    let sleeps = entry("sleeps", Line::shell(format!("sleep {marker}")));
    let entries = [good(&bed), good(&bed), sleeps];
    let result = race(&bed, &entries, 5, &interrupt, &mut watch).unwrap();
    let runs: Vec<_> = result.contenders.iter().map(|contender| contender.runs.len()).collect();
    assert_eq!(runs, [1, 1, 0]);
    let left = Command::new("pgrep").args(["-f", &format!("sleep {marker}")]).output().unwrap();
    assert!(left.stdout.is_empty(), "{}", String::from_utf8_lossy(&left.stdout));
}

//! Sweeps on tiny sides: correct copies are paired, wrong ones and failures are reported and not measured again.
use haul_bench::bed::{Bed, Size};
use haul_bench::process::Interrupt;
use haul_bench::race::Observer;
use haul_bench::result::{Run, Sweep};
use haul_bench::sweep::{Call, recipes, sweep};
use haul_bench::workplace::Workplace;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Whether a test is skipped; prints why.
fn cannot_run() -> bool {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: not root, so no mounts and no loop devices");
        return true;
    }
    false
}

struct Quiet;

impl Observer for Quiet {
    fn ran(&mut self, _: &Bed, _: &str, _: &Run) {}
    fn doing(&mut self, _: &str) {}
}

/// Measures the sweep `name` with a shell script instead of haul; its first word is `dd`.
fn measure(name: &str, script: &str, rounds: u32, interrupt: &Interrupt) -> Sweep {
    let workplace = Workplace::new(&std::env::temp_dir()).unwrap();
    let haul: PathBuf = workplace.disk().join("haul");
    std::fs::write(&haul, format!("#!/bin/bash\nshift\n{script}\n")).unwrap();
    std::fs::set_permissions(&haul, std::fs::Permissions::from_mode(0o755)).unwrap();
    let call = Call { haul: &haul, workplace: &workplace, size: Size::Tiny, rounds: Some(rounds), interrupt };
    let recipe = recipes().into_iter().find(|recipe| recipe.name == name).unwrap();
    sweep(&recipe, &call, &mut Quiet).unwrap()
}

fn names() -> Vec<&'static str> {
    recipes().iter().map(|recipe| recipe.name).collect()
}

#[test]
fn a_correct_copy_is_measured_once_a_round_at_every_point() {
    if cannot_run() {
        return;
    }
    for name in names() {
        let result = measure(name, "exec dd \"$@\"", 2, &Interrupt::default());
        assert!(!result.points.is_empty(), "{name}");
        for point in &result.points {
            assert_eq!(point.wrong, None, "{name}, {}", point.name);
            assert_eq!(point.runs.len(), 2, "{name}, {}", point.name);
            assert!(point.runs.iter().all(|run| run.peer_s > 0.0 && run.haul_s > 0.0), "{name}: {point:?}");
        }
    }
}

#[test]
fn a_copier_that_does_nothing_is_wrong_and_not_measured_again() {
    if cannot_run() {
        return;
    }
    // The output of the previous run of GNU dd must not count as its own.
    for name in names() {
        let result = measure(name, "cat >/dev/null", 2, &Interrupt::default());
        for point in &result.points {
            let why = point.wrong.as_deref().unwrap_or("nothing");
            assert!(why.ends_with("in round 1") && point.runs.is_empty(), "{name}, {}: {why}", point.name);
        }
    }
}

#[test]
fn one_wrong_byte_is_found_in_every_sweep() {
    if cannot_run() {
        return;
    }
    // At the end of a pipe one byte of the noise is changed, elsewhere the one at 5000.
    let script = r#"to=; for word; do case "$word" in of=*) to=${word#of=};; esac; done
        test -n "$to" || { dd "$@" | LC_ALL=C tr '\000' '\001'; exit; }
        dd "$@"
        old=$(dd if="$to" bs=1 skip=5000 count=1 status=none | od -An -tu1)
        printf "\\x$(printf %02x $(((old + 1) % 256)))" | dd of="$to" bs=1 seek=5000 conv=notrunc status=none"#;
    for name in names() {
        let result = measure(name, script, 1, &Interrupt::default());
        for point in &result.points {
            let why = point.wrong.as_deref().unwrap_or("nothing");
            let expected = if name.contains("pipe") { "differ: byte " } else { "from byte 5000 on" };
            assert!(why.contains(expected), "{name}, {}: {why}", point.name);
        }
    }
}

#[test]
fn an_interrupt_keeps_the_results() {
    if cannot_run() {
        return;
    }
    let interrupt = Interrupt::default();
    interrupt.set();
    let result = measure("dd-file", "exec dd \"$@\"", 3, &interrupt);
    assert!(result.points.iter().all(|point| point.runs.is_empty() && point.wrong.is_none()));
}

//! The beds of unlike disks in tiny size: every drawn pair is made and copied, and each run keeps the reported pace.
use crate::support::{Quiet, cannot_run};
use haul_bench::bed::{self, Size, Task};
use haul_bench::contender;
use haul_bench::process::Interrupt;
use haul_bench::race::race;
use haul_bench::result::Verdict;
use haul_bench::workplace::Workplace;
use std::os::unix::fs::PermissionsExt;

/// The programs that a test needs.
const TOOLS: &[&str] = &["nbdkit", "nbdfuse"];

/// A replacement for haul: copies, and prints its block size.
const STAND_IN: &str = r#"
while (( $# > 2 )); do
    [[ $1 = --block-size ]] && size=$2
    shift
done
echo "{\"blocks\": {\"given\": \"$size\"}}"
exec dd if="$1" of="$2" bs=1M iflag=direct oflag=direct conv=fsync,notrunc status=none
"#;

#[test]
fn every_contender_copies_every_pair_of_a_seed_and_reports_its_pace() {
    if cannot_run(TOOLS) {
        return;
    }
    let workplace = Workplace::new(&std::env::temp_dir()).unwrap();
    let haul = workplace.disk().join("haul");
    std::fs::write(&haul, format!("#!/bin/bash\n{STAND_IN}\n")).unwrap();
    std::fs::set_permissions(&haul, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (contenders, _) = contender::present(&haul);
    let recipes = bed::recipes().into_iter().filter(|recipe| recipe.name.starts_with("unlike-256m-"));
    let recipes: Vec<_> = recipes.map(|recipe| bed::Recipe { seed: 5, ..recipe }).collect();
    assert_eq!(recipes.len(), 8);
    for recipe in recipes {
        let bed = (recipe.make)(&recipe, &workplace, Size::Tiny).unwrap();
        assert_eq!((bed.task, bed.one_head), (Task::Pace, recipe.name.ends_with("-h")), "{}", bed.name);
        assert!(bed.what.contains("of seed 5"), "{}", bed.what);
        let entries = contender::entries(&contenders, &bed, &haul);
        let result = race(&bed, &entries, 1, &Interrupt::default(), &mut Quiet).unwrap();
        assert_eq!(result.contenders.len(), 9);
        for contender in &result.contenders {
            let run = &contender.runs[0];
            assert_eq!(run.verdict, Verdict::Right, "{}: {}", bed.name, contender.name);
            let given = run.blocks.as_ref().and_then(|blocks| blocks["given"].as_str());
            assert_eq!(given, Some(contender.name.split(' ').next().unwrap().trim_start_matches("haul")));
        }
    }
}

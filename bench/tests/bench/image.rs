//! The beds of compressed images in tiny size: what unpacks one is right, what copies its bytes unchanged is not.
use crate::support::{Quiet, cannot_run};
use haul_bench::bed::{self, Size};
use haul_bench::contender::{self, Entry};
use haul_bench::process::Interrupt;
use haul_bench::race::race;
use haul_bench::result::{BedResult, Verdict};
use haul_bench::workplace::Workplace;
use std::os::unix::fs::PermissionsExt;

/// The programs that a test needs.
const TOOLS: &[&str] = &["xz", "zstd", "pzstd", "gzip", "bzip2", "lz4"];

/// The required part of haul; `cat` copies as it is.
const STAND_IN: &str = r#"
while (( $# > 2 )); do shift; done
case $1 in
*.xz) unpack="xz -dc" ;; *.zst) unpack="zstd -qdc" ;; *.gz) unpack="gzip -dc" ;;
*.bz2) unpack="bzip2 -dc" ;; *.lz4) unpack="lz4 -qdc" ;; *) exit 9 ;;
esac
UNPACK "$1" | dd of="$2" bs=64k iflag=fullblock conv=fsync,notrunc status=none
"#;

/// Runs all contenders on every bed whose name starts with `prefix` twice, with a script instead of haul.
pub fn on_every_bed(prefix: &str, script: &str) -> Vec<BedResult> {
    let workplace = Workplace::new(&std::env::temp_dir()).unwrap();
    let haul = workplace.disk().join("haul");
    std::fs::write(&haul, format!("#!/bin/bash\n{script}\n")).unwrap();
    std::fs::set_permissions(&haul, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (contenders, _) = contender::present(&haul);
    let recipes = bed::recipes().into_iter().filter(|recipe| recipe.name.starts_with(prefix));
    let result = recipes.map(|recipe| {
        let bed = (recipe.make)(&recipe, &workplace, Size::Tiny).unwrap();
        let entries: Vec<Entry> = contender::entries(&contenders, &bed, &haul);
        race(&bed, &entries, 2, &Interrupt::default(), &mut Quiet).unwrap()
    });
    result.collect()
}

#[test]
fn a_contender_that_unpacks_is_right_and_the_decoder_is_a_limit() {
    if cannot_run(TOOLS) {
        return;
    }
    let results = on_every_bed("image-", &STAND_IN.replace("UNPACK", "$unpack"));
    assert_eq!(results.len(), 6);
    for bed in results {
        // haul, haul --verify, and at least the reference decoder.
        assert!(bed.contenders.len() >= 3, "{}: {:?}", bed.name, bed.contenders);
        for contender in &bed.contenders {
            let right = contender.runs.iter().filter(|run| run.verdict == Verdict::Right).count();
            // One far behind is not run again.
            assert!(right == contender.runs.len() && right > 0, "{}: {contender:?}", bed.name);
        }
        assert!(bed.limits[0].binding && bed.limits[0].what.contains("alone, to /dev/null"), "{:?}", bed.limits);
        assert!(bed.limits[1..].iter().all(|limit| limit.what.contains("writes") && limit.binding), "{:?}", bed.limits);
    }
}

#[test]
fn a_contender_that_copies_the_compressed_bytes_is_wrong() {
    if cannot_run(TOOLS) {
        return;
    }
    for bed in on_every_bed("image-", &STAND_IN.replace("UNPACK", "cat")) {
        for contender in bed.contenders.iter().filter(|contender| contender.name.starts_with("haul")) {
            let verdicts: Vec<_> = contender.runs.iter().map(|run| &run.verdict).collect();
            assert!(matches!(verdicts[..], [Verdict::CopiedWrongly { .. }]), "{}: {verdicts:?}", bed.name);
        }
    }
}

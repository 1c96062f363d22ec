//! The originals of sg3_utils 1.46 and haul under their names, with the same command lines: bytes, counts, status.
//!
//! HAUL_SG_CASES is their number for each program, HAUL_SG_SEED the first seed. Excluded are defects of the
//! originals: files without `count=` (they refuse), short reads of pipes (they end there), `skip=` of standard input
//! and `seek=` of standard output (ignored), and the rest of a short last block (old data from their buffer, zeros
//! in haul).
use crate::sg::{CommandResult, FRONTS, original, run};
use crate::support::{LoopDevice, haul_path, memory_dir, noise, skip};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Consecutive pseudorandom numbers of a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

/// A command line and its environment.
#[derive(Debug)]
struct Case {
    line: String,
    input: Vec<u8>,
    output: Option<Vec<u8>>,
    /// Padding of the last block: its length, and its offset in `out`.
    filled_up: Option<(usize, usize)>,
    /// The source ends before the count.
    ends_early: bool,
}

fn made_up(front: &str, dice: &mut Dice) -> Case {
    let bs = dice.one(&[512u64, 512, 512, 100, 1024, 2048, 4096]);
    let len = dice.one(&[0, 1, 511, 512, 513, 5120, 65_536, 65_537, 200_000, 1_048_576]) as usize;
    let mut input = noise(len, dice.below(1000));
    let full_blocks = len as u64 / bs;
    let skip = if dice.chance(3) { dice.below(full_blocks + 3) } else { 0 };
    let sparse = front == "sg_dd" && dice.chance(5);
    let left = (len as u64).saturating_sub(skip * bs);
    let most = if sparse { left / bs } else { left / bs + 5 };
    let count = if dice.chance(3) { left / bs } else { dice.below(most + 1) };
    if sparse {
        // Long runs of zeros between noise.
        for start in (0..len).step_by(3 * 65_536) {
            input[start..(start + 2 * 65_536).min(len)].fill(0);
        }
    }
    let output = if dice.chance(2) { Some(noise(dice.below(300_000) as usize, 77)) } else { None };
    let append = !sparse && dice.chance(8);
    let seek = if !append && dice.chance(3) { dice.below(200) } else { 0 };
    let mut line = format!("if=in of=out bs={bs} count={count}");
    let mut add = |wanted: bool, word: String| {
        if wanted {
            line.push(' ');
            line.push_str(&word);
        }
    };
    add(skip > 0, format!("skip={skip}"));
    add(seek > 0, format!("seek={seek}"));
    add(dice.chance(3), format!("bpt={}", dice.one(&[1, 2, 7, 64, 128, 1000])));
    add(front == "sgp_dd" && dice.chance(3), format!("thr={}", dice.one(&[1, 2, 16])));
    add(append, "oflag=append".to_owned());
    add(sparse, "conv=sparse".to_owned());
    add(front == "sg_dd" && dice.chance(8), "iflag=nocache".to_owned());
    add(front == "sg_dd" && dice.chance(8), "coe=1 retries=1".to_owned());
    add(dice.chance(8), "time=1".to_owned());
    add(dice.chance(8), "oflag=dsync".to_owned());
    let copied = left.min(count * bs);
    let filled_up = (bs - copied % bs) % bs;
    let at = if append { output.as_ref().map_or(0, Vec::len) as u64 } else { seek * bs } + copied;
    let filled_up = (filled_up > 0).then_some((at as usize, filled_up as usize));
    Case { line, input, output, filled_up, ends_early: left < count * bs }
}

/// The result of the case, and the contents of `out`, without padding.
fn meet(program: &Path, front: &str, case: &Case) -> (CommandResult, Option<Vec<u8>>) {
    let dir = memory_dir();
    fs::write(dir.path().join("in"), &case.input).expect("the file can be written");
    if let Some(bytes) = &case.output {
        fs::write(dir.path().join("out"), bytes).expect("the file can be written");
    }
    let result = run(program, front, &case.line, dir.path(), Stdio::null());
    let mut left = fs::read(dir.path().join("out")).ok();
    if let (Some((at, len)), Some(bytes)) = (case.filled_up, &mut left) {
        let filled = bytes.get_mut(at..at + len).expect("blocks are whole");
        let ours = program == haul_path();
        assert!(!ours || filled.iter().all(|byte| *byte == 0), "{}: not filled up with zeros", case.line);
        filled.fill(0);
    }
    (result, left)
}

fn number(default: u64, name: &str) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_command_lines_match_the_bytes_counts_and_status_of_sg3_utils() {
    let (cases, seed) = (number(120, "HAUL_SG_CASES"), number(1, "HAUL_SG_SEED"));
    eprintln!("HAUL_SG_SEED={seed}");
    for front in FRONTS {
        let Some(theirs) = original(front) else { return };
        let mut dice = Dice(seed);
        for _ in 0..cases {
            let case = made_up(front, &mut dice);
            let (their, their_bytes) = meet(&theirs, front, &case);
            let (our, our_bytes) = meet(&haul_path(), front, &case);
            let reported = format!("{front} {}\ntheirs: {their:?}\nours: {our:?}", case.line);
            assert!(their_bytes == our_bytes, "bytes differ: {reported}");
            assert_eq!(their.records(), our.records(), "{reported}");
            // sgp_dd ends with 99 if one of its threads has read beyond the end.
            let expected = if front == "sgp_dd" && case.ends_early { Some(0) } else { their.status };
            assert_eq!(our.status, expected, "{reported}");
        }
    }
}

#[test]
fn invalid_operands_and_failed_opens_have_the_status_of_sg3_utils() {
    let lines = [
        "if=nowhere of=out count=1",
        "if=in of=nowhere/out count=1",
        "if=in of=out count=1 ibs=1024",
        "if=in of=out foo=1",
        "if=in of=out foo",
        "if=in of=out iflag=foo",
        "if=in of=out oflag=foo",
        "if=in of=out conv=foo",
        "if=in of=out count=1x",
        "if=in of=out count=-2",
        "if=in of=out skip=-1",
        "if=in of=out seek=-1",
        "if=in of=out count=",
        "if=in of=out count=1 bpt=0",
        "if=in of=out count=1 thr=0",
        "if=in of=out count=1 thr=1025",
        "if=in of=out count=1 retries=x",
        "if=in of=out count=1 coe_limit=x",
        "if=in of=out count=1 cdl=9",
        "if=in of=out count=1 oflag=append seek=1",
        "if=in of=out count=1 iseek=1",
        "if=in of=out count=1 if=in",
        "if=in of=out count=1 of=in",
        "if=in of=out count=1 -Q",
        "if=in of=out count=1 --bogus",
        "if=in of=out count=1 odir=1",
        "if=in of=out count=1 of2=x",
        "if=in of=out count=1 deb=1",
        "if=in of=out count=1 bs=0",
        "if=in of=out count=1 bs=511",
        "if=in of=out count=0",
        "if=in of=out count=0x10",
        "if=in of=out count=2x3+1",
        "if=/dev/zero of=out",
        "iflag=00 if=in of=out count=1",
        "if=in of=new oflag=nocreat count=1",
        "if=in of=in oflag=excl count=1",
        "if=. of=out count=1",
        "if=in of=. count=3",
        "if=in of=/dev/null count=3 -v",
        "",
    ];
    for front in FRONTS {
        let Some(theirs) = original(front) else { return };
        for line in lines {
            let result = [theirs.clone(), haul_path()].map(|program| {
                let dir = memory_dir();
                fs::write(dir.path().join("in"), noise(20_000, 3)).expect("the file can be written");
                run(&program, front, line, dir.path(), Stdio::null())
            });
            let reported = format!("{front} {line}\ntheirs: {:?}\nours: {:?}", result[0], result[1]);
            if front == "sgm_dd" && line.starts_with("if=. ") {
                // It treats a failed read as the end.
                assert_eq!(result[1].status, Some(99), "{reported}");
                continue;
            }
            assert_eq!(result[0].status, result[1].status, "{reported}");
            // After an error the originals may also print counts for sides that were never opened.
            if result[0].status == Some(0) {
                assert_eq!(result[0].records(), result[1].records(), "{reported}");
            }
        }
    }
}

#[test]
fn a_file_copied_onto_itself_is_processed_forward_by_transfers() {
    let lines = [
        "if=in of=in bs=512 seek=1 count=600",
        "if=in of=in bs=512 skip=1 count=600",
        "if=in of=in bs=512 seek=200 count=600",
        "if=in of=./in bs=512 seek=3 count=600 bpt=7",
        "if=in of=in bs=1000 seek=100 count=200",
    ];
    // sgp_dd reads and writes in a different order.
    for front in ["sg_dd", "sgm_dd"] {
        let Some(theirs) = original(front) else { return };
        for line in lines {
            let result = [theirs.clone(), haul_path()].map(|program| {
                let dir = memory_dir();
                fs::write(dir.path().join("in"), noise(2_000_000, 3)).expect("the file can be written");
                let result = run(&program, front, line, dir.path(), Stdio::null());
                (result.status, fs::read(dir.path().join("in")).expect("it exists"))
            });
            assert_eq!(result[0].0, result[1].0, "{front} {line}");
            assert!(result[0].1 == result[1].1, "bytes differ: {front} {line}");
        }
    }
}

#[test]
fn devices_are_copied_alike_with_and_without_a_count() {
    let dir = memory_dir();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    fs::write(&source, noise(12 << 20, 5)).expect("the file can be written");
    fs::write(&dest, vec![0; 10 << 20]).expect("the file can be written");
    let (Some(from), Some(to)) = (LoopDevice::over(&source), LoopDevice::over(&dest)) else { return };
    let (from, to) = (from.path().display(), to.path().display());
    let lines = [
        format!("if={from} of={to} bs=512"),
        format!("if={from} of={to}"),
        format!("if={from} of={to} bs=512 skip=10000"),
        format!("if={from} of={to} bs=512 seek=20400"),
        format!("if={from} of={to} bs=512 seek=20400 skip=24570"),
        format!("if={from} of={to} bs=512 count=3000 bpt=16"),
        format!("if={from} of={to} bs=512 skip=24570 count=6"),
        format!("if={from} of={to} bs=4096"),
        format!("if={from} of={to} bs=4096 count=7 seek=3"),
        format!("if={from} of={to} bs=512 skip=30000"),
        format!("if={from} of={to} bs=512 iflag=direct oflag=direct"),
        format!("if=/dev/zero of={to} bs=512"),
        format!("if={from} of=. bs=512"),
    ];
    for front in FRONTS {
        let Some(theirs) = original(front) else { return };
        for line in &lines {
            let result = [theirs.clone(), haul_path()].map(|program| {
                // Old bytes must differ from written ones.
                let wiped = run(
                    Path::new("/bin/dd"),
                    "dd",
                    &format!("if=/dev/zero of={to} bs=1M count=10"),
                    dir.path(),
                    Stdio::null(),
                );
                assert_eq!(wiped.status, Some(0), "{wiped:?}");
                let result = run(&program, front, line, dir.path(), Stdio::null());
                let held = fs::read(to.to_string()).expect("root reads devices");
                (result, held)
            });
            let reported = format!("{front} {line}\ntheirs: {:?}\nours: {:?}", result[0].0, result[1].0);
            assert_eq!(result[0].0.status, result[1].0.status, "{reported}");
            assert!(result[0].1 == result[1].1, "bytes differ: {reported}");
            if result[0].0.status == Some(0) {
                assert_eq!(result[0].0.records(), result[1].0.records(), "{reported}");
            }
        }
    }
    if !Path::new("/usr/bin/sg_dd").exists() {
        skip("nothing was compared");
    }
}

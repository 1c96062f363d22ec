//! Draws cases from a seed.
use super::case::{Before, By, Case, Dest, Fault, Sent, Source, Then, Verb};
use super::{lists, mend};
use fastrand::Rng;
use std::ops::Range;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Names of dests: a plain one, one that a shell splits, and one of the maximum length.
pub const NAMES: [&str; 4] = ["dst", "the dest's $(file) & more", ".ünïcode\n2", LONG];
const LONG: &str = concat!(
    "a-name-as-long-as-the-file-system-takes-it-000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    "000000000000000000000000000000000000000000000000000-end"
);

/// Draws one of several values.
pub fn one_of<T: Clone>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.usize(..of.len())].clone()
}

/// True with this probability in percent.
pub fn chance(rng: &mut Rng, percent: u8) -> bool {
    rng.u8(..100) < percent
}

/// Case `number` of `seed`: the same on every run.
pub fn case(seed: u64, number: u64) -> Case {
    let rng = &mut Rng::with_seed(seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let verb = match rng.u8(..100) {
        0..82 => Verb::Copy,
        82..89 => Verb::Verify,
        89..92 => Verb::Pattern,
        92..98 => Verb::Dd("dd"),
        _ => Verb::Dd(one_of(rng, &["sg_dd", "sgp_dd", "sgm_dd"])),
    };
    let fault = if verb == Verb::Verify { None } else { fault(rng) };
    let ends = matches!(&fault, Some(Fault::Signals(sent)) if sent.iter().any(|sent| sent.signal != libc::SIGUSR1));
    let len = len(rng) as usize;
    let source = source(rng, len as u64, ends);
    let mut dests = vec![dest(rng, len)];
    if verb == Verb::Copy && chance(rng, 12) {
        dests.extend((0..rng.usize(1..3)).map(|_| dest(rng, len)));
    }
    let mut case = Case {
        seed,
        number,
        verb,
        len,
        source,
        dests,
        skip: None,
        seek: None,
        count: None,
        lists: lists::Lists::default(),
        options: Vec::new(),
        fault,
        then: then(rng),
        is_mended: false,
        in_memory: chance(rng, 30),
    };
    range(rng, &mut case);
    match verb {
        Verb::Copy => copy_options(rng, &mut case),
        Verb::Verify => common_options(rng, &mut case),
        Verb::Pattern => pattern_options(rng, &mut case),
        Verb::Dd(_) => dd_options(rng, &mut case),
    }
    mend::make_sense(rng, &mut case);
    lists::draw(rng, &mut case);
    case
}

fn len(rng: &mut Rng) -> u64 {
    let odd = rng.u64(..5000);
    match rng.u8(..20) {
        0 => 0,
        1 => rng.u64(1..512),
        2..8 => rng.u64(..20) * 64 * KIB,
        8..14 => rng.u64(..20) * 64 * KIB + odd,
        14..17 => rng.u64(1..5) * MIB,
        17..19 => rng.u64(1..5) * MIB + odd,
        _ => 9 * MIB + odd,
    }
}

fn by(rng: &mut Rng) -> By {
    one_of(rng, &[By::Name, By::Name, By::Name, By::Symlink, By::HardLink, By::Absolute])
}

/// Ranges of whole pages, below `len`.
fn bad(rng: &mut Rng, len: u64, count: usize) -> Vec<Range<u64>> {
    let one = |rng: &mut Rng| {
        let start = rng.u64(..=len / 4096) * 4096;
        start..start + one_of(rng, &[4096, 4096, 64 * KIB])
    };
    (0..count).map(|_| one(rng)).collect()
}

fn source(rng: &mut Rng, len: u64, ends: bool) -> Source {
    match rng.u8(..100) {
        0..60 => Source::File { by: by(rng), holes: chance(rng, 35) },
        60..72 => Source::Pipe { stalls_at: (ends && chance(rng, 50)).then(|| rng.usize(..=len as usize)) },
        72..75 => Source::Redirected,
        75..80 => Source::Fifo,
        80..91 => Source::Loop,
        91..95 => Source::Zero,
        _ => {
            let count = rng.usize(1..4);
            Source::Failing { bad: bad(rng, len, count), device: chance(rng, 30) }
        }
    }
}

fn dest(rng: &mut Rng, len: usize) -> Dest {
    match rng.u8(..100) {
        0..66 => {
            let before = match rng.u8(..10) {
                0..4 => None,
                4 => Some(Before::Other(0)),
                5 => Some(Before::Other(rng.usize(..=len))),
                6..8 => Some(Before::Other(len + rng.usize(..100_000))),
                _ => Some(Before::Nearly(one_of(rng, &[0, 0, 70_001, -4096, -1]))),
            };
            let by = if before.is_none() { one_of(rng, &[By::Name, By::Absolute]) } else { by(rng) };
            let name = if chance(rng, 75) { NAMES[0] } else { one_of(rng, &NAMES) };
            Dest::File { by, name, before }
        }
        66..71 => Dest::Pipe { closes_after: chance(rng, 25).then(|| rng.u64(..=len as u64)) },
        71..73 => Dest::Redirected,
        73..76 => Dest::Fifo,
        76..87 => Dest::Loop { more: one_of(rng, &[0, 0, 512, 65_536, 100_000, -512]) },
        87..90 => Dest::Null,
        90..91 => Dest::Full,
        91..95 => Dest::Small { room: rng.u64(1..=(len as u64 * 3 / 2).max(2)) },
        95..97 => Dest::Failing { bad: bad(rng, len as u64, 1).remove(0) },
        _ => Dest::Same,
    }
}

fn fault(rng: &mut Rng) -> Option<Fault> {
    let one = |rng: &mut Rng| {
        use libc::{SIGHUP, SIGINT, SIGKILL, SIGTERM, SIGUSR1};
        let signal = one_of(rng, &[SIGINT, SIGINT, SIGTERM, SIGTERM, SIGHUP, SIGKILL, SIGUSR1]);
        // As many moments below a millisecond as above, up to half a second.
        let after_us = (1_u64 << rng.u32(..19)) + rng.u64(..1000);
        Sent { signal, when_ready: signal == SIGUSR1 || chance(rng, 80), after_us }
    };
    match rng.u8(..100) {
        0..38 => {
            let count = one_of(rng, &[1, 1, 1, 1, 2, 3]);
            Some(Fault::Signals((0..count).map(|_| one(rng)).collect()))
        }
        38..43 => Some(Fault::FileSize(rng.u64(1..40) * 64 * KIB)),
        _ => None,
    }
}

fn then(rng: &mut Rng) -> Then {
    match rng.u8(..10) {
        0..3 => Then::PrintedCommand,
        3..7 => Then::Resume,
        7..9 => Then::ResumeAgain([1_u64 << rng.u32(10..17), 1_u64 << rng.u32(10..17)]),
        _ => Then::Restart,
    }
}

/// An offset: often an aligned one.
pub fn offset(rng: &mut Rng, most: u64) -> u64 {
    let any = rng.u64(..=most);
    match rng.u8(..4) {
        0 => any,
        1 => any / 512 * 512,
        2 => any / 4096 * 4096,
        _ => any / (64 * KIB) * (64 * KIB),
    }
}

fn range(rng: &mut Rng, case: &mut Case) {
    let len = case.len as u64;
    let same = case.dests.contains(&Dest::Same);
    if same && chance(rng, 90) {
        (case.skip, case.seek) = (Some(offset(rng, len)), Some(offset(rng, len + 5000)));
        let left = len - case.skip.unwrap_or(0);
        case.count = Some(rng.u64(..=left));
    } else if chance(rng, 25) {
        case.skip = chance(rng, 60).then(|| offset(rng, len));
        case.seek = chance(rng, 60).then(|| offset(rng, len * 3 / 2));
        let left = len - case.skip.unwrap_or(0);
        case.count = chance(rng, 60).then(|| offset(rng, left) + u64::from(chance(rng, 3)) * 10_000);
    }
}

fn option(rng: &mut Rng, case: &mut Case, percent: u8, name: &str, values: &[&str]) {
    if chance(rng, percent) {
        let mut words = vec![name.to_owned()];
        let value: &str = one_of(rng, values);
        match value.strip_prefix('=') {
            Some(_) => words[0].push_str(value),
            None if value.is_empty() => {}
            None => words.push(value.to_owned()),
        }
        case.options.push(words);
    }
}

const BLOCKS: &[&str] = &["512", "4096", "64K", "64K", "1M", "100000", "1", "3s", "0"];

fn common_options(rng: &mut Rng, case: &mut Case) {
    option(rng, case, 60, "--engine", &["ring", "threads", "sync", "ring", "threads", "auto"]);
    option(rng, case, 40, "--block-size", BLOCKS);
    option(rng, case, 20, "--depth", &["1", "2", "8", "64"]);
    option(rng, case, 20, "--direct", &["auto", "always", "never", "never"]);
    option(rng, case, 15, "--on-error", &["stop", "skip", "retry:1", "retry:1,skip"]);
    option(rng, case, 50, "--json", &[""]);
    option(rng, case, 60, "--progress", &["none", "json", "plain", "json"]);
    option(rng, case, 3, "--dry-run", &[""]);
}

/// Names of files beside a copy: usually new ones, sometimes existing ones.
fn file_option(rng: &mut Rng, case: &mut Case, percent: u8, name: &str, file: &str) {
    let file = if chance(rng, 95) { file } else { one_of(rng, &["bystander", "src", "dst", "bystander-link", "fifo"]) };
    option(rng, case, percent, name, &[file]);
}

fn copy_options(rng: &mut Rng, case: &mut Case) {
    common_options(rng, case);
    option(rng, case, 95, "--yes", &[""]);
    option(rng, case, 15, "--hash", &["sha256", "xxh3", "md5", "blake3", "sha256,xxh3"]);
    option(rng, case, 15, "--verify", &["", "", "=sample:30%", "=afterwards"]);
    file_option(rng, case, 12, "--manifest", "manifest");
    option(rng, case, if case.has("--manifest") { 50 } else { 1 }, "--manifest-block", &["64K", "256K", "1000"]);
    file_option(rng, case, 10, "--mapfile", "map");
    if chance(rng, 12) {
        file_option(rng, case, 100, "--journal", "journal");
    } else {
        option(rng, case, 10, "--no-journal", &[""]);
    }
    if !case.has("--no-journal") || chance(rng, 2) {
        option(rng, case, 60, "--checkpoint", &["0", "0", "0.01", "0.05"]);
    }
    option(rng, case, 4, "--resume", &[""]);
    option(rng, case, 4, "--restart", &[""]);
    option(rng, case, 12, "--delta", &[""]);
    option(rng, case, 25, "--sparse", &["always", "never", "auto"]);
    option(rng, case, 4, "--reflink", &["always", "never", "auto"]);
    file_option(rng, case, 5, "--report", "page.html");
    option(rng, case, 10, "--no-flush", &[""]);
    option(rng, case, 10, "--no-estimate", &[""]);
    if case.dests.len() > 1 {
        option(rng, case, 20, "--independent", &[""]);
    }
}

fn pattern_options(rng: &mut Rng, case: &mut Case) {
    case.source = Source::File { by: By::Name, holes: false };
    case.dests.retain(|dest| matches!(dest, Dest::File { .. } | Dest::Loop { more: 0.. }));
    if case.dests.is_empty() {
        case.dests = vec![Dest::File { by: By::Name, name: NAMES[0], before: None }];
    }
    (case.skip, case.seek, case.count) = (None, None, Some((case.len as u64).max(4096)));
    case.len = case.len.max(4096);
    common_options(rng, case);
    mend::drop_options(case, &["--on-error"]);
}

/// Operands of dd without conversions.
fn dd_options(rng: &mut Rng, case: &mut Case) {
    let mut word = |percent: u8, words: &[&str]| {
        if chance(rng, percent) {
            case.options.push(vec![one_of(rng, words).to_owned()]);
        }
    };
    if case.verb == Verb::Dd("dd") {
        word(60, &["bs=4K", "bs=512", "bs=64K", "bs=1M", "ibs=1000", "obs=1000", "bs=100000"]);
        word(40, &["conv=notrunc", "conv=fsync", "conv=notrunc,fdatasync", "conv=sparse"]);
        word(30, &["iflag=fullblock", "oflag=direct", "iflag=direct", "oflag=dsync"]);
        word(20, &["status=none", "status=noxfer", "status=progress"]);
    } else {
        word(30, &["bpt=1", "bpt=16", "bpt=128"]);
        word(20, &["verbose=1", "thr=4"]);
    }
}

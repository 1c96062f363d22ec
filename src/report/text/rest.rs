//! The remaining part of a copy that ended early, and the command that copies it.
use super::given::{has, spelled_out};
use crate::core::{Direction, Ended, EndpointKind, Extent, Outcome, Plan, PlanSide, Route, Side};
use crate::report::printable::{printable, shell_line_as_it_is};

/// Options that the command sets itself, or that do not apply to the rest; each takes a value.
const REPLACED: [&str; 6] = ["--skip", "--seek", "--count", "--hash", "--run", "--mapfile"];

/// The remaining part of a copy, and how to copy it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing remains.
    Nothing,
    /// This command copies the rest; words in order, not quoted.
    Command(Vec<String>),
    /// No command can copy it, for this reason: a sentence.
    Impossible(String),
}

impl Rest {
    /// The rest after `outcome`. `args` is the command line as given, without the name of the program.
    pub fn of(plan: &Plan, outcome: &Outcome, args: &[String]) -> Rest {
        let args = &spelled_out(args);
        let complete = matches!(outcome.ended, Ended::Complete);
        if has("--plan", args) {
            // The shared state has what is durable, and the plan the range of the shard.
            return if complete && outcome.durable { Rest::Nothing } else { Rest::Command(again(args)) };
        }
        // Dests that lack different bytes have separate commands.
        if outcome.dests_differ() {
            return Rest::Nothing;
        }
        if outcome.kept.as_ref().is_some_and(|kept| kept.left.is_some()) {
            return Rest::Command(resume(args, complete));
        }
        if complete {
            return Rest::Nothing;
        }
        let left = match remaining(plan, outcome) {
            Uncopied::Bytes(left) => left,
            Uncopied::None => return unflushed(plan, outcome),
        };
        if let Some(reason) = unknown_on_medium(plan, outcome).or_else(|| forbidden(plan, outcome)) {
            return Rest::Impossible(reason);
        }
        if is_cut_at_the_end(plan) {
            return Rest::Command(again(args));
        }
        Rest::Command(command(plan, left, args))
    }
}

/// Whether the copy sets the end of a file that it does not truncate first, which a copy of a range would not
/// do.
fn is_cut_at_the_end(plan: &Plan) -> bool {
    matches!(plan.route, Route::Delta { .. }) && plan.set_end
}

/// The same command without the mapfile, which exists now: blocks that are correct on the dest are not written
/// again.
fn again(args: &[String]) -> Vec<String> {
    let mut words = vec!["haul".to_owned()];
    words.extend(without(&["--mapfile"], args));
    words
}

/// The command that continues a copy that was interrupted or failed, quoted for any POSIX shell; `None` if
/// nothing remains, or a side is a stream. `args` is the command line as given, without the name of the
/// program.
pub fn continue_command(plan: &Plan, outcome: &Outcome, args: &[String]) -> Option<String> {
    match Rest::of(plan, outcome, args) {
        Rest::Command(words) => Some(shell_line_as_it_is(words)),
        Rest::Nothing | Rest::Impossible(_) => None,
    }
}

/// Why no command can continue an incomplete copy, and what to do instead: a sentence. `None`: there is a
/// command, or nothing remains.
pub fn no_continuation(plan: &Plan, outcome: &Outcome, args: &[String]) -> Option<String> {
    match Rest::of(plan, outcome, args) {
        Rest::Impossible(reason) => Some(reason),
        Rest::Nothing | Rest::Command(_) => None,
    }
}

/// The part that is not claimed; offsets count from the first byte of the copy.
enum Uncopied {
    None,
    Bytes(Remaining),
}

struct Remaining {
    offset: u64,
    /// `None`: to the end of the source.
    len: Option<u64>,
}

fn remaining(plan: &Plan, outcome: &Outcome) -> Uncopied {
    let Extent { offset, len } = outcome.claimed;
    let left = match (plan.direction, plan.len) {
        // A backward copy claims the end. If nothing is claimed, everything remains, regardless of the offset
        // of the empty claim.
        (Direction::Backward, whole) if len == 0 => Remaining { offset: 0, len: whole },
        (Direction::Backward, _) => Remaining { offset: 0, len: Some(offset) },
        (Direction::Forward, whole) if len == 0 => Remaining { offset: 0, len: whole },
        (Direction::Forward, whole) => {
            let end = outcome.claimed.end();
            Remaining { offset: end, len: whole.map(|whole| whole.saturating_sub(end)) }
        }
    };
    if left.len == Some(0) { Uncopied::None } else { Uncopied::Bytes(left) }
}

/// Everything was written, and then the flush was interrupted or failed.
fn unflushed(plan: &Plan, outcome: &Outcome) -> Rest {
    if let Some(reason) = unknown_on_medium(plan, outcome) {
        return Rest::Impossible(reason);
    }
    if outcome.durable || !plan.durable {
        return Rest::Nothing;
    }
    Rest::Command(vec!["sync".to_owned(), plan.dest.path.to_string_lossy().into_owned()])
}

/// After a failed flush the kernel may have discarded dirty pages: a second flush would succeed without making
/// them durable.
fn unknown_on_medium(plan: &Plan, outcome: &Outcome) -> Option<String> {
    let unknown = matches!(outcome.ended, Ended::Failed(_)) && plan.durable && !outcome.durable;
    unknown.then(|| {
        let reason = "The copy was not flushed, so it is unknown which data is durable. Copy again from the start.";
        reason.to_owned()
    })
}

fn forbidden(plan: &Plan, outcome: &Outcome) -> Option<String> {
    if plan.is_listed() {
        return Some("No journal records what was copied. To copy all ranges, run the command again.".to_owned());
    }
    let by_source = matches!(&outcome.ended, Ended::Failed(error) if error.side == Some(Side::Source));
    if plan.source.kind == EndpointKind::Compressed && by_source {
        // The checksums of many formats come at the end: what was decompressed before may be wrong.
        let reason = match plan.route.writes() {
            true => {
                "The copied data is not verified by the checksums of the compressed file: do not use it. With an \
                 intact file, copy again from the start."
            }
            false => "With an intact file, compare again from the start.",
        };
        return Some(reason.to_owned());
    }
    if plan.source.kind.is_stream() {
        return Some("This copy cannot be continued: the source is a stream and cannot be read again.".to_owned());
    }
    if plan.dest.kind == EndpointKind::CompressedDest {
        let reason = "This copy cannot be continued: only a journal shows what of a compressed file is complete. Copy \
            again from the start.";
        return Some(reason.to_owned());
    }
    if plan.dest.kind == EndpointKind::FileStream {
        let reason = "This copy cannot be continued: standard output has no offsets. Name the file instead of -.";
        return Some(reason.to_owned());
    }
    if plan.dest.kind.is_stream() {
        let reader = printable(&plan.dest.address);
        return Some(format!("This copy cannot be continued: the stream to destination {reader} has ended."));
    }
    let written = plan.route.writes();
    if matches!(outcome.ended, Ended::Failed(_)) && written && plan.overlaps {
        let reason = "Do not repeat this copy: source and destination overlap, and part of the source may already be \
            overwritten.";
        return Some(reason.to_owned());
    }
    (!is_utf8(&plan.source) || !is_utf8(&plan.dest))
        .then(|| "The command to continue cannot be shown: a path is not valid UTF-8.".to_owned())
}

/// The same command with `--resume`, without the record files that exist now: always the mapfile, and the
/// manifest if the copy was `complete` except for unreadable sectors. In that case also without a digest,
/// because it would require reading the failing source again.
fn resume(args: &[String], complete: bool) -> Vec<String> {
    let replaced: &[&str] = if complete { &["--hash", "--mapfile", "--manifest"] } else { &["--mapfile"] };
    let at = args.iter().position(|word| word == "copy").map_or(0, |at| at + 1);
    let (before, after) = args.split_at(at);
    let mut words = vec!["haul".to_owned()];
    words.extend_from_slice(before);
    words.push("--resume".to_owned());
    words.extend(without(replaced, after).into_iter().filter(|word| word != "--resume" && word != "--restart"));
    words
}

fn is_utf8(side: &PlanSide) -> bool {
    side.path.to_str().is_some()
}

fn command(plan: &Plan, left: Remaining, args: &[String]) -> Vec<String> {
    let mut words = vec!["haul".to_owned()];
    let command = match (plan.pattern.map(|used| used.act), plan.route) {
        (Some(act), _) => act.name(),
        (None, Route::Copy | Route::Delta { .. }) => "copy",
        (None, Route::Compare { .. } | Route::ReadBack) => "verify",
    };
    let (before, after) = match args.iter().position(|word| word == command) {
        Some(at) => args.split_at(at),
        None => args.split_at(0),
    };
    words.extend_from_slice(before);
    words.push(command.to_owned());
    if let Some(run) = plan.pattern.and_then(|used| used.run) {
        words.extend(["--run".to_owned(), run.to_string()]);
    }
    // An endless source has no offsets: all its bytes are equal. The pattern has those of the disk.
    if plan.source.kind != EndpointKind::Endless && plan.pattern.is_none() {
        words.extend(["--skip".to_owned(), (plan.source.map.start() + left.offset).to_string()]);
    }
    words.extend(["--seek".to_owned(), (plan.dest.map.start() + left.offset).to_string()]);
    if let Some(len) = left.len {
        words.extend(["--count".to_owned(), len.to_string()]);
    }
    let after = if after.first().is_some_and(|word| word == command) { &after[1..] } else { after };
    // The content of a compressed source is decompressed from its start, so that all of the file is read again.
    let of_whole: &[&str] = if plan.source.kind == EndpointKind::Compressed { &[] } else { &["--checksum"] };
    words.extend(without(&[&REPLACED, of_whole].concat(), after));
    words
}

/// The words as given, without these options and their values.
fn without(options: &[&str], args: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word.clone());
            kept.extend(words.cloned());
            return kept;
        }
        if options.contains(&word.as_str()) {
            words.next();
        } else if !options.iter().any(|name| word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))) {
            kept.push(word.clone());
        }
    }
    kept
}

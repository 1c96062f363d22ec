//! Plans writing the test pattern to a disk and checking it: a copy with the pattern on one side.
use crate::core::{
    Cache, Decision, EndpointKind, Error, Facts, Host, Kind, OnError, PatternAct, PatternUse, Plan, Reason, Result,
    Side,
};
use crate::plan::numbers::{PATTERN_BLOCK_BYTES, PATTERN_BLOCK_BYTES_MIN};
use crate::plan::plan_input::{PlanInput, in_memory, named};
use crate::plan::{JournalChoice, Options, When, check, make, words};

/// The plan that writes the pattern of `run` to `dest`, and the facts of its source.
///
/// # Errors
/// As for [`make`]; `Usage` for a range that is not a whole number of blocks, and for a new file without
/// `--count`.
pub fn write(options: &Options, run: u64, dest: &Facts, host: &Host) -> Result<(Decision, Facts)> {
    let mut source = Facts::new("test pattern", EndpointKind::Pattern);
    check::dest(&PlanInput { options, source: &source, dest, host, one_of_several: false })?;
    let (seek, unit) = (options.seek_bytes.unwrap_or(0), unit(Side::Dest, dest)?);
    whole("--seek", seek, unit)?;
    let len = match options.count_bytes {
        Some(count) => {
            whole("--count", count, unit)?;
            count
        }
        None => rest(Side::Dest, dest, seek)?,
    };
    let whole_len = len - len % u64::from(unit);
    source.size = Some(seek.saturating_add(whole_len));
    // The whole dest is written, or a range of it: a partial block at the end of a file is not changed.
    let count_bytes = options.count_bytes.or((whole_len < len).then_some(whole_len));
    let asked = Options {
        skip_bytes: options.seek_bytes,
        count_bytes,
        reflink: When::Never,
        journal: JournalChoice::Never,
        ..options.clone()
    };
    let mut decision = make(&asked, &source, dest, host)?;
    whole_requests(&decision.plan)?;
    let block_bytes = block_bytes(dest, seek, whole_len, unit);
    decision.plan.pattern = Some(PatternUse { act: PatternAct::Write, run: Some(run), block_bytes });
    decision.notes.why.insert(0, chosen(run, block_bytes));
    Ok((decision, source))
}

/// An unreadable sector is damage like any other: the data after it is checked too.
const AROUND: OnError = OnError { skip: true, retries: 0 };

/// The plan that checks the pattern on `source`, and the facts of the side that checks. Without `run` the run
/// must be found on the source, and so must the block length in any case: until then the value in the plan is a
/// placeholder.
///
/// # Errors
/// As for [`make`]; `Usage` for a range that is not a whole number of blocks.
pub fn check(options: &Options, run: Option<u64>, source: &Facts, host: &Host) -> Result<(Decision, Facts)> {
    let dest = Facts::new("test pattern", EndpointKind::Pattern);
    let (seek, unit) = (options.seek_bytes.unwrap_or(0), unit(Side::Source, source)?);
    whole("--seek", seek, PATTERN_BLOCK_BYTES_MIN)?;
    if let Some(count) = options.count_bytes {
        whole("--count", count, PATTERN_BLOCK_BYTES_MIN)?;
    }
    let len = rest(Side::Source, source, seek)?;
    let asked = Options {
        skip_bytes: options.seek_bytes,
        sparse: When::Never,
        on_error: AROUND,
        reflink: When::Never,
        journal: JournalChoice::Never,
        ..options.clone()
    };
    let mut decision = make(&asked, source, &dest, host)?;
    whole_requests(&decision.plan)?;
    let block_bytes = block_bytes(source, seek, options.count_bytes.unwrap_or(len), unit);
    decision.plan.pattern = Some(PatternUse { act: PatternAct::Check, run, block_bytes });
    let warning = what_is_checked(&decision.plan, source);
    decision.notes.warnings.extend(warning);
    Ok((decision, dest))
}

fn chosen(run: u64, block_bytes: u32) -> Reason {
    let choice = format!("run {run}, blocks of {}", words::block(block_bytes.into()));
    let because = "each block carries its address, the run and a checksum".to_owned();
    Reason::new("pattern", choice, because)
}

/// A warning if reads may come from memory instead of the disk.
fn what_is_checked(plan: &Plan, source: &Facts) -> Option<String> {
    let name = named(Side::Source, source);
    if in_memory(source) {
        return Some(format!("{name} is in memory: this checks no disk"));
    }
    (plan.source.access.cache != Cache::Direct)
        .then(|| format!("{name} is read through the page cache: this may check memory instead of the disk"))
}

/// The smallest block size that a pattern on this disk can have.
fn unit(side: Side, facts: &Facts) -> Result<u32> {
    let name = named(side, facts);
    if !facts.kind.is_storage() || matches!(facts.kind, EndpointKind::Http | EndpointKind::Object) {
        let what = format!("{name} ({}) cannot hold a test pattern; use a file or a device", facts.kind.name());
        return Err(Error::new(Kind::Usage, what).on(side).advise("'haul list' shows the available devices."));
    }
    let logical = facts.logical_block_bytes.max(1);
    if !logical.is_power_of_two() {
        let what = format!("{name} has blocks of {logical} bytes: a test pattern needs a power of two");
        return Err(Error::new(Kind::Unsupported, what).on(side).advise("Format it with blocks of 512 or 4096 bytes."));
    }
    Ok(logical.clamp(PATTERN_BLOCK_BYTES_MIN, PATTERN_BLOCK_BYTES))
}

/// Bytes from `seek` to the end.
fn rest(side: Side, facts: &Facts, seek: u64) -> Result<u64> {
    let size = facts.size.filter(|_| facts.exists).unwrap_or(0);
    let name = named(side, facts);
    if size == 0 && side == Side::Dest && facts.kind == EndpointKind::File {
        let what = format!("{name} is empty, and its length is unknown");
        return Err(Error::new(Kind::Usage, what).on(side).advise("Give the length with --count."));
    }
    size.checked_sub(seek).filter(|&rest| rest > 0).ok_or_else(|| {
        let what = format!("--seek {seek}: nothing to {} there, {name} has {}", doing(side), words::exact(size));
        Error::new(Kind::Usage, what).on(side).advise("Give a smaller --seek.")
    })
}

fn doing(side: Side) -> &'static str {
    match side {
        Side::Source => PatternAct::Check.name(),
        Side::Dest => PatternAct::Write.name(),
    }
}

/// Refuses a number of bytes that is not a multiple of the block size.
fn whole(option: &str, bytes: u64, unit: u32) -> Result<()> {
    let (below, unit) = (bytes - bytes % u64::from(unit), u64::from(unit));
    if below == bytes {
        return Ok(());
    }
    let what = format!("{option} {bytes}: a test pattern here needs multiples of {}", words::block(unit));
    let near = match below {
        0 => unit.to_string(),
        _ => format!("{below} or {}", below.saturating_add(unit)),
    };
    Err(Error::new(Kind::Usage, what).advise(format!("Give {near}.")))
}

/// Refuses requests that would split blocks of the pattern.
fn whole_requests(plan: &Plan) -> Result<()> {
    let block = plan.tuning.limits.block_bytes;
    if block.is_multiple_of(PATTERN_BLOCK_BYTES) {
        return Ok(());
    }
    let most = words::block(PATTERN_BLOCK_BYTES.into());
    let what = format!("--block-size {block}: must be a multiple of the test pattern block of {most}");
    let near = block.next_multiple_of(PATTERN_BLOCK_BYTES);
    Err(Error::new(Kind::Usage, what).advise(format!("Give {near}, or omit --block-size.")))
}

/// The block size: the physical block size of the disk, so that each unit that it writes has a separate mark;
/// less if that does not fit the range.
fn block_bytes(facts: &Facts, seek: u64, len: u64, unit: u32) -> u32 {
    let natural = match facts.kind {
        EndpointKind::Block if facts.physical_block_bytes.is_power_of_two() => facts.physical_block_bytes,
        _ => PATTERN_BLOCK_BYTES,
    };
    let mut block = natural.clamp(unit, PATTERN_BLOCK_BYTES);
    while block > unit && !(seek.is_multiple_of(block.into()) && len.is_multiple_of(block.into())) {
        block /= 2;
    }
    block
}

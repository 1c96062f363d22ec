//! Parsers for the values of options: fixed words, and sizes within bounds.
use super::size::{self, SizeError};
use crate::core::{EngineKind, Extent, HashKind, Portion, Units};
use crate::plan::{ChooseFrom, Delta, PassthroughMode, ProgressStyle, ShardChoice, When};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::time::Duration;

/// `None` is `auto`. An alias, so that clap does not treat it as an optional argument.
pub(crate) type EngineChoice = Option<EngineKind>;

/// `None` is `none`: no limit, even if one is configured.
pub(crate) type LimitChoice = Option<u64>;

/// `None` is `none`: no digest, even if one is configured.
pub(crate) type HashChoice = Option<HashKind>;

/// A fixed list of words, each with its description and its value.
pub(crate) type Table<T> = &'static [(&'static str, &'static str, T)];

const ENGINES: Table<EngineChoice> = &[
    ("auto", "ring where the kernel allows it, otherwise threads", None),
    ("ring", "io_uring: many requests in flight from one thread", Some(EngineKind::Ring)),
    ("threads", "helper threads with blocking calls, many requests in flight", Some(EngineKind::Threads)),
    ("sync", "one block at a time, as a baseline", Some(EngineKind::Sync)),
];

const WHENS: Table<When> = &[
    ("auto", "where it is faster", When::Auto),
    ("always", "always, or fail", When::Always),
    ("never", "never", When::Never),
];

const PASSES: Table<PassthroughMode> = &[
    ("possible", "every side that supports it, at least one", PassthroughMode::WherePossible),
    ("source", "the source, or fail", PassthroughMode::Source),
    ("destination", "the destination, or fail", PassthroughMode::Dest),
    ("both", "both, or fail", PassthroughMode::Both),
];

const HASHES: Table<HashChoice> = &[
    ("blake3", "256 bits, fast", Some(HashKind::Blake3)),
    ("sha256", "256 bits, widely used", Some(HashKind::Sha256)),
    ("sha512", "512 bits, for existing checksum lists", Some(HashKind::Sha512)),
    ("md5", "128 bits, only for existing checksum lists", Some(HashKind::Md5)),
    ("xxh3", "128 bits, fastest, not cryptographic", Some(HashKind::Xxh3)),
    ("none", "no digest, even if one is configured", None),
];

const OFFERED: Table<ChooseFrom> = &[
    ("removable", "disks that can be taken out", ChooseFrom::Removable),
    ("all", "every disk that is not in use", ChooseFrom::All),
];

const STYLES: Table<ProgressStyle> = &[
    ("auto", "bar on a terminal, plain elsewhere", ProgressStyle::Auto),
    ("bar", "a redrawn bar", ProgressStyle::Bar),
    ("plain", "a line periodically", ProgressStyle::Plain),
    ("json", "one JSON object a line", ProgressStyle::Json),
    ("none", "nothing", ProgressStyle::None),
];

const UNITS: Table<Units> =
    &[("si", "powers of 1000: kB, MB, GB", Units::Si), ("iec", "powers of 1024: KiB, MiB, GiB", Units::Iec)];

/// Alternative spellings of values, which help does not list.
const ALIASES: [(&str, &str); 2] = [("io_uring", "ring"), ("dest", "destination")];

/// A parser for the words of `table`.
pub(crate) fn words<T: Copy + Send + Sync + 'static>(table: Table<T>) -> impl TypedValueParser<Value = T> {
    let values = table.iter().map(|(word, help, _)| {
        let value = PossibleValue::new(*word).help(*help);
        value.aliases(ALIASES.iter().filter(|(_, stands_for)| stands_for == word).map(|(alias, _)| *alias))
    });
    PossibleValuesParser::new(values).try_map(move |found| {
        let word = ALIASES.iter().find(|(alias, _)| found == *alias).map_or(found.as_str(), |(_, word)| word);
        table.iter().find(|(known, ..)| *known == word).map(|(.., value)| *value).ok_or("is unknown")
    })
}

pub(crate) fn engine() -> impl TypedValueParser<Value = EngineChoice> {
    words(ENGINES)
}

pub(crate) fn when() -> impl TypedValueParser<Value = When> {
    words(WHENS)
}

pub(crate) fn passes() -> impl TypedValueParser<Value = PassthroughMode> {
    words(PASSES)
}

/// Time limit of a command in seconds: from one second to one day.
pub(crate) fn command_timeout(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(seconds @ 1..=86_400) => Ok(seconds),
        _ => Err("accepted: a whole number of seconds from 1 to 86400".to_owned()),
    }
}

/// A duration: in seconds, or with the suffix s, m or h.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    const ACCEPTED: &str = "accepted: a time from 1 s to 24 h, such as 90, 90s, 5m or 2h";
    let whole = !text.contains('.') && !text.ends_with('d');
    seconds(text).filter(|time| whole && time.as_secs() <= DAY_S).ok_or_else(|| ACCEPTED.to_owned())
}

/// A long duration: also in days, and with a fraction.
pub(crate) fn long_time(text: &str) -> Result<Duration, String> {
    const ACCEPTED: &str = "accepted: a time from 1 s to 365 d, such as 90, 90s, 5m, 2h or 1.5d";
    seconds(text).filter(|time| time.as_secs() <= 365 * DAY_S).ok_or_else(|| ACCEPTED.to_owned())
}

const DAY_S: u64 = 86_400;

/// A duration of at least a second.
fn seconds(text: &str) -> Option<Duration> {
    let (number, unit_s) = match text.char_indices().last()? {
        (at, 's') => (&text[..at], 1),
        (at, 'm') => (&text[..at], 60),
        (at, 'h') => (&text[..at], 3600),
        (at, 'd') => (&text[..at], DAY_S),
        _ => (text, 1),
    };
    let is_number = number.starts_with(|first: char| first.is_ascii_digit())
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = number.parse().ok().filter(|_| is_number)?;
    Duration::try_from_secs_f64(number * unit_s as f64).ok().filter(|time| *time >= Duration::from_secs(1))
}

/// A latency: with the suffix us, ms or s.
pub(crate) fn latency(text: &str) -> Result<Duration, String> {
    const ACCEPTED: &str = "accepted: a time with suffix us, ms or s, such as 500us, 10ms or 2s";
    let units = [("us", 1), ("ms", 1000), ("s", 1_000_000)];
    let found = units.iter().find_map(|(unit, micros)| Some((text.strip_suffix(unit)?.parse::<u64>().ok()?, micros)));
    let micros = found.and_then(|(number, micros)| number.checked_mul(*micros));
    micros.filter(|&micros| micros > 0).map(Duration::from_micros).ok_or_else(|| ACCEPTED.to_owned())
}

/// A range of bytes: its offset, a plus sign, and its length.
pub(crate) fn range(text: &str) -> Result<Extent, String> {
    let (first, len) = text.split_once('+').ok_or("accepted: FIRST+LENGTH, two sizes, such as 10G+512M")?;
    let size = |text| size::parse(text).map_err(|error| error.to_string());
    Ok(Extent { offset: size(first)?, len: size(len)? })
}

/// A number of positions.
pub(crate) fn positions(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(count @ 5..=200) => Ok(count),
        _ => Err("accepted: a whole number from 5 to 200".to_owned()),
    }
}

/// The number of a position of a profile.
pub(crate) fn place(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(number @ 1..=POSITIONS) => Ok(number),
        _ => Err(format!("accepted: a whole number from 1 to {POSITIONS}")),
    }
}

/// Default number of positions of a profile.
pub(crate) const POSITIONS: u32 = 20;

pub(crate) fn hash() -> impl TypedValueParser<Value = HashChoice> {
    words(HASHES)
}

/// The part of the dest to read back: `all`, or `sample:` and a percentage.
pub(crate) fn portion(text: &str) -> Result<Portion, String> {
    const ACCEPTED: &str = "accepted: all, afterwards, or sample: with a percentage, such as sample:1% or sample:0.5%";
    match text {
        "all" => return Ok(Portion::All),
        "afterwards" => return Ok(Portion::Afterwards),
        _ => {}
    }
    let percent = text.strip_prefix("sample:").and_then(|rest| rest.strip_suffix('%')).ok_or(ACCEPTED)?;
    let plain = percent.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let percent: f64 = percent.parse().ok().filter(|_| plain).ok_or(ACCEPTED)?;
    let per_million = (percent * 1e4).ceil();
    if !(1.0..=1e6).contains(&per_million) {
        return Err("a sample is more than 0 % and at most 100 %".to_owned());
    }
    Ok(Portion::Sample { per_million: per_million as u32 })
}

/// How differences are found: by the manifest of that name, or by reading the dest.
pub(crate) fn delta(text: &str) -> Result<Delta, String> {
    Ok(if text.is_empty() { Delta::Read } else { Delta::Manifest(text.to_owned()) })
}

/// Block size of digests, in bytes.
pub(crate) fn manifest_block(text: &str) -> Result<u64, String> {
    let bytes = size::parse(text).map_err(|error| error.to_string())?;
    if !bytes.is_power_of_two() || !(64 << 10..=1 << 30).contains(&bytes) {
        return Err("accepted: a power of two from 64K to 1G".to_owned());
    }
    Ok(bytes)
}

/// A digest that workers compute in parts.
pub(crate) fn fleet_hash(text: &str) -> Result<HashKind, String> {
    match text {
        "blake3" => Ok(HashKind::Blake3),
        _ => Err("accepted: blake3; no other digest can be computed in parts by several machines".to_owned()),
    }
}

/// The digests in a list of names separated by commas.
pub(crate) fn hashes_named(text: &str) -> Result<Vec<HashKind>, String> {
    let kinds: Vec<HashChoice> = text.split(',').map(|word| one_of(HASHES, word.trim())).collect::<Result<_, _>>()?;
    hash_kinds(kinds)
}

/// Each digest once; `none` alone means an empty list.
pub(crate) fn hash_kinds(choices: Vec<HashChoice>) -> Result<Vec<HashKind>, String> {
    let mut kinds: Vec<HashKind> = Vec::new();
    for kind in choices.iter().copied().flatten() {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if choices.contains(&None) && !kinds.is_empty() {
        return Err("'none' cannot be combined with other digests".to_owned());
    }
    Ok(kinds)
}

/// The style of progress of this name.
pub(crate) fn progress_named(text: &str) -> Result<ProgressStyle, String> {
    one_of(STYLES, text)
}

/// The units of this name.
pub(crate) fn units_named(text: &str) -> Result<Units, String> {
    one_of(UNITS, text)
}

fn one_of<T: Copy>(table: Table<T>, word: &str) -> Result<T, String> {
    let found = table.iter().find(|(known, ..)| *known == word).map(|(.., value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = table.iter().map(|(word, ..)| *word).collect();
        format!("accepted: {}", known.join(", "))
    })
}

pub(crate) fn choose_from() -> impl TypedValueParser<Value = ChooseFrom> {
    words(OFFERED)
}

/// Bytes per second, or `none`.
pub(crate) fn limit(text: &str) -> Result<LimitChoice, String> {
    if text == "none" { Ok(None) } else { rate(text).map(Some) }
}

pub(crate) fn progress() -> impl TypedValueParser<Value = ProgressStyle> {
    words(STYLES)
}

pub(crate) fn units() -> impl TypedValueParser<Value = Units> {
    words(UNITS)
}

/// A shard of a plan: its number and how many there are, or `auto`.
pub(crate) fn shard(text: &str) -> Result<ShardChoice, String> {
    const ACCEPTED: &str = "accepted: K/N, such as 3/64, or auto";
    if text == "auto" {
        return Ok(ShardChoice::Auto);
    }
    let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    let numbers = numbers.filter(|(number, of)| (1..=*of).contains(number));
    numbers.map(|(number, of)| ShardChoice::Number(number, of)).ok_or_else(|| ACCEPTED.to_owned())
}

/// An offset: any size.
pub(crate) fn offset(text: &str) -> Result<u64, SizeError> {
    size::parse(text)
}

/// A number of bytes: at least one.
pub(crate) fn amount(text: &str) -> Result<u64, String> {
    match size::parse(text) {
        Ok(0) => Err("0 bytes would copy nothing; omit the option to copy everything".to_owned()),
        other => other.map_err(|error| error.to_string()),
    }
}

/// Bytes to write continuously: enough to distinguish one rate from another.
pub(crate) fn sustained(text: &str) -> Result<u64, String> {
    match size::parse(text) {
        Ok(bytes) if bytes < 64 << 20 => Err("accepted: 64M or more; a write cache holds several GB".to_owned()),
        other => other.map_err(|error| error.to_string()),
    }
}

/// Size of a READ BUFFER, which has a field of 24 bits.
pub(crate) fn buffer_size(text: &str) -> Result<u32, String> {
    match size::parse(text) {
        Ok(bytes @ 1..=0xff_ffff) => Ok(bytes as u32),
        Ok(_) => Err("accepted: 1 to 16777215 bytes".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A block size, in bytes.
pub(crate) fn block(text: &str) -> Result<u32, String> {
    const MAX_BYTES: u64 = crate::plan::BLOCK_BYTES_ASKABLE as u64;
    match size::parse(text) {
        Ok(0) => Err("a block has at least 1 byte".to_owned()),
        Ok(bytes) if bytes > MAX_BYTES => Err(format!("a block has at most {} bytes", size::print(MAX_BYTES))),
        Ok(bytes) => u32::try_from(bytes).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// A number of blocks in flight.
pub(crate) fn depth(text: &str) -> Result<u32, String> {
    const MAX: u32 = crate::plan::DEPTH_ASKABLE;
    match text.parse::<u32>() {
        Ok(depth @ 1..=MAX) => Ok(depth),
        _ => Err(format!("accepted: a whole number from 1 to {MAX}")),
    }
}

/// Bytes per second: a size, with or without `/s`.
pub(crate) fn rate(text: &str) -> Result<u64, String> {
    match size::parse(text.strip_suffix("/s").unwrap_or(text)) {
        Ok(0) => Err("0 bytes per second would never finish; none is no limit".to_owned()),
        other => other.map_err(|error| error.to_string()),
    }
}

/// The address as UTF-8. Messages, JSON and the command that continues a copy must contain it exactly, which is
/// impossible with other bytes.
pub(crate) fn address(operand: &str, words: OsString) -> Result<String, (ErrorKind, String)> {
    if words.is_empty() {
        return Err((ErrorKind::InvalidValue, format!("{operand} is empty; give a path")));
    }
    words.into_string().map_err(|words| {
        let what = format!(
            "{operand} {words:?} is not valid UTF-8; create a symbolic link with a plain name to it, or redirect it \
             and give - instead"
        );
        (ErrorKind::InvalidUtf8, what)
    })
}

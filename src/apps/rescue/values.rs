//! The values of the options of `haul rescue`.
use super::options::FillOptions;
use crate::cli::words;
use crate::core::rescue::{FILLABLE, ReadLimits};
use std::time::Duration;

/// Smallest size to skip, as in GNU ddrescue, in bytes.
const SKIP_BYTES_MIN: u64 = 64 << 10;

/// Passes over bad sectors; `None`: without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retries(pub(super) Option<u32>);

/// How long to wait for a source; `None`: not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reconnect(pub(super) Option<Duration>);

/// Bytes to skip first, and at most; `None`: by the size of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SkipSize(pub(super) Option<u64>, pub(super) Option<u64>);

/// A number of passes, or endless.
pub(super) fn retries(text: &str) -> Result<Retries, String> {
    if text == "endless" {
        return Ok(Retries(None));
    }
    let number = text.parse().map_err(|_| "accepted: a number of passes, or endless".to_owned())?;
    Ok(Retries(Some(number)))
}

/// Limits of the time of a read: while copying, and later.
pub(super) fn read_limits(text: &str) -> Result<ReadLimits, String> {
    let (copying, later) = text.split_once(',').unwrap_or((text, text));
    let [copying, later] = [words::time(copying)?, words::time(later)?];
    let later = if text.contains(',') { later } else { later.max(ReadLimits::default().later) };
    if later < copying {
        return Err("accepted: a time, and one that is not shorter after a comma, such as 3,10".to_owned());
    }
    Ok(ReadLimits { copying, later })
}

/// A time, or never.
pub(super) fn reconnect(text: &str) -> Result<Reconnect, String> {
    if text == "never" { Ok(Reconnect(None)) } else { words::time(text).map(|time| Reconnect(Some(time))) }
}

/// The statuses that are filled.
pub(super) fn fill_statuses(text: &str) -> Result<FillOptions, String> {
    let accepted = "accepted: letters of ? * / -, and l for the location of each sector";
    let (mut statuses, mut located) = (Vec::new(), false);
    for letter in text.chars() {
        match FILLABLE.into_iter().find(|status| status.letter() == letter) {
            Some(status) if statuses.contains(&status) => {}
            Some(status) => statuses.push(status),
            None if letter == 'l' => located = true,
            None if letter == '+' => return Err(format!("rescued areas (+) are never filled; {accepted}")),
            None => return Err(accepted.to_owned()),
        }
    }
    if statuses.is_empty() { Err(accepted.to_owned()) } else { Ok(FillOptions { statuses, located }) }
}

/// FIRST, FIRST,MOST or ,MOST.
pub(super) fn skip_size(text: &str) -> Result<SkipSize, String> {
    let (first, most) = text.split_once(',').map_or((text, None), |(first, most)| (first, Some(most)));
    let size = |text: &str| words::offset(text).map_err(|error| error.to_string());
    let first = if first.is_empty() && most.is_some() { None } else { Some(size(first)?) };
    let most = most.map(size).transpose()?;
    let is_small = |size: u64| size < SKIP_BYTES_MIN;
    let first_is_wrong = first.is_some_and(|first| first > 0 && is_small(first));
    if first_is_wrong || most.is_some_and(|most| is_small(most) || most < first.unwrap_or(0)) {
        return Err("accepted: 0, or a size of at least 64K, and a larger one after a comma".to_owned());
    }
    Ok(SkipSize(first, most))
}

//! What has to be where, by what was there before: the model that haul is held against.
use super::case::{Case, Dest, Source};
use super::ensure_equal;
use super::judge::{Seen, bad};
use super::scene::Place;
use crate::ensure;
use serde_json::Value;
use std::fs;

/// The bytes of dest `number` now, as far as they can be had.
pub fn bytes_of(seen: &Seen<'_>, number: usize) -> Vec<u8> {
    match seen.case.dests[number] {
        Dest::Pipe { .. } => seen.ended.stdout.clone(),
        Dest::Fifo => seen.ended.fifo.clone(),
        Dest::Null | Dest::Full => Vec::new(),
        _ => seen.scene.dests[number].file.as_ref().and_then(|file| fs::read(file).ok()).unwrap_or_default(),
    }
}

/// The dest keeps no bytes that anybody could look at.
pub fn is_sink(dest: &Dest) -> bool {
    matches!(dest, Dest::Null | Dest::Full)
}

fn is_device(dest: &Dest) -> bool {
    matches!(dest, Dest::Loop { .. } | Dest::Failing { .. })
}

/// What was there, overwritten from `at` on.
fn overlaid(before: &[u8], at: usize, wanted: &[u8]) -> Vec<u8> {
    let mut bytes = before.to_vec();
    bytes.resize(bytes.len().max(at + wanted.len()), 0);
    bytes[at..at + wanted.len()].copy_from_slice(wanted);
    bytes
}

/// What a dest holds when all went well.
fn whole(case: &Case, dest: &Dest, place: &Place, wanted: &[u8]) -> Vec<u8> {
    let at = case.seek.unwrap_or(0) as usize;
    match (&place.before, dest) {
        (_, Dest::Pipe { .. } | Dest::Fifo | Dest::Redirected) => wanted.to_vec(),
        (Some(before), dest) if case.is_range() || is_device(dest) => overlaid(before, at, wanted),
        (None, _) if case.is_range() => overlaid(&[], at, wanted),
        _ => wanted.to_vec(),
    }
}

/// After a copy: everything where status 0 says so, and in any case nothing outside its range.
pub fn copied(seen: &Seen<'_>) -> Result<(), String> {
    let wanted = seen.scene.wanted(seen.case);
    for (number, (dest, place)) in seen.case.dests.iter().zip(&seen.scene.dests).enumerate() {
        if is_sink(dest) {
            let took_all = *dest == Dest::Full && seen.ended.code == Some(0) && !wanted.is_empty();
            ensure!(!took_all || seen.has("--dry-run"), "/dev/full took it all");
            continue;
        }
        let is = bytes_of(seen, number);
        if seen.is_refused() || seen.has("--dry-run") {
            // Files are compared with the others; nothing may have come out of a pipe.
            let is_stream = place.file.is_none();
            ensure!(
                !is_stream || is.is_empty() || seen.has("--dry-run"),
                "{} bytes came, and it was refused",
                is.len()
            );
        } else if seen.ended.code == Some(0) {
            let reader_stays = !matches!(dest, Dest::Pipe { closes_after: Some(_) });
            if reader_stays {
                ensure_equal(&whole(seen.case, dest, place, wanted), &is, &format!("status 0, dest {number}"))?;
            }
        } else {
            unfinished(seen, number, &is, wanted)?;
        }
    }
    Ok(())
}

/// Nothing outside the range of the copy is another, and a stream has the first bytes of it and no others.
fn unfinished(seen: &Seen<'_>, number: usize, is: &[u8], wanted: &[u8]) -> Result<(), String> {
    let (case, dest, place) = (seen.case, &seen.case.dests[number], &seen.scene.dests[number]);
    let bad = bad(case);
    if matches!(dest, Dest::Pipe { .. } | Dest::Fifo | Dest::Redirected) {
        ensure!(is.len() <= wanted.len(), "{} bytes came of a copy of {}", is.len(), wanted.len());
        return equal_but_for(&wanted[..is.len()], is, &bad, &format!("stream {number}"));
    }
    let Some(before) = &place.before else { return Ok(()) };
    if !case.is_range() && !is_device(dest) {
        return Ok(());
    }
    let seek = case.seek.unwrap_or(0) as usize;
    let head = seek.min(before.len());
    ensure!(is.len() >= before.len(), "dest {number} was cut from {} to {} bytes", before.len(), is.len());
    ensure_equal(&before[..head], &is[..head], &format!("before the range of dest {number}"))?;
    let end = (seek + wanted.len()).min(before.len());
    ensure_equal(&before[end..], &is[end..before.len()], &format!("behind the range of dest {number}"))
}

/// Equal, or zeros where the source cannot be read.
pub fn equal_but_for(wanted: &[u8], is: &[u8], bad: &[std::ops::Range<u64>], what: &str) -> Result<(), String> {
    let mut allowed = wanted.to_vec();
    for bad in bad {
        let len = allowed.len();
        let (start, end) = ((bad.start as usize).min(len), (bad.end as usize).min(len));
        for at in start..end.min(is.len()) {
            if is[at] == 0 {
                allowed[at] = 0;
            }
        }
    }
    ensure_equal(&allowed, is, what)
}

/// haul verify tells what a comparison tells, and writes nothing.
pub fn verified(seen: &Seen<'_>, reports: &[Value]) -> Result<(), String> {
    let case = seen.case;
    let place = &seen.scene.dests[0];
    let (Some(before), false) = (&place.before, seen.has("--dry-run")) else { return Ok(()) };
    if case.dests[0] == Dest::Same || seen.is_refused() || matches!(case.source, Source::Failing { .. }) {
        return Ok(());
    }
    let wanted = seen.scene.wanted(case);
    let seek = (case.seek.unwrap_or(0) as usize).min(before.len());
    let there = &before[seek..];
    let common = there.len().min(wanted.len());
    let differing: Vec<usize> = (0..common).filter(|at| there[*at] != wanted[*at]).collect();
    let too_short = there.len() < wanted.len();
    let too_long = there.len() > wanted.len() && !case.is_range() && !is_device(&case.dests[0]);
    let equal = differing.is_empty() && !too_short && !too_long;
    ensure!((seen.ended.code == Some(0)) == equal, "equal: {equal}, {} bytes differ", differing.len());
    for report in reports.iter().filter(|report| report["status"] == "complete") {
        let told = &report["differences"];
        ensure!(told["equal"] == equal, "told: {}", told["equal"]);
        let first = differing.first().map(|at| *at as u64);
        ensure!(told["first_offset_bytes"].as_u64() == first, "first: {first:?}, told: {}", told["first_offset_bytes"]);
        ensure!(
            told["differing_bytes"] == differing.len(),
            "{} differ, told {}",
            differing.len(),
            told["differing_bytes"]
        );
    }
    Ok(())
}

/// After dd, or one of the sg family.
pub fn moved(seen: &Seen<'_>, name: &str) -> Result<(), String> {
    let (case, dest, place) = (seen.case, &seen.case.dests[0], &seen.scene.dests[0]);
    let is_judged = name == "dd" || (case.len.is_multiple_of(512) && case.is_range_of_sectors());
    // What the page cache took, and could not write back after the end, dd does not know.
    let is_judged = is_judged && !matches!(dest, Dest::Failing { .. });
    // What is passed over keeps what was there.
    let is_sparse = place.before.is_some() && seen.options.iter().any(|words| words[0].contains("sparse"));
    let is_judged = is_judged && !is_sparse;
    if *dest == Dest::Same || is_sink(dest) || !is_judged || matches!(case.source, Source::Failing { .. }) {
        return Ok(());
    }
    let (wanted, is) = (seen.scene.wanted(case), bytes_of(seen, 0));
    let at = if place.file.is_none() || *dest == Dest::Redirected { 0 } else { case.seek.unwrap_or(0) as usize };
    // Of a pipe dd counts reads, which may be short.
    let counts_reads = matches!(case.source, Source::Pipe { .. } | Source::Fifo) && case.count.is_some();
    let moved =
        if seen.ended.code == Some(0) && !counts_reads { Some(wanted.len()) } else { told_bytes(&seen.ended.stderr) };
    let reader_goes = matches!(dest, Dest::Pipe { closes_after: Some(_) });
    if let (Some(moved), false) = (moved, reader_goes) {
        ensure!(moved <= wanted.len(), "{moved} bytes were told, and there are {}", wanted.len());
        ensure!(is.len() >= at + moved || moved == 0, "{moved} bytes were told, and dest has {}", is.len());
        if moved > 0 {
            ensure_equal(&wanted[..moved], &is[at..at + moved], &format!("{name}, {moved} bytes told"))?;
        }
    }
    // Without conv=notrunc, GNU dd empties even what lies before seek= where that is less than a record.
    let stays = is_device(dest) || seen.options.iter().any(|words| words[0].contains("notrunc"));
    let Some(before) = place.before.as_ref().filter(|_| stays) else { return Ok(()) };
    let (head, end) = (at.min(before.len()), (at + wanted.len()).min(before.len()));
    ensure!(is.len() >= before.len(), "dest was cut");
    ensure_equal(&before[..head], &is[..head], "before seek=")?;
    ensure_equal(&before[end..], &is[end..before.len()], "behind what was copied")
}

/// The bytes that dd says it copied.
fn told_bytes(stderr: &str) -> Option<usize> {
    let line = stderr.lines().rev().find(|line| line.contains(" copied, "))?;
    line.split(' ').next()?.parse().ok()
}

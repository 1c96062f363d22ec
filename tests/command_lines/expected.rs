//! The expected contents of each dest: the model with which haul is compared.
use super::case::{Case, Dest, Source};
use super::ensure_equal;
use super::judge::{Seen, bad};
use super::lists::{gathered, scattered};
use super::scene::Place;
use crate::ensure;
use serde_json::Value;
use std::fs;

/// The present bytes of dest `number`, as far as they are available.
pub fn bytes_of(seen: &Seen<'_>, number: usize) -> Vec<u8> {
    match seen.case.dests[number] {
        Dest::Pipe { .. } => seen.ended.stdout.clone(),
        Dest::Fifo => seen.ended.fifo.clone(),
        Dest::Null | Dest::Full => Vec::new(),
        _ => seen.scene.dests[number].file.as_ref().and_then(|file| fs::read(file).ok()).unwrap_or_default(),
    }
}

/// Whether the dest stores no bytes that can be read.
pub fn is_sink(dest: &Dest) -> bool {
    matches!(dest, Dest::Null | Dest::Full)
}

fn is_device(dest: &Dest) -> bool {
    matches!(dest, Dest::Loop { .. } | Dest::Failing { .. })
}

/// Failed writes to a device are detected when it is flushed, or later.
pub fn may_be_lost(seen: &Seen<'_>, dest: &Dest) -> bool {
    matches!(dest, Dest::Failing { .. }) && seen.has("--no-flush")
}

/// The bytes of a dest after success.
fn whole(case: &Case, dest: &Dest, place: &Place, wanted: &[u8]) -> Vec<u8> {
    let places = case.places(1, wanted.len());
    match (&place.before, dest) {
        (_, Dest::Pipe { .. } | Dest::Fifo | Dest::Redirected) => wanted.to_vec(),
        (Some(before), dest) if case.is_range() || is_device(dest) => scattered(before, &places, wanted),
        (None, _) if case.is_range() => scattered(&[], &places, wanted),
        _ => wanted.to_vec(),
    }
}

/// After a copy: all bytes if the status is 0, and in any case none outside its range.
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
            // Files are compared below; a pipe may have received nothing.
            let is_stream = place.file.is_none();
            ensure!(
                !is_stream || is.is_empty() || seen.has("--dry-run"),
                "{} bytes came, and it was refused",
                is.len()
            );
        } else if seen.ended.code == Some(0) {
            let reader_stays = !matches!(dest, Dest::Pipe { closes_after: Some(_) });
            if reader_stays && !may_be_lost(seen, dest) {
                ensure_equal(&whole(seen.case, dest, place, wanted), &is, &format!("status 0, dest {number}"))?;
            }
        } else {
            unfinished(seen, number, &is, wanted)?;
        }
    }
    Ok(())
}

/// Checks that nothing outside the range of the copy changed, and that a stream received a prefix of it.
fn unfinished(seen: &Seen<'_>, number: usize, is: &[u8], wanted: &[u8]) -> Result<(), String> {
    let (case, dest, place) = (seen.case, &seen.case.dests[number], &seen.scene.dests[number]);
    let bad = bad(case);
    if matches!(dest, Dest::Pipe { .. } | Dest::Fifo | Dest::Redirected) {
        ensure!(is.len() <= wanted.len(), "{} bytes came of a copy of {}", is.len(), wanted.len());
        return equal_but_for(&wanted[..is.len()], is, &bad, &format!("stream {number}"));
    }
    if !case.is_range() && !is_device(dest) {
        return Ok(());
    }
    let before = place.before.as_deref().unwrap_or_default();
    ensure!(is.len() >= before.len(), "dest {number} was cut from {} to {} bytes", before.len(), is.len());
    let mut allowed = before.to_vec();
    allowed.resize(is.len(), 0);
    for (offset, len) in case.places(1, wanted.len()) {
        let within = offset.min(is.len())..(offset + len).min(is.len());
        allowed[within.clone()].copy_from_slice(&is[within]);
    }
    ensure_equal(&allowed, is, &format!("outside the ranges of dest {number}"))
}

/// Equal, or zeros in place of unreadable bytes of the source.
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

/// Checks that haul verify reports the differences, and writes nothing.
pub fn verified(seen: &Seen<'_>, reports: &[Value]) -> Result<(), String> {
    let case = seen.case;
    let place = &seen.scene.dests[0];
    let (Some(before), false) = (&place.before, seen.has("--dry-run")) else { return Ok(()) };
    if case.dests[0] == Dest::Same || seen.is_refused() || matches!(case.source, Source::Failing { .. }) {
        return Ok(());
    }
    let wanted = seen.scene.wanted(case);
    let seek = (case.seek.unwrap_or(0) as usize).min(before.len());
    let listed = case.lists.of_side[1].as_ref().map(|places| gathered(before, places));
    let there = match &listed {
        Some(listed) => listed.as_deref().ok_or("ranges behind the end were compared")?,
        None => &before[seek..],
    };
    let common = there.len().min(wanted.len());
    let same = there[..common] == wanted[..common];
    let differing: Vec<usize> =
        if same { Vec::new() } else { (0..common).filter(|at| there[*at] != wanted[*at]).collect() };
    let too_short = there.len() < wanted.len();
    let too_long = there.len() > wanted.len() && !case.is_range() && !is_device(&case.dests[0]);
    let equal = differing.is_empty() && !too_short && !too_long;
    ensure!((seen.ended.code == Some(0)) == equal, "equal: {equal}, {} bytes differ", differing.len());
    for report in reports.iter().filter(|report| report["status"] == "complete") {
        let reported = &report["differences"];
        ensure!(reported["equal"] == equal, "reported: {}", reported["equal"]);
        let first = differing.first().map(|at| *at as u64);
        ensure!(
            reported["first_offset_bytes"].as_u64() == first,
            "first: {first:?}, reported: {}",
            reported["first_offset_bytes"]
        );
        ensure!(
            reported["differing_bytes"] == differing.len(),
            "{} differ, reported {}",
            differing.len(),
            reported["differing_bytes"]
        );
    }
    Ok(())
}

/// After dd, or sg_dd and its variants.
pub fn moved(seen: &Seen<'_>, name: &str) -> Result<(), String> {
    let (case, dest, place) = (seen.case, &seen.case.dests[0], &seen.scene.dests[0]);
    let is_judged = name == "dd" || (case.len.is_multiple_of(512) && case.is_range_of_sectors());
    // dd does not detect failures of writing back the page cache after its end.
    let is_judged = is_judged && !matches!(dest, Dest::Failing { .. });
    // Skipped blocks keep their old contents.
    let is_sparse = place.before.is_some() && seen.options.iter().any(|words| words[0].contains("sparse"));
    let is_judged = is_judged && !is_sparse;
    if *dest == Dest::Same || is_sink(dest) || !is_judged || matches!(case.source, Source::Failing { .. }) {
        return Ok(());
    }
    let (wanted, is) = (seen.scene.wanted(case), bytes_of(seen, 0));
    let at = if place.file.is_none() || *dest == Dest::Redirected { 0 } else { case.seek.unwrap_or(0) as usize };
    // For a pipe dd counts reads, which may be short.
    let counts_reads = matches!(case.source, Source::Pipe { .. } | Source::Fifo) && case.count.is_some();
    let moved = if seen.ended.code == Some(0) && !counts_reads {
        Some(wanted.len())
    } else {
        reported_bytes(&seen.ended.stderr)
    };
    let reader_goes = matches!(dest, Dest::Pipe { closes_after: Some(_) });
    if let (Some(moved), false) = (moved, reader_goes) {
        ensure!(moved <= wanted.len(), "{moved} bytes were reported, and there are {}", wanted.len());
        ensure!(is.len() >= at + moved || moved == 0, "{moved} bytes were reported, and dest has {}", is.len());
        if moved > 0 {
            ensure_equal(&wanted[..moved], &is[at..at + moved], &format!("{name}, {moved} bytes reported"))?;
        }
    }
    // Without conv=notrunc, GNU dd also removes the bytes before seek= if that is less than a record.
    let stays = is_device(dest) || seen.options.iter().any(|words| words[0].contains("notrunc"));
    let Some(before) = place.before.as_ref().filter(|_| stays) else { return Ok(()) };
    let (head, end) = (at.min(before.len()), (at + wanted.len()).min(before.len()));
    ensure!(is.len() >= before.len(), "dest was cut");
    ensure_equal(&before[..head], &is[..head], "before seek=")?;
    ensure_equal(&before[end..], &is[end..before.len()], "behind what was copied")
}

/// The bytes that dd reports as copied.
fn reported_bytes(stderr: &str) -> Option<usize> {
    let line = stderr.lines().rev().find(|line| line.contains(" copied, "))?;
    line.split(' ').next()?.parse().ok()
}

//! Checks the claims of reports, journals, manifests, mapfiles and digests against the bytes.
use super::case::{Case, Dest};
use super::expected::{bytes_of, equal_but_for, is_sink, may_be_lost};
use super::judge::{Seen, bad};
use super::lists::{Place, gathered, merged, of_copy};
use crate::ensure;
use blake3::hazmat::HasherExt;
use serde_json::Value;
use sha2::Digest;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The default path of the journal of a dest file; `None`: its name is too long for that form.
pub fn default_journal(dest: &Path) -> Option<PathBuf> {
    let name = format!(".{}.haul-journal", dest.file_name()?.to_str()?);
    let directory = dest.parent()?;
    if name.len() <= 255 {
        return Some(directory.join(name));
    }
    // The digest in it is not computed here: any name with this start and end matches.
    let begins = &name[..200];
    let found = fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(begins) && name.ends_with(".haul-journal")
    };
    found.into_iter().find(is_it)
}

/// Checks everything that was reported and recorded.
pub fn hold(seen: &Seen<'_>, reports: &[Value]) -> Result<(), String> {
    if seen.is_refused() || seen.has("--dry-run") {
        return Ok(());
    }
    for report in reports {
        reported(seen, report)?;
    }
    for (journal, number) in journals(seen.case, seen) {
        let durable = durable(&journal, seen.at_once())?;
        ensure!(seen.ended.code != Some(0), "status 0, and {} is there", journal.display());
        for (offset, len) in durable {
            claimed(seen, number, offset, len, &format!("{}", journal.display()))?;
        }
    }
    manifest(seen)?;
    mapfile(seen)?;
    page(seen)
}

/// Checks the report, and the bytes that it claims.
fn reported(seen: &Seen<'_>, report: &Value) -> Result<(), String> {
    let status = report["status"].as_str().unwrap_or_default();
    let fits = match (seen.ended.code, seen.ended.signal) {
        (Some(0), _) => status == "complete",
        (Some(1), _) => matches!(status, "failed" | "complete"),
        // A signal after the copy ends haul while it prints the report.
        (_, Some(signal)) => status == "interrupted" && report["signal"] == signal || seen.ending_signals() > 0,
        _ => true,
    };
    ensure!(fits, "the report has {status:?}, signal {}", report["signal"]);
    if report["report"] != "copy" || report["claimed"].is_null() {
        return Ok(());
    }
    let number = |value: &Value| value.as_u64().ok_or_else(|| format!("no number: {value}"));
    let (offset, len) = (number(&report["claimed"]["offset_bytes"])?, number(&report["claimed"]["len_bytes"])?);
    let wanted = seen.scene.wanted(seen.case).len() as u64;
    ensure!(
        seen.ended.code != Some(0) || len == wanted || !is_first(seen, report),
        "{len} of {wanted} bytes are claimed"
    );
    if seen.case.dests.len() == 1 {
        claimed(seen, 0, offset, len, "the report")?;
        ensure!(seen.ended.code != Some(0) || digests_fit(seen, report), "a digest is wrong: {}", report["digests"]);
    }
    let dests = report["dests"].as_array().ok_or("no list of dests")?;
    for (number, dest) in dests.iter().enumerate() {
        let len = dest["claimed_bytes"].as_u64().ok_or("claimed_bytes is no number")?;
        claimed(seen, number, offset, len, &format!("the report of dest {number}"))?;
    }
    durability(seen, report)
}

/// Whether it is the report of the copy itself, not of the rest for one dest that was left behind.
fn is_first(seen: &Seen<'_>, report: &Value) -> bool {
    seen.case.dests.len() == 1 || !report["dests"].as_array().is_none_or(Vec::is_empty)
}

/// On a disk data survives a power loss, in memory it does not.
fn durability(seen: &Seen<'_>, report: &Value) -> Result<(), String> {
    let is_file = matches!(seen.case.dests[0], Dest::File { .. } | Dest::Same | Dest::Loop { .. });
    if seen.ended.code != Some(0) || seen.case.dests.len() > 1 || !is_file {
        return Ok(());
    }
    let expected = match () {
        () if seen.has("--no-flush") => "no",
        () if seen.case.in_memory => "memory",
        () => "medium",
    };
    ensure!(report["durability"] == expected, "durability {} instead of {expected}", report["durability"]);
    ensure!(report["durable"] == (expected == "medium"), "durable: {}", report["durable"]);
    Ok(())
}

/// Checks that these bytes of the copy are on the dest.
fn claimed(seen: &Seen<'_>, number: usize, offset: u64, len: u64, by: &str) -> Result<(), String> {
    let (case, dest) = (seen.case, &seen.case.dests[number]);
    let reader_goes = matches!(dest, Dest::Pipe { closes_after: Some(_) });
    if is_sink(dest) || reader_goes || may_be_lost(seen, dest) || len == 0 {
        return Ok(());
    }
    let (wanted, is) = (seen.scene.wanted(case), bytes_of(seen, number));
    let is_stream = seen.scene.dests[number].file.is_none() || *dest == Dest::Redirected;
    let (start, len) = (offset as usize, len as usize);
    ensure!(start + len <= wanted.len(), "{by} claims {len} bytes at {start} of {}", wanted.len());
    let places = if is_stream { vec![(0, wanted.len())] } else { case.places(1, wanted.len()) };
    let claimed = part(&places, start..start + len);
    let is_there = gathered(&is, &claimed);
    let is_there = is_there.ok_or(format!("{by} claims {claimed:?}, and dest {number} has {}", is.len()))?;
    let bad: Vec<_> =
        bad(case).iter().map(|bad| bad.start.saturating_sub(offset)..bad.end.saturating_sub(offset)).collect();
    equal_but_for(&wanted[start..start + len], &is_there, &bad, &format!("{by}, dest {number}, from {offset}"))
}

/// The part of these extents that contains these bytes of the copy.
fn part(places: &[Place], wanted: Range<usize>) -> Vec<Place> {
    let mut first = 0;
    let mut found = Vec::new();
    for &(offset, len) in places {
        let (start, end) = (wanted.start.max(first), wanted.end.min(first + len));
        if start < end {
            found.push((offset + (start - first), end - start));
        }
        first += len;
    }
    found
}

/// The existing journals, and the dest of each.
pub fn journals(case: &Case, seen: &Seen<'_>) -> Vec<(PathBuf, usize)> {
    let scene = seen.scene;
    let mut found = Vec::new();
    for (number, place) in scene.dests.iter().enumerate() {
        let named = seen.value("--journal").filter(|_| case.dests.len() == 1).map(|name| scene.place.join(name));
        let beside = place.named.as_ref().and_then(|file| default_journal(file));
        found.extend(named.or(beside).filter(|path| is_made(seen, path)).map(|path| (path, number)));
    }
    let devices =
        || case.dests.iter().enumerate().filter(|(_, dest)| matches!(dest, Dest::Loop { .. } | Dest::Failing { .. }));
    for path in fs::read_dir(scene.state.join("haul")).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let names = |address: &str| text.lines().next().unwrap_or_default().contains(&format!("{address}\""));
        let about = devices().find(|(number, _)| names(&scene.dests[*number].address));
        found.extend(about.filter(|_| path.to_string_lossy().ends_with("journal")).map(|(number, _)| (path, number)));
    }
    found
}

/// Whether haul created the file: it did not exist before, or differed.
fn is_made(seen: &Seen<'_>, path: &Path) -> bool {
    seen.after.get(path).is_some_and(|entry| entry.content.starts_with(b"{\"haul_journal\":"))
}

/// The contents of a file; `None`: it does not exist, or is not a regular file.
fn text_of(seen: &Seen<'_>, path: &Path) -> Option<String> {
    let entry = seen.after.get(path).filter(|entry| entry.is_file())?;
    String::from_utf8(entry.content.clone()).ok()
}

/// The durable bytes of a journal. Its last line may be torn if haul was killed.
pub fn durable(path: &Path, may_be_torn: bool) -> Result<Vec<(u64, u64)>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines: Vec<&str> = text.lines().collect();
    let mut durable = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let line: Value = match serde_json::from_str(line) {
            Ok(line) => line,
            Err(_) if may_be_torn && number + 1 == lines.len() => break,
            Err(error) => return Err(format!("{}, line {number}: {error}", path.display())),
        };
        let extents = line["durable"].as_array().into_iter().flatten();
        durable.extend(extents.filter_map(|extent| Some((extent[0].as_u64()?, extent[1].as_u64()?))));
    }
    Ok(durable)
}

/// Whether the digests in the report are those of the source.
fn digests_fit(seen: &Seen<'_>, report: &Value) -> bool {
    let wanted = seen.scene.wanted(seen.case);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let digests = report["digests"].as_array().map(Vec::as_slice).unwrap_or_default();
    let asked: Vec<&str> =
        seen.value("--hash").unwrap_or_default().split(',').filter(|kind| !kind.is_empty()).collect();
    let output_text = |kind: &&str| digests.iter().any(|digest| digest["hash"] == *kind);
    let fits = |digest: &Value| {
        let expected = match digest["hash"].as_str() {
            Some("sha256") => hex(&sha2::Sha256::digest(wanted)),
            Some("md5") => hex(&md5::Md5::digest(wanted)),
            Some("blake3") => blake3::hash(wanted).to_hex().to_string(),
            Some("xxh3") => format!("{:032x}", twox_hash::XxHash3_128::oneshot(wanted)),
            _ => return false,
        };
        digest["hex"] == expected
    };
    asked.iter().all(output_text) && digests.iter().all(fits)
}

/// Checks that a complete copy has a manifest, with the digests of the source.
fn manifest(seen: &Seen<'_>) -> Result<(), String> {
    let Some(name) = seen.value("--manifest") else { return Ok(()) };
    let path = seen.scene.place.join(name);
    if seen.before.contains_key(&path) && !seen.follows {
        return Ok(());
    }
    let Some(text) = text_of(seen, &path) else {
        ensure!(seen.ended.code != Some(0), "status 0 and no manifest");
        return Ok(());
    };
    let wanted = seen.scene.wanted(seen.case);
    let mut covered = 0;
    let mut ranges = [Vec::new(), Vec::new()];
    let bad = bad(seen.case);
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).map_err(|error| format!("the manifest: {error}: {line}"))?;
        if let Some(side) = line["range_of"].as_str() {
            let number = |key: &str| line[key].as_u64().unwrap_or(0) as usize;
            ranges[usize::from(side == "dest")].push((number("offset_bytes"), number("len_bytes")));
        } else if line["haul_manifest"].is_null() && line["unread"].is_null() {
            let (Some(at), Some(len)) = (line["offset_bytes"].as_u64(), line["len_bytes"].as_u64()) else {
                let whole = line["whole"].as_str();
                let is_whole = whole.is_none_or(|whole| whole == blake3::hash(wanted).to_hex().as_str());
                ensure!(is_whole || !bad.is_empty(), "the manifest's digest of the whole is wrong");
                continue;
            };
            covered += len;
            let part = wanted.get(at as usize..(at + len) as usize).ok_or("the manifest is longer than the copy")?;
            let fits = match line["digest"].as_str() {
                Some(digest) => {
                    let value = blake3::Hasher::new().set_input_offset(at).update(part).finalize_non_root();
                    digest == blake3::Hash::from(value).to_hex().as_str()
                }
                None => line["zero"] == true && part.iter().all(|byte| *byte == 0),
            };
            ensure!(fits || !bad.is_empty(), "the manifest is wrong about {len} bytes at {at}");
        }
    }
    let lists = seen.case.lists.of_side.each_ref().map(|list| merged(list.as_deref().unwrap_or_default()));
    ensure!(ranges == lists, "the manifest has the ranges {ranges:?} instead of {lists:?}");
    ensure!(covered == wanted.len() as u64, "the manifest covers {covered} of {} bytes", wanted.len());
    Ok(())
}

/// Checks that a mapfile exists in any case, and that the dest has its finished parts.
fn mapfile(seen: &Seen<'_>) -> Result<(), String> {
    let Some(name) = seen.value("--mapfile") else { return Ok(()) };
    let path = seen.scene.place.join(name);
    if seen.before.contains_key(&path) && !seen.follows {
        return Ok(());
    }
    let Some(text) = text_of(seen, &path) else {
        ensure!(seen.ended.code.is_none() || seen.ended.code == Some(1), "no mapfile, and it ended with a status");
        return Ok(());
    };
    let hex = |word: Option<&str>| u64::from_str_radix(word?.strip_prefix("0x")?, 16).ok();
    let places = seen.case.places(0, seen.scene.wanted(seen.case).len());
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let mut words = line.split_whitespace();
        let (Some(at), Some(len)) = (hex(words.next()), hex(words.next())) else {
            return Err(format!("the mapfile has a line that is none: {line}"));
        };
        if words.next() == Some("+") {
            let finished = of_copy(&places, at as usize..(at + len) as usize);
            ensure!(!finished.is_empty() || len == 0, "the mapfile calls {at} finished, which is not in {places:?}");
            for part in finished {
                claimed(seen, 0, part.start as u64, part.len() as u64, "the mapfile")?;
            }
        }
    }
    Ok(())
}

/// Checks that the page is complete, or does not exist.
fn page(seen: &Seen<'_>) -> Result<(), String> {
    let Some(name) = seen.value("--report") else { return Ok(()) };
    let path = seen.scene.place.join(name);
    let is_new = seen.after.get(&path) != seen.before.get(&path);
    let Some(bytes) = seen.after.get(&path).filter(|_| is_new).map(|entry| &entry.content) else {
        ensure!(seen.ended.code != Some(0), "status 0 and no page");
        return Ok(());
    };
    let text = String::from_utf8_lossy(bytes);
    ensure!(text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"), "the page is incomplete");
    Ok(())
}

//! Lists of ranges: `--ranges`, `--source-ranges`, `--destination-ranges`; and the resulting offsets of a copy.
use super::case::{Case, Dest, Source, Verb};
use super::draw::{chance, offset, one_of};
use super::mend;
use fastrand::Rng;
use std::fmt::Write as _;
use std::ops::Range;

/// Offset and length on a side.
pub type Place = (usize, usize);

/// The lists of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists {
    /// The lists of source and destination; `None`: consecutive bytes.
    pub of_side: [Option<Vec<Place>>; 2],
    /// Both sides have the same list.
    pub is_one: bool,
}

/// Names of the files, and the options that name them.
const OPTIONS: [(&str, &str); 2] = [("--source-ranges", "from"), ("--destination-ranges", "to")];
const ONE: (&str, &str) = ("--ranges", "ranges");

impl Lists {
    pub fn is_empty(&self) -> bool {
        self.of_side.iter().all(Option::is_none)
    }

    /// Each option with the name of its file and the list.
    fn options(&self) -> Vec<(&'static str, &'static str, &[Place])> {
        let sides = self.of_side.iter().zip(OPTIONS);
        let all = sides.filter_map(|(list, (option, file))| Some((option, file, list.as_deref()?)));
        match (self.is_one, &self.of_side[0]) {
            (true, Some(list)) => vec![(ONE.0, ONE.1, list)],
            _ => all.collect(),
        }
    }

    /// The words of the command line.
    pub fn words(&self) -> Vec<String> {
        self.options().into_iter().flat_map(|(option, file, _)| [option.to_owned(), file.to_owned()]).collect()
    }

    /// The files and their contents: numbers in all forms.
    pub fn files(&self, number: u64) -> Vec<(&'static str, String)> {
        let text = |list: &[Place]| {
            let mut text = "# ranges of the test\n".to_owned();
            for (at, (offset, len)) in list.iter().enumerate() {
                let form = (number + at as u64) % 4;
                let line = match form {
                    0 => writeln!(text, "{offset:#x} {len:#x}"),
                    1 if offset % 512 == 0 => writeln!(text, "{}s,{len} # in sectors", offset / 512),
                    2 => write!(text, "\n{offset}\t{len}\r\n"),
                    _ => writeln!(text, " {offset} {len} "),
                };
                line.expect("writing to a string succeeds");
            }
            text
        };
        self.options().into_iter().map(|(_, file, list)| (file, text(list))).collect()
    }
}

impl Case {
    /// The extents of the first `len` bytes of the copy on the source or the destination.
    pub fn places(&self, side: usize, len: usize) -> Vec<Place> {
        let Some(all) = self.lists.of_side[side].clone() else {
            return vec![([self.skip, self.seek][side].unwrap_or(0) as usize, len)];
        };
        let mut left = len;
        let cut = |(offset, len): Place| {
            let len = len.min(left);
            left -= len;
            (offset, len)
        };
        all.into_iter().map(cut).filter(|place| place.1 > 0).collect()
    }

    /// The end of a copy of `len` bytes on the destination.
    pub fn dest_end(&self, len: usize) -> usize {
        let end = self.places(1, len).iter().map(|(offset, len)| offset + len).max();
        end.unwrap_or(self.seek.unwrap_or(0) as usize)
    }

    /// Bytes in the lists; `None`: there are none.
    pub fn listed_bytes(&self) -> Option<usize> {
        self.lists.of_side.iter().flatten().next().map(|list| list.iter().map(|place| place.1).sum())
    }
}

/// The bytes of these extents, in order; `None`: some are beyond the end.
pub fn gathered(bytes: &[u8], places: &[Place]) -> Option<Vec<u8>> {
    let parts: Option<Vec<&[u8]>> = places.iter().map(|&(offset, len)| bytes.get(offset..offset + len)).collect();
    Some(parts?.concat())
}

/// `bytes` with `data` in these extents, in order; extended with zeros if they are beyond its end.
pub fn scattered(bytes: &[u8], places: &[Place], mut data: &[u8]) -> Vec<u8> {
    let mut result = bytes.to_vec();
    for &(offset, len) in places {
        result.resize(result.len().max(offset + len), 0);
        result[offset..offset + len].copy_from_slice(&data[..len]);
        data = &data[len..];
    }
    result
}

/// The bytes of a copy at `wanted` of a side on which it is at `places`.
pub fn of_copy(places: &[Place], wanted: Range<usize>) -> Vec<Range<usize>> {
    let mut first = 0;
    let mut found = Vec::new();
    for &(offset, len) in places {
        let (start, end) = (wanted.start.max(offset), wanted.end.min(offset + len));
        if start < end {
            found.push(first + (start - offset)..first + (end - offset));
        }
        first += len;
    }
    found
}

/// The same extents with adjacent ones merged.
pub fn merged(places: &[Place]) -> Vec<Place> {
    let mut merged: Vec<Place> = Vec::new();
    for &(offset, len) in places {
        match merged.last_mut() {
            Some(last) if last.0 + last.1 == offset => last.1 += len,
            _ => merged.push((offset, len)),
        }
    }
    merged
}

/// Adds lists to some cases. Drawn last, so that the other cases do not change.
pub fn draw(rng: &mut Rng, case: &mut Case) {
    let writes_places = |dest: &Dest| matches!(dest, Dest::File { .. } | Dest::Loop { .. } | Dest::Failing { .. });
    let reads_places = matches!(case.source, Source::File { .. } | Source::Loop | Source::Failing { .. });
    let has_verb = matches!(case.verb, Verb::Copy | Verb::Verify);
    if !has_verb || !case.is_mended || case.len < 20 || case.dests.contains(&Dest::Same) || !chance(rng, 20) {
        return;
    }
    let to_places = case.dests.iter().all(writes_places);
    let form = one_of(rng, &[0, 1, 2, 2, 3]);
    let (from, to) = match (form, reads_places, to_places) {
        (0, true, true) => {
            let list = apart(rng, case.len);
            case.lists.is_one = true;
            (Some(list.clone()), Some(list))
        }
        (1, true, _) => (Some(anywhere(rng, case.len)), None),
        (2, true, true) => {
            let from = anywhere(rng, case.len);
            let total = from.iter().map(|place| place.1).sum();
            (Some(from), Some(apart_of(rng, total)))
        }
        (3, _, true) => {
            let left = case.len - (case.skip.unwrap_or(0) as usize).min(case.len - 1);
            let total = rng.usize(1..=left);
            (None, Some(apart_of(rng, total)))
        }
        _ => return,
    };
    if from.is_some() {
        case.skip = None;
    }
    if to.is_some() {
        case.seek = None;
    }
    case.count = None;
    case.lists.of_side = [from, to];
    mend::drop_options(case, &["--reflink"]);
}

/// Ranges below `len` in any order, which may overlap.
fn anywhere(rng: &mut Rng, len: usize) -> Vec<Place> {
    let one = |rng: &mut Rng| {
        let at = offset(rng, len as u64 - 1) as usize;
        let most = (len - at).min(one_of(rng, &[1, 600, 5000, 70_000, 1 << 20]));
        let some = offset(rng, most as u64) as usize;
        (at, some.max(1))
    };
    (0..rng.usize(1..9)).map(|_| one(rng)).collect()
}

/// Ranges below `len` that ascend and do not overlap.
fn apart(rng: &mut Rng, len: usize) -> Vec<Place> {
    let mut borders: Vec<usize> = (0..2 * rng.usize(1..7)).map(|_| offset(rng, len as u64) as usize).collect();
    borders.sort_unstable();
    let places = borders.chunks(2).map(|pair| (pair[0], pair[1] - pair[0])).filter(|place| place.1 > 0);
    let places: Vec<Place> = places.collect();
    if places.is_empty() { vec![(len / 2, len - len / 2)] } else { places }
}

/// Ranges of `total` bytes in any order that do not overlap.
fn apart_of(rng: &mut Rng, total: usize) -> Vec<Place> {
    let (mut places, mut left, mut at) = (Vec::new(), total, 0);
    while left > 0 {
        let gap = one_of(rng, &[0, 1, 9000, 300_000]);
        at += offset(rng, gap) as usize;
        let len = if places.len() > 6 { left } else { (offset(rng, left as u64) as usize).clamp(1, left) };
        places.push((at, len));
        (at, left) = (at + len, left - len);
    }
    rng.shuffle(&mut places);
    places
}

//! What holds of a paper whatever its bytes are. The fuzz targets and `tests/fuzz_corpus.rs` call this.
use haul::contract::Extent;
use haul::ledger::{journal, manifest, mapfile::Mapfile};

/// The lines of `text` with the checks that docs/manifest.md describes, made here a second time: no fuzzer would guess
/// them, and what is behind them is to be reached.
fn sealed(text: &[u8]) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), String::new());
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line = line.strip_suffix(b"}").unwrap_or(line);
        // Corpora are sealed already; the old check goes.
        let body = match line.windows(10).rposition(|part| part == b",\"check\":\"") {
            Some(at) => &line[..at],
            None => line,
        };
        last = blake3::hash(&[last.as_bytes(), body].concat()).to_hex()[..16].to_owned();
        out.extend_from_slice(body);
        out.extend_from_slice(format!(",\"check\":\"{last}\"}}\n").as_bytes());
    }
    out
}

/// As they are, and sealed.
fn both(bytes: &[u8]) -> [Vec<u8>; 2] {
    [bytes.to_vec(), sealed(bytes)]
}

/// A manifest is read to its end or refused; what was read is written again and read as the same.
pub fn manifest(bytes: &[u8]) {
    for bytes in both(bytes) {
        let Ok(mut reader) = manifest::Reader::open(&bytes[..]) else {
            assert!(manifest::Manifest::load(&bytes[..]).is_err());
            continue;
        };
        let head = reader.head().clone();
        let entries: Vec<_> = reader.by_ref().map_while(Result::ok).collect();
        let loaded = manifest::Manifest::load(&bytes[..]);
        assert_eq!(loaded.is_ok(), reader.closing().is_some());
        let Ok(loaded) = loaded else { continue };
        assert_eq!(manifest::diff(&loaded, &loaded).map(|differences| differences.count()), Ok(0));
        let end = loaded.pieces().iter().try_fold(0, |at, (extent, _)| (extent.offset == at).then(|| extent.end()));
        assert_eq!(end, Some(loaded.closing.len_bytes), "every byte once");
        let mut writer = manifest::Writer::create(Vec::new(), &head).expect("the head was read");
        entries.iter().for_each(|entry| writer.add(*entry).expect("it had a place"));
        let again = writer.close(loaded.closing.whole).expect("it was complete");
        let mut reader = manifest::Reader::open(&again[..]).expect("it was just written");
        assert_eq!(*reader.head(), head);
        assert_eq!(reader.by_ref().collect::<Result<Vec<_>, _>>().expect("it was just written"), entries);
        assert_eq!(reader.closing(), Some(&loaded.closing));
    }
}

/// A journal that is cut off claims nothing that the whole one does not.
pub fn journal(bytes: &[u8]) {
    for bytes in both(bytes) {
        let Ok(whole) = journal::read(&bytes[..]) else { continue };
        let state = &whole.state;
        assert!(state.durable.iter().all(|extent| !state.unread.overlaps(extent)));
        for cut in [bytes.len() / 3, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            if let Ok(part) = journal::read(&bytes[..cut]) {
                assert_eq!(part.head, whole.head);
                assert!(part.state.durable.iter().all(|extent| state.durable.contains(extent)));
            }
        }
        let mut text = Vec::new();
        let mapfile = state.to_mapfile(&whole.head);
        mapfile.write(&mut text).expect("memory takes everything");
        assert_eq!(Mapfile::parse(&text[..]).expect("it was just written"), mapfile);
        let end = mapfile.blocks.last().map_or(0, |block| block.extent.end());
        let begin = whole.head.source.offset_bytes;
        let copy = Extent::new(begin, end.saturating_sub(begin));
        assert_eq!(journal::State::of_mapfile(&mapfile, copy), *state);
        let places = journal::sample_places(&state.durable, 9, 4096);
        assert!(places.iter().all(|place| state.durable.contains(*place)));
    }
}

/// A mapfile that was read is written, and read as the same.
pub fn mapfile(bytes: &[u8]) {
    let Ok(map) = Mapfile::parse(bytes) else { return };
    let mut text = Vec::new();
    map.write(&mut text).expect("memory takes everything");
    assert_eq!(Mapfile::parse(&text[..]).expect("it was just written"), map);
    let sets = map.sets();
    let total = sets.finished.total_bytes() + sets.bad.total_bytes() + sets.untried.total_bytes();
    assert_eq!(total, map.blocks.iter().map(|block| block.extent.len).sum::<u64>(), "no byte twice");
    let (Some(first), Some(last)) = (map.blocks.first(), map.blocks.last()) else { return };
    let within = Extent::new(first.extent.offset, last.extent.end() - first.extent.offset);
    assert_eq!(Mapfile::of_sets(within, &sets.finished, &sets.bad).sets(), sets);
}

//! What holds of a paper, or of what a disk says, whatever its bytes are. The fuzz targets and `tests/fuzz_corpus.rs`
//! call this.
use haul::core::Extent;
use haul::disks::nvme::namespace::{self, IDENTIFY_BYTES};
use haul::disks::scsi::sense::Sense;
use haul::disks::scsi::{inquiry, lba_status, xcopy};
use haul::ledger::{journal, manifest, mapfile::Mapfile};

/// The lines of `text` with the checks that docs/user/manifest.md describes, computed here a second time: a fuzzer cannot
/// guess them, and the code behind them must be reached.
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

/// Sense data are told in words, and what lies behind their own length changes nothing.
pub fn sense(bytes: &[u8]) {
    let Some(sense) = Sense::parse(bytes) else {
        assert!(!matches!(bytes.first().map(|byte| byte & 0x7f), Some(0x70..=0x73)));
        return;
    };
    assert!(sense.key <= 15);
    let numbers = format!("(sense {:x}/{:02x}/{:02x})", sense.key, sense.asc, sense.ascq);
    assert!(sense.to_string().contains(&numbers), "{sense}");
    let end = 8 + bytes.get(7).map_or(0, |len| usize::from(*len));
    if bytes.len() >= end {
        assert_eq!(Sense::parse(&[&bytes[..end], &[0xff; 9]].concat()), Some(sense));
        assert_eq!(Sense::parse(&bytes[..end]), Some(sense));
    }
    for cut in 0..bytes.len() {
        // What was cut off says nothing, but what is said of the place is not another place.
        let place = Sense::parse(&bytes[..cut]).and_then(|sense| sense.information);
        assert!(place.is_none() || bytes[0] & 0x7f >= 0x72 || place == sense.information, "{cut}");
    }
}

/// All that a SCSI disk is asked for. What lies behind a page's own length changes nothing.
pub fn scsi_pages(bytes: &[u8]) {
    if let Some(inquiry) = inquiry::Inquiry::parse(bytes) {
        assert!(inquiry.device_type < 32 && inquiry.qualifier < 8);
        assert!(inquiry.model.is_none_or(|model| model.trim() == model && !model.is_empty()));
    }
    for (page, len) in [(0x00, 252), (0x80, 252), (0x83, 252), (0xb0, 64), (0xb1, 64), (0xb2, 64)] {
        let mut bytes = bytes[..bytes.len().min(len)].to_vec();
        bytes.get_mut(1).into_iter().for_each(|byte| *byte = page);
        let told = pages(&bytes);
        let end = 4 + bytes.get(2..4).map_or(0, |len| usize::from(u16::from_be_bytes([len[0], len[1]])));
        if bytes.len() >= end {
            bytes.truncate(end);
            assert_eq!(pages(&bytes), told, "page {page:02x}h");
            bytes.extend([0xff; 80]);
            assert_eq!(pages(&bytes), told, "page {page:02x}h");
        }
    }
    for asked in [inquiry::ModeSense::Six, inquiry::ModeSense::Ten] {
        inquiry::Mode::parse(bytes, asked);
    }
    assert!(inquiry::Capacity::parse_10(bytes).is_none_or(|capacity| capacity.blocks <= 1 << 32));
    assert!(inquiry::Capacity::parse_16(bytes).is_none_or(|capacity| capacity.blocks > 0));
    let lba = bytes.get(8..16).map_or(0, |lba| u64::from_be_bytes(lba.try_into().expect("they are 8")));
    if let Some(run) = lba_status::run_at(bytes, lba) {
        assert!(run.blocks > 0 && lba.checked_add(run.blocks).is_some());
    }
    if let Some(limits) = xcopy::limits(bytes) {
        let command = limits.command_bytes(512);
        assert!(command == 0 || command.is_power_of_two() && command / 512 <= 0xffff);
    }
}

/// All that is made of pages of vital product data.
fn pages(bytes: &[u8]) -> impl PartialEq + std::fmt::Debug + use<> {
    let wwn = inquiry::wwn(bytes);
    let hex = |wwn: &String| wwn.len() >= 6 && wwn[4..].bytes().all(|digit| digit.is_ascii_hexdigit());
    assert!(wwn.as_ref().is_none_or(hex), "{wwn:?}");
    assert!(inquiry::copy_name(bytes).is_none() || wwn.is_some());
    let serial = inquiry::serial(bytes);
    assert!(serial.as_ref().is_none_or(|serial| serial.trim() == serial && !serial.is_empty()), "{serial:?}");
    (
        inquiry::pages(bytes),
        serial,
        wwn,
        (inquiry::copy_name(bytes), inquiry::block_limits(bytes)),
        (inquiry::rotational(bytes), inquiry::provisioning(bytes)),
    )
}

/// All that an NVMe drive is asked for; answers always have their 4096 bytes.
pub fn identify(bytes: &[u8]) {
    let mut answer = [0; IDENTIFY_BYTES];
    let len = bytes.len().min(IDENTIFY_BYTES);
    answer[..len].copy_from_slice(&bytes[..len]);
    let controller = namespace::controller(&answer);
    assert!(controller.transfer_bytes_max.is_none_or(|bytes| bytes.is_power_of_two() && bytes >= 8192));
    assert!(controller.serial.trim() == controller.serial && controller.model.trim() == controller.model);
    namespace::command_set(&answer);
    let Some(namespace) = namespace::namespace(&answer) else { return };
    assert!((512..=65_536).contains(&namespace.block_bytes()) && namespace.block_bytes().is_power_of_two());
    assert!(namespace.bytes() / u64::from(namespace.block_bytes()) == namespace.blocks && namespace.blocks > 0);
    assert!(namespace.bytes() <= i64::MAX as u64);
    assert_eq!(namespace.loses().is_some(), namespace.metadata_bytes > 0);
    assert!(namespace.copy.longest() <= namespace.copy.blocks);
}

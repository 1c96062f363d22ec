//! Properties of the parsers of record files and device data that hold for arbitrary bytes. Used by the fuzz targets
//! and `tests/fuzz_corpus.rs`.
use haul::core::{Compression, Extent};
use haul::disks::image::fuzzed as compressed;
use haul::disks::nbd::fuzzed;
use haul::disks::nvme::namespace::{self, IDENTIFY_BYTES};
use haul::disks::scsi::sense::Sense;
use haul::disks::scsi::{inquiry, lba_status, xcopy};
use haul::ledger::{bmap, journal, manifest, mapfile::Mapfile};

/// The lines of `text` with the checksums that docs/user/manifest.md describes, computed independently here: a
/// fuzzer cannot guess them, and the code after the check must be reached.
fn sealed(text: &[u8]) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), String::new());
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line = line.strip_suffix(b"}").unwrap_or(line);
        // Corpora already have a checksum, which is removed.
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

/// The bytes unchanged, and sealed.
fn both(bytes: &[u8]) -> [Vec<u8>; 2] {
    [bytes.to_vec(), sealed(bytes)]
}

/// A manifest is read completely or refused; a manifest that was read is written again and read as the same.
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

/// A block map that is read has ascending ranges within its image.
pub fn bmap(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(map) = bmap::parse("map", text) else { return };
    assert!(bmap::is_bmap(text) && map.mapped_bytes() <= map.image_bytes);
    let mut end = 0;
    for range in &map.ranges {
        assert!(range.extent.offset >= end && range.extent.len > 0 && range.extent.end() <= map.image_bytes);
        assert!(range.extent.offset % map.block_bytes == 0 && (range.digest.is_none() || map.algorithm.is_some()));
        end = range.extent.end();
    }
}

/// A truncated journal claims nothing that the complete one does not.
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
        mapfile.write(&mut text).expect("writing to memory succeeds");
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
    map.write(&mut text).expect("writing to memory succeeds");
    assert_eq!(Mapfile::parse(&text[..]).expect("it was just written"), map);
    let sets = map.sets();
    let total = sets.finished.total_bytes() + sets.bad.total_bytes() + sets.untried.total_bytes();
    assert_eq!(total, map.blocks.iter().map(|block| block.extent.len).sum::<u64>(), "no byte twice");
    let (Some(first), Some(last)) = (map.blocks.first(), map.blocks.last()) else { return };
    let within = Extent::new(first.extent.offset, last.extent.end() - first.extent.offset);
    assert_eq!(Mapfile::of_sets(within, &sets.finished, &sets.bad).sets(), sets);
}

/// Sense data is described in words, and bytes after its own length change nothing.
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
        // Truncated data may lack the information field, but never has another value for it.
        let place = Sense::parse(&bytes[..cut]).and_then(|sense| sense.information);
        assert!(place.is_none() || bytes[0] & 0x7f >= 0x72 || place == sense.information, "{cut}");
    }
}

/// All pages of a SCSI disk that haul reads. Bytes after a page's own length change nothing.
pub fn scsi_pages(bytes: &[u8]) {
    if let Some(inquiry) = inquiry::Inquiry::parse(bytes) {
        assert!(inquiry.device_type < 32 && inquiry.qualifier < 8);
        assert!(inquiry.model.is_none_or(|model| model.trim() == model && !model.is_empty()));
    }
    for (page, len) in [(0x00, 252), (0x80, 252), (0x83, 252), (0xb0, 64), (0xb1, 64), (0xb2, 64)] {
        let mut bytes = bytes[..bytes.len().min(len)].to_vec();
        bytes.get_mut(1).into_iter().for_each(|byte| *byte = page);
        let reported = pages(&bytes);
        let end = 4 + bytes.get(2..4).map_or(0, |len| usize::from(u16::from_be_bytes([len[0], len[1]])));
        if bytes.len() >= end {
            bytes.truncate(end);
            assert_eq!(pages(&bytes), reported, "page {page:02x}h");
            bytes.extend([0xff; 80]);
            assert_eq!(pages(&bytes), reported, "page {page:02x}h");
        }
    }
    for asked in [inquiry::ModeSense::Six, inquiry::ModeSense::Ten] {
        inquiry::Mode::parse(bytes, asked);
    }
    assert!(inquiry::Capacity::parse_10(bytes).is_none_or(|capacity| capacity.blocks <= 1 << 32));
    assert!(inquiry::Capacity::parse_16(bytes).is_none_or(|capacity| capacity.blocks > 0));
    let lba = bytes.get(8..16).map_or(0, |lba| u64::from_be_bytes(lba.try_into().expect("they are 8 bytes")));
    if let Some(run) = lba_status::run_at(bytes, lba) {
        assert!(run.blocks > 0 && lba.checked_add(run.blocks).is_some());
    }
    if let Some(limits) = xcopy::limits(bytes) {
        let command = limits.command_bytes(512);
        assert!(command == 0 || command.is_power_of_two() && command / 512 <= 0xffff);
    }
}

/// All results that are derived from pages of vital product data.
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

/// All data that haul requests from an NVMe drive; responses always have 4096 bytes.
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

/// Any greeting and responses of an NBD server: each command completes at most once, and the result does not depend
/// on how the bytes are divided.
pub fn nbd(bytes: &[u8]) {
    if let Ok((size, least, most)) = fuzzed::handshake(bytes) {
        assert!(size <= i64::MAX as u64 && least.is_power_of_two() && size.is_multiple_of(least.into()));
        assert!(most >= least && most.is_multiple_of(least) && most <= 32 << 20);
    }
    for is_structured in [false, true] {
        let (got, broken) = fuzzed::answers(bytes, usize::MAX, is_structured);
        for (at, (index, result, data, _)) in got.iter().enumerate() {
            assert!(got[..at].iter().all(|before| before.0 != *index), "answered twice");
            let told = fuzzed::COMMANDS[*index];
            assert!(result.as_ref().is_err() || *result == Ok(told.len));
            assert!(data.is_empty() || data.len() == told.len as usize);
        }
        let by_piece = fuzzed::answers(bytes, 5, is_structured);
        assert_eq!(by_piece.0, got);
        assert_eq!(by_piece.1, broken);
    }
}

/// Bytes of content that are decoded of a file, at most: a few bytes may stand for many.
const CONTENT_MAX: usize = 256 << 10;

/// Whatever a compressed file contains: it is recognized by its first bytes as by all, however its bytes are cut its
/// content is the same, and a content that is complete has the size that the file states.
pub fn images(bytes: &[u8]) {
    let [whole, head] = compressed::formats(bytes);
    assert!(head.is_none() || head == whole);
    for format in Compression::ALL {
        let (size, least) = compressed::size(bytes, format);
        assert!(size.is_none_or(|size| size >= least));
        if whole != Some(format) {
            // A decoder refuses it at its header.
            continue;
        }
        let (content, failed) = compressed::content(bytes, format, 1 << 20, CONTENT_MAX);
        let (by_piece, _) = compressed::content(bytes, format, 7, CONTENT_MAX);
        if failed.is_none() {
            assert_eq!(by_piece, content, "{}", format.name());
        } else {
            assert!(
                by_piece.len() <= content.len() || content.starts_with(&by_piece) || by_piece.starts_with(&content)
            );
        }
        let is_complete = failed.is_none() && content.len() < CONTENT_MAX;
        // The size in a directory or index is checked when the content ends, by the endpoint; frames have their own.
        let is_checked = matches!(format, Compression::Xz | Compression::Zstd | Compression::Lz4);
        if let (true, true, Some(size)) = (is_complete, is_checked, size) {
            assert_eq!(content.len() as u64, size, "{}", format.name());
        }
    }
}

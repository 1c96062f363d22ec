//! Filling: the bytes that mark the areas of a destination where nothing was rescued, as in GNU ddrescue's fill mode.
use super::super::{Extent, Maker};
use super::{Status, StatusBlock};

/// Bytes of the data that are repeated in an area: a cluster of GNU ddrescue.
pub const FILL_BYTES: usize = 64 << 10;

/// The unit of location data in bytes: the sector of GNU ddrescue.
const SECTOR: u64 = 512;

/// What is written to each area: the data, from its start in each area, and the location of each sector if requested.
#[derive(Clone, Debug)]
pub struct Fill {
    /// Ascending.
    areas: Vec<StatusBlock>,
    data: Vec<u8>,
    located: bool,
}

impl Fill {
    /// Fills `areas`, which are ascending and do not touch where they have the same status, with copies of `data`;
    /// `located`: each sector begins with its location. `None` if `data` is empty.
    pub fn new(areas: Vec<StatusBlock>, data: &[u8], located: bool) -> Option<Self> {
        let data: Vec<u8> = data.iter().copied().cycle().take(FILL_BYTES).collect();
        (!data.is_empty()).then_some(Fill { areas, data, located })
    }

    /// Writes the bytes of `part` of this area, at `offset` in it.
    fn make_area(&self, part: &mut [u8], area: &StatusBlock, offset: u64) {
        let mut at = (offset % FILL_BYTES as u64) as usize;
        let mut rest = &mut *part;
        while !rest.is_empty() {
            let len = rest.len().min(FILL_BYTES - at);
            let (now, later) = rest.split_at_mut(len);
            now.copy_from_slice(&self.data[at..at + len]);
            (rest, at) = (later, 0);
        }
        if self.located {
            locate(part, area, offset);
        }
    }
}

/// Writes the location of each sector of `area` over the start of the sector. The part begins at `offset` in the area.
fn locate(part: &mut [u8], area: &StatusBlock, offset: u64) {
    let end = offset + part.len() as u64;
    let mut sector = offset / SECTOR * SECTOR;
    while sector < end {
        let (place, status) = (area.extent.offset + sector, area.status.letter());
        let text = format!("\n# position 0x{place:08X} sector 0x{:08X} status {status} ", place / SECTOR);
        let room = area.extent.len - sector;
        // As in ddrescue, a location without room for all of it ends with a zero.
        let ended = text
            .bytes()
            .enumerate()
            .map(|(at, byte)| if at as u64 + 1 == room && room < text.len() as u64 { 0 } else { byte });
        for (at, byte) in (sector..end).zip(ended) {
            if at >= offset {
                part[(at - offset) as usize] = byte;
            }
        }
        sector += SECTOR;
    }
}

impl Maker for Fill {
    fn make(&self, bytes: &mut [u8], offset: u64) {
        let whole = Extent::new(offset, bytes.len() as u64);
        let first = self.areas.partition_point(|area| area.extent.end() <= offset);
        for area in &self.areas[first..] {
            let Some(both) = area.extent.intersection(&whole) else { break };
            let part = &mut bytes[(both.offset - offset) as usize..(both.end() - offset) as usize];
            self.make_area(part, area, both.offset - area.extent.offset);
        }
    }
}

/// The statuses whose areas can be filled: all but that of rescued data.
pub const FILLABLE: [Status; 4] = [Status::Untried, Status::Untrimmed, Status::Unscraped, Status::Bad];

#[cfg(test)]
mod tests {
    use super::*;

    fn area(start: u64, end: u64, status: Status) -> StatusBlock {
        StatusBlock { extent: Extent::new(start, end - start), status }
    }

    #[test]
    fn each_area_begins_with_the_first_byte_of_the_data() {
        let areas = vec![
            area(100, 70_000, Status::Bad),
            area(70_000, 70_010, Status::Untried),
            area(80_000, 80_002, Status::Bad),
        ];
        let fill = Fill::new(areas, b"abc", false).unwrap();
        let mut whole = vec![b'-'; 80_002];
        // In pieces of any size: a request may begin anywhere.
        for (offset, piece) in (0u64..).step_by(1009).zip(whole.chunks_mut(1009)) {
            fill.make(piece, offset);
        }
        let repeated = |len: usize| b"abc".iter().copied().cycle().take(len).collect::<Vec<u8>>();
        assert_eq!(whole[..100], [b'-'; 100]);
        assert_eq!(whole[100..100 + FILL_BYTES], repeated(FILL_BYTES));
        assert_eq!(whole[100 + FILL_BYTES..70_000], repeated(70_000 - 100 - FILL_BYTES), "the data begins again");
        assert_eq!(whole[70_000..70_010], *b"abcabcabca");
        assert!(whole[70_010..80_000].iter().all(|byte| *byte == b'-'));
        assert_eq!(whole[80_000..], *b"ab");
    }

    #[test]
    fn each_sector_begins_with_its_location() {
        let fill = Fill::new(vec![area(0x3010, 0x3230, Status::Unscraped)], b"x", true).unwrap();
        let mut whole = vec![0; 0x220];
        for (offset, piece) in (0x3010u64..).step_by(37).zip(whole.chunks_mut(37)) {
            fill.make(piece, offset);
        }
        let text = String::from_utf8(whole).unwrap();
        assert!(text.starts_with("\n# position 0x00003010 sector 0x00000018 status / xxx"), "{text}");
        assert_eq!(text[0x200..], "\n# position 0x00003210 sector 0\0"[..0x20]);
        assert_eq!(text.matches('x').count(), 0x200 - 50 + 3);
        let fill = Fill::new(vec![area(0, 4, Status::Bad)], b"x", true).unwrap();
        let mut short = [0xff; 4];
        fill.make(&mut short, 0);
        assert_eq!(short, *b"\n# \0");
    }

    #[test]
    fn there_is_nothing_to_fill_with_without_data() {
        assert!(Fill::new(vec![area(0, 1, Status::Bad)], b"", false).is_none());
    }
}

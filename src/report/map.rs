//! Maps of rescues: as a picture of letters, as JSON, and the differences of two.
use super::columns::width;
use super::json::{self, SCHEMA, object};
use super::printable::printable;
use super::rescue::{STATUSES, statuses};
use super::units;
use crate::core::Extent;
use crate::core::rescue::{RescueMap, RescueStatus, Status};
use std::collections::BTreeMap;

/// Rows of a picture, unless the source has fewer sectors.
const ROWS: u64 = 16;
/// Width of the offsets beside a picture: `1023 bytes`.
const OFFSET_COLUMNS: usize = 10;
/// A cell stands for whole sectors.
const SECTOR_BYTES: u64 = 512;
/// A cell with several statuses shows the first of these that it has.
const SHOWN_FIRST: [Status; 5] = [Status::Bad, Status::Unscraped, Status::Untrimmed, Status::Untried, Status::Finished];

/// A map file to be shown.
#[derive(Debug)]
pub struct ShownMap {
    /// Its path.
    pub path: String,
    /// The status of each byte.
    pub map: RescueMap,
    /// The phase of the rescue.
    pub phase: RescueStatus,
    /// The pass of the phase, from 1.
    pub pass: u32,
    /// The offset that the phase has reached.
    pub pos: u64,
}

/// The map as a JSON document.
pub fn json(shown: &ShownMap) -> String {
    let ShownMap { path, map, phase, pass, pos } = shown;
    json::text(&object! {
        schema: SCHEMA,
        report: "map",
        path,
        phase: phase.name(),
        pass,
        position_bytes: pos,
        len_bytes: map.len_bytes(),
        rescued_bytes: map.bytes(Status::Finished),
        bad_bytes: map.bytes(Status::Bad),
        unscraped_bytes: map.bytes(Status::Unscraped),
        untrimmed_bytes: map.bytes(Status::Untrimmed),
        untried_bytes: map.bytes(Status::Untried),
        blocks: json::blocks(map),
    })
}

/// The map as text: the phase, the bytes of each status, and a picture as wide as the terminal.
pub fn text(shown: &ShownMap) -> String {
    let ShownMap { path, map, phase, pass, pos } = shown;
    let path = printable(path);
    let phase = match phase {
        RescueStatus::Finished => "the rescue is finished".to_owned(),
        _ => format!("{}, pass {pass}, at byte {pos}", phase.name()),
    };
    format!("{path}: {phase}\n\n{}\n{}", statuses(map), picture(map, width()))
}

/// Rows of letters, each after the offset of its first byte, and what a letter stands for.
fn picture(map: &RescueMap, width: usize) -> String {
    let len = map.len_bytes();
    if len == 0 {
        return String::new();
    }
    let cells_in_row = width.saturating_sub(OFFSET_COLUMNS + 2).max(8) as u64;
    let cell_bytes = len.div_ceil(cells_in_row * ROWS).next_multiple_of(SECTOR_BYTES);
    let cells = cells(map, cell_bytes);
    let mut text = String::new();
    for (row, letters) in cells.chunks(cells_in_row as usize).enumerate() {
        let offset = units::size(row as u64 * cells_in_row * cell_bytes);
        text += &format!(
            "{offset:>OFFSET_COLUMNS$}  {}\n",
            letters.iter().map(|status| status.letter()).collect::<String>()
        );
    }
    let used = STATUSES.iter().filter(|(status, _)| map.bytes(*status) > 0);
    let legend: Vec<String> = used.map(|(status, name)| format!("{} {name}", status.letter())).collect();
    text + &format!("\nA letter is {}: {}\n", units::size(cell_bytes), legend.join(", "))
}

/// The status of each cell: the worst of its bytes.
pub(super) fn cells(map: &RescueMap, cell_bytes: u64) -> Vec<Status> {
    let mut ranks = vec![SHOWN_FIRST.len() - 1; map.len_bytes().div_ceil(cell_bytes) as usize];
    for block in map.blocks() {
        let rank = SHOWN_FIRST.iter().position(|status| *status == block.status).unwrap_or(0);
        let cells = (block.extent.offset / cell_bytes) as usize..block.extent.end().div_ceil(cell_bytes) as usize;
        ranks[cells].iter_mut().for_each(|shown| *shown = rank.min(*shown));
    }
    ranks.into_iter().map(|rank| SHOWN_FIRST[rank]).collect()
}

/// The differences between two maps, of which there are some: bytes and areas by pair of statuses, and the first place.
pub fn differences(paths: [&str; 2], found: &[(Extent, Status, Status)]) -> String {
    let mut pairs: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
    for (extent, first, second) in found {
        let (bytes, areas) = pairs.entry((first.index(), second.index())).or_default();
        (*bytes, *areas) = (*bytes + extent.len, *areas + 1);
    }
    let name = |index: usize| STATUSES.iter().find(|(status, _)| status.index() == index).map_or("", |(_, name)| *name);
    let [first, second] = paths.map(printable);
    let mut text = format!("{first} and {second} differ");
    if let Some((extent, ..)) = found.first() {
        text += &format!(", first at byte {}", extent.offset);
    }
    text += "\n\n";
    for ((first, second), (bytes, areas)) in pairs {
        let areas = units::count(areas, "area", "areas");
        text += &format!("{:<12} {:<12} {:>10}  {areas}\n", name(first), name(second), units::size(bytes));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rescue::StatusBlock;

    fn map(len: u64, blocks: &[(u64, u64, Status)]) -> RescueMap {
        let block =
            |&(offset, len, status): &(u64, u64, Status)| StatusBlock { extent: Extent::new(offset, len), status };
        RescueMap::of_blocks(len, blocks.iter().map(block))
    }

    #[test]
    fn a_cell_shows_its_worst_status() {
        let blocks = [(0, 4096, Status::Finished), (1024, 1, Status::Bad), (2047, 2, Status::Unscraped)];
        assert_eq!(cells(&map(5000, &blocks), 1024).iter().map(|status| status.letter()).collect::<String>(), "+-/+?");
    }

    #[test]
    fn a_picture_fits_the_width_and_covers_the_source() {
        for width in [20, 60, 80, 200] {
            for len in [1, 511, 512, 513, 100_000, 1 << 30, (1 << 40) + 7, i64::MAX as u64] {
                let text = picture(&map(len, &[(len - 1, 1, Status::Bad)]), width);
                let rows: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
                assert!(rows.len() <= ROWS as usize && rows.iter().all(|row| row.len() <= width.max(24)), "{text}");
                assert!(rows.last().is_some_and(|row| row.ends_with('-')), "{text}");
                assert_eq!(
                    text.lines().next_back().map(|line| line.ends_with("- bad sectors, ? not tried")),
                    Some(len > 1)
                );
            }
        }
    }

    #[test]
    fn differences_are_summed_by_pair_of_statuses() {
        let found = [
            (Extent::new(512, 512), Status::Finished, Status::Bad),
            (Extent::new(4096, 1024), Status::Untried, Status::Finished),
            (Extent::new(8192, 512), Status::Finished, Status::Bad),
        ];
        let expected = "a and b differ, first at byte 512\n\n\
            not tried    rescued         1.02 kB  1 area\n\
            rescued      bad sectors     1.02 kB  2 areas\n";
        assert_eq!(differences(["a", "b"], &found), expected);
    }
}

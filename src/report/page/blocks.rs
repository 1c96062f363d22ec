//! Draws the map of a rescue as rows of blocks, each with the status of a part of the source, with plotters.
use super::chart::{labelled, letters};
use super::colours::{BAD, CURVES, LETTERS, Pair};
use crate::core::rescue::{RescueMap, Status};
use crate::report::map::cells;
use crate::report::units;
use plotters::prelude::{Color, IntoDrawingArea, Rectangle, SVGBackend, Text};

/// Width of the picture for wide and for narrow screens.
const WIDTHS_PX: [u32; 2] = [880, 320];
/// Space for the offsets before the rows.
const OFFSET_PX: u32 = 76;
/// A block and the space around it.
const CELL_PX: u32 = 10;
const ROW_PX: u32 = 16;
/// Rows, at most.
const ROWS: [u64; 2] = [24, 36];
/// Every so many rows have their offset.
const OFFSET_EVERY: usize = 4;
/// A block stands for whole sectors.
const SECTOR_BYTES: u64 = 512;

/// CSS class, and colours.
pub(super) fn colour(status: Status) -> (&'static str, Pair) {
    match status {
        Status::Finished => ("c0", CURVES[0]),
        Status::Untried => ("c6", CURVES[6]),
        Status::Untrimmed => ("c5", CURVES[5]),
        Status::Unscraped => ("c2", CURVES[2]),
        Status::Bad => ("bad", BAD),
    }
}

/// Space above a block, of the height of a row: what failed stands out without colours, too.
fn inset(status: Status) -> i32 {
    match status {
        Status::Untried => 11,
        Status::Finished => 6,
        Status::Untrimmed | Status::Unscraped => 3,
        Status::Bad => 0,
    }
}

/// As SVG for a wide and for a narrow screen.
pub(super) fn pictures(map: &RescueMap, label: &str) -> [String; 2] {
    [0, 1].map(|at| {
        let mut svg = String::new();
        draw(&mut svg, map, WIDTHS_PX[at], ROWS[at]).expect("drawing into a string succeeds");
        labelled(&svg, label)
    })
}

/// Bytes of a block in the picture for wide screens.
pub(super) fn block_bytes(map: &RescueMap) -> u64 {
    bytes(map, columns(WIDTHS_PX[0]), ROWS[0])
}

fn columns(width_px: u32) -> usize {
    ((width_px - OFFSET_PX) / CELL_PX) as usize
}

fn bytes(map: &RescueMap, columns: usize, rows: u64) -> u64 {
    map.len_bytes().div_ceil(columns as u64 * rows).next_multiple_of(SECTOR_BYTES)
}

fn draw(svg: &mut String, map: &RescueMap, width_px: u32, rows: u64) -> Result<(), Box<dyn std::error::Error>> {
    let columns = columns(width_px);
    let bytes = bytes(map, columns, rows);
    let cells = cells(map, bytes);
    let height_px = cells.len().div_ceil(columns) as u32 * ROW_PX;
    let area = SVGBackend::with_string(svg, (width_px, height_px)).into_drawing_area();
    for (row, cells) in cells.chunks(columns).enumerate() {
        let top = row as i32 * ROW_PX as i32;
        if row.is_multiple_of(OFFSET_EVERY) {
            let offset = units::size((row * columns) as u64 * bytes);
            area.draw(&Text::new(offset, (0, top + 2), letters(LETTERS)))?;
        }
        // Blocks of one status beside each other are one rectangle.
        for run in cells.iter().enumerate().collect::<Vec<_>>().chunk_by(|one, other| one.1 == other.1) {
            let (first, last) = (run[0].0 as i32, run[run.len() - 1].0 as i32 + 1);
            let status = *run[0].1;
            let place = |column: i32| OFFSET_PX as i32 + column * CELL_PX as i32;
            let corners = [(place(first), top + inset(status)), (place(last), top + ROW_PX as i32 - 2)];
            area.draw(&Rectangle::new(corners, colour(status).1.0.filled()))?;
        }
    }
    area.present()?;
    drop(area);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Extent;

    #[test]
    fn one_bad_sector_is_a_block_of_full_height() {
        let mut map = RescueMap::untried(1 << 40);
        map.set(Extent::new(0, 1 << 39), Status::Finished);
        map.set(Extent::new(1 << 38, 512), Status::Bad);
        let [wide, narrow] = pictures(&map, "map of <sdb>");
        for svg in [&wide, &narrow] {
            assert_eq!(svg.matches("#C42B1C").count(), 1, "{svg}");
            assert!(svg.contains("aria-label=\"map of &lt;sdb>\""), "{svg}");
            let bad = svg.split("<rect ").find(|rect| rect.contains("#C42B1C")).unwrap();
            assert!(bad.contains("width=\"10\"") && bad.contains("height=\"14\""), "{bad}");
        }
        assert!(wide.matches("<rect ").count() <= 24 * 3);
    }

    #[test]
    fn a_picture_has_blocks_for_all_bytes() {
        for len in [1, 511, 512, 513, 1_000_000, 7_000_000_001] {
            let map = RescueMap::untried(len);
            assert!(block_bytes(&map) * 80 * 24 >= len, "{len}");
            let picture = &pictures(&map, "")[0];
            let last = picture.rsplit("<rect ").next().unwrap();
            assert!(last.contains("#4B5563"), "{len}: {picture}");
        }
    }
}

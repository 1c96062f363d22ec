//! Draws devices as strips from their first byte to their last, with the areas of a copy, with plotters.
use super::axis::{Axis, Marked, Quantity};
use super::chart::{labelled, letters};
use super::colours::{BAD, CURVES, GRID, INK, LETTERS, Pair};
use crate::core::Extent;
use crate::report::units;
use plotters::prelude::{ChartBuilder, Color, IntoDrawingArea, Rectangle, SVGBackend, Text};

/// Width of the picture for wide and for narrow screens.
const WIDTHS_PX: [u32; 2] = [880, 320];
/// Height of a strip with its name above and its axis below.
const STRIP_PX: u32 = 84;
const NAME_PX: u32 = 24;
const AXIS_PX: u32 = 26;
/// Margins for the labels of the first and the last mark.
const EDGE_PX: u32 = 28;
/// Minimum width of an area, so that a single bad sector is visible.
const AREA_PX: i32 = 2;

/// The kind of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Still to be copied. Later kinds in this list are drawn over earlier ones.
    Remaining,
    Copied,
    /// Zeros that replace unreadable sectors of the source.
    Zeros,
    Misread,
    Rewritten,
    Changed,
    Wrong,
    Unread,
    /// The position at which the copy failed.
    Failed,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Remaining => "remaining",
            Kind::Copied => "copied",
            Kind::Zeros => "zeros for unreadable sectors",
            Kind::Misread => "misread once",
            Kind::Rewritten => "rewritten",
            Kind::Changed => "changed on the source",
            Kind::Wrong => "wrong",
            Kind::Unread => "unreadable",
            Kind::Failed => "error that ended the copy",
        }
    }

    /// Whether it is an error.
    pub(super) fn is_bad(self) -> bool {
        !matches!(self, Kind::Remaining | Kind::Copied)
    }

    /// CSS class, and colours.
    fn colour(self) -> (&'static str, Pair) {
        match self {
            Kind::Remaining => ("c6", CURVES[6]),
            Kind::Copied => ("c0", CURVES[0]),
            Kind::Zeros => ("c2", CURVES[2]),
            Kind::Misread => ("c3", CURVES[3]),
            Kind::Rewritten => ("c5", CURVES[5]),
            Kind::Changed => ("c1", CURVES[1]),
            Kind::Wrong => ("c4", CURVES[4]),
            Kind::Unread => ("bad", BAD),
            Kind::Failed => ("ink", INK),
        }
    }

    /// Share of the strip's height left free above and below: errors stand out without colours, too.
    fn inset(self) -> f64 {
        match self {
            Kind::Remaining => 0.4,
            Kind::Copied => 0.2,
            _ => 0.0,
        }
    }
}

/// A device, from its first byte to its last.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    pub(super) name: String,
    pub(super) len_bytes: u64,
    pub(super) areas: Vec<(Kind, Vec<Extent>)>,
}

impl Strip {
    /// The name and the size, drawn above the strip.
    fn caption(&self) -> String {
        format!("{}, {}", self.name, units::size(self.len_bytes))
    }
}

/// Devices one above the other, at the same width.
#[derive(Clone, Debug)]
pub(super) struct Strips {
    /// The text alternative for screen readers.
    pub(super) label: String,
    pub(super) strips: Vec<Strip>,
}

impl Strips {
    /// As SVG for a wide and for a narrow screen.
    pub(super) fn pictures(&self) -> [String; 2] {
        WIDTHS_PX.map(|width_px| {
            let mut svg = String::new();
            self.draw(&mut svg, width_px).expect("drawing into a string succeeds");
            labelled(&svg, &self.label)
        })
    }

    /// Each sign that is drawn, as a CSS class, and its name.
    pub(super) fn key(&self) -> Vec<(String, String)> {
        let drawn = self.strips.iter().flat_map(|strip| &strip.areas).filter(|(_, extents)| !extents.is_empty());
        let mut kinds: Vec<Kind> = drawn.map(|(kind, _)| *kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.into_iter().map(|kind| (format!("key {}", kind.colour().0), kind.name().to_owned())).collect()
    }

    fn draw(&self, svg: &mut String, width_px: u32) -> Result<(), Box<dyn std::error::Error>> {
        let count = self.strips.len() as u32;
        let all = SVGBackend::with_string(svg, (width_px, STRIP_PX * count)).into_drawing_area();
        for (strip, area) in self.strips.iter().zip(all.split_evenly((count as usize, 1))) {
            area.draw(&Text::new(strip.caption(), (EDGE_PX as i32, 2), letters(INK)))?;
            let axis = Axis::over(Quantity::Bytes, [0.0, strip.len_bytes as f64].into_iter());
            let across = Marked::new(axis, axis.marks_in(width_px - 2 * EDGE_PX));
            let mut chart = ChartBuilder::on(&area)
                .margin_top(NAME_PX)
                .margin_left(EDGE_PX)
                .margin_right(EDGE_PX)
                .x_label_area_size(AXIS_PX)
                .build_cartesian_2d(across, 0.0..1.0)?;
            let mut mesh = chart.configure_mesh();
            mesh.disable_mesh().y_labels(0).axis_style(GRID.0).label_style(letters(LETTERS)).draw()?;
            let (x, y) = chart.plotting_area().get_pixel_range();
            all.draw(&Rectangle::new([(x.start, y.start), (x.end, y.end)], GRID.0.stroke_width(1)))?;
            let mut areas: Vec<_> = strip.areas.iter().collect();
            areas.sort_by_key(|(kind, _)| *kind);
            for (kind, extents) in areas {
                let inset = (f64::from(y.end - y.start) * kind.inset()) as i32;
                for (from, to) in pixels(extents, strip.len_bytes, x.end - x.start) {
                    let corners = [(x.start + from, y.start + inset), (x.start + to, y.end - inset)];
                    all.draw(&Rectangle::new(corners, kind.colour().1.0.filled()))?;
                }
            }
        }
        all.present()?;
        Ok(())
    }
}

/// The pixel columns that these ascending extents cover in a picture of this width, with adjacent ones joined.
fn pixels(extents: &[Extent], len_bytes: u64, width_px: i32) -> Vec<(i32, i32)> {
    let place = |byte: u64| byte as f64 / len_bytes.max(1) as f64 * f64::from(width_px);
    let mut joined: Vec<(i32, i32)> = Vec::new();
    for extent in extents.iter().filter(|extent| !extent.is_empty()) {
        let from = (place(extent.offset).floor() as i32).clamp(0, width_px - AREA_PX);
        let to = (place(extent.end()).ceil() as i32).clamp(from + AREA_PX, width_px.max(from + AREA_PX));
        match joined.last_mut() {
            Some(last) if last.1 >= from => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_cover_the_columns_of_their_bytes_and_are_never_too_narrow_to_see() {
        let one = |offset, len| pixels(&[Extent::new(offset, len)], 1_000_000, 1000);
        assert_eq!([one(0, 500_000), one(250_000, 250_000)], [vec![(0, 500)], vec![(250, 500)]]);
        assert_eq!(
            [one(0, 1), one(700_000, 512), one(999_999, 1)],
            [vec![(0, 2)], vec![(700, 702)], vec![(998, 1000)]]
        );
        assert_eq!([one(0, 1_000_000), one(7, 0)], [vec![(0, 1000)], vec![]]);
        // Offsets beyond the end, because the device shrank or a file is new.
        assert_eq!(one(2_000_000, 512), [(998, 1000)]);
    }

    #[test]
    fn there_are_no_more_rectangles_than_columns() {
        let every_other: Vec<Extent> = (0..60_000).map(|number| Extent::new(number * 1024, 512)).collect();
        assert_eq!(pixels(&every_other, 60_000 * 1024, 800), [(0, 800)]);
        let few: Vec<Extent> = (0..100).map(|number| Extent::new(number * 10_000, 10)).collect();
        assert_eq!(pixels(&few, 1_000_000, 800).len(), 100);
    }

    #[test]
    fn each_kind_has_its_own_colour_and_name_and_the_key_has_the_drawn_ones() {
        let all = [
            Kind::Remaining,
            Kind::Copied,
            Kind::Zeros,
            Kind::Misread,
            Kind::Rewritten,
            Kind::Changed,
            Kind::Wrong,
            Kind::Unread,
            Kind::Failed,
        ];
        let areas = |kinds: &[Kind]| {
            let areas = kinds.iter().enumerate().map(|(at, &kind)| (kind, vec![Extent::new(at as u64 * 10, 10)]));
            let strip = Strip { name: "source".to_owned(), len_bytes: 100, areas: areas.collect() };
            Strips { label: "map".to_owned(), strips: vec![strip] }
        };
        let key = areas(&all).key();
        let distinct: std::collections::BTreeSet<_> = key.iter().flat_map(|(class, name)| [class, name]).collect();
        assert_eq!((key.len(), distinct.len()), (all.len(), 2 * all.len()), "{key:?}");
        let few = areas(&[Kind::Unread, Kind::Copied]);
        assert_eq!(few.key().into_iter().map(|(_, name)| name).collect::<Vec<_>>(), ["copied", "unreadable"]);
        let svg = &few.pictures()[0];
        // The copied area is less high than the unreadable one, which is on top.
        let rects: Vec<&str> = svg.split("<rect ").skip(1).filter(|rect| !rect.contains("fill=\"none\"")).collect();
        assert!(rects.len() == 2 && rects[0].contains("#0A6F86") && rects[1].contains("#C42B1C"), "{svg}");
    }
}

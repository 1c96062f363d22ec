//! Draws curves as SVG, with plotters: once for a wide screen and once for a narrow one, so that text keeps its
//! size. Colours are numbers here; the page's style defines them for light and dark mode.
use super::axis::{Axis, Marked, place};
use super::colours::{CURVES, GRID, INK, LETTERS, Pair};
use super::labels::{self, Spot};
use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::prelude::{
    AreaSeries, Cartesian2d, ChartBuilder, Circle, Color, DrawingArea, ErrorBar, IntoDrawingArea, IntoFont, LineSeries,
    SVGBackend, Text, TextStyle,
};

/// Size of the chart for a wide screen, in pixels.
const WIDE_PX: (u32, u32) = (880, 300);
/// Size of the chart for a narrow screen, in pixels.
const NARROW_PX: (u32, u32) = (320, 240);
/// Line height of text; in SVG plotters reduces the font size by a fifth: 12 pixels.
pub(super) const LETTERS_PX: i32 = 15;
/// Margins around the curves: the labelled axis on the left, empty space on the right.
const LEFT_PX: u32 = 80;
const RIGHT_PX: u32 = 28;
const MARGIN_PX: u32 = 4;
const MARKS_UP: u32 = 5;
/// Diameter of a dot, and width of the ends of its error bar.
const DOT_PX: u32 = 7;
/// Radius of the ring around a marked point.
const RING_PX: u32 = 7;
/// Distance of the points on a line that labels must not cover.
const SEEN_PX: i32 = 8;
/// How far labels may extend into the right margin.
const LABEL_OVER_PX: i32 = 20;

/// How the points of a curve are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Connected by a line.
    Line,
    /// A line, with the area below it filled.
    Area,
    /// Separate dots.
    Dots,
}

/// A series of points.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name in the key; empty: it is not listed.
    pub name: String,
    /// The index of its colour, of seven.
    pub colour: usize,
    /// How the points are shown.
    pub shape: Shape,
    /// The points, as values of both axes.
    pub points: Vec<(f64, f64)>,
    /// The ends of their error bars, as values of the left axis; for dots only. `None`: unknown.
    pub bars: Vec<Option<(f64, f64)>>,
}

impl Curve {
    /// Points in this shape; the colour index wraps around.
    pub fn new(name: &str, colour: usize, shape: Shape, points: Vec<(f64, f64)>) -> Curve {
        Curve { name: name.to_owned(), colour: colour % CURVES.len(), shape, points, bars: Vec::new() }
    }

    /// The same with an error bar for each point for which it is known.
    pub fn with_bars(self, bars: Vec<Option<(f64, f64)>>) -> Curve {
        Curve { bars, ..self }
    }
}

/// A point to which the text refers: a ring with a label.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The label beside the ring.
    pub label: String,
    /// Its position, as values of both axes.
    pub at: (f64, f64),
}

/// Curves over the same two axes.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The text alternative for screen readers.
    label: String,
    /// The axis at the bottom, and the one on the left.
    across: Axis,
    up: Axis,
    /// In drawing order: the last one is on top.
    curves: Vec<Curve>,
    /// The marked points, the most important first.
    marks: Vec<Mark>,
    /// The meaning of rings and error bars, for the key.
    ring: &'static str,
    bar: &'static str,
}

type Context<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Marked, Marked>>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

impl Chart {
    /// Curves over `axes`, the bottom one and the left one; the last curve is on top.
    pub fn new(label: &str, axes: [Axis; 2], curves: Vec<Curve>) -> Chart {
        let [across, up] = axes;
        Chart { label: label.to_owned(), across, up, curves, marks: Vec::new(), ring: "", bar: "error bar" }
    }

    /// The same with these points marked, the most important first; `what` is their name in the key.
    #[must_use]
    pub fn marking(self, what: &'static str, marks: Vec<Mark>) -> Chart {
        Chart { marks, ring: what, ..self }
    }

    /// The same with the meaning of the error bars, for the key.
    #[must_use]
    pub fn with_bars_of(self, what: &'static str) -> Chart {
        Chart { bar: what, ..self }
    }

    /// As SVG for screens of at least 640 pixels.
    pub fn wide(&self) -> String {
        self.svg(WIDE_PX)
    }

    /// As SVG for a narrower screen.
    pub fn narrow(&self) -> String {
        self.svg(NARROW_PX)
    }

    /// Colour and name of each curve with a name.
    pub fn key(&self) -> Vec<(usize, String)> {
        let named = self.curves.iter().filter(|curve| !curve.name.is_empty());
        named.map(|curve| (curve.colour, curve.name.clone())).collect()
    }

    /// The other signs in the key, if they are drawn: `ring` and `bar` with their meaning.
    pub(super) fn signs(&self) -> Vec<(&'static str, &'static str)> {
        let barred = self.curves.iter().any(|curve| curve.bars.iter().any(Option::is_some));
        let all = [("bar", self.bar, barred), ("ring", self.ring, !self.marks.is_empty())];
        all.into_iter().filter(|(.., drawn)| *drawn).map(|(sign, name, _)| (sign, name)).collect()
    }

    fn svg(&self, size_px: (u32, u32)) -> String {
        let mut svg = String::new();
        self.draw(&mut svg, size_px).expect("drawing into a string succeeds");
        labelled(&svg, &self.label)
    }

    fn draw(&self, svg: &mut String, size_px: (u32, u32)) -> Drawn {
        let area = SVGBackend::with_string(svg, size_px).into_drawing_area();
        let across_px = size_px.0.saturating_sub(LEFT_PX + RIGHT_PX + MARGIN_PX);
        let across = Marked::new(self.across, self.across.marks_in(across_px));
        let up = Marked::new(self.up, self.up.marks(MARKS_UP));
        let mut chart = ChartBuilder::on(&area)
            .margin(MARGIN_PX)
            .margin_top(10)
            .margin_right(RIGHT_PX)
            .x_label_area_size(26)
            .y_label_area_size(LEFT_PX)
            .build_cartesian_2d(across, up)?;
        chart
            .configure_mesh()
            .axis_style(GRID.0)
            .bold_line_style(GRID.0)
            .light_line_style(GRID.0.mix(0.0))
            .label_style(letters(LETTERS))
            .draw()?;
        self.curves.iter().try_for_each(|curve| self.draw_curve(&mut chart, curve))?;
        self.draw_marks(&area, &chart)?;
        area.present()?;
        drop(chart);
        Ok(())
    }

    fn draw_curve(&self, chart: &mut Context<'_, '_>, curve: &Curve) -> Drawn {
        let colour = CURVES[curve.colour].0;
        let points = || curve.points.iter().filter_map(|&point| self.placed(point));
        match curve.shape {
            Shape::Line => drop(chart.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?),
            Shape::Area => {
                let area = AreaSeries::new(points(), self.up.ends().0, colour.mix(0.3));
                chart.draw_series(area.border_style(colour.stroke_width(2)))?;
            }
            Shape::Dots => {
                let bars = curve.bars.iter().copied().chain(std::iter::repeat(None));
                for (&(x, y), bar) in curve.points.iter().zip(bars) {
                    let Some(at) = self.placed((x, y)) else { continue };
                    let ends = bar.and_then(|(low, high)| Some((self.placed((x, low))?.1, self.placed((x, high))?.1)));
                    match ends {
                        Some((low, high)) => {
                            let bar = ErrorBar::new_vertical(at.0, low, at.1, high, colour.filled(), DOT_PX);
                            chart.draw_series([bar])?;
                        }
                        None => drop(chart.draw_series([Circle::new(at, DOT_PX / 2, colour.filled())])?),
                    }
                }
            }
        }
        Ok(())
    }

    /// Draws a ring around each marked point, with its label if there is space for it.
    fn draw_marks(&self, area: &DrawingArea<SVGBackend<'_>, Shift>, chart: &Context<'_, '_>) -> Drawn {
        let spot = |point: (f64, f64)| self.placed(point).map(|at| chart.backend_coord(&at));
        let marks = self.marks.iter().filter_map(|mark| Some((spot(mark.at)?, mark.label.as_str())));
        let marks: Vec<(Spot, &str)> = marks.collect();
        let drawn = self.curves.iter().flat_map(|curve| {
            let spots: Vec<Spot> = curve.points.iter().filter_map(|&point| spot(point)).collect();
            if curve.shape == Shape::Dots { spots } else { filled_in(&spots) }
        });
        let (across, up) = chart.plotting_area().get_pixel_range();
        let inside = ((across.start, up.start), (across.end + LABEL_OVER_PX, up.end));
        let sizes: Vec<(Spot, usize)> = marks.iter().map(|(at, label)| (*at, label.chars().count())).collect();
        let places = labels::places(&sizes, inside, &drawn.collect::<Vec<_>>());
        for ((at, label), place) in marks.into_iter().zip(places) {
            area.draw(&Circle::new(at, RING_PX, INK.0.stroke_width(2)))?;
            if let Some(place) = place {
                area.draw(&Text::new(label, place, letters(INK)))?;
            }
        }
        Ok(())
    }

    /// The position of a point; `None` if it is not a number. A point outside is drawn at the edge.
    fn placed(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let on = |axis: &Axis, value| {
            let (from, to) = axis.ends();
            Some(place(axis.quantity, value)).filter(|at| at.is_finite()).map(|at| at.clamp(from, to))
        };
        Some((on(&self.across, x)?, on(&self.up, y)?))
    }
}

/// The style of text in this colour.
pub(super) fn letters(colour: Pair) -> TextStyle<'static> {
    ("sans-serif", LETTERS_PX).into_font().color(&colour.0)
}

/// The SVG with the text alternative for screen readers.
pub(super) fn labelled(svg: &str, label: &str) -> String {
    let label = label.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" "), 1)
}

/// These points, and points in between on the lines that connect them.
fn filled_in(spots: &[Spot]) -> Vec<Spot> {
    let between = spots.windows(2).flat_map(|pair| {
        let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
        let steps = ((to_x - x).abs().max((to_y - y).abs()) / SEEN_PX).max(1);
        (0..steps).map(move |step| (x + (to_x - x) * step / steps, y + (to_y - y) * step / steps))
    });
    between.chain(spots.last().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::axis::Quantity;
    use super::*;

    fn chart(points: Vec<(f64, f64)>, shape: Shape) -> Chart {
        let across = Axis::over(Quantity::Time, points.iter().map(|point| point.0));
        let up = Axis::over(Quantity::Rate, points.iter().map(|point| point.1));
        Chart::new("a \"<b>\"", [across, up], vec![Curve::new("", 0, shape, points)])
    }

    #[test]
    fn each_point_is_drawn_except_nan() {
        let points = vec![(0.0, 1e6), (1.0, 2e6), (2.0, f64::NAN), (3.0, 0.0)];
        let svg = chart(points.clone(), Shape::Line).wide();
        let (_, rest) = svg.split_once("stroke-width=\"2\" points=\"").unwrap();
        assert_eq!(rest.split_once('"').unwrap().0.split_whitespace().count(), 3, "{svg}");
        assert_eq!(chart(points, Shape::Dots).narrow().matches("<circle ").count(), 3);
        assert!(svg.contains("aria-label=\"a &quot;&lt;b>&quot;\""), "{svg}");
    }

    #[test]
    fn points_outside_are_clamped_and_areas_reach_the_axis() {
        let mut chart = chart(vec![(0.0, 1e6), (1.0, 1e6)], Shape::Area);
        chart.curves[0].points.push((2.0, 9e9));
        let svg = chart.wide();
        let line = svg.split_once("stroke-width=\"2\" points=\"").unwrap().1.split_once('"').unwrap().0;
        assert!(line.trim_end().ends_with(" 851,10"), "{line}");
        let polygon = svg.split_once("<polygon ").unwrap().1.split_once("/>").unwrap().0;
        assert!(polygon.contains("84,269") && polygon.contains("851,269"), "{polygon}");
        assert!(svg.contains("viewBox=\"0 0 880 300\"") && chart.narrow().contains("viewBox=\"0 0 320 240\""));
    }

    #[test]
    fn an_empty_chart_is_valid() {
        for shape in [Shape::Line, Shape::Area, Shape::Dots] {
            assert!(chart(vec![], shape).wide().ends_with("</svg>\n"));
        }
    }
}

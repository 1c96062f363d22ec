//! Curves as SVG, drawn by plotters: once for a wide screen and once for a narrow one, so that letters keep their size.
//! Colours are numbers here; the page's style says what they are by day and by night.
use super::axis::{Axis, Marked, place};
use plotters::prelude::{
    AreaSeries, ChartBuilder, Circle, Color, IntoDrawingArea, IntoFont, LineSeries, RGBColor, SVGBackend,
};

/// Pixels of the chart for a wide screen.
const WIDE_PX: (u32, u32) = (880, 300);
/// Pixels of the chart for a narrow one.
const NARROW_PX: (u32, u32) = (320, 240);
/// Height of a line of letters; in SVG plotters makes the letters themselves smaller by a fifth: 12 pixels.
const LETTERS_PX: i32 = 15;
/// Room around the curves: the axis at the left with its names, air at the right.
const LEFT_PX: u32 = 80;
const RIGHT_PX: u32 = 28;
const MARGIN_PX: u32 = 4;
const MARKS_UP: u32 = 5;

/// Colours of curves by day, and by night.
const CURVES: [(RGBColor, RGBColor); 7] = [
    (RGBColor(0x0a, 0x6f, 0x86), RGBColor(0x3f, 0xb6, 0xd0)),
    (RGBColor(0xc2, 0x41, 0x0c), RGBColor(0xff, 0x8a, 0x4c)),
    (RGBColor(0x6d, 0x3f, 0xc0), RGBColor(0xb7, 0x94, 0xf6)),
    (RGBColor(0x1a, 0x7f, 0x37), RGBColor(0x4a, 0xc2, 0x6b)),
    (RGBColor(0xb0, 0x24, 0x6f), RGBColor(0xf4, 0x72, 0xb6)),
    (RGBColor(0x8a, 0x61, 0x00), RGBColor(0xe0, 0xb3, 0x41)),
    (RGBColor(0x4b, 0x55, 0x63), RGBColor(0x9a, 0xa5, 0xb0)),
];
/// Lines of the grid, and letters.
const GRID: (RGBColor, RGBColor) = (RGBColor(0xe1, 0xe5, 0xea), RGBColor(0x2c, 0x33, 0x3b));
const LETTERS: (RGBColor, RGBColor) = (RGBColor(0x5b, 0x65, 0x70), RGBColor(0x9a, 0xa5, 0xb1));
/// The page around the charts: ground, ink, stripe, the shadow of what continues beyond an edge, what is bad.
const PAGE: [(&str, &str, &str); 5] = [
    ("ground", "#fff", "#14181d"),
    ("ink", "#1c2128", "#e4e8ec"),
    ("stripe", "#f5f7f9", "#1b2127"),
    ("shadow", "#1c212840", "#000000c0"),
    ("bad", "#c42b1c", "#ff7b72"),
];

/// How the points of a curve are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Joined by a line.
    Line,
    /// A line, and all below it down to the floor of the chart.
    Area,
    /// Each by itself.
    Dots,
}

/// Points of one kind.
#[derive(Clone, Debug)]
pub struct Curve {
    /// For the key; empty: it needs none.
    pub name: String,
    /// Which of seven colours.
    pub colour: usize,
    /// How they are shown.
    pub shape: Shape,
    /// Their positions, as values of both axes.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// Points of this shape; colours are counted round.
    pub fn new(name: &str, colour: usize, shape: Shape, points: Vec<(f64, f64)>) -> Curve {
        Curve { name: name.to_owned(), colour: colour % CURVES.len(), shape, points }
    }
}

/// Curves over the same two axes.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows, for readers who cannot see it.
    pub label: String,
    /// The axis below.
    pub across: Axis,
    /// The axis at the left.
    pub up: Axis,
    /// The first is drawn first, so that the last lies on top.
    pub curves: Vec<Curve>,
}

impl Chart {
    /// As SVG for a screen of 640 pixels and more.
    pub fn wide(&self) -> String {
        self.svg(WIDE_PX)
    }

    /// As SVG for a narrower screen.
    pub fn narrow(&self) -> String {
        self.svg(NARROW_PX)
    }

    /// Colour and name of each curve that has a name.
    pub fn key(&self) -> Vec<(usize, String)> {
        let named = self.curves.iter().filter(|curve| !curve.name.is_empty());
        named.map(|curve| (curve.colour, curve.name.clone())).collect()
    }

    fn svg(&self, size_px: (u32, u32)) -> String {
        let mut svg = String::new();
        self.draw(&mut svg, size_px).expect("text takes whatever is drawn");
        let label = self.label.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{label}\" "), 1)
    }

    fn draw(&self, svg: &mut String, size_px: (u32, u32)) -> Result<(), Box<dyn std::error::Error>> {
        let area = SVGBackend::with_string(svg, size_px).into_drawing_area();
        let floor = self.up.ends().0;
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
        let letters = ("sans-serif", LETTERS_PX).into_font().color(&LETTERS.0);
        chart
            .configure_mesh()
            .axis_style(GRID.0)
            .bold_line_style(GRID.0)
            .light_line_style(GRID.0.mix(0.0))
            .label_style(letters)
            .draw()?;
        for curve in &self.curves {
            let colour = CURVES[curve.colour].0;
            let points: Vec<(f64, f64)> = curve.points.iter().filter_map(|&point| self.placed(point)).collect();
            match curve.shape {
                Shape::Line => chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?,
                Shape::Area => {
                    let area = AreaSeries::new(points, floor, colour.mix(0.3));
                    chart.draw_series(area.border_style(colour.stroke_width(2)))?
                }
                Shape::Dots => {
                    chart.draw_series(points.into_iter().map(|point| Circle::new(point, 3, colour.filled())))?
                }
            };
        }
        area.present()?;
        drop(chart);
        Ok(())
    }

    /// The position of a point; `None` of what is no number. What lies outside stands at the edge.
    fn placed(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let on = |axis: &Axis, value| {
            let (from, to) = axis.ends();
            Some(place(axis.quantity, value)).filter(|at| at.is_finite()).map(|at| at.clamp(from, to))
        };
        Some((on(&self.across, x)?, on(&self.up, y)?))
    }
}

/// What the colours of charts, of whatever is in an element of class `chart`, are by day and by night, as CSS.
pub fn style() -> String {
    let hex = |colour: RGBColor| format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
    let curves: Vec<(String, (RGBColor, RGBColor))> =
        CURVES.iter().enumerate().map(|(number, &pair)| (format!("c{number}"), pair)).collect();
    let drawn = [("line".to_owned(), GRID), ("quiet".to_owned(), LETTERS)].into_iter().chain(curves);
    let (mut day, mut night, mut rules) = (String::new(), String::new(), String::new());
    for (name, by_day, by_night) in PAGE {
        day += &format!("--{name}: {by_day}; ");
        night += &format!("--{name}: {by_night}; ");
    }
    for (name, (by_day, by_night)) in drawn {
        let by_day = hex(by_day);
        day += &format!("--{name}: {by_day}; ");
        night += &format!("--{name}: {}; ", hex(by_night));
        rules += &format!(".chart [stroke=\"{by_day}\"] {{ stroke: var(--{name}); }}\n");
        rules += &format!(".chart [fill=\"{by_day}\"] {{ fill: var(--{name}); }}\n");
        rules += &format!(".key.{name} {{ background: var(--{name}); }}\n");
    }
    // Paper is white at night too.
    format!(":root {{ {day}}}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {night}}} }}\n{rules}")
}

#[cfg(test)]
mod tests {
    use super::super::axis::Quantity;
    use super::*;

    fn chart(points: Vec<(f64, f64)>, shape: Shape) -> Chart {
        let across = Axis::over(Quantity::Time, points.iter().map(|point| point.0));
        let up = Axis::over(Quantity::Rate, points.iter().map(|point| point.1));
        Chart { label: "a \"<b>\"".to_owned(), across, up, curves: vec![Curve::new("", 0, shape, points)] }
    }

    #[test]
    fn each_point_is_drawn_and_what_is_no_number_is_not() {
        let points = vec![(0.0, 1e6), (1.0, 2e6), (2.0, f64::NAN), (3.0, 0.0)];
        let svg = chart(points.clone(), Shape::Line).wide();
        let (_, rest) = svg.split_once("stroke-width=\"2\" points=\"").unwrap();
        assert_eq!(rest.split_once('"').unwrap().0.split_whitespace().count(), 3, "{svg}");
        assert_eq!(chart(points, Shape::Dots).narrow().matches("<circle ").count(), 3);
        assert!(svg.contains("aria-label=\"a &quot;&lt;b>&quot;\""), "{svg}");
    }

    #[test]
    fn what_lies_outside_stands_at_the_edge_and_an_area_stands_on_its_floor() {
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
    fn a_curve_has_the_colour_of_its_key_and_an_eighth_that_of_the_first() {
        let hex = |colour: RGBColor| format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
        for number in 0..8 {
            let points = vec![(0.0, 1e6), (1.0, 2e6)];
            let mut chart = chart(points.clone(), Shape::Line);
            chart.curves = vec![Curve::new("name", number, Shape::Line, points)];
            let colour = chart.key()[0].0;
            assert_eq!(colour, number % 7);
            let (day, night) = CURVES[colour];
            assert!(chart.wide().contains(&format!("stroke=\"{}\" stroke-width=\"2\"", hex(day))), "{}", chart.wide());
            let style = style();
            let (_, by_night) = style.split_once("prefers-color-scheme: dark").unwrap();
            assert!(by_night.contains(&format!("--c{colour}: {};", hex(night))), "{by_night}");
        }
    }

    #[test]
    fn a_chart_of_nothing_is_a_chart() {
        for shape in [Shape::Line, Shape::Area, Shape::Dots] {
            assert!(chart(vec![], shape).wide().ends_with("</svg>\n"));
        }
    }

    #[test]
    fn each_colour_that_is_drawn_has_another_by_night() {
        let style = style();
        let svg = chart(vec![(0.0, 1e6), (1.0, 2e6)], Shape::Area).wide();
        for part in svg.split('"').filter(|part| part.starts_with('#')) {
            assert!(style.contains(&format!("\"{part}\"")), "{part} has no rule in {style}");
        }
    }
}

//! Colours of the pages in light and dark mode. SVG has those of light mode; the style replaces them in dark
//! mode.
use plotters::prelude::RGBColor;

/// A colour in light mode, and in dark mode.
pub(super) type Pair = (RGBColor, RGBColor);

/// Colours of curves.
pub(super) const CURVES: [Pair; 7] = [
    (RGBColor(0x0a, 0x6f, 0x86), RGBColor(0x3f, 0xb6, 0xd0)),
    (RGBColor(0xc2, 0x41, 0x0c), RGBColor(0xff, 0x8a, 0x4c)),
    (RGBColor(0x6d, 0x3f, 0xc0), RGBColor(0xb7, 0x94, 0xf6)),
    (RGBColor(0x1a, 0x7f, 0x37), RGBColor(0x4a, 0xc2, 0x6b)),
    (RGBColor(0xb0, 0x24, 0x6f), RGBColor(0xf4, 0x72, 0xb6)),
    (RGBColor(0x8a, 0x61, 0x00), RGBColor(0xe0, 0xb3, 0x41)),
    (RGBColor(0x4b, 0x55, 0x63), RGBColor(0x9a, 0xa5, 0xb0)),
];
/// Grid lines, and labels.
pub(super) const GRID: Pair = (RGBColor(0xe1, 0xe5, 0xea), RGBColor(0x2c, 0x33, 0x3b));
pub(super) const LETTERS: Pair = (RGBColor(0x5b, 0x65, 0x70), RGBColor(0x9a, 0xa5, 0xb1));
/// The text of the page, and marks in charts.
pub(super) const INK: Pair = (RGBColor(0x1c, 0x21, 0x28), RGBColor(0xe4, 0xe8, 0xec));
/// Errors.
pub(super) const BAD: Pair = (RGBColor(0xc4, 0x2b, 0x1c), RGBColor(0xff, 0x7b, 0x72));

/// Colours around the charts: background, stripe, the shadow of content that continues beyond an edge.
const PAGE: [(&str, &str, &str); 3] =
    [("ground", "#fff", "#14181d"), ("stripe", "#f5f7f9", "#1b2127"), ("shadow", "#1c212840", "#000000c0")];

/// The colours of charts, in elements of class `chart`, in light and dark mode, as CSS.
pub fn style() -> String {
    let hex = |colour: RGBColor| format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
    let curves = CURVES.iter().enumerate().map(|(number, &pair)| (format!("c{number}"), pair));
    let named = [("line", GRID), ("quiet", LETTERS), ("ink", INK), ("bad", BAD)];
    let drawn = named.into_iter().map(|(name, pair)| (name.to_owned(), pair)).chain(curves);
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
    // Prints are always dark on white.
    format!(":root {{ {day}}}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {night}}} }}\n{rules}")
}

#[cfg(test)]
mod tests {
    use super::super::axis::{Axis, Quantity};
    use super::super::chart::{Chart, Curve, Mark, Shape};
    use super::*;

    fn chart(number: usize, shape: Shape) -> Chart {
        let points = vec![(0.0, 1e6), (1.0, 2e6)];
        let (across, up) =
            (Axis::over(Quantity::Time, [0.0, 1.0].into_iter()), Axis::over(Quantity::Rate, [2e6].into_iter()));
        let dots = Curve::new("", number, Shape::Dots, points.clone()).with_bars(vec![None, Some((1e6, 2e6))]);
        let curves = vec![Curve::new("name", number, shape, points), dots];
        Chart::new("", [across, up], curves).marking("best", vec![Mark { label: "best".to_owned(), at: (1.0, 2e6) }])
    }

    #[test]
    fn a_curve_has_the_colour_of_its_key_and_colours_repeat_after_seven() {
        let hex = |colour: RGBColor| format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
        for number in 0..8 {
            let chart = chart(number, Shape::Line);
            assert_eq!(chart.key()[0].0, number % 7);
            let (day, night) = CURVES[number % 7];
            assert!(chart.wide().contains(&format!("stroke=\"{}\" stroke-width=\"2\"", hex(day))), "{}", chart.wide());
            let style = style();
            let (_, by_night) = style.split_once("prefers-color-scheme: dark").unwrap();
            assert!(by_night.contains(&format!("--c{}: {};", number % 7, hex(night))), "{by_night}");
        }
    }

    #[test]
    fn each_colour_has_a_dark_mode_variant() {
        let style = style();
        let svg = chart(0, Shape::Area).wide();
        for part in svg.split('"').filter(|part| part.starts_with('#')) {
            assert!(style.contains(&format!("\"{part}\"")), "{part} has no rule in {style}");
        }
    }
}

//! Reads charts as a viewer does, for the tests of this room: only by the labels of their axes.

/// The points of each curve, and all dots as the last one, as values; times are in seconds. `log`: which axes
/// are logarithmic.
pub(crate) fn read_off(svg: &str, log: [bool; 2]) -> Vec<Vec<(f64, f64)>> {
    let [across, up] = scales(svg, log);
    let value = |x: f64, y: f64| (across.value(x), up.value(y));
    let curves = svg.split("stroke-width=\"2\" points=\"").skip(1).map(|rest| {
        let pairs = rest.split_once('"').unwrap().0.split_whitespace();
        pairs.map(|pair| pair.split_once(',').map(|(x, y)| value(number(x), number(y))).unwrap()).collect()
    });
    let dots = svg
        .split("<circle ")
        .skip(1)
        .filter(|tag| field(tag, "fill") != "none")
        .map(|tag| value(number(field(tag, "cx")), number(field(tag, "cy"))));
    let dots: Vec<(f64, f64)> = dots.collect();
    curves.chain([dots].into_iter().filter(|dots| !dots.is_empty())).collect()
}

/// Asserts the marks in both charts of a figure: the ends of error bars with their positions, and the rings, to
/// the precision of pixels; the wide chart has these labels.
#[track_caller]
pub(crate) fn assert_marked(page: &str, id: &str, log: [bool; 2], bars: &[(f64, f64)], rings: &[((f64, f64), &str)]) {
    let wide_labels: Vec<String> = labels(charts(page, id)[0]);
    assert_eq!(wide_labels, rings.iter().map(|ring| ring.1).collect::<Vec<_>>(), "{id}");
    let rings: Vec<(f64, f64)> = rings.iter().map(|ring| ring.0).collect();
    for (chart, height_px) in charts(page, id).into_iter().zip([250.0, 190.0]) {
        let [across, up] = scales(chart, log);
        let at = |tag: &str, x: &str, y: &str| (across.value(number(field(tag, x))), up.value(number(field(tag, y))));
        let upright = chart.split("<line ").skip(1).filter(|tag| field(tag, "x1") == field(tag, "x2"));
        let upright = upright.filter(|tag| field(tag, "stroke") != "#E1E5EA");
        let ends: Vec<(f64, f64)> = upright.flat_map(|tag| [at(tag, "x1", "y1"), at(tag, "x2", "y2")]).collect();
        let circles = chart.split("<circle ").skip(1).filter(|tag| field(tag, "fill") == "none");
        let circles: Vec<(f64, f64)> = circles.map(|tag| at(tag, "cx", "cy")).collect();
        let near = span(bars.iter().chain(&rings).map(|point| point.1), log[1]) / height_px * 3.0;
        for (read, wanted) in [(&ends[..], bars), (&circles[..], &rings[..])] {
            assert_eq!(read.len(), wanted.len(), "{id}: {read:?}, not {wanted:?}");
            let off = read.iter().zip(wanted).find(|(read, wanted)| far(read.1, wanted.1, log[1]) > near);
            assert_eq!(off, None, "{id}: read, and wanted");
        }
    }
}

/// The labels of marks.
fn labels(svg: &str) -> Vec<String> {
    let names = marks(svg).into_iter().filter(|mark| mark.anchor == "start");
    names.map(|mark| mark.name).collect()
}

fn scales(svg: &str, log: [bool; 2]) -> [Scale; 2] {
    let names = marks(svg);
    let across = names.iter().filter(|mark| mark.anchor == "middle").map(|mark| (mark.x, &*mark.name));
    let up = names.iter().filter(|mark| mark.anchor == "end").map(|mark| (mark.y, &*mark.name));
    [Scale::of(across, log[0], true), Scale::of(up, log[1], false)]
}

/// The two charts of a figure, for a wide and for a narrow screen.
pub(crate) fn charts<'a>(page: &'a str, id: &str) -> [&'a str; 2] {
    let (_, section) = page.split_once(&format!("<section id=\"{id}\">")).unwrap_or_else(|| panic!("no {id}"));
    let section = section.split_once("</section>").unwrap().0;
    let mut charts = section.split("<svg ").skip(1).map(|rest| rest.split_once("</svg>").unwrap().0);
    [charts.next().unwrap(), charts.next().unwrap()]
}

/// Asserts the curves in both charts of the figure, to the precision of pixels.
#[track_caller]
pub(crate) fn assert_drawn(page: &str, id: &str, log: [bool; 2], wanted: &[Vec<(f64, f64)>]) {
    for (chart, width_px) in charts(page, id).into_iter().zip([770.0, 205.0]) {
        let read = read_off(chart, log);
        let lens = |curves: &[Vec<(f64, f64)>]| curves.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lens(&read), lens(wanted), "{id}");
        let points = || wanted.iter().flatten();
        let near = [
            span(points().map(|point| point.0), log[0]) / width_px,
            span(points().map(|point| point.1), log[1]) / 180.0,
        ];
        for (read, wanted) in read.iter().flatten().zip(points()) {
            let off = [far(read.0, wanted.0, log[0]) / near[0], far(read.1, wanted.1, log[1]) / near[1]];
            assert!(off.iter().all(|&px| px <= 3.0), "{id}: read {read:?}, not {wanted:?}; off by {off:?} px");
        }
    }
}

fn scaled(value: f64, log: bool) -> f64 {
    if log { value.log10() } else { value }
}

fn far(one: f64, other: f64, log: bool) -> f64 {
    (scaled(one, log) - scaled(other, log)).abs()
}

fn span(values: impl Iterator<Item = f64>, log: bool) -> f64 {
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let low = if log { low } else { low.min(0.0) };
    far(low, high, log).max(1e-9)
}

struct AxisMark {
    x: f64,
    y: f64,
    anchor: String,
    name: String,
}

fn marks(svg: &str) -> Vec<AxisMark> {
    let mark = |rest: &str| {
        let (tag, text) = rest.split_once('>').unwrap();
        let name = text.split_once("</text>").unwrap().0.trim().to_owned();
        AxisMark {
            x: number(field(tag, "x")),
            y: number(field(tag, "y")),
            anchor: field(tag, "text-anchor").to_owned(),
            name,
        }
    };
    svg.split("<text ").skip(1).map(mark).collect()
}

fn field<'a>(tag: &'a str, name: &str) -> &'a str {
    let (_, rest) = tag.split_once(&format!("{name}=\"")).unwrap_or_else(|| panic!("no {name} in {tag}"));
    rest.split_once('"').unwrap().0
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is not a number"))
}

/// The value of a mark's label: `1 min 30 s`, `200 MB/s`, `64 KiB`, `10 %`, `0`.
fn value_of(name: &str) -> f64 {
    let words: Vec<&str> = name.trim_end_matches("/s").split(' ').collect();
    let unit = |word: &str| match word {
        "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "B" | "bytes" | "%" | "x" => 1.0,
        "min" => 60.0,
        "MB" => 1e6,
        "kB" => 1e3,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        other => panic!("what is {other} in {name}?"),
    };
    words.chunks(2).map(|pair| number(pair[0]) * pair.get(1).map_or(1.0, |word| unit(word))).sum()
}

/// Converts pixels to values, by the first and the last mark.
struct Scale {
    px: [f64; 2],
    at: [f64; 2],
    log: bool,
}

impl Scale {
    fn of<'a>(marks: impl Iterator<Item = (f64, &'a str)>, log: bool, rightwards: bool) -> Scale {
        let marks: Vec<(f64, f64)> = marks.map(|(px, name)| (px, scaled(value_of(name), log))).collect();
        let ends = [marks.first(), marks.last()].map(|mark| *mark.expect("an axis has marks"));
        assert!(ends[0].0 != ends[1].0, "an axis of one mark says nothing");
        // Values increase to the right, and upwards.
        assert_eq!(ends[1].0 > ends[0].0, (ends[1].1 > ends[0].1) == rightwards, "{ends:?}");
        Scale { px: ends.map(|end| end.0), at: ends.map(|end| end.1), log }
    }

    fn value(&self, px: f64) -> f64 {
        let at = self.at[0] + (px - self.px[0]) / (self.px[1] - self.px[0]) * (self.at[1] - self.at[0]);
        if self.log { 10f64.powf(at) } else { at }
    }
}

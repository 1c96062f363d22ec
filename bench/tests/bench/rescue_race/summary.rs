//! The figures of many disks, by how they fail.
use super::Figures;
use super::draw::KINDS;

/// Least, median and most.
fn range(mut values: Vec<f64>) -> String {
    values.sort_unstable_by(f64::total_cmp);
    match values.as_slice() {
        [] => "–".to_owned(),
        values => format!("{:.2}, {:.2}, {:.2}", values[0], values[values.len() / 2], values[values.len() - 1]),
    }
}

/// One line for each kind; `n of m`: disks with at most 0.9 or 0.6, and those on which the ideal has that.
pub fn table(all: &[(&str, Figures)]) -> String {
    let mut lines = vec!["| kind | behind | 99 % | ideal | to a disk | whole | bytes | ideal bytes |".to_owned()];
    for kind in KINDS {
        let of_kind = || all.iter().filter(|(of, _)| *of == kind).map(|(_, figures)| figures);
        let values = |value: fn(&Figures) -> Option<f64>| range(of_kind().filter_map(value).collect());
        let within = |most: f64, value: fn(&Figures) -> Option<f64>| {
            of_kind().filter(|figures| value(figures).is_some_and(|value| value <= most)).count()
        };
        let time = [within(0.9, |figures| figures.time), within(0.9, |figures| figures.ideal_time)];
        let to_disk = [within(0.6, |figures| figures.to_disk), within(0.6, |figures| figures.ideal_to_disk)];
        lines.push(format!(
            "| {kind} | {} | {}; {} of {} | {} | {}; {} of {} | {} | {} | {} |",
            values(|figures| Some(figures.behind)),
            values(|figures| figures.time),
            time[0],
            time[1],
            values(|figures| figures.ideal_time),
            values(|figures| figures.to_disk),
            to_disk[0],
            to_disk[1],
            values(|figures| Some(figures.whole)),
            values(|figures| Some(figures.bytes)),
            values(|figures| Some(figures.ideal_bytes)),
        ));
    }
    lines.join("\n")
}

//! Positions the labels of marked points, in pixels: inside the chart, without overlaps, and if possible
//! without covering curves.

/// Width of a character, rounded up, and height of a line.
const LETTER_PX: i32 = 7;
const LINE_PX: i32 = 15;
/// Distance between the centre of a mark and its label.
const APART_PX: i32 = 11;

/// A point on the picture; y grows downwards.
pub(super) type Spot = (i32, i32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Area {
    fn holds(&self, (x, y): Spot) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    fn meets(&self, other: &Area) -> bool {
        self.left <= other.right && other.left <= self.right && self.top <= other.bottom && other.top <= self.bottom
    }

    fn is_within(&self, other: &Area) -> bool {
        self.left >= other.left && self.right <= other.right && self.top >= other.top && self.bottom <= other.bottom
    }
}

/// The top left corners of labels with these numbers of characters beside these marks, between the corners
/// `from` and `to` of the picture; the points in `drawn` should not be covered. `None`: there is no space for
/// that label.
pub(super) fn places(marks: &[(Spot, usize)], (from, to): (Spot, Spot), drawn: &[Spot]) -> Vec<Option<Spot>> {
    let inside = Area { left: from.0, top: from.1, right: to.0, bottom: to.1 };
    let rings = marks.iter().map(|&((x, y), _)| Area { left: x - 7, top: y - 7, right: x + 7, bottom: y + 7 });
    let mut taken: Vec<Area> = rings.collect();
    let place = |&(at, letters): &(Spot, usize)| {
        let width = i32::try_from(letters).unwrap_or(i32::MAX / LETTER_PX) * LETTER_PX;
        let free = |area: &Area| area.is_within(&inside) && !taken.iter().any(|other| area.meets(other));
        let covered = |area: &Area| drawn.iter().filter(|&&spot| area.holds(spot)).count();
        let best = around(at, width).into_iter().filter(free).min_by_key(covered)?;
        taken.push(best);
        Some((best.left, best.top))
    };
    marks.iter().map(place).collect()
}

/// Positions around a mark in order of preference: above, below, right, left, and diagonal.
fn around((x, y): Spot, width: i32) -> Vec<Area> {
    let lefts = [x - width / 2, x + APART_PX, x - APART_PX - width, x - width / 4, x - width * 3 / 4];
    let tops = [y - APART_PX - LINE_PX, y + APART_PX, y - LINE_PX / 2, y - 3 * LINE_PX, y + 2 * LINE_PX];
    let areas = tops.into_iter().flat_map(|top| lefts.map(|left| (left, top)));
    areas.map(|(left, top)| Area { left, top, right: left + width, bottom: top + LINE_PX }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURE: (Spot, Spot) = ((80, 10), (850, 270));

    fn area(letters: usize, place: Option<Spot>) -> Area {
        let (left, top) = place.expect("there is enough space");
        Area { left, top, right: left + letters as i32 * LETTER_PX, bottom: top + LINE_PX }
    }

    #[test]
    fn a_label_is_above_its_mark_if_there_is_room() {
        assert_eq!(places(&[((400, 100), 10)], PICTURE, &[]), [Some((365, 74))]);
    }

    #[test]
    fn labels_at_the_edges_are_inside_and_do_not_overlap() {
        let corners = [(80, 10), (850, 10), (80, 270), (850, 270), (846, 12)];
        let marks: Vec<(Spot, usize)> = corners.iter().map(|&corner| (corner, 20)).collect();
        let areas: Vec<Area> = places(&marks, PICTURE, &[]).into_iter().map(|place| area(20, place)).collect();
        let inside = Area { left: 80, top: 10, right: 850, bottom: 270 };
        for (index, one) in areas.iter().enumerate() {
            assert!(one.is_within(&inside), "{one:?}");
            assert!(areas[index + 1..].iter().all(|other| !one.meets(other)), "{areas:?}");
            assert!(!corners.iter().any(|&corner| one.holds(corner)), "{one:?}");
        }
    }

    #[test]
    fn a_label_covers_as_little_of_the_curves_as_possible() {
        let above: Vec<Spot> = (300..500).map(|x| (x, 80)).collect();
        let place = area(10, places(&[((400, 100), 10)], PICTURE, &above)[0]);
        assert!(!above.iter().any(|&spot| place.holds(spot)), "{place:?}");
    }

    #[test]
    fn a_label_without_room_is_omitted() {
        assert_eq!(places(&[((400, 100), 200)], PICTURE, &[]), [None]);
    }
}

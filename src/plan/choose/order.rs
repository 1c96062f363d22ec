//! Chooses the order in which bytes are copied.
use crate::core::{Direction, Facts, Ground, PlanNotes, Side, WriteOrder};
use crate::plan::check::Overlap;
use crate::plan::plan_input::PlanInput;

/// The order in which bytes are copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyOrder {
    pub(crate) direction: Direction,
    pub(crate) write_order: WriteOrder,
}

/// Chooses the order of the bytes.
pub(crate) fn order(asked: &PlanInput, overlap: Option<Overlap>, notes: &mut PlanNotes) -> CopyOrder {
    if let Some(overlap) = overlap {
        let (direction, choice) = match overlap.backward {
            true => (Direction::Backward, "from the last byte to the first"),
            false => (Direction::Forward, "from the first byte to the last"),
        };
        notes.chose("order", choice, "the ranges overlap: data is read before it is overwritten");
        return CopyOrder { direction, write_order: WriteOrder::Submitted };
    }
    let (write_order, choice, because) = if asked.dest.is_written_in_order() || asked.dest.kind.is_stream() {
        (WriteOrder::OneAtATime, "one write at a time", "the destination accepts only sequential data")
    } else if asked.rotational(Side::Dest) {
        (WriteOrder::Submitted, "ascending writes", "rotational destination")
    } else {
        (WriteOrder::Any, "writes as reads finish", "the destination accepts any order")
    };
    notes.chose("order", choice, because);
    CopyOrder { direction: Direction::Forward, write_order }
}

/// A disk on which both sides are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OneGround<'a> {
    /// Its name in messages.
    pub(crate) name: &'a str,
    /// It is reported as rotational.
    pub(crate) rotational: bool,
}

/// The disk on which both sides are, if there is one.
pub(crate) fn one_ground<'a>(asked: &PlanInput<'a>) -> Option<OneGround<'a>> {
    let (source, dest) = (asked.source, asked.dest);
    let of = |ground: &'a Ground, other: Option<bool>| OneGround {
        name: ground.name.as_str(),
        rotational: ground.rotational == Some(true) || other == Some(true),
    };
    // If both sides share several layers, a rotational one matters most.
    let shared = source
        .ground
        .iter()
        .filter_map(|from| {
            let to = dest.ground.iter().find(|to| to.id == from.id)?;
            Some(of(from, to.rotational))
        })
        .max_by_key(|ground| ground.rotational);
    let own = (source.id.is_some() && source.id == dest.id)
        .then(|| OneGround { name: source.address.as_str(), rotational: asked.rotational(Side::Source) });
    // A whole disk may be missing from its own ground, while its partition lists it.
    let beneath = |upper: &'a Facts, lower: &'a Facts| {
        upper.ground.iter().find(|ground| Some(ground.id) == lower.id).map(|ground| of(ground, None))
    };
    let all = [shared, own, beneath(source, dest), beneath(dest, source)];
    all.into_iter().flatten().rev().max_by_key(|ground| ground.rotational)
}

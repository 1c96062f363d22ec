//! In which order bytes go.
use crate::core::PlanNotes;
use crate::core::{Direction, EndpointKind, Order, Side, WriteOrder};
use crate::plan::asked::PlanInput;
use crate::plan::check::Overlap;

/// In which order bytes go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) direction: Direction,
    pub(crate) write_order: WriteOrder,
}

/// Chooses the order of the bytes.
pub(crate) fn order(asked: &PlanInput, overlap: Option<Overlap>, notes: &mut PlanNotes) -> Way {
    if let Some(overlap) = overlap {
        let (direction, choice) = match overlap.backward {
            true => (Direction::Backward, "from the last byte to the first"),
            false => (Direction::Forward, "from the first byte to the last"),
        };
        notes.chose("order", choice, "the ranges overlap: nothing is overwritten before it was read");
        return Way { direction, write_order: WriteOrder::Submitted };
    }
    let (write_order, choice, because) =
        if asked.dest.order == Order::Ascending || asked.dest.kind == EndpointKind::Pipe {
            (WriteOrder::OneAtATime, "one write at a time", "the dest takes bytes in order only")
        } else if asked.rotational(Side::Dest) {
            (WriteOrder::Submitted, "ascending writes", "the dest moves a head")
        } else {
            (WriteOrder::Any, "writes as reads finish", "the dest takes any order")
        };
    notes.chose("order", choice, because);
    Way { direction: Direction::Forward, write_order }
}

/// The disk under whose one head both sides lie, by name.
pub(crate) fn one_head<'a>(asked: &PlanInput<'a>) -> Option<&'a str> {
    let (source, dest) = (asked.source, asked.dest);
    let moves = |rotational: Option<bool>| rotational == Some(true);
    let shared = source
        .ground
        .iter()
        .find(|from| dest.ground.iter().any(|to| to.id == from.id && (moves(from.rotational) || moves(to.rotational))));
    let own = source.id.is_some() && source.id == dest.id && asked.rotational(Side::Source);
    shared.map(|ground| ground.name.as_str()).or(own.then_some(source.address.as_str())).or_else(|| {
        // A whole disk may not be in its own ground; its partition is.
        let beneath = |upper: &'a crate::core::Facts, lower: &'a crate::core::Facts| {
            upper.ground.iter().find(|ground| Some(ground.id) == lower.id && moves(ground.rotational))
        };
        beneath(source, dest).or_else(|| beneath(dest, source)).map(|ground| ground.name.as_str())
    })
}

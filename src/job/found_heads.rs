//! Says which heads of the source fail.
use super::operator::Operator;
use crate::core::Extent;
use crate::core::rescue::{ReadResult, RescueLog, RescueState};
use std::sync::Arc;

/// Warns once of each head that the schedule finds.
pub(super) struct FoundHeads {
    operator: Arc<dyn Operator>,
    warned: usize,
}

impl FoundHeads {
    pub(super) fn new(operator: Arc<dyn Operator>) -> Self {
        FoundHeads { operator, warned: 0 }
    }
}

impl RescueLog for FoundHeads {
    fn on_phase(&mut self, _state: &RescueState) {}

    fn on_read(&mut self, _extent: Extent, _result: ReadResult, state: &RescueState) {
        for head in state.heads.iter().skip(self.warned) {
            let (every, bytes) = (head.period_bytes >> 20, head.stretch_bytes >> 20);
            self.operator.warn(&format!(
                "reads fail every {every} MiB for about {bytes} MiB: one of about {} heads of the source fails; haul \
                 reads the areas of the others first",
                head.heads()
            ));
        }
        self.warned = state.heads.len();
    }

    fn on_end(&mut self, _state: &RescueState) {}
}

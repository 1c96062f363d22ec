//! Writes wait until all reads are done.
use super::Gate;
use crate::core::Request;

/// Holds writes until no read is in flight, then lets them go all at once in ascending order: both sides lie under
/// one moving head, which would otherwise travel between them for every block.
#[derive(Default)]
pub struct WritesAfterReads {
    held: Vec<Request>,
}

impl Gate for WritesAfterReads {
    fn admit(&mut self, request: Request, through: &mut Vec<Request>) {
        if request.done > 0 {
            through.push(request);
        } else {
            self.held.push(request);
        }
    }

    fn release(&mut self, source_idle: bool, through: &mut Vec<Request>) {
        if source_idle && !self.held.is_empty() {
            self.held.sort_by_key(|request| request.offset);
            through.append(&mut self.held);
        }
    }

    fn cancel_pending(&mut self, back: &mut Vec<Request>) {
        back.append(&mut self.held);
    }
}

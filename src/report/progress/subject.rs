//! What a display shows besides numbers.
use super::dests::DestView;
use super::rescue::RescueView;

/// The dest or dests of a copy, and its rescue.
pub(super) struct Subject<'a> {
    /// Address of the dest, for messages about the flush.
    pub(super) dest: &'a str,
    /// The progress of each dest, if there are several.
    pub(super) dests: Vec<DestView>,
    /// The rescue, if it is one.
    pub(super) rescue: Option<&'a RescueView>,
}

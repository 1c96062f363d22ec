//! A copy by many workers: the plan and the preparation of its destination; nothing here prints.
pub(crate) mod planning;
mod sides;
mod store_probe;

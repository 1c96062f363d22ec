//! Beds in memory: the copier is measured, not the disk.
use super::content::Removed;
use super::loop_device::LoopDevice;
use super::{Bed, Part, Place, Recipe, Shape, Size, content};
use crate::error::Result;
use crate::workplace::Workplace;

pub(super) fn recipes() -> Vec<Recipe> {
    vec![Recipe { name: "ram", title: "RAM speed: two loop devices over tmpfs", make, seed: 0 }]
}

fn make(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let bytes = size.bytes(2 << 30, 128 << 20);
    let source = device(workplace, "ram-source", bytes)?;
    let dest = device(workplace, "ram-dest", bytes)?;
    content::noise(&source.1.store, 0, bytes)?;
    content::spoil(&dest.1.store, 0, bytes)?;
    Ok(Bed {
        what: "Noise, from one loop device over a tmpfs file to another, both with direct I/O on their file. The \
               pages of both files are in place before the first run."
            .into(),
        source: source.1,
        dest: dest.1,
        under_pressure: true,
        parts: vec![source.0, dest.0],
        ..Bed::new(recipe, Shape::DeviceToDevice, bytes, size, 7)
    })
}

/// A loop device of `bytes` bytes over a file in memory, removed with the workplace.
pub fn device(workplace: &Workplace, name: &str, bytes: u64) -> Result<(Part, Place)> {
    let store = workplace.memory().join(name);
    std::fs::File::create(&store)?.set_len(bytes)?;
    let removed = Removed(store.clone());
    let device = LoopDevice::new(&store)?;
    let place = Place { path: device.path.clone(), uri: None, store, store_offset: 0 };
    Ok((Box::new((device, removed)), place))
}

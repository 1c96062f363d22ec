//! Detects uses of a device or file that is to be overwritten.
use super::ground;
use super::snapshot::Snapshot;
use super::sysfs::Device;
use crate::core::{FileId, InUse};
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

/// Mount points that the running system needs.
const SYSTEM: [&str; 6] = ["/", "/boot", "/boot/efi", "/boot/firmware", "/efi", "/usr"];

/// Uses of a block device: of itself, of its partitions, of devices stacked on them, and of overlapping extents of the
/// devices below.
pub(super) fn of_device(snapshot: &Snapshot, device: &Device) -> Vec<InUse> {
    let mut uses = Uses::new(snapshot);
    uses.upwards(device);
    uses.beneath(device, 0..device.len());
    uses.into_sorted(FileId::Device(device.number))
}

/// Uses of a regular file: loop devices on it, and swap space.
pub(super) fn of_file(snapshot: &Snapshot, id: FileId, path: &Path) -> Vec<InUse> {
    let mut uses = Uses::new(snapshot);
    let name = path.display().to_string();
    uses.swapped(id, &name);
    uses.loops_over(id, &name, None, 0..u64::MAX);
    uses.into_sorted(id)
}

/// The uses found so far, and the devices that were examined.
struct Uses<'a> {
    snapshot: &'a Snapshot,
    seen: HashSet<u64>,
    mounted: Vec<InUse>,
    swap: Vec<InUse>,
    held: Vec<InUse>,
}

impl<'a> Uses<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        Uses { snapshot, seen: HashSet::new(), mounted: Vec::new(), swap: Vec::new(), held: Vec::new() }
    }

    /// Examines a device, its partitions, and everything stacked on them.
    fn upwards(&mut self, device: &Device) {
        if !self.seen.insert(device.number) {
            return;
        }
        self.direct(device);
        for part in device.partitions() {
            self.upwards(&part);
        }
        self.holders(device, None);
        self.loops_over(FileId::Device(device.number), &device.name, None, 0..u64::MAX);
    }

    /// Whether exactly this device is mounted or swap space.
    fn direct(&mut self, device: &Device) {
        let mounts = self.snapshot.mounts.iter().filter(|mount| mount.devices.contains(&device.number));
        for at in mounts.map(|mount| mount.at.clone()) {
            let used = InUse::Mounted { device: device.name.clone(), at };
            if !self.mounted.contains(&used) {
                self.mounted.push(used);
            }
        }
        self.swapped(FileId::Device(device.number), &device.name);
    }

    fn swapped(&mut self, id: FileId, name: &str) {
        if self.snapshot.swaps.iter().any(|swap| swap.id == id) {
            self.swap.push(InUse::Swap { device: name.to_owned() });
        }
    }

    fn holders(&mut self, device: &Device, but: Option<&Device>) {
        for holder in device.holders().iter().filter(|holder| Some(*holder) != but) {
            self.held.push(InUse::Held { device: device.name.clone(), by: holder.name.clone() });
            self.upwards(holder);
        }
    }

    /// Loop devices over `range` of a file or device, except for `but`, where the search came from.
    fn loops_over(&mut self, id: FileId, name: &str, but: Option<&Device>, range: Range<u64>) {
        let snapshot = self.snapshot;
        let others = snapshot.loops.iter().filter(|one| one.backing == id && Some(&one.device) != but);
        for one in others {
            if overlap(&range, &extent(one.offset, one.device.len())) {
                self.held.push(InUse::Held { device: name.to_owned(), by: one.device.name.clone() });
                self.upwards(&one.device);
            }
        }
    }

    /// Examines what is below `device` for its extent `range`: the whole disk of a partition, or the device or file of
    /// a loop device. The lower devices of a dm or md device are exclusively claimed by the kernel.
    fn beneath(&mut self, device: &Device, range: Range<u64>) {
        if let Some(disk) = device.disk() {
            self.lower(&disk, device, shifted(&range, device.start()));
        }
        let Some(attached) = self.snapshot.loop_of(device.number) else { return };
        let range = shifted(&range, attached.offset);
        match attached.backing {
            FileId::Device(number) => {
                if let Some(lower) = self.snapshot.sysfs.device(number) {
                    self.lower(&lower, device, range);
                }
            }
            file => {
                self.swapped(file, &attached.backing_name);
                self.loops_over(file, &attached.backing_name, Some(device), range);
            }
        }
    }

    /// Examines a lower device for uses of its extent `range`, except for `from`.
    fn lower(&mut self, device: &Device, from: &Device, range: Range<u64>) {
        if !self.seen.insert(device.number) {
            return;
        }
        self.direct(device);
        self.holders(device, Some(from));
        self.loops_over(FileId::Device(device.number), &device.name, Some(from), range.clone());
        for part in device.partitions() {
            if overlap(&range, &extent(part.start(), part.len())) {
                self.upwards(&part);
            }
        }
        self.beneath(device, range);
    }

    /// All uses, the most severe first, then in the order in which they have to be ended: upper devices first.
    fn into_sorted(mut self, id: FileId) -> Vec<InUse> {
        self.held.reverse();
        let mut reported = self.system(id);
        reported.append(&mut self.mounted);
        reported.append(&mut self.swap);
        reported.append(&mut self.held);
        reported
    }

    /// Parts of the running system on it, directly or through other devices.
    fn system(&self, id: FileId) -> Vec<InUse> {
        let snapshot = self.snapshot;
        let mut found = Vec::new();
        for mount in snapshot.mounts.iter().filter(|mount| SYSTEM.iter().any(|at| mount.at == Path::new(at))) {
            let devices = mount.devices.iter().filter_map(|&number| snapshot.sysfs.device(number));
            let on_it =
                devices.into_iter().flat_map(|device| ground::of_device(snapshot, &device)).any(|on| on.id == id);
            let mounted = self.mounted.iter().any(|used| matches!(used, InUse::Mounted { at, .. } if *at == mount.at));
            let used = InUse::System { at: mount.at.clone() };
            if (on_it || mounted) && !found.contains(&used) {
                found.push(used);
            }
        }
        found
    }
}

fn extent(offset: u64, len: u64) -> Range<u64> {
    offset..offset.saturating_add(len)
}

fn shifted(range: &Range<u64>, by: u64) -> Range<u64> {
    range.start.saturating_add(by)..range.end.saturating_add(by)
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

//! Decides which disks are offered as the destination of a copy that names none.
use super::{ChooseFrom, Options};
use crate::core::{Device, Facts, InUse, Side};

/// Larger disks are not offered by default, in bytes: sticks and cards are smaller, disks with backups usually
/// larger.
pub const CHOOSE_MAX_BYTES: u64 = 300_000_000_000;

/// The disks that are offered, and those that are not.
#[derive(Debug, Default)]
pub struct Candidates {
    /// In the order of the list of devices.
    pub offered: Vec<Device>,
    /// Disks of the same kind that cannot be chosen, and the reasons.
    pub others: Vec<(Device, Objection)>,
}

/// Why a disk is not offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// It is the source, or contains it.
    Source,
    /// It is in use.
    InUse(InUse),
    /// It has no medium.
    NoMedium,
    /// It is read-only.
    ReadOnly,
    /// It is smaller than the copy, of this many bytes.
    TooSmall(u64),
    /// It is larger than this limit, in bytes.
    TooLarge(u64),
}

/// The disks among `devices` that can be offered for this copy of `source`.
pub fn candidates(options: &Options, source: &Facts, devices: Vec<Device>) -> Candidates {
    let mut found = Candidates::default();
    let wanted = |device: &Device| options.choose_from == ChooseFrom::All || device.hotplug;
    for device in devices.into_iter().filter(wanted) {
        match objection(options, source, &device) {
            None => found.offered.push(device),
            Some(why) => found.others.push((device, why)),
        }
    }
    found
}

fn objection(options: &Options, source: &Facts, device: &Device) -> Option<Objection> {
    if is_source(source, device) {
        return Some(Objection::Source);
    }
    if let Some(used) = device.uses.first() {
        return Some(Objection::InUse(used.clone()));
    }
    if device.size == 0 {
        return Some(Objection::NoMedium);
    }
    if device.read_only {
        return Some(Objection::ReadOnly);
    }
    let to_its_end = source.size.map(|size| size.saturating_sub(options.skip_bytes.unwrap_or(0)));
    let len = options.count_bytes.or(to_its_end).unwrap_or(0);
    let to_the_end = options.seek_bytes.unwrap_or(0).saturating_add(len);
    let needed = options.ranges[Side::Dest.index()].as_ref().map_or(to_the_end, |map| map.end(len));
    if device.size < needed {
        return Some(Objection::TooSmall(needed));
    }
    let max = options.choose_max_bytes.unwrap_or(CHOOSE_MAX_BYTES);
    (device.size > max).then_some(Objection::TooLarge(max))
}

/// Whether the source is the disk, a part of it, or stored on it.
fn is_source(source: &Facts, device: &Device) -> bool {
    let is_part = device.partitions.iter().any(|part| part.path == source.path);
    let node = device.path.to_string_lossy();
    is_part || source.path == device.path || source.ground.iter().any(|ground| ground.name == node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{DevicePartition, EndpointKind, FileId, Ground, Partition};

    const GB: u64 = 1_000_000_000;

    fn disk(name: &str) -> Device {
        let path = format!("/dev/{name}").into();
        Device { name: name.to_owned(), path, size: 32 * GB, hotplug: true, ..Device::default() }
    }

    fn image() -> Facts {
        Facts { size: Some(2 * GB), ..Facts::new("image", EndpointKind::File) }
    }

    fn why(options: &Options, source: &Facts, device: Device) -> Option<Objection> {
        let mut found = candidates(options, source, vec![device]);
        assert_eq!(found.offered.len() + found.others.len(), 1);
        found.others.pop().map(|(_, why)| why)
    }

    #[test]
    fn removable_disks_are_offered_and_fixed_ones_only_with_all() {
        let fixed = Device { hotplug: false, ..disk("sda") };
        let found = candidates(&Options::default(), &image(), vec![fixed.clone(), disk("sdb")]);
        assert_eq!((found.offered, found.others), (vec![disk("sdb")], Vec::new()));
        let all = Options { choose_from: ChooseFrom::All, ..Options::default() };
        assert_eq!(candidates(&all, &image(), vec![fixed.clone(), disk("sdb")]).offered, [fixed, disk("sdb")]);
    }

    #[test]
    fn disks_that_must_not_or_cannot_be_written_are_not_offered() {
        let used = InUse::Mounted { device: "sdb1".to_owned(), at: "/media/stick".into() };
        let table = [
            (Device { uses: vec![used.clone()], ..disk("sdb") }, Objection::InUse(used)),
            (Device { size: 0, ..disk("sdb") }, Objection::NoMedium),
            (Device { read_only: true, ..disk("sdb") }, Objection::ReadOnly),
            (Device { size: 2 * GB - 1, ..disk("sdb") }, Objection::TooSmall(2 * GB)),
            (Device { size: 300 * GB + 1, ..disk("sdb") }, Objection::TooLarge(300 * GB)),
        ];
        for (device, wanted) in table {
            assert_eq!(why(&Options::default(), &image(), device), Some(wanted));
        }
        assert_eq!(why(&Options::default(), &image(), Device { size: 300 * GB, ..disk("sdb") }), None);
    }

    #[test]
    fn the_size_bound_and_the_bytes_to_copy_follow_the_options() {
        let large = || Device { size: 2000 * GB, ..disk("sdb") };
        let bound = |bytes| Options { choose_max_bytes: Some(bytes), ..Options::default() };
        assert_eq!(why(&bound(16 * GB), &image(), disk("sdb")), Some(Objection::TooLarge(16 * GB)));
        assert_eq!(why(&bound(u64::MAX), &image(), large()), None);
        let tiny = || Device { size: GB, ..disk("sdb") };
        let part = Options { count_bytes: Some(GB), ..Options::default() };
        assert_eq!(why(&part, &image(), tiny()), None);
        let behind = Options { seek_bytes: Some(1), ..part };
        assert_eq!(why(&behind, &image(), tiny()), Some(Objection::TooSmall(GB + 1)));
        let rest = Options { skip_bytes: Some(GB), ..Options::default() };
        assert_eq!(why(&rest, &image(), tiny()), None);
    }

    #[test]
    fn the_source_disk_is_not_offered() {
        let objection = |source: Facts| {
            let partition = Partition { name: "sdb1".to_owned(), offset: 0, len: GB, content: None };
            let (path, aliases, uses) = ("/dev/sdb1".into(), Vec::new(), Vec::new());
            let partitions = vec![DevicePartition { partition, path, aliases, uses, undo: None, pending: None }];
            why(&Options::default(), &source, Device { partitions, ..disk("sdb") })
        };
        for path in ["/dev/sdb", "/dev/sdb1"] {
            assert_eq!(objection(Facts::new(path, EndpointKind::Block)), Some(Objection::Source), "{path}");
        }
        let (id, name) = (FileId::Device(9), "/dev/sdb".to_owned());
        let on_it = vec![Ground { id, name, offset: Some(0), rotational: None }];
        assert_eq!(objection(Facts { ground: on_it, ..image() }), Some(Objection::Source));
        assert_eq!(objection(image()), None);
    }
}

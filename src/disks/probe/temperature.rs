//! The temperature of a disk, from the hwmon sensor of its driver in sysfs.
use super::sysfs::{Device, Sysfs, names_in, text};
use crate::core::{Facts, FileId, Ground};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Plausible temperatures in millidegrees Celsius; other values count as unknown.
const TEMPERATURES: RangeInclusive<i64> = -40_000..=200_000;

/// Plausible limits in millidegrees Celsius: NVMe drives without a limit report 0 or 65535 kelvin.
const LIMITS: RangeInclusive<i64> = 30_000..=150_000;

/// The temperature sensor of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    input: PathBuf,
    /// The temperature limit that the disk reports, in °C.
    pub limit_c: Option<f64>,
}

impl Sensor {
    /// The current temperature in °C. Reading it does not disturb other commands.
    pub fn celsius(&self) -> Option<f64> {
        let (dir, name) = (self.input.parent()?, self.input.file_name()?.to_str()?);
        celsius(dir, name, TEMPERATURES)
    }
}

/// The sensor of the first underlying disk that has one; `None` if there is none, or its driver (drivetemp) is not
/// loaded.
pub fn sensor(facts: &Facts) -> Option<Sensor> {
    beneath(&Sysfs::new("/sys"), &facts.ground)
}

fn beneath(sysfs: &Sysfs, ground: &[Ground]) -> Option<Sensor> {
    ground.iter().find_map(|level| match level.id {
        FileId::Device(number) => beside(&sysfs.device(number)?),
        FileId::File(..) | FileId::Node(_) | FileId::Export(_) => None,
    })
}

fn beside(disk: &Device) -> Option<Sensor> {
    let device = disk.dir.join("device");
    // For an NVMe disk with several paths, the controllers have the sensors.
    let paths = names_in(&device).into_iter().filter(|name| name.starts_with("nvme")).map(|name| device.join(name));
    // In this order: an NVMe controller, a SCSI disk, the PCI function of NVMe in older kernels.
    let places = [device.clone(), device.join("hwmon"), device.join("device/hwmon")];
    places.into_iter().chain(paths).find_map(|place| {
        let sensors = names_in(&place).into_iter().filter(|name| name.starts_with("hwmon"));
        let dir = sensors.map(|name| place.join(name)).find(|dir| dir.join("temp1_input").exists())?;
        // At the lower limit, the drive reports a warning and throttles.
        let limits = ["temp1_max", "temp1_crit"].into_iter().filter_map(|name| celsius(&dir, name, LIMITS));
        Some(Sensor { limit_c: limits.reduce(f64::min), input: dir.join("temp1_input") })
    })
}

fn celsius(dir: &Path, name: &str, within: RangeInclusive<i64>) -> Option<f64> {
    let thousandths: i64 = text(dir, name)?.trim().parse().ok()?;
    within.contains(&thousandths).then(|| thousandths as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::super::ground;
    use super::super::tree::{Tree, device};
    use super::*;

    fn of(tree: &Tree, major: u32, minor: u32) -> Option<Sensor> {
        let snapshot = tree.snapshot("");
        beneath(&snapshot.sysfs, &ground::of_device(&snapshot, &device(&snapshot, major, minor)))
    }

    /// A simulated sensor with these values.
    fn hwmon(tree: &Tree, dir: &str, values: &[(&str, &str)]) {
        values.iter().for_each(|(name, value)| tree.write(&format!("{dir}/temp1_{name}"), format!("{value}\n")));
    }

    #[test]
    fn an_nvme_drive_and_its_partitions_have_temperature_and_the_lower_limit() {
        let tree = Tree::new();
        let disk = tree.disk("pci0000:00/nvme/nvme0/nvme0n1", "259:0", 100);
        tree.partition(&disk, "nvme0n1p1", "259:1", 8);
        assert_eq!(of(&tree, 259, 0), None);
        tree.write(&format!("{disk}/device/hwmon4/name"), "nvme\n");
        hwmon(&tree, &format!("{disk}/device/hwmon4"), &[("input", "41850"), ("max", "83850"), ("crit", "87850")]);
        let sensor = of(&tree, 259, 0).unwrap();
        assert_eq!((sensor.celsius(), sensor.limit_c), (Some(41.85), Some(83.85)));
        assert_eq!(of(&tree, 259, 1), Some(sensor.clone()));
        hwmon(&tree, &format!("{disk}/device/hwmon4"), &[("input", "83850")]);
        assert_eq!(sensor.celsius(), Some(83.85), "it is read each time");
    }

    #[test]
    fn a_sata_disk_has_its_sensor_one_directory_deeper_and_the_first_one_beneath_is_used() {
        let tree = super::super::tree::server();
        let second = "devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sdb/device/hwmon/hwmon2";
        hwmon(&tree, second, &[("input", "35000"), ("crit", "70000")]);
        let reported = |major, minor| of(&tree, major, minor).map(|sensor| (sensor.celsius(), sensor.limit_c));
        let expected = Some((Some(35.0), Some(70.0)));
        assert_eq!([reported(8, 17), reported(253, 1), reported(8, 1)], [expected, expected, None]);
    }

    #[test]
    fn sensors_of_older_kernels_and_multipath_disks_are_found() {
        let tree = Tree::new();
        for (minor, place) in [(0, "device/device/hwmon/hwmon0"), (1, "device/nvme1/hwmon1")] {
            let disk = tree.disk(&format!("virtual/nvme{minor}n1"), &format!("259:{minor}"), 100);
            hwmon(&tree, &format!("{disk}/{place}"), &[("input", "50000")]);
            let sensor = of(&tree, 259, minor).unwrap();
            assert_eq!((sensor.celsius(), sensor.limit_c), (Some(50.0), None), "{place}");
        }
    }

    #[test]
    fn implausible_limits_and_temperatures_are_ignored() {
        let tree = Tree::new();
        let disk = tree.disk("pci0000:00/nvme/nvme0/nvme0n1", "259:0", 100);
        let dir = format!("{disk}/device/hwmon4");
        hwmon(&tree, &dir, &[("input", "-273150"), ("max", "65261850"), ("crit", "-273150")]);
        let sensor = of(&tree, 259, 0).unwrap();
        assert_eq!((sensor.celsius(), sensor.limit_c), (None, None));
        hwmon(&tree, &dir, &[("input", "warm")]);
        assert_eq!(sensor.celsius(), None);
        std::fs::remove_file(&sensor.input).unwrap();
        assert_eq!(sensor.celsius(), None);
    }
}

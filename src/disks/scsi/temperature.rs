//! The temperature of a disk by commands: its temperature log page (SPC-5, 7.3.21), or SCT status of an ATA disk.
use super::ata::{self, AtaCommand, AtaDisk, BLOCK};
use super::cdb::Cdb;
use super::node::{Data, Node};
use super::verdict::CommandRange;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

/// The temperature log page, and the bytes up to the end of its first parameter.
const PAGE: (u8, u16) = (0x0d, 10);
/// Where that parameter has the temperature, of which 255 means unknown.
const IN_PAGE: usize = 9;

/// SMART READ LOG of the log with the SCT status, and where that has the temperature.
const SCT_STATUS: AtaCommand = AtaCommand { command: 0xb0, feature: 0xd5, lba: [0xe0, 0x4f, 0xc2] };
const IN_STATUS: usize = 200;

/// Plausible temperatures of a disk in °C.
const PLAUSIBLE: RangeInclusive<i32> = -40..=150;

/// A disk that reports its temperature.
pub struct Thermometer {
    disk: Box<dyn Disk>,
    is_ata: bool,
}

/// Answers both commands: a node, or a simulated disk in tests.
trait Disk: Send {
    fn log_page(&self) -> io::Result<Vec<u8>>;
    fn sct_status(&self) -> io::Result<[u8; BLOCK]>;
}

impl Disk for Node {
    fn log_page(&self) -> io::Result<Vec<u8>> {
        let (page, len) = PAGE;
        let mut bytes = vec![0; len.into()];
        let received = self.carry_out(&Cdb::log_sense(page, len), Data::From(&mut bytes), CommandRange::default())?;
        bytes.truncate(received as usize);
        Ok(bytes)
    }

    fn sct_status(&self) -> io::Result<[u8; BLOCK]> {
        // A bridge that does not know ATA disks may fail on their commands.
        self.identify()?;
        self.receive(SCT_STATUS)
    }
}

impl Thermometer {
    /// The disk with this node or block device; `None` if it does not report its temperature.
    pub fn open(path: &Path) -> Option<Self> {
        Thermometer::of(Box::new(ata::open(path).ok()?))
    }

    fn of(disk: Box<dyn Disk>) -> Option<Self> {
        let mut thermometer = Thermometer { disk, is_ata: false };
        if thermometer.celsius().is_some() {
            return Some(thermometer);
        }
        thermometer.is_ata = true;
        thermometer.celsius().is_some().then_some(thermometer)
    }

    /// The current temperature in °C.
    pub fn celsius(&mut self) -> Option<f64> {
        let reading = if self.is_ata {
            i32::from(self.disk.sct_status().ok()?[IN_STATUS] as i8)
        } else {
            let page = self.disk.log_page().ok()?;
            let is_current = page.first().is_some_and(|code| code & 0x3f == PAGE.0) && page.get(4..6) == Some(&[0, 0]);
            i32::from(*page.get(IN_PAGE).filter(|reading| is_current && **reading != 255)?)
        };
        // A disk that does not know it reports 0 or -128.
        (PLAUSIBLE.contains(&reading) && reading != 0).then(|| reading.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Simulated {
        page: Option<Vec<u8>>,
        sct: Option<i8>,
    }

    impl Disk for Simulated {
        fn log_page(&self) -> io::Result<Vec<u8>> {
            self.page.clone().ok_or_else(|| io::ErrorKind::Unsupported.into())
        }

        fn sct_status(&self) -> io::Result<[u8; BLOCK]> {
            let mut status = [0; BLOCK];
            status[200] = self.sct.ok_or(io::ErrorKind::Unsupported)? as u8;
            Ok(status)
        }
    }

    fn of(page: Option<&[u8]>, sct: Option<i8>) -> Option<f64> {
        Thermometer::of(Box::new(Simulated { page: page.map(<[u8]>::to_vec), sct }))?.celsius()
    }

    #[test]
    fn a_disk_reports_its_temperature_by_its_log_page_or_by_sct() {
        let page = |celsius| [0x0d, 0, 0, 12, 0, 0, 3, 2, 0, celsius];
        assert_eq!(of(Some(&page(41)), None), Some(41.0));
        assert_eq!(of(Some(&page(41)), Some(50)), Some(41.0));
        assert_eq!(of(Some(&page(255)), Some(50)), Some(50.0), "255 means unknown");
        assert_eq!(of(None, Some(-3)), Some(-3.0));
        for (page, sct) in [(None, None), (None, Some(-128)), (None, Some(0)), (Some(&page(0)[..6]), None)] {
            assert_eq!(of(page, sct), None);
        }
        assert_eq!(of(Some(&[0x2f, 0, 0, 12, 0, 0, 3, 2, 0, 41]), None), None, "another page");
    }
}

//! Claims: the exclusive hold on the block device behind a node. Passthrough commands bypass its users and page cache.
use super::opening::Opening;
use super::queue_limits;
use crate::core::{Passthrough, Result};
use crate::hold::Held;
use crate::sys::block;
use rustix::fs::{Advice, OFlags};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// The block device behind a node, open as long as commands bypass it: exclusively if the plan requires that, so that
/// it cannot be mounted meanwhile. Its page cache is written back and dropped at the start and at the end, so that
/// commands read what was written before, and later reads return what commands wrote.
#[derive(Debug)]
pub(super) struct Claim {
    /// `None` if there is no block device.
    device: Option<OwnedFd>,
    /// The lock against other haul processes.
    _held: Option<Held>,
}

impl Claim {
    /// An empty claim, for a disk without a block device.
    #[cfg(test)]
    pub(super) fn of_nothing() -> Self {
        Claim { device: None, _held: None }
    }

    /// Claims the block device of `node`, and checks that it is still the one that was probed, at the same offset.
    pub(super) fn take(opening: &Opening<'_>, node: &Passthrough) -> Result<Self> {
        if node.block.is_none() {
            return Ok(Claim { device: None, _held: None });
        }
        let exclusive = if opening.plan.access.exclusive { OFlags::EXCL } else { OFlags::empty() };
        let device = opening.open(exclusive)?;
        opening.check_identity(device.as_fd())?;
        let failed = |error: io::Error| opening.error(crate::core::Kind::Open, "").because(error);
        let stat = rustix::fs::fstat(&device).map_err(|errno| failed(errno.into()))?;
        let size = block::size_bytes(device.as_fd()).map_err(failed)?;
        if let Some(known) = opening.facts.size.filter(|known| *known != size) {
            return Err(opening.changed(&format!(": its size changed from {known} to {size} bytes")));
        }
        let start = queue_limits::start_bytes(stat.st_rdev);
        if start != node.start {
            return Err(
                opening.changed(&format!(": its start on the disk changed from byte {} to byte {start}", node.start))
            );
        }
        let held = opening.hold(device.as_fd())?;
        let claim = Claim { device: Some(device), _held: held };
        claim.drop_cache().map_err(failed)?;
        Ok(claim)
    }

    /// Writes back and drops the cached pages of the device.
    ///
    /// # Errors
    /// The error of the writeback.
    pub(super) fn drop_cache(&self) -> io::Result<()> {
        let Some(device) = &self.device else { return Ok(()) };
        match block::flush_buffers(device.as_fd()) {
            Ok(()) => Ok(()),
            // BLKFLSBUF requires CAP_SYS_ADMIN; its two parts do not.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                rustix::fs::fdatasync(device)?;
                Ok(rustix::fs::fadvise(device, 0, None, Advice::DontNeed)?)
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Errors were checked before. A device that has disappeared has no cached pages.
        let _ = self.drop_cache();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Access, AddressMap, Cache, CommandSet, EndpointKind, Existing, Facts, FileId, PlanSide, Side};
    use std::process::Command;

    /// A loop device over `image`, detached on drop; `None`, with a message, if loop devices are not available.
    struct Attached(String);

    impl Attached {
        fn over(image: &std::path::Path) -> Option<Attached> {
            let output = Command::new("/usr/sbin/losetup").args(["-f", "--show"]).arg(image).output().ok();
            let node = output.filter(|output| output.status.success());
            if node.is_none() {
                eprintln!("skipped: no loop device can be had");
            }
            Some(Attached(String::from_utf8(node?.stdout).unwrap().trim().to_owned()))
        }
    }

    impl Drop for Attached {
        fn drop(&mut self) {
            let _ = Command::new("/usr/sbin/losetup").args(["-d", &self.0]).status();
        }
    }

    fn side(path: &str, start: u64) -> (PlanSide, Facts) {
        let number = rustix::fs::stat(path).unwrap().st_rdev;
        let mut facts = Facts::new(path, EndpointKind::Block);
        (facts.id, facts.size) = (Some(FileId::Device(number)), Some(1 << 20));
        let block = Some(path.into());
        facts.passthrough = Some(Passthrough {
            commands: CommandSet::Scsi,
            node: "/dev/none".into(),
            number: 0,
            named: true,
            start,
            block,
        });
        let access =
            Access { cache: Cache::Direct, offset_align_bytes: 512, exclusive: true, existing: Existing::Keep };
        let (address, path, kind) = (path.to_owned(), path.into(), EndpointKind::Block);
        (
            PlanSide {
                address,
                path,
                kind,
                map: AddressMap::from(0),
                access,
                lock: None,
                moves_head: false,
                through: None,
            },
            facts,
        )
    }

    fn take(path: &str, start: u64) -> Result<Claim> {
        let (plan, facts) = side(path, start);
        let opening = Opening { side: Side::Dest, reads: false, writes: true, plan: &plan, facts: &facts };
        Claim::take(&opening, facts.passthrough.as_ref().unwrap())
    }

    #[test]
    fn the_block_device_behind_a_node_is_claimed_after_a_writeback() {
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(1 << 20).unwrap();
        let Some(disk) = Attached::over(image.path()) else { return };
        std::fs::write(&disk.0, b"dirty").unwrap();
        let claim = take(&disk.0, 0).unwrap();
        assert_eq!(std::fs::read(image.path()).unwrap()[..5], *b"dirty");
        assert_eq!(take(&disk.0, 0).unwrap_err().kind, crate::core::Kind::Refused, "it was not claimed");
        drop(claim);
        let moved = take(&disk.0, 512).unwrap_err();
        assert!(moved.to_string().contains("its start on the disk changed from byte 512 to byte 0"), "{moved}");
    }
}

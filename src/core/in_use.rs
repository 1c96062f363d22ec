//! What uses a device.
use std::path::PathBuf;

/// Why a device must not be overwritten now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InUse {
    /// `device`, which is this device or is stacked on it, is mounted.
    Mounted {
        /// Kernel name of the mounted device.
        device: String,
        /// Mount point.
        at: PathBuf,
    },
    /// It or one of its partitions is swap space.
    Swap {
        /// Kernel name.
        device: String,
    },
    /// Another device is stacked on it: a dm or md device, or a loop device.
    Held {
        /// Kernel name of the lower device.
        device: String,
        /// Kernel name of the device stacked on it.
        by: String,
    },
    /// The running system boots or swaps from it.
    System {
        /// Mount point of the part of the system on it: `/`, `/boot`, `/usr`.
        at: PathBuf,
    },
    /// The kernel refused an exclusive open: it is in use in this or another namespace.
    Exclusive,
}

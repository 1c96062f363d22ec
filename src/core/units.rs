//! Which units lead in text for people. Programs get bytes, whatever is set here.
use std::sync::atomic::{AtomicBool, Ordering};

/// A system of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Powers of 1000, as disks are sold: kB, MB, GB.
    #[default]
    Si,
    /// Powers of 1024: KiB, MiB, GiB.
    Iec,
}

/// Set once, before anything is shown: like a locale, it changes how numbers look and nothing else.
static IEC_LEADS: AtomicBool = AtomicBool::new(false);

impl Units {
    /// The units that lead in this process: [`Units::Si`] until [`Units::lead`] was called.
    pub fn leading() -> Units {
        if IEC_LEADS.load(Ordering::Relaxed) { Units::Iec } else { Units::Si }
    }

    /// Lets these units lead in everything that is shown from now on.
    pub fn lead(self) {
        IEC_LEADS.store(self == Units::Iec, Ordering::Relaxed);
    }

    /// The other system.
    pub fn other(self) -> Units {
        match self {
            Units::Si => Units::Iec,
            Units::Iec => Units::Si,
        }
    }

    /// What one unit is of the next smaller one.
    pub fn base(self) -> u64 {
        match self {
            Units::Si => 1000,
            Units::Iec => 1024,
        }
    }

    /// The names of the units, each [`Units::base`] times the one before it.
    pub fn names(self) -> [&'static str; 7] {
        match self {
            Units::Si => ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"],
            Units::Iec => ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"],
        }
    }
}

//! The primary units in text. JSON and CSV always use bytes.
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

/// A system of units for sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Powers of 1000, as used by disk vendors: kB, MB, GB.
    #[default]
    Si,
    /// Powers of 1024: KiB, MiB, GiB.
    Iec,
}

/// Set once at startup. Like a locale, it affects only how numbers are displayed.
static IEC_LEADS: AtomicBool = AtomicBool::new(false);

impl Units {
    /// The primary units of this process: [`Units::Si`] unless [`Units::lead`] was called.
    pub fn leading() -> Units {
        if IEC_LEADS.load(Ordering::Relaxed) { Units::Iec } else { Units::Si }
    }

    /// Makes these the primary units of everything displayed from now on.
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

    /// Ratio between consecutive units.
    pub fn base(self) -> u64 {
        match self {
            Units::Si => 1000,
            Units::Iec => 1024,
        }
    }

    /// Names of the units, each [`Units::base`] times the previous one.
    pub fn names(self) -> [&'static str; 7] {
        match self {
            Units::Si => ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"],
            Units::Iec => ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"],
        }
    }
}

/// A number of things: `1 run`, `3 runs`. Messages that have a number before a noun use it.
pub fn count<N: Display + PartialEq + From<u8>>(number: N, one: &str, many: &str) -> String {
    let noun = if number == N::from(1) { one } else { many };
    format!("{number} {noun}")
}

/// A number of bytes, exact: `1 byte`, `512 bytes`.
pub fn byte_count<N: Display + PartialEq + From<u8>>(number: N) -> String {
    count(number, "byte", "bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_a_singular() {
        assert_eq!(
            (count(0u32, "shard", "shards"), count(1u64, "shard", "shards")),
            ("0 shards".into(), "1 shard".into())
        );
        assert_eq!((byte_count(1usize), byte_count(2u8)), ("1 byte".into(), "2 bytes".into()));
    }
}

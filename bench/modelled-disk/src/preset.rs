//! Named kinds of disks.
//!
//! The important property of a rate is its ratio to that of the other disk and to the overhead of a command, not its
//! absolute value: no preset is faster than 200 MB/s, so that two disks can be served at once on a machine of two
//! cores, through nbdkit, nbdfuse and a loop device, and still limit the copy.
use crate::parameters::Parameters;

/// A kind of disk.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name on the command line.
    pub name: &'static str,
    /// A description in one sentence.
    pub about: &'static str,
    settings: &'static [&'static [(&'static str, &'static str)]],
}

const DISK_7200: &[(&str, &str)] = &[
    ("rates", "0:200MB,1T:100MB"),
    ("rates_over", "1T"),
    ("zones", "24"),
    ("rpm", "7200"),
    ("overhead_us", "20"),
    ("grace_us", "500"),
    ("seek_us", "800"),
    ("seek_full_us", "16000"),
    ("queue_depth", "31"),
    // Less than such a disk has, and little compared with a measured copy; enough to reorder adjacent requests that
    // nbdfuse's threads exchange.
    ("read_ahead_bytes", "16M"),
];

const PRESETS: &[Preset] = &[
    Preset {
        name: "fast-ssd",
        about: "200 MB/s both ways, little overhead: the fast side of an unequal pair.",
        settings: &[&[("rate", "200MB"), ("overhead_us", "5"), ("latency_us", "60"), ("trim", "true")]],
    },
    Preset {
        name: "sata-ssd",
        about: "160 MB/s reading, 144 writing; a command takes 0.1 ms, several at once are no slower.",
        settings: &[&[
            ("rate", "160MB"),
            ("write_percent", "90"),
            ("overhead_us", "15"),
            ("latency_us", "90"),
            ("trim", "true"),
        ]],
    },
    Preset {
        name: "slow-ssd",
        about: "50 MB/s reading, 40 writing, down to 15 after 256 MiB until it was idle for two seconds.",
        settings: &[&[
            ("rate", "50MB"),
            ("write_percent", "80"),
            ("overhead_us", "30"),
            ("latency_us", "200"),
            ("slow_after_bytes", "256M"),
            ("slow_rate", "15MB"),
            ("recover_ms", "2000"),
            ("trim", "true"),
        ]],
    },
    // 549 MB from cold until it is too warm; then 6.1 s of cooling, 122 MB, and 0.8 s until it is too warm again,
    // 162 MB.
    Preset {
        name: "hot-ssd",
        about: "As fast-ssd, but at 70 °C, half a GB from rest, writing falls to 20 MB/s until it has cooled to 62.",
        settings: &[&[
            ("rate", "200MB"),
            ("overhead_us", "5"),
            ("latency_us", "60"),
            ("heat_per_c", "16MB"),
            ("heat_leak_ms", "10000"),
            ("heat_rest_c", "40"),
            ("heat_limit_c", "70"),
            ("heat_rate", "20MB"),
            ("heat_back_c", "62"),
            ("trim", "true"),
        ]],
    },
    Preset {
        name: "disk-7200",
        about: "Turns 7200 times a minute, 200 MB/s outside and 100 inside, reorders 31 commands, reads ahead; its \
                write cache is off, as in servers and behind RAID controllers.",
        settings: &[DISK_7200],
    },
    Preset {
        name: "disk-7200-cache",
        about: "The same with 16 MiB of write cache, as in a desktop: it hides from the copier that the disk turns.",
        settings: &[DISK_7200, &[("write_cache_bytes", "16M")]],
    },
    Preset {
        name: "usb-stick",
        about: "80 MB/s reading, 20 writing in order; chokes on writes here and there, on depth, and now and then.",
        settings: &[&[
            ("rate", "80MB"),
            ("write_percent", "25"),
            ("interface_rate", "200MB"),
            ("overhead_us", "150"),
            ("erase_block_bytes", "4M"),
            ("erase_blocks_open", "2"),
            ("choke_depth", "4"),
            ("choke_us", "1000"),
            ("stall_every_bytes", "64M"),
            ("stall_ms", "250"),
        ]],
    },
    // The rates are those of the table in the document, minus the overhead below for each of its commands of 64 KiB:
    // 10.42 s for 100 MiB at block 0, 10.88 at 4,000,000, 13.12 at 7,000,000, 14.56 at 8,000,000, 16.02 at
    // 8,600,000.
    Preset {
        name: "scsi-2001",
        about: "The IBM DCHS04U that sg_dd was measured on: 4.4 GB, 7200 rpm, 10 MB/s outside, 6.5 inside.",
        settings: &[&[
            ("size", "4512701440"),
            ("rates", "0:10382000,2048000000:9930000,3584000000:8192000,4096000000:7364000,4403200000:6679000"),
            ("rates_over", "4512701440"),
            ("zones", "60"),
            ("rpm", "7200"),
            ("interface_rate", "40MB"),
            ("overhead_us", "200"),
            ("grace_us", "3000"),
            ("seek_us", "1500"),
            ("seek_full_us", "16000"),
            ("queue_depth", "16"),
        ]],
    },
];

impl Preset {
    /// All presets.
    pub fn all() -> &'static [Preset] {
        PRESETS
    }

    /// The preset called `name`.
    ///
    /// # Errors
    /// It does not exist; the text lists the existing ones.
    pub fn named(name: &str) -> Result<&'static Preset, String> {
        let names = || PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
        let found = PRESETS.iter().find(|preset| preset.name == name);
        found.ok_or_else(|| format!("preset={name}: no such preset; there are {}", names()))
    }

    /// Its parameters; keys that it does not set are as in [`Parameters::default`].
    pub fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        for (key, value) in self.settings.iter().copied().flatten() {
            parameters.set(key, value).expect("a test sets every preset");
        }
        parameters
    }

    /// Whether it reports itself as rotational.
    pub fn rotational(&self) -> bool {
        self.parameters().rotational()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_sets_known_parameters_and_makes_a_disk() {
        for preset in PRESETS {
            assert_eq!(preset.parameters().check(), Ok(()), "{}", preset.name);
            assert_eq!(preset.rotational(), preset.name.starts_with("disk") || preset.name.starts_with("scsi"));
            let fastest = preset.parameters().rates.iter().map(|rate| rate.bytes_per_s).max();
            assert!(fastest <= Some(200_000_000), "{}: two of them must fit this machine", preset.name);
        }
    }

    #[test]
    fn an_unknown_preset_is_refused_with_the_list_of_presets() {
        let error = Preset::named("floppy").unwrap_err();
        assert!(error.contains("floppy") && error.contains("usb-stick"), "{error}");
    }

    #[test]
    fn documented_keys_exist_and_every_preset_is_documented() {
        let readme = include_str!("../README.md");
        for (key, form, _) in crate::keys::KEYS {
            assert!(readme.contains(&format!("| `{key}` |")), "{key} is not in the README");
            let error = Parameters::default().set(key, "?").err();
            let unknown = error.is_some_and(|error| error.contains("no such parameter"));
            assert!(!unknown || *key == "preset", "{key}={form} is not known");
        }
        for preset in PRESETS {
            assert!(readme.contains(&format!("| `{}` |", preset.name)), "{} is not in the README", preset.name);
        }
    }

    #[test]
    fn parameters_of_impossible_disks_are_refused() {
        let wrong = [
            ("size", "0"),
            ("time_scale", "0"),
            ("time_scale", "nan"),
            ("rates", "5:1M"),
            ("rates", "0:1M,0:2M"),
            ("rates", ""),
            ("rate", "0"),
            ("interface_rate", "0"),
            ("write_percent", "0"),
            ("queue_depth", "0"),
            ("one_way", "true"),
            ("transfer_max", "1000"),
            ("channels", "8"),
            ("channel_rate", "8MB"),
            ("erase_blocks_open", "0"),
            ("slow_after_bytes", "1M"),
            ("heat_rate", "0"),
            ("heat_leak_ms", "0"),
            ("heat_back_c", "40"),
            ("heat_back_c", "70"),
            ("heat_limit_c", "62"),
            ("heat_rest_c", "62"),
            ("seek_us", "5"),
            ("rates_over", "1"),
            ("volatile_percent", "101"),
        ];
        for (key, value) in wrong {
            let mut parameters = Parameters::default();
            if key.starts_with("heat") {
                parameters = Preset::named("hot-ssd").unwrap().parameters();
            }
            if key == "rates_over" {
                parameters.set("rates", "0:1M,2M:2M").unwrap();
            }
            parameters.set(key, value).unwrap();
            assert!(parameters.check().is_err(), "{key}={value}");
        }
    }
}

//! The failing disks.
use crate::bed::Size;
use modelled_disk::failing::Failing;
use modelled_disk::parameters::Parameters;

/// A disk, and how it fails.
pub(super) struct FailingDisk {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Its parameters, with a preset first.
    pub(super) words: Vec<String>,
    pub(super) size_bytes: u64,
    /// Whether it dies.
    pub(super) dies: bool,
    /// Whether only copying is measured: sector by sector it would take hours.
    pub(super) copying: bool,
    /// Whether all programs can rescue the same bytes.
    pub(super) repeats: bool,
}

/// A failed read takes less here than on most disks, in proportion to a good one, so that a rescue takes seconds.
pub(super) fn failing_disks(size: Size) -> Vec<FailingDisk> {
    let (mib, bad_ms, scattered) = match size {
        Size::Full => (128, 20, 60),
        Size::Quick => (16, 4, 4),
        Size::Tiny => (8, 1, 2),
    };
    let disk = |name, about, words: String| {
        let common = format!("preset=disk-7200 bad_ms={bad_ms} failing_seed=19 {words}");
        FailingDisk {
            name,
            about,
            words: common.split_whitespace().map(Into::into).collect(),
            size_bytes: mib << 20,
            dies: words.contains("dies"),
            copying: words.contains("dies") || words.contains("heads"),
            repeats: !words.contains("dies") && !words.contains("flaky"),
        }
    };
    // Multiples of the size, so that all sizes have the same areas.
    let at = |sixteenths: u64| (mib << 20) / 16 * sixteenths;
    let scratch = format!("scratch={}:{} scratch_every=1M scratch_bytes=4K", at(5), at(3));
    let head = format!("heads=4 head_bytes={} bad_head=2", (mib << 20) / 64);
    let slow = format!("slow_read={}:{} slow_read_rate=400K scattered_bad={}", at(6), at(1) / 4, scattered / 4);
    let flaky = format!("flaky_read={}:{} flaky_one_in=3", at(9), 64 << 10);
    let dies = format!("{scratch} scattered_bad={} dies_after_ms={}", scattered / 2, mib * 7 + 8 * bad_ms);
    vec![
        disk("scattered", "single bad sectors all over the disk", format!("scattered_bad={scattered}")),
        disk("scratch", "a scratch across many tracks", scratch),
        disk("head", "one of four heads reads nothing", head),
        disk("slow", "a slow area, and single bad sectors", slow),
        disk("flaky", "128 sectors that are read in one attempt of three", flaky),
        disk("dies", "a scratch, bad sectors, and no answer after a while", dies),
    ]
}

impl FailingDisk {
    /// Bytes that can be read at all.
    pub(super) fn readable_bytes(&self) -> u64 {
        let bad: u64 = self.failing().bad(self.size_bytes).iter().map(|bad| bad.len).sum();
        self.size_bytes - bad
    }

    fn failing(&self) -> Failing {
        let mut parameters = Parameters::default();
        for (key, value) in self.words.iter().filter_map(|word| word.split_once('=')).filter(|word| word.0 != "preset")
        {
            parameters.set(key, value).expect("the parameters of a failing disk are valid");
        }
        parameters.failing
    }
}

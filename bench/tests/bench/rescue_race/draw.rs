//! Failing disks, drawn from a seed.
use modelled_disk::parameters::{Extent, Parameters};
use modelled_disk::preset::Preset;

/// How a disk fails.
pub const KINDS: [&str; 5] = ["scattered", "scratch", "head", "mixed", "dies"];

/// A failed read takes less here than on most disks, in proportion to the size.
const SIZE_BYTES: u64 = 1 << 30;

/// A disk, and what it is like.
pub struct Drawn {
    pub parameters: Parameters,
    /// A healthy disk of the same kind.
    pub dest: Parameters,
    pub about: String,
    /// Whether only copying is compared: sector by sector it would take hours.
    pub copying: bool,
    pub dies: bool,
}

impl Drawn {
    /// Whether a failed read of `extent` means that the disk is dead: no sector of it is bad.
    pub fn is_dead(&self, extent: &Extent) -> bool {
        let bad = self.parameters.failing.bad(self.parameters.size_bytes);
        !bad.iter().any(|bad| bad.overlaps(extent))
    }
}

/// The next number of a sequence: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// The disk of this seed that fails in this way.
pub fn disk(seed: u64, kind: &str) -> Drawn {
    let mut random =
        Random(seed.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ kind.len() as u64 ^ u64::from(kind.as_bytes()[0]));
    let preset = random.of(&["disk-7200", "disk-7200", "sata-ssd", "scsi-2001"]);
    let bad_ms = random.of(&[2, 10, 25, 50]);
    let (sixteenth, mib) = (SIZE_BYTES / 16, 1 << 20);
    let scattered = format!("scattered_bad={}", 10 + random.below(190));
    let (place, long) = (random.below(12) * sixteenth, (1 + random.below(3)) * sixteenth);
    let (every, bytes) = (random.of(&[mib, 2 * mib, 4 * mib, 8 * mib]), random.of(&[512, 4 << 10, 16 << 10]));
    let scratch = format!("scratch={place}:{long} scratch_every={every} scratch_bytes={bytes}");
    let heads = random.of(&[2, 4, 6, 8]);
    let bad_head = random.below(heads);
    let head =
        format!("heads={heads} head_bytes={} bad_head={bad_head}", random.of(&[2 * mib, 4 * mib, 8 * mib, 16 * mib]));
    let dies = format!("dies_after_ms={}", random.of(&[1500, 3000, 4500, 6000]));
    let words = match kind {
        "scattered" => scattered,
        "scratch" => scratch,
        "head" => head,
        "mixed" => format!("{scattered} {scratch}"),
        _ => format!("{} {scratch} {dies}", random.of(&["scattered_bad=20", "scattered_bad=100"])),
    };
    let mut parameters = Preset::named(preset).expect("the preset exists").parameters();
    let mut dest = parameters.clone();
    dest.set("size", &SIZE_BYTES.to_string()).expect("the size is valid");
    let words = format!("size={SIZE_BYTES} bad_ms={bad_ms} failing_seed={seed} {words}");
    for (key, value) in words.split_whitespace().filter_map(|word| word.split_once('=')) {
        parameters.set(key, value).expect("the drawn parameters are valid");
    }
    parameters.check().expect("a valid disk");
    Drawn {
        parameters,
        dest,
        about: format!("{preset} {words}"),
        copying: matches!(kind, "head" | "dies"),
        dies: kind == "dies",
    }
}

//! The table of guests: which proofs live together, with which disks and which clock.
use crate::support::Drive;

/// One boot: proofs that live together.
pub struct Guest {
    pub name: &'static str,
    /// Words of the launcher.
    pub words: &'static [(&'static str, &'static str)],
    /// NVMe drives beside its own.
    pub drives: &'static [Drive],
    /// The test that asks, and what it asks for: a script of `lab/` and its arguments.
    pub proofs: &'static [(&'static str, &'static str)],
    /// Seconds of the guest's clock in which a proof may say nothing; those that a quiet one may take.
    pub silence_s: u64,
    /// Its one proof has nothing beside it, not even what runs several: it is timed.
    pub is_quiet: bool,
}

impl Guest {
    /// Its clock stands still while the host does something else.
    pub fn is_patient(&self) -> bool {
        self.words == VIRTUAL_TIME
    }
}

/// Seconds without a word from a proof after which its guest ends it.
const PROOF_SILENCE_S: u64 = 600;

/// Drives with 4096-byte blocks, the first with commands of 16 KiB; with metadata; with zones.
const DRIVES: [Drive; 5] = [
    ("four", "mdts=2", FOUR),
    ("four0", "mdts=7", FOUR),
    ("four1", "mdts=7", FOUR),
    ("metadata", "mdts=7", "ms=8"),
    ("zoned", "mdts=7", "zoned=on,zoned.zone_size=1M"),
];
const FOUR: &str = "logical_block_size=4096,physical_block_size=4096";

/// Small disks, and one with more blocks than 32 bits count.
const MANY_DISKS: [(&str, &str); 3] = [("VMLAB_DISK", "16M"), ("VMLAB_DISK_scsi1", "4T"), ("VMLAB_MEMORY", "2G")];
/// A drive without a medium.
const EMPTY_DRIVE: [(&str, &str); 3] =
    [("VMLAB_DISK", "16M"), ("VMLAB_QEMU", "-device scsi-cd,id=empty"), ("VMLAB_MEMORY", "2G")];

/// A clock that counts instructions.
const VIRTUAL_TIME: [(&str, &str); 1] = [("VMLAB_CLOCK", "virtual")];

/// All guests, the longest first.
pub static GUESTS: [Guest; 6] = [
    Guest {
        name: "ring",
        words: &MANY_DISKS,
        drives: &DRIVES,
        proofs: &[
            (
                "pairings::every_pairing_is_right_with_the_ring_from_blocks_of_4096_to_those_of_512",
                "pairings.sh ring 4096 512",
            ),
            ("scsi::copies_between_sg_and_everything_else_are_right_with_the_ring", "scsi-copies.sh ring"),
            ("nvme::on_a_ring_copies_by_nvme_commands_are_right", "nvme-copies.sh ring"),
            ("nvme::on_a_ring_what_nvme_drives_do_wrong_is_told_exactly", "nvme-faults.sh ring"),
            ("mappings::mappings_that_lie_fail_or_stand_still_with_the_ring", "mappings.sh ring"),
            ("transport::what_a_disk_says_of_its_holes_and_its_state_is_heeded_with_the_ring", "scsi-thin.sh ring"),
            (
                "scsi::a_disk_that_goes_away_ends_the_copy_or_the_measuring_with_its_name_and_place_with_the_ring",
                "scsi-removal.sh ring",
            ),
        ],
        silence_s: PROOF_SILENCE_S,
        is_quiet: false,
    },
    Guest {
        name: "threads",
        words: &MANY_DISKS,
        drives: &DRIVES,
        proofs: &[
            (
                "pairings::every_pairing_is_right_where_io_uring_is_forbidden_from_blocks_of_512_to_those_of_4096",
                "pairings.sh threads 512 4096 forbidden",
            ),
            ("scsi::copies_between_sg_and_everything_else_are_right_with_threads", "scsi-copies.sh threads"),
            ("nvme::by_calls_copies_by_nvme_commands_are_right", "nvme-copies.sh threads"),
            ("nvme::by_calls_what_nvme_drives_do_wrong_is_told_exactly", "nvme-faults.sh threads"),
            ("mappings::mappings_that_lie_fail_or_stand_still_with_threads", "mappings.sh threads"),
            ("transport::what_a_disk_says_of_its_holes_and_its_state_is_heeded_with_threads", "scsi-thin.sh threads"),
            (
                "scsi::a_disk_that_goes_away_ends_the_copy_or_the_measuring_with_its_name_and_place_with_threads",
                "scsi-removal.sh threads",
            ),
        ],
        silence_s: PROOF_SILENCE_S,
        is_quiet: false,
    },
    Guest {
        name: "both engines",
        words: &EMPTY_DRIVE,
        drives: &[],
        proofs: &[
            ("list::each_disk_has_the_nodes_names_and_sizes_that_sg_map_lsscsi_and_nvme_tell", "list.sh"),
            ("on_error::bad_places_of_every_kind_of_disk_are_gone_around_exactly", "on-error.sh"),
            ("scsi::what_is_not_to_be_copied_is_refused_in_clear_words", "scsi-refusals.sh"),
            (
                "transport::a_disk_that_copies_by_itself_is_let_and_one_that_is_reserved_is_left_alone",
                "scsi-offload.sh",
            ),
            ("scsi::read_buffer_is_measured_by_size_and_by_where_the_bytes_end_up", "scsi-read-buffer.sh"),
            ("sg_fronts::the_fronts_leave_what_sg3_utils_leaves_and_are_right_where_it_is_not", "sg-fronts.sh"),
        ],
        silence_s: PROOF_SILENCE_S,
        is_quiet: false,
    },
    Guest {
        name: "quiet",
        words: &VIRTUAL_TIME,
        drives: &[],
        proofs: &[(
            "timing::a_copy_between_disks_of_one_command_at_a_time_takes_hardly_longer_than_the_longer_disk_alone",
            "proofs/copy-times.sh",
        )],
        silence_s: 3600,
        is_quiet: true,
    },
    Guest {
        name: "ring faults",
        words: &VIRTUAL_TIME,
        drives: &[],
        proofs: &[("scsi::faults_of_a_disk_are_mended_or_told_with_the_ring", "scsi-faults.sh ring")],
        // Its clock leaps.
        silence_s: 1000 * PROOF_SILENCE_S,
        is_quiet: false,
    },
    Guest {
        name: "threads faults",
        words: &VIRTUAL_TIME,
        drives: &[],
        proofs: &[("scsi::faults_of_a_disk_are_mended_or_told_with_threads", "scsi-faults.sh threads")],
        // As above.
        silence_s: 1000 * PROOF_SILENCE_S,
        is_quiet: false,
    },
];

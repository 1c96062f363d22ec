//! The guests: which scripts share one, with which disks and which clock.
use crate::support::Drive;

/// One boot, with the scripts that run in it.
pub struct Guest {
    pub name: &'static str,
    /// Environment variables of the launcher.
    pub words: &'static [(&'static str, &'static str)],
    /// Additional NVMe drives.
    pub drives: &'static [Drive],
    /// The test that needs a script, and the script: a file of `lab/` and its arguments.
    pub proofs: &'static [(&'static str, &'static str)],
    /// Seconds of the guest's clock for which a script may print nothing; a longer silence ends it.
    pub silence_s: u64,
    /// Its only script runs alone, even without the script that runs several: it is timed.
    pub is_quiet: bool,
}

impl Guest {
    /// Whether its clock stops while the host is busy.
    pub fn is_patient(&self) -> bool {
        self.words == VIRTUAL_TIME
    }
}

/// Seconds without output of a script after which its guest ends it.
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

/// Small disks, and one with more blocks than 32 bits can count.
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
            ("nvme::on_a_ring_faults_of_nvme_drives_are_reported_exactly", "nvme-faults.sh ring"),
            ("mappings::faulty_and_stalled_mappings_are_reported_with_the_ring", "mappings.sh ring"),
            ("transport::provisioning_and_state_of_a_disk_are_respected_with_the_ring", "scsi-thin.sh ring"),
            ("scsi::a_removed_disk_ends_a_run_with_its_name_and_offset_with_the_ring", "scsi-removal.sh ring"),
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
            ("nvme::by_calls_faults_of_nvme_drives_are_reported_exactly", "nvme-faults.sh threads"),
            ("mappings::faulty_and_stalled_mappings_are_reported_with_threads", "mappings.sh threads"),
            ("transport::provisioning_and_state_of_a_disk_are_respected_with_threads", "scsi-thin.sh threads"),
            ("scsi::a_removed_disk_ends_a_run_with_its_name_and_offset_with_threads", "scsi-removal.sh threads"),
        ],
        silence_s: PROOF_SILENCE_S,
        is_quiet: false,
    },
    Guest {
        name: "both engines",
        words: &EMPTY_DRIVE,
        drives: &[],
        proofs: &[
            ("list::each_disk_has_the_nodes_names_and_sizes_of_sg_map_lsscsi_and_nvme", "list.sh"),
            ("on_error::exactly_the_bad_sectors_of_every_kind_of_disk_are_skipped", "on-error.sh"),
            ("scsi::copies_that_must_not_begin_are_refused_with_the_reason", "scsi-refusals.sh"),
            ("transport::offloaded_copies_are_used_and_reserved_disks_are_refused", "scsi-offload.sh"),
            ("scsi::read_buffer_is_measured_by_size_and_by_destination_memory", "scsi-read-buffer.sh"),
            ("sg_fronts::the_fronts_match_sg3_utils_except_for_its_defects", "sg-fronts.sh"),
        ],
        silence_s: PROOF_SILENCE_S,
        is_quiet: false,
    },
    Guest {
        name: "quiet",
        words: &VIRTUAL_TIME,
        drives: &[],
        proofs: &[(
            "timing::a_copy_between_disks_of_queue_depth_one_takes_the_time_of_the_slower_disk",
            "proofs/copy-times.sh",
        )],
        silence_s: 3600,
        is_quiet: true,
    },
    Guest {
        name: "ring faults",
        words: &VIRTUAL_TIME,
        drives: &[],
        proofs: &[("scsi::faults_of_a_disk_are_retried_or_reported_with_the_ring", "scsi-faults.sh ring")],
        // Its clock skips idle time.
        silence_s: 1000 * PROOF_SILENCE_S,
        is_quiet: false,
    },
    Guest {
        name: "threads faults",
        words: &VIRTUAL_TIME,
        drives: &[],
        proofs: &[("scsi::faults_of_a_disk_are_retried_or_reported_with_threads", "scsi-faults.sh threads")],
        // As above.
        silence_s: 1000 * PROOF_SILENCE_S,
        is_quiet: false,
    },
];

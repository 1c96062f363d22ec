//! Interprets the status of a command: success, retry, or failure.
use super::sense::{Sense, key};
use crate::core::{DeviceError, Kind};

/// Status codes of SAM-5.
mod status {
    pub(super) const GOOD: u8 = 0x00;
    pub(super) const CHECK_CONDITION: u8 = 0x02;
    pub(super) const CONDITION_MET: u8 = 0x04;
    pub(super) const BUSY: u8 = 0x08;
    pub(super) const RESERVATION_CONFLICT: u8 = 0x18;
    pub(super) const TASK_SET_FULL: u8 = 0x28;
    pub(super) const TASK_ABORTED: u8 = 0x40;
}

/// Host status codes: `DID_NO_CONNECT` and `DID_ERROR` of `<scsi/scsi_status.h>`.
pub(super) mod host {
    pub(in crate::disks::scsi) const NO_CONNECT: u16 = 0x01;
    pub(in crate::disks::scsi) const ERROR: u16 = 0x07;
}

/// The status of a completed command, as reported by the driver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommandStatus {
    /// SCSI status.
    pub(super) status: u8,
    /// Host status (`DID_…`).
    pub(super) host: u16,
    /// Number of bytes not transferred.
    pub(super) residual: i32,
    pub(super) sense: Option<Sense>,
}

/// The blocks of the disk that a command accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommandRange {
    /// First block on the disk.
    pub(super) lba: u64,
    /// Number of blocks; 0 if it accesses none.
    pub(super) blocks: u64,
    pub(super) block_bytes: u64,
    /// Offset of this side on the disk, in bytes.
    pub(super) start: u64,
}

/// Why a command is to be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RetryReason {
    /// A unit attention was reported instead of executing the command.
    Attention,
    /// The disk aborted it.
    Aborted,
    /// A transport error.
    Transport,
    /// The disk is busy.
    Busy,
    /// It succeeded without transferring data.
    MovedNothing,
    /// The disk is becoming ready.
    BecomingReady,
    /// It timed out.
    TimedOut,
}

impl RetryReason {
    /// Whether a failing disk may have this trouble with some blocks, and none with others.
    pub(super) fn may_depend_on_blocks(self) -> bool {
        !matches!(self, RetryReason::Attention | RetryReason::BecomingReady)
    }
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandOutcome {
    /// It succeeded and transferred this many bytes; `recovered` after error recovery.
    Done { moved: u32, recovered: bool },
    /// It failed and may succeed when retried; the error applies if retries are exhausted.
    Again(RetryReason, DeviceError),
    /// It failed. With `on_the_way` the error is not from the disk, which may have disappeared.
    Failed { error: DeviceError, on_the_way: bool },
}

impl CommandOutcome {
    /// The same with `recovered` set.
    fn with_effort(self) -> CommandOutcome {
        match self {
            CommandOutcome::Done { moved, .. } => CommandOutcome::Done { moved, recovered: true },
            other => other,
        }
    }
}

fn error(kind: Kind, words: impl Into<String>, advice: &'static str) -> DeviceError {
    DeviceError { kind, words: words.into(), offset: None, of_medium: false, advice, sense: None }
}

fn failed(kind: Kind, words: impl Into<String>, advice: &'static str) -> CommandOutcome {
    CommandOutcome::Failed { error: error(kind, words, advice), on_the_way: false }
}

/// Interprets the status of a command that was to transfer `len` bytes.
pub(super) fn interpret(answer: &CommandStatus, len: u32, place: CommandRange) -> CommandOutcome {
    match (answer.status, &answer.sense) {
        // Some drivers pass sense data with a good status.
        (status::CHECK_CONDITION, Some(sense)) | (status::GOOD, Some(sense)) if sense.key != key::NO_SENSE => {
            of_sense(sense, answer, len, place)
        }
        (status::CHECK_CONDITION, None) => failed(Kind::Io, "the disk reported an error without sense data", ""),
        (status::BUSY, _) => CommandOutcome::Again(RetryReason::Busy, error(Kind::Io, "the disk remained busy", "")),
        (status::TASK_SET_FULL, _) => {
            let words = "the queue of the disk remained full (TASK SET FULL)";
            CommandOutcome::Again(RetryReason::Busy, error(Kind::Io, words, "Try a smaller --depth."))
        }
        (status::TASK_ABORTED, _) => CommandOutcome::Again(
            RetryReason::Aborted,
            error(Kind::Io, "aborted by another initiator (TASK ABORTED)", ""),
        ),
        (status::RESERVATION_CONFLICT, _) => reserved(),
        (status::GOOD | status::CONDITION_MET | status::CHECK_CONDITION, _) => of_host(answer, len, place),
        (other, _) => failed(Kind::Io, format!("SCSI status {other:02x}h"), ""),
    }
}

fn reserved() -> CommandOutcome {
    let advice = "Release the reservation on that host; 'sg_persist --in --read-reservation' shows the holder.";
    failed(Kind::Refused, "RESERVATION CONFLICT: reserved by another host", advice)
}

/// Success, in whole blocks: bytes in the residual count as not transferred.
fn done(answer: &CommandStatus, len: u32, place: CommandRange) -> CommandOutcome {
    let missing = u32::try_from(answer.residual.max(0)).unwrap_or(0).min(len);
    let block = u32::try_from(place.block_bytes).unwrap_or(u32::MAX);
    let moved = if place.blocks > 0 { (len - missing) / block * block } else { len - missing };
    if place.blocks > 0 && moved == 0 && len > 0 {
        let words = format!("the disk transferred {} of {len} bytes and reported success", len - missing);
        return CommandOutcome::Again(RetryReason::MovedNothing, error(Kind::Io, words, ""));
    }
    CommandOutcome::Done { moved, recovered: false }
}

fn of_sense(sense: &Sense, answer: &CommandStatus, len: u32, place: CommandRange) -> CommandOutcome {
    let bad = sense.information.filter(|lba| !sense.deferred && (place.lba..place.lba + place.blocks).contains(lba));
    let words = bad.map_or_else(|| sense.to_string(), |lba| format!("{sense}, LBA {lba}"));
    let offset = bad.and_then(|lba| lba.checked_mul(place.block_bytes)?.checked_sub(place.start));
    let of_medium = !sense.deferred && matches!(sense.key, key::MEDIUM | key::HARDWARE | key::BLANK_CHECK);
    let codes = Some([sense.key, sense.asc, sense.ascq]).filter(|_| !sense.deferred);
    let error = |kind, advice| DeviceError { kind, words: words.clone(), offset, of_medium, advice, sense: codes };
    let failed = |kind, advice| CommandOutcome::Failed { error: error(kind, advice), on_the_way: false };
    if sense.deferred {
        // The current command was not executed, regardless of the earlier one.
        return match sense.key {
            key::RECOVERED => CommandOutcome::Again(RetryReason::Attention, error(Kind::Io, "")),
            _ => failed(Kind::Io, "Data reported as written is lost. Copy again, to another disk."),
        };
    }
    match (sense.key, sense.asc, sense.ascq) {
        (key::RECOVERED, ..) => done(answer, len, place).with_effort(),
        (key::NOT_READY, 0x3a, _) => failed(Kind::Open, "Insert a medium."),
        (key::NOT_READY, 0x04, 0x01 | 0x07 | 0x09 | 0x0a | 0x14 | 0x1a) => CommandOutcome::Again(
            RetryReason::BecomingReady,
            error(Kind::Io, "Wait until it is ready, then try again."),
        ),
        (key::NOT_READY, 0x04, 0x02) => failed(Kind::Io, "Start it, for example with 'sg_start --start'."),
        (key::ILLEGAL_REQUEST, 0x20 | 0x24 | 0x26, _) => failed(Kind::Unsupported, ""),
        // The copy manager does not find the other unit, or cannot copy from it: nothing has happened.
        (key::COPY_ABORTED, 0x08, 0x04) | (key::COPY_ABORTED, 0x0d, 0x02 | 0x03) => failed(Kind::Unsupported, ""),
        (key::UNIT_ATTENTION, ..) => CommandOutcome::Again(RetryReason::Attention, error(Kind::Io, "")),
        (key::ABORTED, ..) => CommandOutcome::Again(RetryReason::Aborted, error(Kind::Io, "")),
        (key::DATA_PROTECT, 0x27, 0x07) => failed(Kind::NoSpace, "Free space on the array, then continue."),
        (key::DATA_PROTECT, ..) => failed(Kind::Refused, "Remove the write protection, then try again."),
        _ => failed(Kind::Io, ""),
    }
}

/// Errors of the host adapter driver and the SCSI middle layer, if the disk reports none.
fn of_host(answer: &CommandStatus, len: u32, place: CommandRange) -> CommandOutcome {
    let lost = |why, words: &str, advice| {
        CommandOutcome::Again(why, error(Kind::Io, format!("{words} (host status {:02x}h)", answer.host), advice))
    };
    let on_the_way = |kind, words: &str| {
        let words = format!("{words} (host status {:02x}h)", answer.host);
        CommandOutcome::Failed { error: error(kind, words, ""), on_the_way: true }
    };
    match answer.host {
        0x00 => done(answer, len, place),
        host::NO_CONNECT => on_the_way(Kind::Disconnected, "no connection"),
        0x02 => lost(RetryReason::Busy, "the bus remained busy", ""),
        0x03 => {
            let advice = "Increase --command-timeout if the disk retries for a long time.";
            lost(RetryReason::TimedOut, "no answer within the timeout", advice)
        }
        0x05 => lost(RetryReason::Transport, "aborted by the kernel", ""),
        0x06 => lost(RetryReason::Transport, "parity error on the bus", "Check the cable."),
        host::ERROR | 0x09 => lost(RetryReason::Transport, "host adapter error", ""),
        0x08 => lost(RetryReason::Transport, "SCSI bus reset occurred", ""),
        0x0b..=0x0e | 0x14 => lost(RetryReason::Transport, "transport error", ""),
        0x11 => reserved(),
        0x12 => failed(Kind::NoSpace, "no space left on the array", "Free space there, then continue."),
        0x13 => {
            let error = DeviceError { of_medium: true, ..error(Kind::Io, "medium error", "") };
            CommandOutcome::Failed { error, on_the_way: false }
        }
        _ => on_the_way(Kind::Io, "host adapter error"),
    }
}

/// Classifies an error of a disk that is reached by commands.
pub(super) fn kind_of(error: &std::io::Error) -> Kind {
    match (DeviceError::of(error), error.raw_os_error()) {
        (Some(device_failure), _) => device_failure.kind,
        (_, Some(libc::ENODEV | libc::ENXIO)) => Kind::Disconnected,
        _ => Kind::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: CommandRange = CommandRange { lba: 100, blocks: 16, block_bytes: 512, start: 40 * 512 };

    fn sense(key: u8, asc: u8, ascq: u8, information: Option<u64>) -> CommandStatus {
        let sense = Sense { key, asc, ascq, deferred: false, information };
        CommandStatus { status: 2, sense: Some(sense), ..CommandStatus::default() }
    }

    fn of(answer: CommandStatus) -> CommandOutcome {
        interpret(&answer, 8192, PLACE)
    }

    #[test]
    fn a_short_transfer_is_short_and_counts_whole_blocks() {
        let moved = |residual| match of(CommandStatus { residual, ..CommandStatus::default() }) {
            CommandOutcome::Done { moved, recovered: false } => moved,
            other => panic!("{other:?}"),
        };
        assert_eq!([moved(0), moved(4096), moved(1), moved(-5)], [8192, 4096, 7680, 8192]);
        let nothing = of(CommandStatus { residual: 8000, ..CommandStatus::default() });
        assert!(matches!(nothing, CommandOutcome::Again(RetryReason::MovedNothing, _)), "{nothing:?}");
    }

    #[test]
    fn a_medium_error_has_block_and_byte_if_the_disk_reports_them() {
        let CommandOutcome::Failed { error, on_the_way: false } = of(sense(3, 0x11, 0, Some(110))) else { panic!() };
        assert_eq!((error.kind, error.offset), (Kind::Io, Some((110 - 40) * 512)));
        assert_eq!(error.words, "medium error: unrecovered read error (sense 3/11/00), LBA 110");
        assert_eq!(error.sense, Some([3, 0x11, 0]));
        for elsewhere in [Some(99), Some(116), None] {
            let CommandOutcome::Failed { error, .. } = of(sense(3, 0x11, 0, elsewhere)) else { panic!() };
            assert_eq!(error.offset, None, "{elsewhere:?}");
        }
    }

    #[test]
    fn only_transient_errors_are_retried() {
        let again = |answer| match of(answer) {
            CommandOutcome::Again(why, _) => Some(why),
            _ => None,
        };
        let status = |status| CommandStatus { status, ..CommandStatus::default() };
        let host = |host| CommandStatus { host, ..CommandStatus::default() };
        let table = [
            (sense(6, 0x29, 0, None), Some(RetryReason::Attention)),
            (sense(11, 0x4b, 3, None), Some(RetryReason::Aborted)),
            (sense(2, 4, 1, None), Some(RetryReason::BecomingReady)),
            (sense(2, 4, 3, None), None),
            (sense(4, 0x44, 0, None), None),
            (sense(5, 0x21, 0, None), None),
            (status(0x28), Some(RetryReason::Busy)),
            // The full queue of scsi_debug: the SCSI status takes precedence over the host status.
            (CommandStatus { status: 0x28, host: 5, ..CommandStatus::default() }, Some(RetryReason::Busy)),
            (status(0x08), Some(RetryReason::Busy)),
            (host(3), Some(RetryReason::TimedOut)),
            (host(7), Some(RetryReason::Transport)),
            (host(1), None),
        ];
        for (answer, wanted) in table {
            assert_eq!(again(answer), wanted, "{answer:?}");
        }
    }

    #[test]
    fn a_recovered_error_is_a_success_with_a_note() {
        let recovered = CommandStatus { residual: 512, ..sense(1, 0x17, 1, None) };
        assert_eq!(of(recovered), CommandOutcome::Done { moved: 7680, recovered: true });
    }

    #[test]
    fn each_refusal_has_its_own_kind() {
        let reported = |answer| match of(answer) {
            CommandOutcome::Failed { error, .. } => (error.kind, error.words),
            other => panic!("{other:?}"),
        };
        let (kind, words) = reported(CommandStatus { status: 0x18, ..CommandStatus::default() });
        assert!(kind == Kind::Refused && words.contains("RESERVATION CONFLICT"), "{words}");
        assert_eq!(reported(sense(7, 0x27, 0, None)).0, Kind::Refused);
        assert_eq!(reported(sense(7, 0x27, 7, None)).0, Kind::NoSpace);
        assert_eq!(reported(sense(2, 0x3a, 0, None)).0, Kind::Open);
        assert_eq!(reported(CommandStatus { host: 1, ..CommandStatus::default() }).0, Kind::Disconnected);
    }

    #[test]
    fn deferred_errors_are_not_a_success_of_the_current_command() {
        let mut answer = sense(3, 0x0c, 0, Some(110));
        answer.sense.as_mut().unwrap().deferred = true;
        let CommandOutcome::Failed { error, .. } = of(answer) else { panic!() };
        assert_eq!(error.offset, None);
        assert!(error.words.contains("deferred from an earlier command") && error.advice.contains("lost"), "{error:?}");
        answer.sense.as_mut().unwrap().key = 1;
        assert!(matches!(of(answer), CommandOutcome::Again(RetryReason::Attention, _)));
    }
}

//! Names of sense keys and additional sense codes. The texts are haul's own; the numbers are those of SPC-5.

/// The name of a sense key.
pub(super) fn key_words(key: u8) -> &'static str {
    match key {
        0 => "no sense",
        1 => "recovered error",
        2 => "not ready",
        3 => "medium error",
        4 => "hardware error",
        5 => "illegal request",
        6 => "unit attention",
        7 => "data protect",
        8 => "blank check",
        9 => "vendor specific",
        10 => "copy aborted",
        11 => "aborted command",
        13 => "volume overflow",
        14 => "miscompare",
        15 => "completed",
        _ => "reserved sense key",
    }
}

/// ASC, ASCQ and text.
type Row = (u8, u8, &'static str);

/// Codes that disks, bridges and arrays are known to report.
const CODES: &[Row] = &[
    (0x02, 0x00, "no seek complete"),
    (0x03, 0x00, "peripheral device write fault"),
    (0x04, 0x00, "not ready, cause not reportable"),
    (0x04, 0x01, "becoming ready"),
    (0x04, 0x02, "a start command is needed"),
    (0x04, 0x03, "manual intervention is needed"),
    (0x04, 0x04, "a format is in progress"),
    (0x04, 0x07, "an operation is in progress"),
    (0x04, 0x09, "a self-test is in progress"),
    (0x04, 0x0a, "asymmetric access state transition"),
    (0x04, 0x0b, "the path is in standby state"),
    (0x04, 0x0c, "the path is in unavailable state"),
    (0x04, 0x1a, "a start or stop is in progress"),
    (0x04, 0x1b, "a sanitize is in progress"),
    (0x04, 0x22, "a power cycle is needed"),
    (0x05, 0x00, "the logical unit does not respond to selection"),
    (0x08, 0x00, "communication failure"),
    (0x08, 0x01, "communication timeout"),
    (0x08, 0x03, "communication CRC error"),
    (0x08, 0x04, "unreachable copy target"),
    (0x0b, 0x00, "warning"),
    (0x0b, 0x01, "warning: the temperature is exceeded"),
    (0x0c, 0x00, "write error"),
    (0x0c, 0x02, "write error, auto reallocation failed"),
    (0x0c, 0x03, "write error, reassigning is recommended"),
    (0x0d, 0x00, "third party device failure"),
    (0x0d, 0x01, "copy target device failure"),
    (0x0d, 0x02, "copy target device not reachable"),
    (0x0d, 0x03, "incorrect copy target device type"),
    (0x0d, 0x04, "copy target device data underrun"),
    (0x0d, 0x05, "copy target device data overrun"),
    (0x10, 0x00, "CRC or ECC error of an identifier"),
    (0x10, 0x01, "logical block guard check failed"),
    (0x10, 0x02, "logical block application tag check failed"),
    (0x10, 0x03, "logical block reference tag check failed"),
    (0x11, 0x00, "unrecovered read error"),
    (0x11, 0x01, "read retries exhausted"),
    (0x11, 0x04, "unrecovered read error, auto reallocation failed"),
    (0x11, 0x0b, "unrecovered read error, reassigning is recommended"),
    (0x11, 0x14, "read error, the block was marked bad"),
    (0x14, 0x00, "recorded entity not found"),
    (0x14, 0x01, "record not found"),
    (0x15, 0x00, "random positioning error"),
    (0x15, 0x01, "mechanical positioning error"),
    (0x16, 0x00, "data synchronization mark error"),
    (0x17, 0x00, "data recovered without error correction"),
    (0x17, 0x01, "data recovered with retries"),
    (0x18, 0x00, "data recovered with error correction"),
    (0x18, 0x02, "data recovered, auto reallocated"),
    (0x19, 0x00, "defect list error"),
    (0x1b, 0x00, "synchronous data transfer error"),
    (0x1d, 0x00, "miscompare during verify operation"),
    (0x20, 0x00, "invalid command operation code"),
    (0x20, 0x02, "access denied"),
    (0x21, 0x00, "logical block address out of range"),
    (0x24, 0x00, "invalid field in CDB"),
    (0x25, 0x00, "logical unit not supported"),
    (0x26, 0x00, "invalid field in parameter list"),
    (0x26, 0x06, "too many target descriptors"),
    (0x26, 0x07, "unsupported target descriptor type code"),
    (0x26, 0x08, "too many segment descriptors"),
    (0x26, 0x09, "unsupported segment descriptor type code"),
    (0x27, 0x00, "write protected"),
    (0x27, 0x01, "write protected by hardware"),
    (0x27, 0x02, "write protected by software"),
    (0x27, 0x07, "space allocation failed, write protected"),
    (0x28, 0x00, "the medium may have changed"),
    (0x29, 0x00, "power on, reset, or bus device reset occurred"),
    (0x29, 0x01, "power on occurred"),
    (0x29, 0x02, "SCSI bus reset occurred"),
    (0x29, 0x03, "device reset occurred"),
    (0x29, 0x04, "device internal reset"),
    (0x2a, 0x01, "mode parameters have changed"),
    (0x2a, 0x09, "the capacity has changed"),
    (0x2f, 0x00, "commands were cleared by another initiator"),
    (0x30, 0x00, "the medium is incompatible"),
    (0x31, 0x00, "the medium format is corrupted"),
    (0x32, 0x00, "no defect spare location available"),
    (0x38, 0x07, "the thin provisioning threshold is reached"),
    (0x3a, 0x00, "medium not present"),
    (0x3a, 0x01, "medium not present, tray closed"),
    (0x3a, 0x02, "medium not present, tray open"),
    (0x3e, 0x01, "logical unit failure"),
    (0x3e, 0x02, "logical unit timeout"),
    (0x3f, 0x01, "the microcode has changed"),
    (0x3f, 0x0e, "the list of logical units has changed"),
    (0x44, 0x00, "internal target failure"),
    (0x47, 0x00, "parity error"),
    (0x47, 0x03, "interface CRC error"),
    (0x48, 0x00, "initiator detected error message received"),
    (0x4b, 0x03, "ACK or NAK timeout"),
    (0x4b, 0x00, "data phase error"),
    (0x4e, 0x00, "commands overlapped"),
    (0x53, 0x00, "loading or ejecting failed"),
    (0x55, 0x00, "a system resource failed"),
    (0x5d, 0x00, "the disk predicts its failure"),
    (0x5e, 0x00, "a low power condition is active"),
    (0x64, 0x00, "illegal mode for this track"),
];

/// The text of an additional sense code; for an unknown qualifier, that of the code alone.
pub(super) fn asc_words(asc: u8, ascq: u8) -> Option<&'static str> {
    let of = |ascq| CODES.iter().find(|row| (row.0, row.1) == (asc, ascq)).map(|row| row.2);
    // Except for 04h, whose qualifiers have unrelated meanings.
    of(ascq).or_else(|| if asc == 0x04 || (asc, ascq) == (0, 0) { None } else { of(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_is_in_the_table_twice() {
        for (index, row) in CODES.iter().enumerate() {
            let again = CODES[index + 1..].iter().find(|other| (other.0, other.1) == (row.0, row.1));
            assert_eq!(again, None, "{row:x?}");
        }
    }

    #[test]
    fn an_unknown_qualifier_is_described_by_its_code_if_that_applies() {
        assert_eq!(asc_words(0x11, 0x7f), Some("unrecovered read error"));
        assert_eq!(asc_words(0x04, 0x7f), None);
        assert_eq!(asc_words(0, 0), None);
        assert_eq!(asc_words(0x80, 0), None);
    }
}

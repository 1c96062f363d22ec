//! Compares haul's parsers of sense data, INQUIRY data and pages with sg3-utils' decoders.
use crate::support::has;
use haul::disks::scsi::inquiry::{self, Inquiry};
use haul::disks::scsi::sense::Sense;
use std::fs;
use std::process::Command;

/// Number of random inputs of each kind; each runs a process.
const INPUTS: u64 = 120;

/// Deterministic pseudorandom numbers (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn byte(&mut self) -> u8 {
        self.next() as u8
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x} ")).collect()
}

/// The output of a decoder for these bytes, given in a file as hexadecimal text.
fn printed(program: &str, words: &[&str], bytes: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), hex(bytes) + "\n").unwrap();
    let file = file.path().to_str().unwrap().to_owned();
    let words = words.iter().map(|word| word.replace("FILE", &file));
    let output = Command::new(program).args(words).output().unwrap();
    assert!(output.status.success(), "{program} of {}: {output:?}", hex(bytes));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number after `label`, in hexadecimal with 0x, else decimal.
fn number(text: &str, label: &str) -> Option<u64> {
    let behind = text.split_once(label)?.1.trim_start();
    let word = behind.split(|letter: char| !letter.is_ascii_alphanumeric()).next()?;
    match word.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => word.parse().ok(),
    }
}

const KEYS: [&str; 16] = [
    "No Sense",
    "Recovered Error",
    "Not Ready",
    "Medium Error",
    "Hardware Error",
    "Illegal Request",
    "Unit Attention",
    "Data Protect",
    "Blank Check",
    "Vendor specific(9)",
    "Copy Aborted",
    "Aborted Command",
    "Equal",
    "Volume Overflow",
    "Miscompare",
    "Completed",
];

/// Sense data of either format, current or deferred; codes beyond 80h, which the decoder prints as numbers.
fn sense_data(chance: &mut Chance) -> Vec<u8> {
    let (key, asc, ascq) = (chance.byte() & 0x0f, chance.byte() | 0x80, chance.byte());
    let kind = chance.byte() & 3;
    if kind < 2 {
        let mut bytes = vec![0x70 | kind | chance.byte() & 0x80, 0, key];
        bytes.extend(chance.bytes(4));
        bytes.extend([10, 0, 0, 0, 0, asc, ascq, 0, 0, 0, 0]);
        return bytes;
    }
    let mut descriptors = Vec::new();
    if chance.byte() & 1 == 0 {
        // Preceded by a field replaceable unit code.
        descriptors.extend([3, 2, 0, chance.byte()]);
    }
    if chance.byte() & 3 != 0 {
        descriptors.extend([0, 10, 0x80, 0]);
        descriptors.extend(chance.bytes(8));
    }
    [&[0x70 | kind, key, asc, ascq, 0, 0, 0, descriptors.len() as u8], &descriptors[..]].concat()
}

#[test]
fn sense_data_are_decoded_as_by_sg_decode_sense() {
    if !has("sg_decode_sense") {
        return;
    }
    let mut chance = Chance(1);
    for _ in 0..INPUTS {
        let bytes = sense_data(&mut chance);
        let messages = printed("sg_decode_sense", &["--file=FILE"], &bytes);
        let ours = Sense::parse(&bytes).unwrap();
        let case = format!("{}: {ours:?}, and\n{messages}", hex(&bytes));
        assert!(messages.contains(&format!("Sense key: {}", KEYS[usize::from(ours.key)])), "{case}");
        let code = format!("ASC={:02x}, ASCQ={:02x}", ours.asc, ours.ascq);
        assert!(messages.contains(&code) || messages.contains(&code.replace(", ", " ")), "{case}");
        assert_eq!(ours.deferred, messages.contains("deferred"), "{case}");
        let place = match (messages.contains("Valid=0"), number(&messages, "Info fld=")) {
            (true, _) => None,
            (false, Some(place)) => Some(place),
            (false, None) => number(&messages, "Information:"),
        };
        assert_eq!(ours.information, place, "{case}");
    }
}

#[test]
fn vpd_pages_are_decoded_as_by_sg_vpd() {
    if !has("sg_vpd") {
        return;
    }
    let mut chance = Chance(2);
    for _ in 0..INPUTS / 4 {
        let page = |number: u8, content: &[u8]| [&[0, number, 0, content.len() as u8], content].concat();
        let bytes = page(0xb0, &[&[0; 4][..], &chance.bytes(56)].concat());
        let messages = printed("sg_vpd", &["--inhex=FILE", "--page=bl"], &bytes);
        let ours = inquiry::block_limits(&bytes).unwrap();
        let case = format!("{}: {ours:?}, and\n{messages}", hex(&bytes));
        assert_eq!(number(&messages, "Maximum transfer length:"), Some(ours.transfer_blocks_max.into()), "{case}");
        assert_eq!(number(&messages, "Optimal transfer length:"), Some(ours.transfer_blocks_optimal.into()), "{case}");
        assert_eq!(number(&messages, "Maximum write same length:"), Some(ours.write_same_blocks_max), "{case}");

        let flags = chance.byte();
        let bytes = page(0xb2, &[0, flags, 0, 0]);
        let messages = printed("sg_vpd", &["--inhex=FILE", "--page=lbpv"], &bytes);
        let ours = inquiry::provisioning(&bytes);
        assert_eq!(number(&messages, "(LBPU):"), Some(ours.unmaps.into()), "{messages}");
        assert_eq!(number(&messages, "(LBPWS):"), Some(ours.unmaps_by_write_same.into()), "{messages}");
        let zeros = number(&messages, "(LBPRZ):").unwrap();
        assert_eq!(zeros & 1 == 1, ours.unmapped_are_zeros, "{messages}");

        let rate = [chance.byte() & 0x1f, chance.byte()];
        let bytes = page(0xb1, &[&rate[..], &[0; 58]].concat());
        let messages = printed("sg_vpd", &["--inhex=FILE", "--page=bdc"], &bytes);
        assert_eq!(inquiry::rotational(&bytes) == Some(true), messages.contains(" rpm"), "{messages}");

        let (naa, eui) = (chance.bytes(15), chance.bytes(8));
        let naa = [&[0x60], &naa[..]].concat();
        let bytes = page(0x83, &[&[1, 2, 0, 8], &eui[..], &[1, 3, 0, 16], &naa].concat());
        let messages = printed("sg_vpd", &["--inhex=FILE", "--page=di"], &bytes);
        let wwn = inquiry::wwn(&bytes).unwrap();
        assert!(messages.contains(&wwn.replace("naa.", "0x")), "{wwn}, and\n{messages}");
    }
}

#[test]
fn inquiry_data_are_decoded_as_by_sg_inq() {
    if !has("sg_inq") {
        return;
    }
    let mut chance = Chance(3);
    for _ in 0..INPUTS / 4 {
        let mut bytes = chance.bytes(96);
        // If the second byte might be a page number, the decoder assumes a page. This value means a removable
        // medium.
        (bytes[1], bytes[3], bytes[4]) = (0x80, 2, 91);
        for (at, byte) in b"MAKER   A PRODUCT       1.0 ".iter().enumerate() {
            bytes[8 + at] = *byte;
        }
        let messages = printed("sg_inq", &["--inhex=FILE"], &bytes);
        let ours = Inquiry::parse(&bytes).unwrap();
        let case = format!("{}: {ours:?}, and\n{messages}", hex(&bytes));
        assert_eq!(number(&messages, "PQual="), Some(ours.qualifier.into()), "{case}");
        assert_eq!(number(&messages, "PDT="), Some(ours.device_type.into()), "{case}");
        assert_eq!(number(&messages, "version="), Some(ours.version.into()), "{case}");
        assert_eq!(number(&messages, "3PC="), Some(ours.copies.into()), "{case}");
        assert_eq!(number(&messages, "Protect="), Some(ours.protect.into()), "{case}");
        assert!(ours.model.as_deref() == Some("MAKER A PRODUCT"), "{case}");
    }
}

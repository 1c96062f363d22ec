//! The checksum at the end of each line of manifest and journal.
//!
//! A line is a JSON object whose last field is `"check"`: the first 64 bits, in hexadecimal, of the BLAKE3
//! digest of the check of the line before (nothing in the first line), then of all bytes of this line up to the
//! comma before `"check"`. A line that was changed, removed, moved or inserted is therefore detected at its
//! position.
use super::FaultKind;
use super::lines::LINE_BYTES_MAX;

const OPENING: &[u8] = b",\"check\":\"";
const CLOSING: &[u8] = b"\"}";
const DIGITS: usize = 16;

/// Seals consecutive lines, or checks them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seal {
    last: Option<[u8; DIGITS]>,
}

impl Seal {
    /// The sealed line for `object`, a JSON object with at least one field, including its newline.
    pub(super) fn close(&mut self, object: &str) -> Result<String, FaultKind> {
        let body = object.strip_suffix('}').expect("a JSON object ends in a brace");
        let check = self.check(body.as_bytes());
        let line = format!("{body},\"check\":\"{}\"}}\n", String::from_utf8_lossy(&check));
        if line.len() > LINE_BYTES_MAX {
            return Err(FaultKind::TooLong { bytes_max: LINE_BYTES_MAX });
        }
        self.last = Some(check);
        Ok(line)
    }

    /// Whether `line`, without its newline, is the next sealed line; only then the seal advances.
    pub(super) fn holds(&mut self, line: &[u8]) -> bool {
        let parts = line
            .strip_suffix(CLOSING)
            .and_then(|rest| rest.split_last_chunk::<DIGITS>())
            .and_then(|(rest, check)| Some((rest.strip_suffix(OPENING)?, *check)));
        let Some((body, check)) = parts else { return false };
        let holds = self.check(body) == check;
        if holds {
            self.last = Some(check);
        }
        holds
    }

    fn check(&self, body: &[u8]) -> [u8; DIGITS] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.last.as_ref().map_or(&[], |last| &last[..]));
        hasher.update(body);
        let hex = hasher.finalize().to_hex();
        *hex.as_bytes().first_chunk().expect("64 digits are more than 16")
    }
}

/// The format version in a first line that begins with `{"key":7,`: every version begins so.
pub(super) fn version_in(line: &[u8], key: &str) -> Option<u64> {
    let rest = line.strip_prefix(b"{\"")?.strip_prefix(key.as_bytes())?.strip_prefix(b"\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (rest.get(digits) == Some(&b',')).then(|| std::str::from_utf8(&rest[..digits]).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> [String; 3] {
        let mut seal = Seal::default();
        ["{\"a\":1}", "{\"b\":[2]}", "{\"b\":[2]}"].map(|object| seal.close(object).unwrap())
    }

    fn holds(lines: &[&str]) -> bool {
        let mut seal = Seal::default();
        lines.iter().all(|line| seal.holds(line.trim_end_matches('\n').as_bytes()))
    }

    #[test]
    fn seals_are_valid_only_in_their_order() {
        let [a, b, c] = lines();
        assert!(holds(&[&a, &b, &c]) && holds(&[&a, &b]));
        assert!(!holds(&[&b]) && !holds(&[&a, &c]) && !holds(&[&a, &b, &b]) && !holds(&[&a, &b, &a]));
        // The checksum of the first line, computed by b3sum: printf '{"a":1' | b3sum | cut -c1-16
        assert_eq!(a, "{\"a\":1,\"check\":\"2aa751acd2d96565\"}\n");
    }

    #[test]
    fn every_bit_flip_is_detected() {
        let [first, ..] = lines();
        let line = first.trim_end().as_bytes();
        for bit in 0..line.len() * 8 {
            let mut turned = line.to_vec();
            turned[bit / 8] ^= 1 << (bit % 8);
            assert!(!Seal::default().holds(&turned), "bit {bit}");
        }
    }

    #[test]
    fn a_version_is_parsed_only_at_its_position() {
        assert_eq!(version_in(b"{\"haul_x\":12,\"more\":1", "haul_x"), Some(12));
        for wrong in ["{\"haul_x\":,", "{\"haul_x\":1", "{\"haul_y\":1,", " {\"haul_x\":1,", "", "{\"haul_x\":-1,"] {
            assert_eq!(version_in(wrong.as_bytes(), "haul_x"), None, "{wrong}");
        }
    }
}

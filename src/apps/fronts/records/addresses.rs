//! Records that must contain their own number, as `sg_dd iflag=00,ff` writes them.
use super::reader::Reader;
use crate::apps::fronts::record_plan::{AddressCheck, Diagnostic, ExtraDiagnostic};

/// Bytes of the word with the number.
const WORD_BYTES: usize = 4;

impl Reader {
    /// How many of `bytes`, which were just read, precede the first record with a wrong number; the next step
    /// of reading returns the error.
    pub(super) fn before_wrong_address(&mut self, bytes: &[u8]) -> usize {
        let Some(check) = self.plan.addresses else { return bytes.len() };
        let record_bytes = self.plan.source.record_bytes as usize;
        let first = self.plan.source.skip.records + self.records;
        for (at, record) in bytes.chunks(record_bytes).enumerate() {
            let number = first + at as u64;
            if let Some((byte, found)) = wrong_word(record, number as u32, check) {
                let what = ExtraDiagnostic::WrongAddress { record: number, byte: byte as u64, found };
                self.wrong_address = Some(Diagnostic::Careful(what));
                return at * record_bytes;
            }
        }
        bytes.len()
    }
}

/// The first word that is not `number`, and its offset. A record shorter than a word has none.
fn wrong_word(record: &[u8], number: u32, check: AddressCheck) -> Option<(usize, u32)> {
    let most = if check == AddressCheck::First { 1 } else { usize::MAX };
    let words = record.chunks_exact(WORD_BYTES).take(most);
    let words = words.map(|word| u32::from_be_bytes(word.try_into().unwrap_or_default()));
    words.enumerate().find(|(_, word)| *word != number).map(|(at, word)| (at * WORD_BYTES, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_differs_where_a_word_is_not_its_address() {
        let mut record = [0, 0, 0x12, 0x34].repeat(128);
        assert_eq!(wrong_word(&record, 0x1234, AddressCheck::All), None);
        record[510] = 7;
        assert_eq!(wrong_word(&record, 0x1234, AddressCheck::First), None);
        assert_eq!(wrong_word(&record, 0x1234, AddressCheck::All), Some((508, 0x0734)));
        assert_eq!(wrong_word(&record, 0x1235, AddressCheck::First), Some((0, 0x1234)));
        assert_eq!(wrong_word(&record[..3], 9, AddressCheck::All), None);
    }
}

//! Command descriptor blocks (SPC-5, SBC-4).

/// Maximum length of a command, in bytes.
pub const CDB_BYTES_MAX: usize = 32;

/// A command descriptor block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cdb {
    bytes: [u8; CDB_BYTES_MAX],
    len: u8,
}

/// Form and flags of READ and WRITE commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CdbForm {
    /// Length: 6, 10, 12, 16 or 32 bytes; `None` for the shorter of 10 and 16 that suffices.
    pub bytes: Option<u8>,
    /// Disable Page Out (DPO).
    pub dpo: bool,
    /// Force Unit Access (FUA).
    pub fua: bool,
    /// Force Unit Access, with non-volatile cache allowed (FUA_NV).
    pub fua_nv: bool,
    /// Group number: 1 to 63, above 31 only in 16 or 32 bytes; 0 for none.
    pub group: u8,
    /// Command duration limit: 1 to 7, only in 16 bytes; 0 for none.
    pub duration_limit: u8,
}

impl CdbForm {
    /// Maximum number of blocks per command.
    pub fn blocks_max(self) -> u64 {
        match self.bytes {
            Some(6) => 256,
            Some(10) => u16::MAX.into(),
            _ => u32::MAX.into(),
        }
    }
}

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferDirection {
    /// READ.
    Read,
    /// WRITE.
    Write,
}

impl Cdb {
    fn new(head: &[u8], len: u8) -> Self {
        let mut bytes = [0; CDB_BYTES_MAX];
        bytes[..head.len()].copy_from_slice(head);
        Cdb { bytes, len }
    }

    fn put(mut self, at: usize, field: &[u8]) -> Self {
        self.bytes[at..at + field.len()].copy_from_slice(field);
        self
    }

    /// The bytes of the command.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }

    /// READ or WRITE of `blocks` blocks from `lba`; `None` if the requested form cannot encode them.
    pub fn transfer(way: TransferDirection, lba: u64, blocks: u32, form: CdbForm) -> Option<Cdb> {
        let limit = form.duration_limit & 7;
        let group = form.group & 0x3f;
        let short = u32::try_from(lba).is_ok() && blocks <= u16::MAX.into() && limit == 0 && group < 32;
        let len = form.bytes.unwrap_or(if short { 10 } else { 16 });
        let code = |read: u8, write: u8| if way == TransferDirection::Read { read } else { write };
        let flags = u8::from(form.dpo) << 4 | u8::from(form.fua) << 3 | u8::from(form.fua_nv) << 1;
        if group > 31 && len < 16 {
            return None;
        }
        let (lba32, blocks16) = (u32::try_from(lba).ok(), u16::try_from(blocks).ok());
        match len {
            6 => {
                // 21 bits of address; a count of 0 means 256 blocks. There are no flags.
                let lba = lba32.filter(|lba| *lba < 1 << 21)?.to_be_bytes();
                let blocks = u8::try_from(blocks).ok().or_else(|| (blocks == 256).then_some(0))?;
                (flags == 0 && group == 0).then(|| Cdb::new(&[code(0x08, 0x0a), lba[1], lba[2], lba[3], blocks], 6))
            }
            10 => {
                let cdb = Cdb::new(&[code(0x28, 0x2a), flags], 10);
                Some(cdb.put(2, &lba32?.to_be_bytes()).put(6, &[group]).put(7, &blocks16?.to_be_bytes()))
            }
            12 => {
                let cdb = Cdb::new(&[code(0xa8, 0xaa), flags], 12);
                Some(cdb.put(2, &lba32?.to_be_bytes()).put(6, &blocks.to_be_bytes()).put(10, &[group]))
            }
            16 => {
                let cdb = Cdb::new(&[code(0x88, 0x8a), flags | limit >> 2], 16);
                Some(cdb.put(2, &lba.to_be_bytes()).put(10, &blocks.to_be_bytes()).put(14, &[limit << 6 | group]))
            }
            32 => {
                // Variable length: 24 bytes after the first 8, with a service action and the expected reference tag of
                // type 2 protection, which is the address.
                let cdb = Cdb::new(&[0x7f, 0, 0, 0, 0, 0, group, 24, 0, code(9, 11), flags], 32);
                let cdb = cdb.put(12, &lba.to_be_bytes()).put(20, &lba.to_be_bytes()[4..]);
                Some(cdb.put(28, &blocks.to_be_bytes()))
            }
            _ => None,
        }
    }

    /// TEST UNIT READY.
    pub fn test_unit_ready() -> Cdb {
        Cdb::new(&[0x00], 6)
    }

    /// INQUIRY: standard data, at most `len` bytes.
    pub fn inquiry(len: u16) -> Cdb {
        Cdb::new(&[0x12], 6).put(3, &len.to_be_bytes())
    }

    /// INQUIRY: a VPD page, at most `len` bytes.
    pub fn inquiry_page(page: u8, len: u16) -> Cdb {
        Cdb::new(&[0x12, 1, page], 6).put(3, &len.to_be_bytes())
    }

    /// READ CAPACITY(10).
    pub fn read_capacity_10() -> Cdb {
        Cdb::new(&[0x25], 10)
    }

    /// READ CAPACITY(16), at most `len` bytes.
    pub fn read_capacity_16(len: u32) -> Cdb {
        Cdb::new(&[0x9e, 0x10], 16).put(10, &len.to_be_bytes())
    }

    /// GET LBA STATUS(16) from `lba`, at most `len` bytes.
    pub fn get_lba_status(lba: u64, len: u32) -> Cdb {
        Cdb::new(&[0x9e, 0x12], 16).put(2, &lba.to_be_bytes()).put(10, &len.to_be_bytes())
    }

    /// MODE SENSE(6) of the current values of a page, without block descriptors, at most `len` bytes.
    pub fn mode_sense_6(page: u8, len: u8) -> Cdb {
        Cdb::new(&[0x1a, 0x08, page & 0x3f, 0, len], 6)
    }

    /// MODE SENSE(10) of the same.
    pub fn mode_sense_10(page: u8, len: u16) -> Cdb {
        Cdb::new(&[0x5a, 0x08, page & 0x3f], 10).put(7, &len.to_be_bytes())
    }

    /// SYNCHRONIZE CACHE of the whole disk; (16) if `long`, otherwise (10).
    pub fn synchronize_cache(long: bool) -> Cdb {
        if long { Cdb::new(&[0x91], 16) } else { Cdb::new(&[0x35], 10) }
    }

    /// WRITE SAME(16): writes one block of data to each of `blocks` blocks from `lba`. With `unmap` the disk may unmap
    /// the blocks instead if they then read as that data.
    pub fn write_same_16(lba: u64, blocks: u32, unmap: bool) -> Cdb {
        let cdb = Cdb::new(&[0x93, u8::from(unmap) << 3], 16);
        cdb.put(2, &lba.to_be_bytes()).put(10, &blocks.to_be_bytes())
    }

    /// The shortest sufficient VERIFY with at least `form.bytes` of 10, 12 and 16 bytes: the disk compares `blocks`
    /// blocks from `lba` with the data sent (BYTCHK 1).
    pub fn verify(lba: u64, blocks: u32, form: CdbForm) -> Cdb {
        const BYTCHK: u8 = 1 << 1;
        let flags = BYTCHK | u8::from(form.dpo) << 4;
        let requested = form.bytes.unwrap_or(10);
        match (u32::try_from(lba), u16::try_from(blocks)) {
            (Ok(lba), Ok(blocks)) if requested <= 10 => {
                Cdb::new(&[0x2f, flags], 10).put(2, &lba.to_be_bytes()).put(7, &blocks.to_be_bytes())
            }
            (Ok(lba), _) if requested == 12 => {
                Cdb::new(&[0xaf, flags], 12).put(2, &lba.to_be_bytes()).put(6, &blocks.to_be_bytes())
            }
            _ => Cdb::new(&[0x8f, flags], 16).put(2, &lba.to_be_bytes()).put(10, &blocks.to_be_bytes()),
        }
    }

    /// The shortest sufficient READ LONG: a block and its additional bytes on the medium, `len` bytes in total; with
    /// `correct`, error-corrected like a READ.
    pub fn read_long(lba: u64, len: u16, correct: bool) -> Cdb {
        match u32::try_from(lba) {
            Ok(lba) => {
                Cdb::new(&[0x3e, u8::from(correct) << 1], 10).put(2, &lba.to_be_bytes()).put(7, &len.to_be_bytes())
            }
            Err(_) => Cdb::read_long_16(lba, len, correct),
        }
    }

    /// READ BUFFER(10) of buffer `id` in mode `mode`, `len` bytes (24 bits).
    pub fn read_buffer(mode: u8, id: u8, len: u32) -> Cdb {
        Cdb::new(&[0x3c, mode & 0x1f, id], 10).put(6, &len.to_be_bytes()[1..])
    }

    /// LOG SENSE of the current values of a page, at most `len` bytes.
    pub fn log_sense(page: u8, len: u16) -> Cdb {
        Cdb::new(&[0x4d, 0, 1 << 6 | page & 0x3f], 10).put(7, &len.to_be_bytes())
    }

    /// ATA PASS-THROUGH(16) (SAT-4) by `protocol`, with these flags of the transfer: feature, count, LBA from its
    /// lowest byte, and command, each of 8 bits.
    pub fn ata_pass_through(protocol: u8, transfer: u8, registers: [u8; 6]) -> Cdb {
        let [feature, count, low, mid, high, command] = registers;
        Cdb::new(&[0x85, protocol << 1, transfer, 0, feature, 0, count, 0, low, 0, mid, 0, high, 0, command], 16)
    }

    /// EXTENDED COPY(LID1) with a parameter list of `len` bytes.
    pub fn extended_copy(len: u32) -> Cdb {
        Cdb::new(&[0x83], 16).put(10, &len.to_be_bytes())
    }

    /// RECEIVE COPY RESULTS: operating parameters, at most `len` bytes.
    pub fn receive_copy_parameters(len: u32) -> Cdb {
        Cdb::new(&[0x84, 0x03], 16).put(10, &len.to_be_bytes())
    }

    /// READ LONG(16): a block and its additional bytes on the medium, `len` bytes in total; with `correct`,
    /// error-corrected like a READ.
    pub fn read_long_16(lba: u64, len: u16, correct: bool) -> Cdb {
        let cdb = Cdb::new(&[0x9e, 0x11], 16).put(2, &lba.to_be_bytes()).put(12, &len.to_be_bytes());
        cdb.put(14, &[u8::from(correct)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn form(bytes: u8) -> CdbForm {
        CdbForm { bytes: Some(bytes), ..CdbForm::default() }
    }

    #[test]
    fn reads_and_writes_of_every_length_have_the_layout_of_the_standard() {
        let table: [(Option<Cdb>, &[u8]); 10] = [
            (Cdb::transfer(TransferDirection::Read, 0x12345, 8, form(6)), &[0x08, 1, 0x23, 0x45, 8, 0]),
            (Cdb::transfer(TransferDirection::Write, 0x12345, 256, form(6)), &[0x0a, 1, 0x23, 0x45, 0, 0]),
            (
                Cdb::transfer(TransferDirection::Read, 0x1234_5678, 0x9a, form(10)),
                &[0x28, 0, 0x12, 0x34, 0x56, 0x78, 0, 0, 0x9a, 0],
            ),
            (
                Cdb::transfer(TransferDirection::Write, 1, 2, CdbForm { dpo: true, fua: true, ..CdbForm::default() }),
                &[0x2a, 0x18, 0, 0, 0, 1, 0, 0, 2, 0],
            ),
            (
                Cdb::transfer(TransferDirection::Read, 1, 0x10_0002, form(12)),
                &[0xa8, 0, 0, 0, 0, 1, 0, 0x10, 0, 2, 0, 0],
            ),
            (Cdb::transfer(TransferDirection::Write, 1, 2, form(12)), &[0xaa, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0]),
            (
                Cdb::transfer(TransferDirection::Read, 0x1_0203_0405, 7, form(16)),
                &[0x88, 0, 0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0, 7, 0, 0],
            ),
            (
                Cdb::transfer(TransferDirection::Write, 5, 7, form(16)),
                &[0x8a, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0],
            ),
            (
                Cdb::transfer(TransferDirection::Read, 5, 7, form(32)),
                &[0x7f, 0, 0, 0, 0, 0, 0, 24, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7],
            ),
            (
                Cdb::transfer(TransferDirection::Write, 5, 7, CdbForm { fua: true, ..form(32) }),
                &[0x7f, 0, 0, 0, 0, 0, 0, 24, 0, 11, 8, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7],
            ),
        ];
        for (cdb, bytes) in table {
            assert_eq!(cdb.expect("it fits").bytes(), bytes);
        }
    }

    #[test]
    fn a_duration_limit_takes_16_bytes_and_has_its_three_bits_in_two_places() {
        let limited = |duration_limit| {
            let form = CdbForm { duration_limit, ..CdbForm::default() };
            let cdb = Cdb::transfer(TransferDirection::Read, 5, 7, form).unwrap();
            (cdb.bytes().len(), cdb.bytes()[1], cdb.bytes().get(14).copied().unwrap_or(0))
        };
        assert_eq!([limited(0), limited(3), limited(6)], [(10, 0, 0), (16, 0, 0xc0), (16, 1, 0x80)]);
    }

    #[test]
    fn group_number_and_fua_nv_are_set_in_every_length_that_has_them() {
        let at = |len, byte: usize, group, fua_nv| {
            let cdb = Cdb::transfer(TransferDirection::Write, 5, 7, CdbForm { group, fua_nv, ..form(len) });
            cdb.map(|cdb| cdb.bytes()[byte])
        };
        let places = [(10, 6, 31), (12, 10, 31), (16, 14, 63), (32, 6, 63)];
        assert_eq!(places.map(|(len, byte, group)| at(len, byte, group, false)), [31, 31, 63, 63].map(Some));
        assert_eq!([at(10, 1, 0, true), at(12, 1, 0, true), at(16, 1, 0, true), at(32, 10, 0, true)], [Some(2); 4]);
        let none = [at(6, 0, 1, false), at(6, 0, 0, true), at(10, 0, 32, false), at(12, 0, 32, false)];
        assert_eq!(none, [None; 4]);
        let chosen = |group| {
            Cdb::transfer(TransferDirection::Read, 5, 7, CdbForm { group, ..CdbForm::default() }).unwrap().bytes().len()
        };
        assert_eq!([chosen(31), chosen(32)], [10, 16]);
    }

    #[test]
    fn verify_and_read_long_use_the_shortest_command() {
        let form = |bytes| CdbForm { bytes, ..CdbForm::default() };
        let table: [(Cdb, &[u8]); 7] = [
            (Cdb::verify(9, 3, form(None)), &[0x2f, 2, 0, 0, 0, 9, 0, 0, 3, 0]),
            (Cdb::verify(9, 3, CdbForm { dpo: true, ..form(Some(6)) }), &[0x2f, 0x12, 0, 0, 0, 9, 0, 0, 3, 0]),
            (Cdb::verify(9, 3, form(Some(12))), &[0xaf, 2, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0]),
            (Cdb::verify(9, 3, form(Some(16))), &[0x8f, 2, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0]),
            (Cdb::verify(1 << 32, 3, form(None)), &[0x8f, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0]),
            (Cdb::read_long(9, 520, true), &[0x3e, 2, 0, 0, 0, 9, 0, 2, 8, 0]),
            (Cdb::read_long(1 << 32, 520, false), &[0x9e, 0x11, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 8, 0, 0]),
        ];
        for (cdb, bytes) in table {
            assert_eq!(cdb.bytes(), bytes);
        }
    }

    #[test]
    fn the_shortest_sufficient_command_is_chosen_and_a_short_one_is_refused() {
        let len = |lba, blocks| {
            Cdb::transfer(TransferDirection::Read, lba, blocks, CdbForm::default()).unwrap().bytes().len()
        };
        assert_eq!(len(u32::MAX.into(), 65_535), 10);
        assert_eq!(len(1 << 32, 1), 16);
        assert_eq!(len(0, 65_536), 16);
        let none = |lba, blocks, form| {
            assert_eq!(Cdb::transfer(TransferDirection::Write, lba, blocks, form), None, "{lba} {form:?}")
        };
        none(1 << 21, 1, form(6));
        none(0, 257, form(6));
        none(0, 1, CdbForm { fua: true, ..form(6) });
        none(1 << 32, 1, form(10));
        none(0, 65_536, form(10));
        none(1 << 32, 1, form(12));
        none(0, 1, form(11));
    }

    #[test]
    fn the_other_commands_have_the_layout_of_the_standard() {
        let table: [(Cdb, &[u8]); 14] = [
            (Cdb::test_unit_ready(), &[0, 0, 0, 0, 0, 0]),
            (Cdb::inquiry(0x1234), &[0x12, 0, 0, 0x12, 0x34, 0]),
            (Cdb::inquiry_page(0xb0, 64), &[0x12, 1, 0xb0, 0, 64, 0]),
            (Cdb::read_capacity_10(), &[0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (Cdb::read_capacity_16(32), &[0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0]),
            (Cdb::get_lba_status(9, 24), &[0x9e, 0x12, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 24, 0, 0]),
            (Cdb::mode_sense_6(8, 192), &[0x1a, 8, 8, 0, 192, 0]),
            (Cdb::mode_sense_10(0x3f, 512), &[0x5a, 8, 0x3f, 0, 0, 0, 0, 2, 0, 0]),
            (Cdb::synchronize_cache(false), &[0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (Cdb::write_same_16(9, 3, true), &[0x93, 8, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0]),
            (Cdb::read_buffer(2, 1, 0x1_0203), &[0x3c, 2, 1, 0, 0, 0, 1, 2, 3, 0]),
            (Cdb::extended_copy(108), &[0x83, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 108, 0, 0]),
            (Cdb::receive_copy_parameters(300), &[0x84, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 44, 0, 0]),
            (Cdb::read_long_16(9, 520, true), &[0x9e, 0x11, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 2, 8, 1, 0]),
        ];
        for (cdb, bytes) in table {
            assert_eq!(cdb.bytes(), bytes);
        }
        assert_eq!(Cdb::synchronize_cache(true).bytes().len(), 16);
    }

    proptest! {
        #[test]
        fn a_command_encodes_its_first_block_and_count(lba: u64, blocks: u32, ten in any::<bool>()) {
            let form = if ten { form(10) } else { form(16) };
            match Cdb::transfer(TransferDirection::Read, lba, blocks, form) {
                Some(cdb) => {
                    let number = |bytes: &[u8]| bytes.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
                    let (place, count) = if ten { (2..6, 7..9) } else { (2..10, 10..14) };
                    prop_assert_eq!(number(&cdb.bytes()[place]), lba);
                    prop_assert_eq!(number(&cdb.bytes()[count]), u64::from(blocks));
                }
                None => prop_assert!(ten && (lba > u32::MAX.into() || blocks > 65_535)),
            }
        }
    }
}

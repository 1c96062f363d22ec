//! The operands in the order given.
use super::number::{self, NumberError};
use crate::apps::fronts::dd::plan::{DdUsage, DdWarning};
use crate::apps::fronts::record_plan::{OpenWords, StatusOutput};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The words of `conv=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Conversions {
    pub(super) ascii: bool,
    pub(super) ebcdic: bool,
    pub(super) ibm: bool,
    pub(super) block: bool,
    pub(super) unblock: bool,
    pub(super) lcase: bool,
    pub(super) ucase: bool,
    pub(super) sparse: bool,
    pub(super) swab: bool,
    pub(super) sync: bool,
    pub(super) excl: bool,
    pub(super) nocreat: bool,
    pub(super) notrunc: bool,
    pub(super) noerror: bool,
    pub(super) fdatasync: bool,
    pub(super) fsync: bool,
}

/// A number of records, or of bytes if it had that suffix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GivenCount {
    pub(super) value: u64,
    pub(super) in_bytes: bool,
}

/// The values of the operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Operands {
    pub(super) source: Option<OsString>,
    pub(super) dest: Option<OsString>,
    pub(super) ibs: Option<u64>,
    pub(super) obs: Option<u64>,
    pub(super) bs: Option<u64>,
    pub(super) cbs: Option<u64>,
    pub(super) skip: GivenCount,
    pub(super) seek: GivenCount,
    pub(super) count: Option<GivenCount>,
    pub(super) conversions: Conversions,
    pub(super) source_words: OpenWords,
    pub(super) dest_words: OpenWords,
    pub(super) fullblock: bool,
    /// `oflag=fullblock`, which is refused after all operands have been parsed.
    pub(super) dest_fullblock: bool,
    pub(super) count_bytes: bool,
    pub(super) skip_bytes: bool,
    pub(super) seek_bytes: bool,
    pub(super) status_output: StatusOutput,
}

/// Largest offset of a file, and so the upper bound of every count.
const OFFSET_MAX: u64 = i64::MAX as u64;

impl Operands {
    /// Parses the next operand.
    pub(super) fn take(&mut self, word: &OsStr, warnings: &mut Vec<DdWarning>) -> Result<(), DdUsage> {
        let unknown = || DdUsage::Operand(word.to_owned());
        let bytes = word.as_bytes();
        let equals = bytes.iter().position(|byte| *byte == b'=').ok_or_else(unknown)?;
        let (name, value) = (&bytes[..equals], &bytes[equals + 1..]);
        let mut number = |min: u64, max: u64| {
            let owned = || OsString::from_vec(value.to_vec());
            let (result, form) = number::parse(value);
            if form.zero_multiplier {
                warnings.push(DdWarning::ZeroMultiplier);
            }
            match result {
                Ok(value) if value < min => Err(DdUsage::Number(owned())),
                Ok(value) if value <= max => Ok(GivenCount { value, in_bytes: form.in_bytes }),
                Ok(_) | Err(NumberError::Overflow) => Err(DdUsage::Overflow(owned())),
                Err(NumberError::Invalid) => Err(DdUsage::Number(owned())),
            }
        };
        match name {
            b"if" => self.source = Some(OsString::from_vec(value.to_vec())),
            b"of" => self.dest = Some(OsString::from_vec(value.to_vec())),
            // One less than the limit of the others: dd adds a byte to each buffer.
            b"ibs" => self.ibs = Some(number(1, OFFSET_MAX - 1)?.value),
            b"obs" => self.obs = Some(number(1, OFFSET_MAX - 1)?.value),
            b"bs" => self.bs = Some(number(1, OFFSET_MAX - 1)?.value),
            b"cbs" => self.cbs = Some(number(1, OFFSET_MAX)?.value),
            b"skip" | b"iseek" => self.skip = number(0, OFFSET_MAX)?,
            b"seek" | b"oseek" => self.seek = number(0, OFFSET_MAX)?,
            b"count" => self.count = Some(number(0, OFFSET_MAX)?),
            b"conv" => each(value, |word| self.conversion(word).ok_or_else(|| DdUsage::Conversion(owned(word))))?,
            b"iflag" => each(value, |word| self.source_word(word).ok_or_else(|| DdUsage::InputFlag(owned(word))))?,
            b"oflag" => each(value, |word| self.dest_word(word).ok_or_else(|| DdUsage::OutputFlag(owned(word))))?,
            b"status" => {
                self.status_output = match value {
                    b"none" => StatusOutput::Errors,
                    b"noxfer" => StatusOutput::NoTransfer,
                    b"progress" => StatusOutput::Progress,
                    _ => return Err(DdUsage::StatusLevel(owned(value))),
                }
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    fn conversion(&mut self, word: &[u8]) -> Option<()> {
        let all = &mut self.conversions;
        *match word {
            b"ascii" => &mut all.ascii,
            b"ebcdic" => &mut all.ebcdic,
            b"ibm" => &mut all.ibm,
            b"block" => &mut all.block,
            b"unblock" => &mut all.unblock,
            b"lcase" => &mut all.lcase,
            b"ucase" => &mut all.ucase,
            b"sparse" => &mut all.sparse,
            b"swab" => &mut all.swab,
            b"sync" => &mut all.sync,
            b"excl" => &mut all.excl,
            b"nocreat" => &mut all.nocreat,
            b"notrunc" => &mut all.notrunc,
            b"noerror" => &mut all.noerror,
            b"fdatasync" => &mut all.fdatasync,
            b"fsync" => &mut all.fsync,
            _ => return None,
        } = true;
        Some(())
    }

    fn source_word(&mut self, word: &[u8]) -> Option<()> {
        if word == b"fullblock" {
            self.fullblock = true;
            return Some(());
        }
        match word {
            b"count_bytes" => self.count_bytes = true,
            b"skip_bytes" => self.skip_bytes = true,
            // Accepted, but effective on the other side only.
            b"seek_bytes" => {}
            _ => return flag(&mut self.source_words, word),
        }
        Some(())
    }

    fn dest_word(&mut self, word: &[u8]) -> Option<()> {
        match word {
            b"seek_bytes" => self.seek_bytes = true,
            b"fullblock" => self.dest_fullblock = true,
            // Accepted, but effective on the other side only.
            b"count_bytes" | b"skip_bytes" => {}
            _ => return flag(&mut self.dest_words, word),
        }
        Some(())
    }
}

/// Sets the flag named `word`, of those that both sides have.
fn flag(words: &mut OpenWords, word: &[u8]) -> Option<()> {
    *match word {
        b"append" => &mut words.append,
        b"direct" => &mut words.direct,
        b"directory" => &mut words.directory,
        b"dsync" => &mut words.dsync,
        b"sync" => &mut words.sync,
        b"nonblock" => &mut words.nonblock,
        b"noatime" => &mut words.noatime,
        b"noctty" => &mut words.noctty,
        b"nofollow" => &mut words.nofollow,
        b"nocache" => &mut words.nocache,
        _ => return None,
    } = true;
    Some(())
}

fn each(list: &[u8], take: impl FnMut(&[u8]) -> Result<(), DdUsage>) -> Result<(), DdUsage> {
    list.split(|byte| *byte == b',').try_for_each(take)
}

fn owned(word: &[u8]) -> OsString {
    OsString::from_vec(word.to_vec())
}

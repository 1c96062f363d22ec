//! The operands in the order given.
use super::number;
use crate::apps::fronts::sg_dd::plan::{Operand, SgUsage};
use crate::apps::fronts::sg_plan::SgFront;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The flags of `iflag=` or `oflag=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) append: bool,
    /// Number of times it was given.
    pub(super) coe: u8,
    pub(super) dio: bool,
    pub(super) direct: bool,
    pub(super) dpo: bool,
    pub(super) dsync: bool,
    pub(super) excl: bool,
    pub(super) flock: bool,
    pub(super) force: bool,
    pub(super) fua: bool,
    pub(super) fua_nv: bool,
    pub(super) mmap: bool,
    pub(super) nocache: bool,
    pub(super) nocreat: bool,
    pub(super) passthrough: bool,
    pub(super) sparse: bool,
    pub(super) zeros: bool,
    pub(super) ones: bool,
    pub(super) random: bool,
}

/// The values of the operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) source: Option<OsString>,
    pub(super) dest: Option<OsString>,
    pub(super) second: Option<OsString>,
    pub(super) bs: u64,
    pub(super) ibs: u64,
    pub(super) obs: u64,
    pub(super) count: Option<u64>,
    pub(super) skip: u64,
    pub(super) seek: u64,
    pub(super) bpt: Option<u64>,
    pub(super) thr: Option<u64>,
    pub(super) cdbsz: Option<u8>,
    pub(super) groups: [u8; 2],
    pub(super) cdl: [u8; 2],
    pub(super) coe_limit: u64,
    pub(super) retries: u32,
    pub(super) odir: bool,
    pub(super) sync: bool,
    pub(super) timing: bool,
    pub(super) timeout_s: Option<u32>,
    pub(super) verbose: u8,
    pub(super) progress: u8,
    pub(super) dry_run: bool,
    pub(super) verify: bool,
    pub(super) writes_nothing: bool,
    /// `--chkaddr`: number of times it was given.
    pub(super) addresses: u8,
    pub(super) flags: [Flags; 2],
}

/// A request for information instead of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InfoOption {
    Help,
    Version,
}

/// Operands that only some of the programs have.
const ONLY_SOME: &[(&str, &[SgFront])] = &[
    ("append", &[SgFront::Sg]),
    ("blk_sgio", &[SgFront::Sg]),
    ("cdl", &[SgFront::Sg]),
    ("coe", &[SgFront::Sg, SgFront::Sgp, SgFront::Sgm]),
    ("coe_limit", &[SgFront::Sg]),
    ("conv", &[SgFront::Sg]),
    ("deb", &[SgFront::Sgp]),
    ("group", &[SgFront::Sg]),
    ("grpnum", &[SgFront::Sg]),
    ("odir", &[SgFront::Sg]),
    ("of2", &[SgFront::Sg]),
    ("retries", &[SgFront::Sg]),
    ("thr", &[SgFront::Sgp]),
];

/// Whether a program has this flag, on this side.
fn has_flag(front: SgFront, side: usize, flag: &[u8]) -> bool {
    let common: &[&[u8]] = &[b"direct", b"dpo", b"dsync", b"excl", b"fua", b"null"];
    if flag == b"force" {
        return side == 1;
    }
    let more: &[&[u8]] = match (front, side) {
        (SgFront::Sg, 0) => &[b"00", b"coe", b"dio", b"ff", b"flock", b"fua_nv", b"nocache", b"pt", b"random", b"sgio"],
        (SgFront::Sg, _) => {
            &[b"append", b"coe", b"dio", b"flock", b"fua_nv", b"nocache", b"nocreat", b"pt", b"sgio", b"sparse"]
        }
        (SgFront::Sgp, 0) => &[b"coe", b"dio", b"mmap"],
        (SgFront::Sgp, _) => &[b"append", b"coe", b"dio", b"mmap"],
        (SgFront::Sgm, 0) => &[b"dio"],
        (SgFront::Sgm, _) => &[b"append", b"dio"],
    };
    common.contains(&flag) || more.contains(&flag)
}

impl Words {
    /// Parses the next operand; `Some`: a request for information instead of a copy.
    pub(super) fn take(&mut self, front: SgFront, word: &OsStr) -> Result<Option<InfoOption>, SgUsage> {
        let bytes = word.as_bytes();
        let unknown = || SgUsage::Unrecognized(word.to_owned());
        match bytes {
            [b'-', b'-', name @ ..] => return self.long_option(front, name).ok_or_else(unknown),
            [b'-', letters @ ..] if !letters.is_empty() => {
                let mut instead = None;
                for letter in letters {
                    let taken = self.short_option(front, *letter);
                    instead = instead.or(taken.ok_or_else(|| SgUsage::ShortOption(word.to_owned()))?);
                }
                return Ok(instead);
            }
            _ => {}
        }
        let (name, value) = match bytes.iter().position(|byte| *byte == b'=') {
            Some(equals) => (&bytes[..equals], &bytes[equals + 1..]),
            None => (bytes, &b""[..]),
        };
        let name_only = || SgUsage::Unrecognized(OsString::from_vec(name.to_vec()));
        let name = std::str::from_utf8(name).map_err(|_| name_only())?;
        let elsewhere = ONLY_SOME.iter().find(|(known, _)| *known == name);
        if elsewhere.is_some_and(|(_, fronts)| !fronts.contains(&front)) {
            return Err(name_only());
        }
        self.operand(front, name, value).ok_or_else(name_only)?.map(|()| None)
    }

    fn long_option(&mut self, front: SgFront, name: &[u8]) -> Option<Option<InfoOption>> {
        let letter = match name {
            b"chkaddr" if front == SgFront::Sgp => b'c',
            b"compare" if front == SgFront::Sg => b'c',
            b"dry-run" | b"dry_run" => b'd',
            b"help" => b'h',
            b"nocopy" | b"nc" => b'n',
            b"progress" => b'p',
            b"verbose" => b'v',
            b"version" => b'V',
            b"verify" => b'x',
            _ => return None,
        };
        self.short_option(front, letter)
    }

    fn short_option(&mut self, front: SgFront, letter: u8) -> Option<Option<InfoOption>> {
        match letter {
            b'c' if front == SgFront::Sg => self.verify = true,
            b'c' if front == SgFront::Sgp => self.addresses = self.addresses.saturating_add(1),
            b'd' => self.dry_run = true,
            b'h' | b'?' => return Some(Some(InfoOption::Help)),
            b'n' => self.writes_nothing = true,
            b'p' => self.progress = self.progress.saturating_add(1),
            b'v' => self.verbose = self.verbose.saturating_add(1),
            b'V' => return Some(Some(InfoOption::Version)),
            b'x' if front == SgFront::Sg => self.verify = true,
            _ => return None,
        }
        Some(None)
    }

    /// Parses an operand; `None`: there is none of this name.
    fn operand(&mut self, front: SgFront, name: &str, value: &[u8]) -> Option<Result<(), SgUsage>> {
        let path = || OsString::from_vec(value.to_vec());
        Some(match name {
            "if" => once(&mut self.source, path(), Operand::If),
            "of" => once(&mut self.dest, path(), Operand::Of),
            "of2" => {
                self.second = Some(path());
                Ok(())
            }
            "iflag" => self.take_flags(front, 0, "iflag", value),
            "oflag" => self.take_flags(front, 1, "oflag", value),
            "conv" => self.take_conversions(value),
            "count" if value == b"-1" => {
                self.count = None;
                Ok(())
            }
            "count" => number("count", value).map(|count| self.count = Some(count)),
            "skip" => number("skip", value).map(|skip| self.skip = skip),
            "seek" => number("seek", value).map(|seek| self.seek = seek),
            "time" => self.take_time(value),
            "cdl" => pair("cdl", value, 7, "0 to 7, or two such numbers").map(|limits| self.cdl = limits),
            "grpnum" => self.take_groups("grpnum", value),
            "group" => self.take_groups("group", value),
            _ => return self.small_operand(name, value),
        })
    }

    /// Parses the operands with small numbers.
    fn small_operand(&mut self, name: &str, value: &[u8]) -> Option<Result<(), SgUsage>> {
        let [source, dest] = &mut self.flags;
        Some(match name {
            "bs" => small("bs", value).map(|bs| self.bs = bs),
            "ibs" => small("ibs", value).map(|bs| self.ibs = bs),
            "obs" => small("obs", value).map(|bs| self.obs = bs),
            "bpt" => small("bpt", value).map(|bpt| self.bpt = Some(bpt)),
            "thr" => small("thr", value).map(|thr| self.thr = Some(thr)),
            "append" => small("append", value).map(|on| dest.append = on > 0),
            "blk_sgio" => small("blk_sgio", value).map(|on| (source.passthrough, dest.passthrough) = (on > 0, on > 0)),
            "cdbsz" => match number::parse(value) {
                Some(size @ (6 | 10 | 12 | 16)) => {
                    self.cdbsz = Some(size as u8);
                    Ok(())
                }
                _ => Err(SgUsage::Value("cdbsz", "6, 10, 12 or 16")),
            },
            "coe" => small("coe", value).map(|level| {
                let level = level.min(3) as u8;
                (source.coe, dest.coe) = (level, level);
            }),
            "coe_limit" => small("coe_limit", value).map(|limit| self.coe_limit = limit),
            "deb" => small("deb", value).map(|level| self.verbose = level.min(9) as u8),
            "dio" => small("dio", value).map(|on| (source.dio, dest.dio) = (on > 0, on > 0)),
            "fua" => small("fua", value).map(|sides| (source.fua, dest.fua) = (sides & 2 > 0, sides & 1 > 0)),
            "odir" => small("odir", value).map(|on| self.odir = on > 0),
            "retries" => small("retries", value).map(|retries| self.retries = retries as u32),
            "sync" => small("sync", value).map(|on| self.sync = on > 0),
            "verbose" => small("verbose", value).map(|level| self.verbose = level.min(9) as u8),
            _ => return None,
        })
    }

    fn take_flags(&mut self, front: SgFront, side: usize, operand: &'static str, value: &[u8]) -> Result<(), SgUsage> {
        for word in value.split(|byte| *byte == b',') {
            if !has_flag(front, side, word) {
                return Err(SgUsage::Flag(OsString::from_vec(word.to_vec()), operand));
            }
            let flags = &mut self.flags[side];
            *match word {
                b"00" => &mut flags.zeros,
                b"append" => &mut flags.append,
                b"dio" => &mut flags.dio,
                b"direct" => &mut flags.direct,
                b"dpo" => &mut flags.dpo,
                b"dsync" => &mut flags.dsync,
                b"excl" => &mut flags.excl,
                b"ff" => &mut flags.ones,
                b"flock" => &mut flags.flock,
                b"force" => &mut flags.force,
                b"fua" => &mut flags.fua,
                b"fua_nv" => &mut flags.fua_nv,
                b"mmap" => &mut flags.mmap,
                b"nocache" => &mut flags.nocache,
                b"nocreat" => &mut flags.nocreat,
                b"pt" | b"sgio" => &mut flags.passthrough,
                b"random" => &mut flags.random,
                b"sparse" => &mut flags.sparse,
                b"coe" => {
                    flags.coe = flags.coe.saturating_add(1);
                    continue;
                }
                // null: no effect; it lets a script pass a list that is never empty.
                _ => continue,
            } = true;
        }
        Ok(())
    }

    fn take_conversions(&mut self, value: &[u8]) -> Result<(), SgUsage> {
        for word in value.split(|byte| *byte == b',') {
            match word {
                b"nocreat" => self.flags[1].nocreat = true,
                b"noerror" => self.flags[0].coe = self.flags[0].coe.max(1),
                b"sparse" => self.flags[1].sparse = true,
                // haul always behaves as if they were given.
                b"notrunc" | b"null" | b"sync" => {}
                _ => return Err(SgUsage::Flag(OsString::from_vec(word.to_vec()), "conv")),
            }
        }
        Ok(())
    }

    fn take_time(&mut self, value: &[u8]) -> Result<(), SgUsage> {
        let wrong = || SgUsage::Value("time", "0 or 1, optionally followed by a comma and a time in seconds");
        let mut parts = value.splitn(2, |byte| *byte == b',');
        let on = parts.next().and_then(number::parse).ok_or_else(wrong)?;
        let timeout =
            parts.next().map(|text| number::parse(text).and_then(|n| u32::try_from(n).ok()).ok_or_else(wrong));
        self.timeout_s = timeout.transpose()?;
        self.timing = on > 0;
        Ok(())
    }

    fn take_groups(&mut self, operand: &'static str, value: &[u8]) -> Result<(), SgUsage> {
        self.groups = pair(operand, value, 63, "0 to 63, or two such numbers")?;
        Ok(())
    }
}

/// One number for both sides, or two separated by a comma: for IFILE and for OFILE.
fn pair(operand: &'static str, value: &[u8], most: u8, what: &'static str) -> Result<[u8; 2], SgUsage> {
    let one = |text: &[u8]| {
        let number = number::parse(text).and_then(|number| u8::try_from(number).ok());
        number.filter(|number| *number <= most).ok_or(SgUsage::Value(operand, what))
    };
    let mut parts = value.splitn(2, |byte| *byte == b',');
    let first = one(parts.next().unwrap_or_default())?;
    Ok([first, parts.next().map_or(Ok(first), one)?])
}

fn once(place: &mut Option<OsString>, path: OsString, operand: Operand) -> Result<(), SgUsage> {
    match place.replace(path) {
        Some(_) => Err(SgUsage::Twice(operand)),
        None => Ok(()),
    }
}

fn number(name: &'static str, value: &[u8]) -> Result<u64, SgUsage> {
    number::parse(value).ok_or(SgUsage::Value(name, "a number, with or without a suffix"))
}

/// At most 31 bits, as in sg3_utils.
fn small(name: &'static str, value: &[u8]) -> Result<u64, SgUsage> {
    let number = number::parse(value).filter(|number| *number <= i32::MAX as u64);
    number.ok_or(SgUsage::Value(name, "a number of at most 31 bits, with or without a suffix"))
}

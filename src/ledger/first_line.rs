//! The first line of a sealed record file: its kind, its format version, and its subject.
use super::lines::{Line, Lines};
use super::seal::{Seal, version_in};
use super::{Fault, FaultKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::BufRead;

/// The first line of a sealed record file, which describes its subject.
pub(super) trait FirstLine: Serialize + DeserializeOwned {
    /// The first field of the line, which identifies the kind of record file. Its value is the format version.
    const KEY: &'static str;
    /// The version of the format that is written, and the newest that is read.
    const FORMAT_VERSION: u64;

    /// Checks the values; called before it is written and after it was read.
    fn check(&self) -> Result<(), FaultKind>;

    /// The first line as JSON, not yet sealed.
    fn to_json(&self) -> Result<String, FaultKind> {
        self.check()?;
        let json = serde_json::to_string(self).map_err(|error| FaultKind::Invalid(error.to_string()))?;
        let fields = json.strip_prefix('{').expect("a struct is a JSON object");
        Ok(format!("{{\"{}\":{},{fields}", Self::KEY, Self::FORMAT_VERSION))
    }

    /// Reads the first line of `lines`, and returns the seal for the next one.
    ///
    /// # Errors
    /// It is not that of such a record file, from a newer haul, or damaged.
    fn read(lines: &mut Lines<impl BufRead>) -> Result<(Self, Seal), Fault> {
        let ended = lines.advance()?;
        // Before its checksum, which a later format may compute differently.
        Self::is_known(&lines.bytes).map_err(|kind| lines.fault(kind))?;
        if ended != Line::Whole {
            return Err(lines.fault(FaultKind::Truncated));
        }
        let mut seal = Seal::default();
        if !seal.holds(&lines.bytes) {
            return Err(lines.fault(FaultKind::Damaged));
        }
        let head = Self::parse(&lines.bytes).map_err(|kind| lines.fault(kind))?;
        Ok((head, seal))
    }

    /// Checks whether a first line is that of such a record file, in a version that this haul can read.
    fn is_known(line: &[u8]) -> Result<(), FaultKind> {
        match version_in(line, Self::KEY) {
            None => Err(FaultKind::Other),
            Some(version) if version > Self::FORMAT_VERSION => Err(FaultKind::Newer { version }),
            Some(0) => Err(FaultKind::Invalid("there never was a format version 0".into())),
            Some(_) => Ok(()),
        }
    }

    /// Parses the head from a first line whose checksum matches.
    fn parse(line: &[u8]) -> Result<Self, FaultKind> {
        let head: Self = serde_json::from_slice(line).map_err(|error| FaultKind::Invalid(error.to_string()))?;
        head.check()?;
        Ok(head)
    }
}

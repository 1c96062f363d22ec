//! The first line of a sealed record file: what it is, its format version, and what it is about.
use super::lines::{Line, Lines};
use super::seal::{Seal, version_in};
use super::{Fault, FaultKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::BufRead;

/// What a sealed record file is about, as its first line says it.
pub(super) trait FirstLine: Serialize + DeserializeOwned {
    /// The first field of the line: it reports what record file this is. Its value is the format version.
    const KEY: &'static str;
    /// The version of the format that is written, and the newest that is read.
    const FORMAT_VERSION: u64;

    /// Whether it makes sense; asked before it is written and after it was read.
    fn check(&self) -> Result<(), FaultKind>;

    /// The first line as JSON, not yet sealed.
    fn to_json(&self) -> Result<String, FaultKind> {
        self.check()?;
        let json = serde_json::to_string(self).map_err(|error| FaultKind::Senseless(error.to_string()))?;
        let fields = json.strip_prefix('{').expect("a struct is a JSON object");
        Ok(format!("{{\"{}\":{},{fields}", Self::KEY, Self::FORMAT_VERSION))
    }

    /// Reads the first line of `lines`, and the seal that continues behind it.
    ///
    /// # Errors
    /// It is that of no such record file, of a newer haul, or damaged.
    fn read(lines: &mut Lines<impl BufRead>) -> Result<(Self, Seal), Fault> {
        let ended = lines.advance()?;
        // Before its check, which a later format may make in another way.
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

    /// Whether a first line is that of such a record file, and of a version that this haul can read.
    fn is_known(line: &[u8]) -> Result<(), FaultKind> {
        match version_in(line, Self::KEY) {
            None => Err(FaultKind::Other),
            Some(version) if version > Self::FORMAT_VERSION => Err(FaultKind::Newer { version }),
            Some(0) => Err(FaultKind::Senseless("there never was a format version 0".into())),
            Some(_) => Ok(()),
        }
    }

    /// The head out of a first line whose check held.
    fn parse(line: &[u8]) -> Result<Self, FaultKind> {
        let head: Self = serde_json::from_slice(line).map_err(|error| FaultKind::Senseless(error.to_string()))?;
        head.check()?;
        Ok(head)
    }
}

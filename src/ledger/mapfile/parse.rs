//! Parses a mapfile.
use super::{Block, Mapfile, RescueStatus, Status};
use crate::core::{Extent, byte_count};
use crate::ledger::lines::{Line, Lines};
use crate::ledger::{Fault, FaultKind, RecordFile};
use std::io::BufRead;

/// The column names before the status line, which are generated when a mapfile is written.
const COLUMNS: &str = "# current_pos";

fn invalid<T>(words: String) -> Result<T, FaultKind> {
    Err(FaultKind::Invalid(words))
}

impl Mapfile {
    /// Parses a mapfile: bounded memory for each line, and one entry for each block.
    ///
    /// # Errors
    /// A line that does not follow the manual, blocks with gaps or overlaps, no status line. ddrescue writes
    /// its mapfile at once and accepts a last line without a newline; so does this.
    pub fn parse(input: impl BufRead) -> Result<Self, Fault> {
        Self::parse_blocks(input, false)
    }

    /// The same, for a mapfile whose blocks have any order and gaps between them, which become blocks that are not
    /// tried.
    ///
    /// # Errors
    /// Those of [`Mapfile::parse`] except for gaps and the order; blocks of different status that overlap.
    pub fn parse_loose(input: impl BufRead) -> Result<Self, Fault> {
        Self::parse_blocks(input, true)
    }

    fn parse_blocks(input: impl BufRead, is_loose: bool) -> Result<Self, Fault> {
        let mut lines = Lines::new(RecordFile::Mapfile, input);
        let mut comments = Vec::new();
        let mut map: Option<Mapfile> = None;
        loop {
            if lines.advance()? == Line::None {
                let map = map.ok_or_else(|| lines.fault(FaultKind::Truncated))?;
                return if is_loose { map.ordered().map_err(|kind| lines.fault(kind)) } else { Ok(map) };
            }
            let Ok(text) = std::str::from_utf8(&lines.bytes) else {
                if lines.bytes.trim_ascii_start().starts_with(b"#") {
                    // A path in a comment may have any encoding.
                    comments.extend(map.is_none().then(|| String::from_utf8_lossy(&lines.bytes).into_owned()));
                    continue;
                }
                return Err(lines.fault(FaultKind::Other));
            };
            let fields: Vec<&str> = uncommented(text).split_ascii_whitespace().collect();
            if fields.is_empty() {
                if map.is_none() && text.starts_with('#') && !text.starts_with(COLUMNS) {
                    comments.push(text.trim_end().to_owned());
                }
                continue;
            }
            let taken_in = match &mut map {
                None => status_line(&fields)
                    .map(|made| map = Some(Mapfile { comments: std::mem::take(&mut comments), ..made })),
                Some(map) => block(&fields).and_then(|block| map.append(block, is_loose)),
            };
            taken_in.map_err(|kind| lines.fault(kind))?;
        }
    }
}

impl Mapfile {
    /// Appends a block, which begins where the last one ends, unless the map is loose. ddrescue accepts empty blocks;
    /// they have no effect.
    fn append(&mut self, block: Block, is_loose: bool) -> Result<(), FaultKind> {
        let offset = block.extent.offset;
        let before = self.blocks.last().map(|before| before.extent.end());
        if let Some(end) = before.filter(|end| !is_loose && *end != offset) {
            return invalid(format!("the block before ends at byte {end}, this one begins at {offset}"));
        }
        self.blocks.extend((!block.extent.is_empty()).then_some(block));
        Ok(())
    }

    /// The same blocks, ascending, with blocks that are not tried in the gaps.
    fn ordered(mut self) -> Result<Self, FaultKind> {
        self.blocks.sort_by_key(|block| block.extent.offset);
        let mut blocks: Vec<Block> = Vec::with_capacity(self.blocks.len());
        for Block { mut extent, status } in self.blocks {
            if let Some(before) = blocks.last() {
                let (end, offset) = (before.extent.end(), extent.offset);
                if offset < end && before.status != status {
                    return invalid(format!("blocks of different status overlap at byte {offset}"));
                }
                let gap = Block { extent: Extent::new(end, offset.saturating_sub(end)), status: Status::Untried };
                let start = offset.max(end);
                extent = Extent::new(start, extent.end().saturating_sub(start));
                blocks.extend((!gap.extent.is_empty()).then_some(gap));
            }
            blocks.extend((!extent.is_empty()).then_some(Block { extent, status }));
        }
        self.blocks = blocks;
        Ok(self)
    }
}

/// The line without its comment, which begins with a `#` at the start or after a blank.
fn uncommented(line: &str) -> &str {
    let begins = |(at, _): &(usize, &str)| *at == 0 || line.as_bytes()[at - 1].is_ascii_whitespace();
    line.match_indices('#').find(begins).map_or(line, |(at, _)| &line[..at])
}

/// `current_pos current_status [current_pass]`; mapfiles written before 1.22 have no pass.
fn status_line(fields: &[&str]) -> Result<Mapfile, FaultKind> {
    let &[pos, doing, ref pass @ ..] = fields else {
        return Err(FaultKind::Other);
    };
    let Ok(current_pos) = number(pos) else { return Err(FaultKind::Other) };
    let Some((doing, _)) = RescueStatus::ALL.iter().find(|(_, mark)| doing.chars().eq([*mark])) else {
        return invalid(format!("\"{doing}\" is not a rescue status: one of ? * / - F G +"));
    };
    let current_pass = match *pass {
        [] => 1,
        [pass] => match pass.parse::<u32>().ok().filter(|pass| (1..=i32::MAX as u32).contains(pass)) {
            Some(pass) if pass_digits(fields[2]) => pass,
            _ => return invalid(format!("\"{pass}\" is not a pass number")),
        },
        _ => return invalid("a status line has at most three fields".into()),
    };
    Ok(Mapfile { comments: Vec::new(), current_pos, doing: *doing, current_pass, blocks: Vec::new() })
}

/// Rejects a plus sign, which `parse` would accept but ddrescue does not.
fn pass_digits(pass: &str) -> bool {
    pass.bytes().all(|byte| byte.is_ascii_digit())
}

/// `pos size status`.
fn block(fields: &[&str]) -> Result<Block, FaultKind> {
    let &[pos, size, status] = fields else {
        return invalid("a block has a position, a size and a status".into());
    };
    let (offset, len) = (number(pos)?, number(size)?);
    let Some((status, _)) = Status::ALL.iter().find(|(_, mark)| status.chars().eq([*mark])) else {
        return invalid(format!("\"{status}\" is not a block status: one of ? * / - +"));
    };
    if offset.checked_add(len).is_none_or(|end| end > i64::MAX as u64) {
        return invalid(format!("invalid block of {} at byte {offset}", byte_count(len)));
    }
    Ok(Block { extent: Extent::new(offset, len), status: *status })
}

/// A number in the syntax of C++: decimal, `0x` hexadecimal or `0` octal, below 2⁶³.
fn number(text: &str) -> Result<u64, FaultKind> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let value = plain.then(|| u64::from_str_radix(digits, radix).ok()).flatten();
    value
        .filter(|value| i64::try_from(*value).is_ok())
        .map_or_else(|| invalid(format!("\"{text}\" is not a number below 2^63")), Ok)
}

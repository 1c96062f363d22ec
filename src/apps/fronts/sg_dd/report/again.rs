//! The command that continues an interrupted copy.
use crate::apps::fronts::dd::report::Quoting;
use crate::apps::fronts::record_plan::Pattern;
use crate::apps::fronts::sg_plan::SgPlan;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// What the command that continues a copy is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Continuation {
    /// The program as it was called, one word or two.
    pub program: Vec<OsString>,
    /// The words after it.
    pub words: Vec<OsString>,
    /// Contiguous blocks that were copied.
    pub done: u64,
    /// Blocks to copy in total.
    pub total: u64,
    /// The source has no offsets: data that was read is lost.
    pub source_streams: bool,
    /// The dest has no offsets.
    pub dest_streams: bool,
    /// Size of the dest before the copy, if it is a regular file.
    pub dest_file_bytes: Option<u64>,
}

/// The command line, quoted for a shell, or why there is none.
pub fn continue_command(plan: &SgPlan, at: &Continuation) -> Result<Vec<u8>, &'static str> {
    if at.source_streams {
        return Err("data already read from a stream cannot be read again");
    }
    if at.dest_streams {
        return Err("another program cannot continue a stream");
    }
    let records = &plan.records;
    let mut seek = records.dest.skip.records;
    if records.dest.words.append {
        let bytes = at.dest_file_bytes.unwrap_or(0);
        if !bytes.is_multiple_of(plan.block_bytes()) {
            return Err("the end of the file to append to was not block-aligned");
        }
        seek = bytes / plan.block_bytes();
    }
    let mut line: Vec<Vec<u8>> = at.program.iter().map(|word| quoted(word.as_bytes())).collect();
    line.extend(at.words.iter().filter_map(|word| kept(word, at)).map(|word| quoted_operand(&word)));
    let reads_on = matches!(records.pattern, None | Some(Pattern::Addresses));
    let skip = records.source.skip.records + if reads_on { at.done } else { 0 };
    line.push(format!("skip={skip}").into_bytes());
    line.push(format!("seek={}", seek + at.done).into_bytes());
    line.push(format!("count={}", at.total - at.done).into_bytes());
    Ok(line.join(&b' '))
}

/// An operand as it is to be repeated; `None`: it is omitted.
fn kept(word: &OsStr, at: &Continuation) -> Option<Vec<u8>> {
    let bytes = word.as_bytes();
    let replaced: [&[u8]; 5] = [b"skip=", b"seek=", b"count=", b"append=", b"of2="];
    if replaced.iter().any(|name| bytes.starts_with(name)) {
        return None;
    }
    // The destination exists now, so it need not be created, and `seek=` gives its offset.
    let Some(flags) = bytes.strip_prefix(b"oflag=") else { return Some(bytes.to_vec()) };
    let excl_is_fine = at.dest_file_bytes.is_none();
    let stays = |flag: &&[u8]| *flag != b"append" && (excl_is_fine || *flag != b"excl");
    let flags: Vec<&[u8]> = flags.split(|byte| *byte == b',').filter(stays).collect();
    if flags.is_empty() { None } else { Some([b"oflag=", &flags.join(&b',')[..]].concat()) }
}

fn quoted(word: &[u8]) -> Vec<u8> {
    Quoting { utf8: true }.path_if_needed(word)
}

/// Quotes only the part after `=`, to keep the operand readable.
fn quoted_operand(word: &[u8]) -> Vec<u8> {
    match word.iter().position(|byte| *byte == b'=') {
        Some(equals) if equals + 1 < word.len() => [&word[..=equals], &quoted(&word[equals + 1..])].concat(),
        _ => word.to_vec(),
    }
}

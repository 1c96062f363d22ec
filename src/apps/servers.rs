//! `[ PROGRAM ARGUMENT… ]` on the command line: a server that haul starts, as one word.
use crate::disks;
use std::ffi::OsString;

/// The words of a command line, with those from `[` to `]` as one word that is an address. A bracket without its
/// counterpart stays a word, and so do all if one of those between is not UTF-8.
pub(super) fn joined(args: Vec<OsString>) -> Vec<OsString> {
    let mut words = Vec::with_capacity(args.len());
    let mut rest = args.as_slice();
    while let Some((word, after)) = rest.split_first() {
        let end = if word == "[" { after.iter().position(|word| word == "]") } else { None };
        let server = end.and_then(|end| Some((address(&after[..end])?, end)));
        let (word, used) = server.map_or((word.clone(), 0), |(address, end)| (address.into(), end + 1));
        words.push(word);
        rest = &after[used..];
    }
    words
}

/// Does `work`, and then ends the servers that were started for it.
pub(super) fn ended_after<T>(work: impl FnOnce() -> T) -> T {
    let done = work();
    disks::stop_servers();
    done
}

fn address(words: &[OsString]) -> Option<String> {
    let words = words.iter().map(|word| word.to_str()).collect::<Option<Vec<_>>>()?;
    Some(format!("[ {} ]", shlex::try_join(words).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_between_brackets_are_one_address() {
        for (line, expected) in [
            (&["copy", "[", "nbdkit", "file", "a b", "]", "dst"][..], &["copy", "[ nbdkit file 'a b' ]", "dst"][..]),
            (&["copy", "[", "x", "]", "[", "y", "]"], &["copy", "[ x ]", "[ y ]"]),
            (&["copy", "[", "x"], &["copy", "[", "x"]),
            (&["copy", "a", "]"], &["copy", "a", "]"]),
        ] {
            let words = joined(line.iter().map(OsString::from).collect());
            assert_eq!(words, expected.iter().map(OsString::from).collect::<Vec<_>>(), "{line:?}");
        }
    }
}
